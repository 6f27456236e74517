import type { DesiredItem } from '../model/collection.ts';
import type { ReferenceSource } from '../model/ports.ts';
import { Secret } from '../model/secret.ts';
import { BLOCKS } from './blocks.ts';
import type { Block } from './blocks/block.ts';
import { resolveText } from './lookup.ts';
import { member, textOf, type Member } from './node.ts';
import { locate } from './source-file.ts';
import type { Target } from './target.ts';

/** What a target declares by name in the blocks of collections, in the order of the file, references resolved. */
export function desiredItems(
  target: Target,
  source: ReferenceSource,
): ReadonlyMap<string, readonly DesiredItem[]> {
  const all = new Map<string, readonly DesiredItem[]>();
  for (const name of COLLECTIONS) {
    const node = target[name];
    if (node?.kind !== 'map' || node.members.size === 0) continue;
    all.set(
      name,
      [...node.members.values()].map((one) => desiredItem(one, source)),
    );
  }
  return all;
}

const COLLECTIONS = BLOCKS.filter((block: Block) => block.holdsItems === true).map(
  ({ name }) => name,
);

/** `NAME: REFERENCE`, `NAME: {value: REFERENCE, description: TEXT}`, or `NAME: null` for one that is to be removed. */
function desiredItem({ key: name, node, keyFile, keyAt }: Member, source: ReferenceSource) {
  const written = textOf(node.kind === 'map' ? member(node, 'value') : node);
  const value = written === undefined ? null : resolveText(written, source);
  return {
    name,
    value: typeof value === 'string' ? new Secret(value) : value,
    description: textOf(member(node, 'description')),
    source: locate(keyFile, keyAt),
  };
}
