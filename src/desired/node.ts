import type { SourceFile } from './source-file.ts';
import { recordOf, type Value } from '../model/value.ts';

/** A value of the file with the place it stands at. Overlays share the nodes of the blocks below them. */
export type Node = ScalarNode | ListNode | MapNode;

interface Placed {
  readonly file: SourceFile;
  /** The offset at which the value starts. */
  readonly at: number;
  /** A problem of the value itself was reported when it was read: nothing more is said of it. */
  readonly reported: boolean;
}

export interface ScalarNode extends Placed {
  readonly kind: 'scalar';
  readonly value: null | boolean | number | string;
  /** A key with nothing behind it. */
  readonly bare: boolean;
}

export interface ListNode extends Placed {
  readonly kind: 'list';
  readonly items: readonly Node[];
}

export interface MapNode extends Placed {
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

/** The text of a scalar, or undefined where the node is none. */
export function textOf(node: Node | undefined): string | undefined {
  return node?.kind === 'scalar' && typeof node.value === 'string' ? node.value : undefined;
}

/** The node that keys and list positions lead to, as far as there is one. */
export function nodeAt(root: Node, path: readonly string[]): Node | undefined {
  let node: Node | undefined = root;
  for (const segment of path) {
    if (node?.kind === 'list') node = node.items[Number(segment)];
    else node = member(node, segment);
  }
  return node;
}

/** The member that keys lead to, where a map holds it. */
export function memberAt(root: Node, path: readonly string[]): Member | null {
  const parent = nodeAt(root, path.slice(0, -1));
  return parent?.kind === 'map' ? (parent.members.get(path.at(-1) ?? '') ?? null) : null;
}

/** The plain value, references as the text they are written in. */
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
