import { readTargets, type Target } from '../../../src/reconciler/desired/target.ts';
import { resolveSettings } from '../../../src/reconciler/desired/resolve.ts';
import type { Diagnostic } from '../../../src/reconciler/model/diagnostic.ts';
import type { ReferenceSource } from '../../../src/reconciler/model/ports.ts';
import { formatPath } from '../../../src/reconciler/model/path.ts';
import { Secret, UnseenSecret } from '../../../src/reconciler/model/secret.ts';
import { isList, isRecord, type Value } from '../../../src/reconciler/model/value.ts';

export const SERVER = 'server: { url: https://agents.example.com }';

/** What reading a text gives; `settings.yaml` is its name. */
export function read(
  text: string,
  base?: string,
  { path = 'settings.yaml', several = false, serverGiven = false } = {},
) {
  const below = base === undefined ? null : { path: 'base.yaml', text: base };
  return readTargets(
    { path, text, bases: below === null ? [] : [below] },
    { serverGiven, several },
  );
}

/** The codes of a text's problems, each with its place. */
export function problems(text: string, base?: string): string[] {
  return read(text, base).diagnostics.map(place);
}

function place({ file, line, column, code }: Diagnostic): string {
  const name = file === 'settings.yaml' ? '' : `${file}:`;
  return `${name}${line}:${column} ${code}`;
}

/** The one target, or the one called so, of a text that has no problems. */
export function target(text: string, name?: string, base?: string): Target {
  const { targets, diagnostics } = read(text, base);
  if (diagnostics.length > 0) throw new Error(diagnostics.map(place).join(', '));
  const found = name === undefined ? targets[0] : targets.find((one) => one.name === name);
  if (found === undefined) throw new Error('no such target');
  return found;
}

/** A file with these lines under settings, indented already. */
export function withSettings(...lines: readonly string[]): string {
  return ['version: 1', SERVER, 'settings:', ...lines.map((line) => `  ${line}`), ''].join('\n');
}

export function source(
  variables: Readonly<Record<string, string>> = {},
  files: Readonly<Record<string, string>> = {},
): ReferenceSource {
  return {
    variable: (name) => variables[name],
    file: (path) => {
      const text = files[path];
      return text === undefined ? { problem: `the file ${path} does not exist` } : { text };
    },
  };
}

/** What a masked value was: the value in a wrapper with the reference it came from. */
interface Revealed {
  readonly secret: unknown;
  readonly ref: string | null;
}

/** A value with its secrets opened, for a test to compare. */
function opened(value: Value | undefined): unknown {
  if (value instanceof UnseenSecret) return { unseen: value.unseen.reason };
  if (value instanceof Secret) return { secret: value.reveal(), ref: value.ref } satisfies Revealed;
  if (isList(value)) return value.map(opened);
  if (isRecord(value))
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, opened(one)]));
  return value;
}

/** The fields of a target, secrets opened, and why references in them have no value. */
export function settings(one: Target, from: ReferenceSource = source()) {
  const { fields, missing } = resolveSettings(one, from);
  return {
    fields: Object.fromEntries(fields.map(({ field, value }) => [field.name, opened(value)])),
    missing: Object.fromEntries(missing.map(({ path, reason }) => [formatPath(path), reason])),
  };
}
