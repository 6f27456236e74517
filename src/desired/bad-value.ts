import { TYPE_NOUNS } from '../model/type-nouns.ts';
import type { Place } from './bad-keys.ts';
import { memberAt, type Node } from './node.ts';
import { inBlock } from './reference-place.ts';
import type { PlacedFinding } from './report.ts';
import { expectationAt, type Expectation } from './schema-lookup.ts';
import { isShowable } from './shown-key.ts';
import { locate } from './source-file.ts';

/** A value that its place does not take, once: of another type, or of the type but not of the form. */
export function badValue({ root, path, node }: Place): PlacedFinding {
  const expected = expectationAt(path);
  const kind = kindOf(node);
  const fits =
    expected.types.length === 0 ||
    expected.types.includes(kind) ||
    (kind === 'integer' && expected.types.includes('number'));
  const form = fits && kind === 'string' ? formAt(path) : null;
  const finding = {
    code: fits ? 'bad-value' : 'wrong-type',
    message: `${subject(path)} takes ${form?.[0] ?? phrase(expected)}.`,
    hint: form?.[1] ?? hintFor(expected, node, kind, path),
    path,
  } as const;
  return { ...caret(root, path, node), finding };
}

/** The value's start; of a map or list on the lines below its key, the key. */
function caret(
  root: Node,
  path: readonly string[],
  node: Node,
): { file: Node['file']; at: number } {
  const holder = node.kind === 'scalar' ? null : memberAt(root, path);
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

function phrase(expected: Expectation): string {
  const nouns = expected.types.map((type) =>
    type === 'string' && expected.secret
      ? 'a reference'
      : (TYPE_NOUNS[type] ?? type) + limits(type, expected),
  );
  const choices = expected.values.length > 0 ? [...expected.values] : nouns;
  if (expected.reference && !expected.types.includes('string')) choices.push('a reference');
  if (choices.length < 2) return choices[0] ?? 'something else';
  return `${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}`;
}

function limits(type: string, { minimum, maximum, filled }: Expectation): string {
  if (filled && (type === 'string' || type === 'object')) return ' that is not empty';
  if (type !== 'integer' || minimum === null) return '';
  return maximum === null ? ` of at least ${minimum}` : ` from ${minimum} to ${maximum}`;
}

/** What text must look like where the schema has a pattern for it, and how to write it. */
function formAt(path: readonly string[]): readonly [string, string] | null {
  const [block, name, list, , member = 'url'] = inBlock(path);
  if (block === 'name') return ['letters, digits, dots, - and _', 'A letter or digit comes first.'];
  if (block === 'server' && name === 'url') {
    return [
      'embedded:, or an address with http or https and a host',
      'Write it like https://agents.example.com, without userinfo, query and fragment.',
    ];
  }
  if (block !== 'settings' || name !== 'mcp_config') return null;
  if (member === 'command') return ['one word', 'What follows the program goes into args.'];
  if (member === 'name') return ['letters, digits, _ and -', 'Take other characters out.'];
  return member === 'url' && list !== 'stdio_servers'
    ? [
        'an address with http, https, ws or wss and a host',
        'Write it like https://mcp.example.com/mcp.',
      ]
    : null;
}

function hintFor(expected: Expectation, node: Node, kind: string, path: readonly string[]): string {
  const { types, keys, filled } = expected;
  const takes = (...wanted: readonly string[]) => types.some((type) => wanted.includes(type));
  if (takes('string') && !expected.secret && ['integer', 'number', 'boolean'].includes(kind))
    return 'Quote it, so that it is text.';
  if (filled && (kind === 'object' || kind === 'string'))
    return 'Write what it takes, or remove the key.';
  if (kind === 'null' && types.length > 0) {
    const thing = /^\d+$/.test(path.at(-1) ?? '') ? 'entry' : 'key';
    if (takes('array')) return `Write [] for an empty list, or remove the ${thing}.`;
    return takes('object') && !filled
      ? `Write {} for an empty map, or remove the ${thing}.`
      : `It cannot be null; remove the ${thing} to leave it alone.`;
  }
  if (keys.length > 0) {
    const some = keys.slice(0, 4).join(', ');
    const url = takes('string') ? 'a url, or ' : '';
    return `Write ${url}a map with keys such as ${some}.`;
  }
  const text = node.kind === 'scalar' && typeof node.value === 'string' ? node.value : '';
  const number = /^-?\d+(\.\d+)?$/.test(text);
  if (number && (takes('integer', 'number') || expected.values.includes(text)))
    return 'Write it without quotes.';
  if (takes('boolean') && /^(y|n|yes|no|on|off|true|false)$/i.test(text))
    return 'Write true or false without quotes; yes, no, on and off are text.';
  return expected.description || expectationAt(path.slice(0, -1)).description;
}

function kindOf(node: Node): string {
  if (node.kind === 'map') return 'object';
  if (node.kind === 'list') return 'array';
  if (node.value === null) return 'null';
  if (typeof node.value === 'number') return Number.isInteger(node.value) ? 'integer' : 'number';
  return typeof node.value;
}
