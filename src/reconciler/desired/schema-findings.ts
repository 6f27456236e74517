import { isShowable } from '../model/secret-words.ts';
import { formatPath } from '../model/path.ts';
import { TYPE_NOUNS } from '../model/wording.ts';
import { findBlock } from './blocks.ts';
import { inBlock } from './blocks/block.ts';
import {
  findMember,
  type Node,
  type Finding,
  type PlacedFinding,
  type SourceFile,
  locate,
} from './node.ts';
import { findExpectation, isMisspelt, type Expectation } from './schema-lookup.ts';

/** A value that the schema refuses, and its path from the root of the file. */
export interface RefusedValue {
  readonly root: Node;
  readonly path: readonly string[];
  readonly node: Node;
}

/** Keys that the schema does not have, each reported at the key. */
export function unknownKeys(
  { root, path }: RefusedValue,
  keys: ReadonlySet<string>,
): PlacedFinding[] {
  const { keys: known } = findExpectation(path);
  return [...keys].flatMap((key) => {
    const found = findMember(root, [...path, key]);
    // The alias of a merge key has been reported.
    if (found === null || (key === '<<' && found.node.reported)) return [];
    const about = unknownKey(root.file, path, key, known);
    const finding = {
      code: 'unknown-key',
      ...about,
      path: [...path, key],
    } as const;
    return [{ file: found.keyFile, at: found.keyAt, finding }];
  });
}

function unknownKey(
  { suggestions }: SourceFile,
  path: readonly string[],
  key: string,
  keys: readonly string[],
): Pick<Finding, 'hint' | 'message' | 'fix'> {
  const where = whereInWords(path);
  const message = `Unknown key ${isShowable(key) ? `${key} ` : ''}${where}.`;
  const home = findKeyHome(path, key);
  if (home !== null) return { message, hint: home };
  const rename = suggestions.suggest(key, keys);
  return rename === null
    ? { message, hint: describeAvailableKeys(path, keys) }
    : { message, hint: `Did you mean ${rename}?`, fix: { rename } };
}

/** Returns where to move a misplaced key; null if no block has it. */
function findKeyHome(path: readonly string[], key: string): string | null {
  const [block] = inBlock(path);
  if (block !== undefined)
    return nameUnknownKeys('').has(key)
      ? `Move it to the top of the file, next to ${block}.`
      : null;
  const under = ['settings', 'server'].find((one) => nameUnknownKeys(one).has(key));
  return under === undefined ? null : `Move it under ${under}.`;
}

const named = new Map<string, ReadonlySet<string>>();

/** The keys that a block has by name; of no block those at the top of a file. */
function nameUnknownKeys(block: string): ReadonlySet<string> {
  const keys = named.get(block) ?? new Set(findExpectation(block === '' ? [] : [block]).keys);
  named.set(block, keys);
  return keys;
}

/** More names than that are listed by a command of their own. */
const MOST_NAMES = 12;

function describeAvailableKeys(path: readonly string[], keys: readonly string[]): string {
  const block = inBlock(path);
  return keys.length > MOST_NAMES && block.length === 1
    ? `Run setpoint explain ${formatPath(block)} to list the names that exist.`
    : `Available: ${keys.join(', ')}.`;
}

/** The place of a key, in words. */
function whereInWords(path: readonly string[]): string {
  const last = path.at(-1);
  if (last === undefined) return 'at the top of the file';
  if (path.length === 2 && path[0] === 'environments') return 'in an environment';
  if (/^\d+$/.test(last)) return `in an entry of ${path.at(-2)}`;
  return isShowable(last) ? `in ${last}` : 'here';
}

