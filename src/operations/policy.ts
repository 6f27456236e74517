import type { Ajv2020 } from 'ajv/dist/2020.js';
import { counted } from '../model/wording.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { SetpointError } from '../model/error.ts';
import { pathOfPointer } from '../model/path.ts';
import { declaredData, declaredPlace } from '../desired/declared-data.ts';
import { diagnostic } from '../desired/report.ts';
import type { Target } from '../desired/target.ts';
import { readText } from '../host/read-text.ts';
import type { Options } from './options.ts';

/** Settings that a policy does not allow: every violation. */
export class PolicyViolated extends SetpointError {
  readonly diagnostics: readonly Diagnostic[];

  constructor(diagnostics: readonly Diagnostic[]) {
    const count = diagnostics.length;
    const places = counted(count, 'place');
    super('policy-violated', `The policy does not allow the settings, in ${places}.`);
    this.diagnostics = diagnostics;
  }
}

const LARGEST_POLICY = 1024 * 1024;

/**
 * Checks what targets declare against `--policy`, a JSON Schema (2020-12) from outside the settings, over `{labels, server, settings,
 * sandboxes, guards, unmanaged}` with references as they are written. Sends nothing. Throws PolicyViolated, and
 * file-unreadable if the policy cannot be used.
 */
export async function checkPolicy(targets: readonly Target[], options: Options): Promise<void> {
  if (options.policy === undefined) return;
  const validate = compiled(options.policy, await newAjv());
  const diagnostics = targets.flatMap((target) => {
    if (validate(JSON.parse(JSON.stringify(declaredData(target))))) return [];
    return (validate.errors ?? []).flatMap((error) => violation(target, error));
  });
  if (diagnostics.length > 0) throw new PolicyViolated(withoutRepeats(diagnostics));
}

async function newAjv(): Promise<Ajv2020> {
  const { Ajv2020: Ajv } = await import('ajv/dist/2020.js');
  const { default: formats } = await import('ajv-formats');
  const ajv = new Ajv({ allErrors: true, strict: false });
  formats.default(ajv);
  return ajv;
}

function compiled(path: string, ajv: Ajv2020) {
  const read = readText(path, LARGEST_POLICY);
  try {
    const schema: unknown = 'text' in read ? JSON.parse(read.text) : null;
    if (typeof schema === 'object' && schema !== null) return ajv.compile(schema);
  } catch (thrown) {
    throw notPolicy(path, thrown);
  }
  throw notPolicy(path);
}

function notPolicy(path: string, cause?: unknown): SetpointError {
  return new SetpointError('file-unreadable', `${path} is not a JSON Schema that can be used.`, {
    hint: 'A policy is a JSON Schema of draft 2020-12, in JSON.',
    cause,
  });
}

/** The validator's message is about the policy alone: it contains nothing from the file. */
function violation(
  target: Target,
  { instancePath, message = 'does not fit' }: { instancePath: string; message?: string },
): Diagnostic[] {
  const path = pathOfPointer(instancePath);
  const place = declaredPlace(target, path);
  if (place === null) return [];
  const finding = {
    code: 'policy',
    message: `${target.name}: the policy does not allow this value: it ${message}.`,
    hint: 'Change it to what the policy allows.',
    path,
  } as const;
  return [diagnostic(place.file, place.at, finding)];
}

/** A violation in a block that several environments share is listed once for each of them, and not twice for one. */
function withoutRepeats(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  const seen = new Set<string>();
  return diagnostics.filter(({ file, line, column, message }) => {
    const key = JSON.stringify([file, line, column, message]);
    return seen.size !== seen.add(key).size;
  });
}
