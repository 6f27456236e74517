import type { Member, Node } from './node.ts';

/** One value merged over another: maps merge by key, scalars and lists replace. Positions stay those of each value. */
export function overlay(below: Node | undefined, above: Node | undefined): Node | undefined {
  if (above === undefined) return below;
  if (below?.kind !== 'map' || above.kind !== 'map') return above;
  const members = new Map<string, Member>(below.members);
  for (const [key, member] of above.members) {
    const node = overlay(below.members.get(key)?.node, member.node) ?? member.node;
    members.set(key, node === member.node ? member : { ...member, node });
  }
  return { ...above, members };
}
