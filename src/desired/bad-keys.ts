import { suggest } from '../model/suggest.ts';
import { memberAt, type Node } from './node.ts';
import { inBlock } from './reference-place.ts';
import type { Finding, PlacedFinding } from './report.ts';
import { expectationAt } from './schema-lookup.ts';
import { isShowable } from './shown-key.ts';

/** A value of the file and the way to it. */
export interface Place {
  readonly root: Node;
  readonly path: readonly string[];
  readonly node: Node;
}

/** Keys that the schema does not have, each at the key. */
export function unknownKeys({ root, path }: Place, keys: ReadonlySet<string>): PlacedFinding[] {
  return [...keys].flatMap((key) => {
    const found = memberAt(root, [...path, key]);
    // A merge key: its alias has been reported.
    if (found === null || (key === '<<' && found.node.reported)) return [];
    const finding = { ...unknownKey(path, key), path: [...path, key] };
    return [{ file: found.keyFile, at: found.keyAt, finding }];
  });
}

function unknownKey(path: readonly string[], key: string): Finding {
  const { keys } = expectationAt(path);
  const near = suggest(key, keys);
  const where = placeName(path);
  const elsewhere = ['settings', 'server'].find((block) =>
    expectationAt([block]).keys.includes(key),
  );
  const hint =
    near !== null
      ? `Did you mean ${near}?`
      : elsewhere !== undefined && inBlock(path).length === 0
        ? `Move it under ${elsewhere}.`
        : `Known here: ${keys.join(', ')}.`;
  const message = isShowable(key)
    ? `There is no ${key} ${where}.`
    : `This key is not known ${where}.`;
  return { code: 'unknown-key', message, hint };
}

/** Where keys stand, in words. */
function placeName(path: readonly string[]): string {
  const last = path.at(-1);
  if (last === undefined) return 'at the top of the file';
  if (path.length === 2 && path[0] === 'environments') return 'in an environment';
  if (/^\d+$/.test(last)) return `in an entry of ${path.at(-2)}`;
  return isShowable(last) ? `in ${last}` : 'here';
}

/** Keys that must be there, each at the key of its parent. One that stands there misspelt has been reported as that. */
export function missingKeys(
  { root, path, node }: Place,
  keys: ReadonlySet<string>,
): PlacedFinding[] {
  const holder = memberAt(root, path);
  return [...keys].flatMap((key) => {
    if (isMisspelt(node, path, key)) return [];
    const top = path.length === 0;
    const expected = expectationAt([...path, key]);
    const finding = {
      code: 'missing-key',
      message: `${key} is missing ${top ? 'at the top of the file' : 'here'}.`,
      hint: top
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

/** Whether a map holds an unknown key for which this one was suggested. */
export function isMisspelt(node: Node | undefined, path: readonly string[], key: string): boolean {
  if (node?.kind !== 'map') return false;
  const { keys } = expectationAt(path);
  return [...node.members.keys()].some(
    (other) => !keys.includes(other) && suggest(other, keys) === key,
  );
}

/** Names of a person's own that have characters they cannot have. */
export function badNames({ root, path }: Place, keys: ReadonlySet<string>): PlacedFinding[] {
  return [...keys].flatMap((key) => {
    const found = memberAt(root, [...path, key]);
    if (found === null) return [];
    const [message, hint] =
      path[0] === 'environments' && path.length === 1
        ? [
            'The name of an environment cannot have these characters.',
            'Use letters, digits, dots, - and _, a letter or digit first.',
          ]
        : [
            'No header can have this name.',
            'Use letters, digits and -, without blanks and colons.',
          ];
    const finding = { code: 'bad-value', message, hint, path: [...path, key] } as const;
    return [{ file: found.keyFile, at: found.keyAt, finding }];
  });
}
