import type { SourceFile } from './source-file.ts';
import { recordOf, type Value } from '../model/value.ts';

/**
 * A value of the file with its place. Overlays share the nodes of the blocks below them. The nodes of an environment of a long file
 * are made anew whenever they are looked at.
 */
export type Node = ScalarNode | ListNode | MapNode;

interface Located {
  readonly file: SourceFile;
  /** The offset at which the value starts. */
  readonly at: number;
  /** Whether a problem of the value was reported when it was read: then nothing more is reported. */
  readonly reported: boolean;
}

export interface ScalarNode extends Located {
  readonly kind: 'scalar';
  readonly value: null | boolean | number | string;
  /** A key or dash without a value. */
  readonly bare: boolean;
}

export interface ListNode extends Located {
  readonly kind: 'list';
  readonly items: readonly Node[];
}

export interface MapNode extends Located {
  readonly kind: 'map';
  readonly members: ReadonlyMap<string, Member>;
}

export interface Member {
  readonly key: string;
  readonly keyFile: SourceFile;
  /** The offset at which the key starts. */
  readonly keyAt: number;
  readonly node: Node;
}

export function member(node: Node | undefined, key: string): Node | undefined {
  return node?.kind === 'map' ? node.members.get(key)?.node : undefined;
}

/** The text of a scalar; undefined if the node is not text. */
export function textOf(node: Node | undefined): string | undefined {
  return node?.kind === 'scalar' && typeof node.value === 'string' ? node.value : undefined;
}

/** The node that keys and list positions lead to, if there is one. */
export function nodeAt(root: Node | undefined, path: readonly string[]): Node | undefined {
  let node: Node | undefined = root;
  for (const segment of path) {
    if (node?.kind === 'list') node = node.items[Number(segment)];
    else node = member(node, segment);
  }
  return node;
}

/** The member that keys lead to, if there is one. */
export function memberAt(root: Node, path: readonly string[]): Member | null {
  const parent = nodeAt(root, path.slice(0, -1));
  return parent?.kind === 'map' ? (parent.members.get(path.at(-1) ?? '') ?? null) : null;
}

/** The plain value, references as they are written. */
export function plainValue(node: Node): Value {
  if (node.kind === 'scalar') return node.value;
  if (node.kind === 'list') return node.items.map(plainValue);
  const record: Record<string, Value> = {};
  for (const { key, node: value } of node.members.values()) {
    if (key === '__proto__')
      return recordOf([...node.members.values()].map((m) => [m.key, plainValue(m.node)]));
    record[key] = plainValue(value);
  }
  return record;
}

/** One value merged over another: maps merge by key, scalars and lists replace. Every value keeps its place. */
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
