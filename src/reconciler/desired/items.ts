import type { DesiredItem } from '../model/collection.ts';
import { Secret } from '../model/secret.ts';
import type { Resolve } from './blocks/block.ts';
import { member, textOf, type Member, type Node, locate } from './node.ts';

/** What a block of a collection declares by name. */
export function namedItems(node: Node, resolve: Resolve): readonly DesiredItem[] {
  return node.kind === 'map'
    ? [...node.members.values()].map((one) => namedItem(one, resolve))
    : [];
}

/** `NAME: REFERENCE`, `NAME: {value: REFERENCE, description: TEXT}`, or `NAME: null` for one that is to be removed. */
function namedItem({ key: name, node, keyFile, keyAt }: Member, resolve: Resolve): DesiredItem {
  const written = textOf(node.kind === 'map' ? member(node, 'value') : node);
  const value = written === undefined ? null : resolve(written);
  return {
    name,
    value: typeof value === 'string' ? new Secret(value) : (value as Secret | null),
    description: textOf(member(node, 'description')),
    source: locate(keyFile, keyAt),
  };
}
