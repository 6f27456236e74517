import type { Ajv2020, ErrorObject, ValidateFunction } from 'ajv/dist/2020.js';
import { formatCount } from '../model/wording.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { SetpointError } from '../model/error.ts';
import { isWithin, pathOfPointer, type Path } from '../model/path.ts';
import { isRecord, createRecord, type ValueRecord } from '../model/value.ts';
import {
  createDeclaredData,
  findDeclaredPlace,
  type DeclaredData,
} from '../desired/declared-data.ts';
import { diagnostic } from '../desired/place-diagnostic.ts';
import type { Target } from '../desired/target.ts';
import { readText } from '../host/read-text.ts';

/** Settings that a policy does not allow: every violation. */
export class PolicyViolation extends SetpointError {
  readonly diagnostics: readonly Diagnostic[];

  constructor(diagnostics: readonly Diagnostic[]) {
    const count = diagnostics.length;
    const places = formatCount(count, 'place');
    super('policy-violated', `The policy does not allow the settings, in ${places}.`);
    this.diagnostics = diagnostics;
  }
}

const LARGEST_POLICY = 1024 * 1024;

/**
 * Checks what targets declare against a policy, a JSON Schema (2020-12) or the path of one, over the blocks of each by
 * their names, with references as they are written, and every field under both of its names. Sends nothing. Throws PolicyViolated, and
 * file-unreadable, of a schema usage, if the policy cannot be used.
 */
export async function checkPolicy(
  targets: readonly Target[],
  policy: string | object,
): Promise<void> {
  const validate = compilePolicy(policy, await newAjv());
  const diagnostics = targets.flatMap((target) => listPolicyViolations(target, validate));
  if (diagnostics.length > 0) throw new PolicyViolation(mergeRepeatedViolations(diagnostics));
}

async function newAjv(): Promise<Ajv2020> {
  const { Ajv2020: Ajv } = await import('ajv/dist/2020.js');
  const { default: formats } = await import('ajv-formats');
  const ajv = new Ajv({ allErrors: true, strict: false });
  formats.default(ajv);
  return ajv;
}

function compilePolicy(policy: string | object, ajv: Ajv2020) {
  try {
    const schema = typeof policy === 'string' ? parsePolicyValue(policy) : policy;
    if (typeof schema === 'object' && schema !== null) return ajv.compile(schema);
  } catch (thrown) {
    throw notPolicy(policy, thrown);
  }
  throw notPolicy(policy);
}

function parsePolicyValue(path: string): unknown {
  const read = readText(path, LARGEST_POLICY);
  return 'text' in read ? JSON.parse(read.text) : null;
}

function notPolicy(policy: string | object, cause?: unknown): SetpointError {
  const [code, name] =
    typeof policy === 'string'
      ? (['file-unreadable', policy] as const)
      : (['usage', 'The policy'] as const);
  return new SetpointError(code, `${name} is not a JSON Schema that can be used.`, {
    hint: 'A policy is a JSON Schema of draft 2020-12, in JSON.',
    cause,
  });
}

/**
 * The violations of a policy by a target. A rule may name a field either way. Where a policy lists the allowed names, one of the two is
 * enough: the other is taken out, unless a rule names it.
 */
function listPolicyViolations(target: Target, validate: ValidateFunction): Diagnostic[] {
  const declared = createDeclaredData(target);
  let { data, twins } = declared;
  for (;;) {
    if (validate(JSON.parse(JSON.stringify(data)))) return [];
    const errors = validate.errors ?? [];
    const needless = twins.find(
      ({ written, other }) => isUnlisted(written, errors) !== isUnlisted(other, errors),
    );
    if (needless === undefined)
      return errors.flatMap((error) => violation(target, declared, error));
    const { written, other } = needless;
    data = removePath(data, isUnlisted(other, errors) ? other : written);
    twins = twins.filter((twin) => twin !== needless);
  }
}

/** Reports whether only names make a policy reject a place: its own, missing from a list of them, or that of an enclosing part. */
function isUnlisted(place: Path, errors: readonly ErrorObject[]): boolean {
  if (errors.some(({ instancePath }) => isWithin(pathOfPointer(instancePath), place))) return false;
  return errors.some(({ keyword, instancePath, params }) => {
    const path = pathOfPointer(instancePath);
    const named = params as Readonly<Record<string, unknown>>;
    const unknown = named['additionalProperty'] ?? named['unevaluatedProperty'];
    if (typeof unknown === 'string') return isWithin(place, [...path, unknown]);
    const part = keyword === 'propertyNames' ? [...path, String(named['propertyName'])] : path;
    const judgesNames = keyword === 'propertyNames' || keyword === 'false schema';
    return judgesNames && part.length < place.length && isWithin(place, part);
  });
}

/** A record without what is at a path, and without the records around it that have nothing else. */
function removePath(record: ValueRecord, [key = '', ...inner]: Path): ValueRecord {
  const member = record[key];
  const rest = isRecord(member) && inner.length > 0 ? removePath(member, inner) : createRecord({});
  const others = Object.entries(record).filter(([name]) => name !== key);
  return createRecord(Object.keys(rest).length === 0 ? others : [...others, [key, rest]]);
}

/** The validator's message is about the policy alone: it contains nothing from the file. */
function violation(
  target: Target,
  declared: DeclaredData,
  { instancePath, message = 'does not fit' }: { instancePath: string; message?: string },
): Diagnostic[] {
  const path = pathOfPointer(instancePath);
  const place = findDeclaredPlace(target, declared, path);
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
function mergeRepeatedViolations(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  const seen = new Set<string>();
  return diagnostics.filter(({ file, line, column, message }) => {
    const key = JSON.stringify([file, line, column, message]);
    return seen.size !== seen.add(key).size;
  });
}