/** Required keys that are missing, each reported at its parent's key; one that is there misspelt is not reported twice. */
export function missingKeys(
  { root, path, node }: RefusedValue,
  keys: ReadonlySet<string>,
): PlacedFinding[] {
  const holder = findMember(root, path);
  return [...keys].flatMap((key) => {
    if (isMisspelt(node, path, key)) return [];
    const top = path.length === 0;
    const expected = findExpectation([...path, key]);
    const finding = {
      code: 'missing-key',
      message: `${key} is missing ${top ? 'at the top of the file' : 'here'}.`,
      hint:
        top || expected.description === ''
          ? `Add ${key}: ${expected.values[0] ?? '…'}.`
          : `Add ${key}: ${expected.description.replace(/^The /, 'the ')}`,
      path,
    } as const;
    if (top) return [{ file: root.file, at: 0, finding }];
    return [
      holder === null
        ? { file: node.file, at: node.at, finding }
        : { file: holder.keyFile, at: holder.keyAt, finding },
    ];
  });
}

/** Names of environments, and keys of blocks, with characters that they cannot have. */
export function badNames({ root, path }: RefusedValue, keys: ReadonlySet<string>): PlacedFinding[] {
  const holder = findBlock(path);
  return [...keys].flatMap((key) => {
    const found = findMember(root, [...path, key]);
    if (found === null) return [];
    const [message, hint] = holder === null ? ENVIRONMENT_NAMING : describeNaming(holder);
    const finding = { code: 'bad-value', message, hint, path: [...path, key] } as const;
    return [{ file: found.keyFile, at: found.keyAt, finding }];
  });
}

const ENVIRONMENT_NAMING = [
  'The name of an environment cannot have these characters.',
  'Use letters, digits, dots, - and _, a letter or digit first.',
] as const;

function describeNaming({ block, path }: NonNullable<ReturnType<typeof findBlock>>) {
  const own = block.keyForm?.(path);
  if (own !== undefined) return own;
  const { namePattern } = findExpectation([block.name, ...path]);
  const form = namePattern === null ? '' : `: ${namePattern}`;
  return [`Invalid name in ${block.name}.`, `Use one that the schema allows${form}.`] as const;
}

/** A value of a type that its place does not allow, or of the type but not of the form. */
export function createValueFinding({ root, path, node }: RefusedValue): PlacedFinding {
  const expected = findExpectation(path);
  const unfinished = keyWithoutColon(node, expected);
  if (unfinished !== null) return { ...caret(root, path, node), finding: { ...unfinished, path } };
  const kind = describeNodeKind(node);
  const fits =
    expected.types.length === 0 ||
    expected.types.includes(kind) ||
    (kind === 'integer' && expected.types.includes('number'));
  const form = fits && kind === 'string' ? describeTextForm(path) : null;
  const finding = {
    code: fits ? 'bad-value' : 'wrong-type',
    message:
      path.length === 1 && path[0] === 'version'
        ? `This setpoint reads version ${phrase(expected)}.`
        : `${subject(path)} must be ${form?.[0] ?? phraseAt(path, expected)}.`,
    hint: form?.[1] ?? hintFor(expected, node, kind, path),
    path,
  } as const;
  return { ...caret(root, path, node), finding };
}

/** A map whose only line lacks its colon: `language en` is text to YAML. */
function keyWithoutColon(
  node: Node,
  { types, keys }: Expectation,
): Omit<PlacedFinding['finding'], 'path'> | null {
  if (node.kind !== 'scalar' || typeof node.value !== 'string' || types.includes('string'))
    return null;
  const [, key = ''] = /^([A-Za-z_][A-Za-z0-9_-]*)[\s:=]/.exec(node.value) ?? [];
  if (!keys.includes(key)) return null;
  return {
    code: 'wrong-type',
    message: `Missing ": " after "${key}".`,
    hint: 'Write a colon and a space between key and value.',
  };
}

/** The value's start; for a map or list on the lines below its key, the key. */
function caret(
  root: Node,
  path: readonly string[],
  node: Node,
): { file: Node['file']; at: number } {
  const holder = node.kind === 'scalar' ? null : findMember(root, path);
  const below =
    holder !== null &&
    locate(holder.keyFile, holder.keyAt).line !== locate(node.file, node.at).line;
  return below ? { file: holder.keyFile, at: holder.keyAt } : { file: node.file, at: node.at };
}

