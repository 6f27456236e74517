import type { Diagnostic } from '../model/diagnostic.ts';
import { suggest } from '../model/suggest.ts';
import { nodeAt, plainValue, type MapNode, type Node } from './node.ts';
import { inBlock } from './reference-place.ts';
import { diagnostic, shownKey, type Finding } from './report.ts';
import { expectationAt, type Expectation } from './schema-lookup.ts';
import { validate } from './schema-validator.gen.ts';

/** What the generated validator says of one value. Its messages are not used: they may carry what the file holds. */
interface SchemaError {
  readonly instancePath: string;
  readonly keyword: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** The file against the schema. Values whose pointers are in `reported` have been spoken of already. */
export function checkSchema(root: MapNode, reported: ReadonlySet<string>): Diagnostic[] {
  const check = validate as unknown as ((data: unknown) => boolean) & {
    errors: SchemaError[] | null;
  };
  if (check(plainValue(root))) return [];
  const byPath = grouped(check.errors ?? []);
  const diagnostics: Diagnostic[] = [];
  for (const [at, errors] of byPath) {
    if (reported.has(at)) continue;
    const path = segments(at);
    const node = nodeAt(root, path);
    if (node === undefined) continue;
    diagnostics.push(
      ...unknownKeys(root, path, errors),
      ...missingKeys(root, path, errors),
      ...badKeys(root, path, errors),
    );
    const deeper = [...byPath.keys()].some((other) => other.startsWith(`${at}/`));
    const shape = errors.some(
      ({ keyword }) =>
        keyword === 'additionalProperties' || keyword === 'required' || keyword === 'propertyNames',
    );
    if (!shape && !deeper) diagnostics.push(badValue(root, path, node));
  }
  return diagnostics;
}

function grouped(errors: readonly SchemaError[]): Map<string, SchemaError[]> {
  const groups = new Map<string, SchemaError[]>();
  for (const error of errors) {
    const group = groups.get(error.instancePath);
    if (group === undefined) groups.set(error.instancePath, [error]);
    else group.push(error);
  }
  return groups;
}

function segments(at: string): string[] {
  return at
    .split('/')
    .slice(1)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function unknownKeys(
  root: Node,
  path: readonly string[],
  errors: readonly SchemaError[],
): Diagnostic[] {
  const keys = errors
    .filter((error) => error.keyword === 'additionalProperties')
    .map((error) => String(error.params['additionalProperty']));
  return [...new Set(keys)].flatMap((key) => {
    const found = memberOf(root, [...path, key]);
    return found === null
      ? []
      : [
          diagnostic(found.keyFile, found.keyAt, {
            ...unknownKey(path, key),
            path: [...path, key],
          }),
        ];
  });
}

function unknownKey(path: readonly string[], key: string): Finding {
  const { keys } = expectationAt(path);
  const near = suggest(key, keys);
  if (inBlock(path)[0] === 'guards' && near === null) {
    return {
      code: 'not-in-version',
      message: `The guard ${shownKey(key)} is not in this version of setpoint.`,
      hint: `The guards are ${keys.join(' and ')}.`,
    };
  }
  const where = path.length === 0 ? 'at the top of the file' : `in ${shownKey(path.at(-1) ?? '')}`;
  return {
    code: 'unknown-key',
    message: `There is no ${shownKey(key)} ${where}.`,
    hint: near === null ? `Known here: ${keys.join(', ')}.` : `Did you mean ${near}?`,
  };
}

function missingKeys(
  root: Node,
  path: readonly string[],
  errors: readonly SchemaError[],
): Diagnostic[] {
  const keys = errors
    .filter((error) => error.keyword === 'required')
    .map((error) => String(error.params['missingProperty']));
  const holder = memberOf(root, path);
  const node = nodeAt(root, path) ?? root;
  return [...new Set(keys)].map((key) => {
    const finding: Finding = {
      code: 'missing-key',
      message: `${key} is missing here.`,
      hint:
        path.length === 0
          ? `Add ${key}: ${expectationAt([key]).values[0] ?? '…'}.`
          : expectationAt([...path, key]).description,
      path,
    };
    if (path.length === 0) return diagnostic(root.file, 0, finding);
    return holder === null
      ? diagnostic(node.file, node.at, finding)
      : diagnostic(holder.keyFile, holder.keyAt, finding);
  });
}

function badKeys(
  root: Node,
  path: readonly string[],
  errors: readonly SchemaError[],
): Diagnostic[] {
  return errors
    .filter((error) => error.keyword === 'propertyNames')
    .flatMap((error) => {
      const key = String(error.params['propertyName']);
      const found = memberOf(root, [...path, key]);
      if (found === null) return [];
      const finding: Finding = {
        code: 'bad-value',
        message: 'This name has characters that it cannot have.',
        hint:
          path[0] === 'environments'
            ? 'Use letters, digits, dots, - and _, a letter or digit first.'
            : 'Use the name of an HTTP header.',
        path: [...path, key],
      };
      return [diagnostic(found.keyFile, found.keyAt, finding)];
    });
}

function badValue(root: Node, path: readonly string[], node: Node): Diagnostic {
  const expected = expectationAt(path);
  const kind = kindOf(node);
  const name = path.findLast((segment) => !/^\d+$/.test(segment)) ?? 'The file';
  const fits =
    expected.types.includes(kind) ||
    (kind === 'integer' && expected.types.includes('number')) ||
    expected.types.length === 0;
  const at = kind === 'object' && path.length > 0 ? memberOf(root, path) : null;
  const finding: Finding = {
    code: fits ? 'bad-value' : 'wrong-type',
    message: `${shownKey(name)} takes ${phrase(expected)}.`,
    hint: hintFor(expected, kind),
    path,
  };
  return at === null
    ? diagnostic(node.file, node.at, finding)
    : diagnostic(at.keyFile, at.keyAt, finding);
}

const NOUNS: Readonly<Record<string, string>> = {
  string: 'text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  object: 'a map',
  array: 'a list',
  null: 'null',
};

function phrase(expected: Expectation): string {
  const { minimum, maximum } = expected;
  const range =
    minimum === null
      ? ''
      : maximum === null
        ? ` from ${minimum}`
        : ` from ${minimum} to ${maximum}`;
  const nouns = expected.types.map(
    (type) => (NOUNS[type] ?? type) + (type === 'integer' ? range : ''),
  );
  const choices = expected.values.length > 0 ? [...expected.values] : nouns;
  if (expected.reference) choices.push('a reference');
  if (choices.length < 2) return choices[0] ?? 'something else';
  return `${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}`;
}

function hintFor(expected: Expectation, kind: string): string {
  const textWanted =
    expected.types.includes('string') &&
    (kind === 'integer' || kind === 'number' || kind === 'boolean');
  return textWanted ? 'Quote it, so that it is text.' : expected.description;
}

function kindOf(node: Node): string {
  if (node.kind === 'map') return 'object';
  if (node.kind === 'list') return 'array';
  if (node.value === null) return 'null';
  if (typeof node.value === 'number') return Number.isInteger(node.value) ? 'integer' : 'number';
  return typeof node.value;
}

function memberOf(root: Node, path: readonly string[]) {
  const parent = nodeAt(root, path.slice(0, -1));
  return parent?.kind === 'map' ? (parent.members.get(path.at(-1) ?? '') ?? null) : null;
}
