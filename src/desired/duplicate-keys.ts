import { isMap, isScalar, isSeq, type Node } from 'yaml';

/** The offsets of keys that their map has a second time. */
export function duplicateKeys(node: unknown): number[] {
  if (isSeq(node)) return node.items.flatMap(duplicateKeys);
  if (!isMap<Node, Node | null>(node)) return [];
  const seen = new Set<unknown>();
  return node.items.flatMap(({ key, value }) => {
    const known = isScalar(key) && seen.has(key.value);
    if (isScalar(key)) seen.add(key.value);
    return [...(known ? [key.range?.[0] ?? 0] : []), ...duplicateKeys(value)];
  });
}