function subject(path: readonly string[]): string {
  const last = path.at(-1) ?? '';
  if (/^\d+$/.test(last)) return `An entry of ${path.findLast((key) => !/^\d+$/.test(key))}`;
  return isShowable(last) ? last : 'This key';
}

function phraseAt(path: readonly string[], expected: Expectation): string {
  return path.length === 1 && path[0] === 'extends'
    ? 'a path or a list of paths'
    : phrase(expected);
}

function phrase(expected: Expectation): string {
  const nouns = expected.types.map((type) =>
    type === 'string' && expected.secret
      ? 'a reference'
      : (TYPE_NOUNS[type] ?? type) + formatExpectedRange(type, expected),
  );
  const choices = expected.values.length > 0 ? [...expected.values] : nouns;
  if (expected.reference && !expected.types.includes('string')) choices.push('a reference');
  if (choices.length < 2) return choices[0] ?? 'something else';
  return `${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}`;
}

function formatExpectedRange(
  type: string,
  { minimum, maximum, above, below, filled }: Expectation,
): string {
  if (filled && (type === 'string' || type === 'object')) return ' that is not empty';
  if (type !== 'integer' && type !== 'number') return '';
  if (minimum !== null && maximum !== null) return ` from ${minimum} to ${maximum}`;
  const bounds = [
    ...(minimum === null ? [] : [`at least ${minimum}`]),
    ...(above === null ? [] : [`more than ${above}`]),
    ...(maximum === null ? [] : [`at most ${maximum}`]),
    ...(below === null ? [] : [`less than ${below}`]),
  ];
  return bounds.length === 0 ? '' : ` of ${bounds.join(' and ')}`;
}

/** Returns the form of text if the schema has a pattern for it, and how to write it. */
function describeTextForm(path: readonly string[]): readonly [phrase: string, hint: string] | null {
  if (inBlock(path)[0] === 'name')
    return ['made of letters, digits, dots, - and _', 'A letter or digit comes first.'];
  const found = findBlock(path);
  return found?.block.textForm?.(found.path) ?? null;
}

function hintFor(expected: Expectation, node: Node, kind: string, path: readonly string[]): string {
  const { types, keys, values, filled } = expected;
  if (path.length === 1 && path[0] === 'version') return `Write version: ${values.join(' or ')}.`;
  const allows = (...some: readonly string[]) => types.some((type) => some.includes(type));
  if (allows('string') && !expected.secret && ['integer', 'number', 'boolean'].includes(kind))
    return 'Quote it to make it text.';
  if (filled && (kind === 'object' || kind === 'string'))
    return 'Write a value, or remove the key.';
  if (kind === 'null' && types.length > 0) {
    const thing = /^\d+$/.test(path.at(-1) ?? '') ? 'entry' : 'key';
    if (allows('array')) return `Write [] for an empty list, or remove the ${thing}.`;
    return allows('object') && !filled
      ? `Write {} for an empty map, or remove the ${thing}.`
      : `It cannot be null. Remove the ${thing} to leave it alone.`;
  }
  if (keys.length > 0) {
    const some = keys.slice(0, 4).join(', ');
    const url = expected.secret ? 'a reference, or ' : allows('string') ? 'a url, or ' : '';
    return `Write ${url}a map with keys such as ${some}.`;
  }
  const text = node.kind === 'scalar' && typeof node.value === 'string' ? node.value : '';
  const number = /^-?\d+(\.\d+)?$/.test(text);
  if (number && (allows('integer', 'number') || expected.values.includes(text)))
    return 'Write it without quotes.';
  if (allows('boolean') && /^(y|n|yes|no|on|off|true|false)$/i.test(text))
    return 'Write true or false without quotes; yes, no, on and off are text.';
  return expected.description || findExpectation(path.slice(0, -1)).description;
}

function describeNodeKind(node: Node): string {
  if (node.kind === 'map') return 'object';
  if (node.kind === 'list') return 'array';
  if (node.value === null) return 'null';
  if (typeof node.value === 'number') return Number.isInteger(node.value) ? 'integer' : 'number';
  return typeof node.value;
}
