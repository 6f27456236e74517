import { isMap, isScalar, isSeq, type CST, type Node, type Pair, type YAMLMap } from 'yaml';
import type { Json } from '../model/value.ts';
import type { JsonScalar } from './json-value.ts';

/** A value of the file with what is needed to change it in place. Offsets count in the text without a byte order mark. */
export type EditNode = EditScalar | EditMap | EditList;

/** Where something stands. `end` is that of what it says: trailing blanks, comments and line breaks are not part of it. */
export interface Spot {
  readonly start: number;
  readonly end: number;
}

export interface EditScalar extends Spot {
  readonly kind: 'scalar';
  readonly value: JsonScalar;
  readonly style: 'plain' | 'single' | 'double' | 'block';
  /** A comment behind the `|` or `>` of a block scalar, with its #. */
  readonly comment: string;
}

export interface EditMap extends Spot {
  readonly kind: 'map';
  /** Written in braces. */
  readonly flow: boolean;
  readonly members: readonly EditMember[];
}

export interface EditMember extends Spot {
  readonly key: string;
  /** Whether the key stands in double quotes, as in JSON. */
  readonly quoted: boolean;
  /** The offset of the colon. */
  readonly colon: number;
  readonly node: EditNode;
}

export interface EditList extends Spot {
  readonly kind: 'list';
  /** Written in brackets. */
  readonly flow: boolean;
  readonly items: readonly EditItem[];
}

/** An item; in block style it starts with its dash. */
export interface EditItem extends Spot {
  readonly node: EditNode;
}

/** The parser's node, made with its source tokens kept, as the editor's own. Null for what settings files do not hold. */
export function editNode(node: Node | null, text: string): EditNode | null {
  if (isScalar(node)) return scalarNode(node, text);
  if (isMap(node)) return mapNode(node, text);
  if (!isSeq(node)) return null;
  const [start, close] = node.range ?? [0, 0];
  const flow = node.flow === true;
  const dashes = flow ? [] : dashesOf(node.srcToken);
  const items: EditItem[] = [];
  for (const [index, item] of node.items.entries()) {
    const inner = editNode(item as Node, text);
    const dash = flow ? inner?.start : dashes[index];
    if (inner === null || dash === undefined) return null;
    items.push({ start: dash, end: inner.end, node: inner });
  }
  return { kind: 'list', start, end: flow ? close : endOf(items, close), flow, items };
}

function mapNode(node: YAMLMap, text: string): EditNode | null {
  const [start, close] = node.range ?? [0, 0];
  const members: EditMember[] = [];
  for (const { key, value, srcToken } of node.items as Pair<Node, Node | null>[]) {
    const colon = srcToken?.sep?.find(({ type }) => type === 'map-value-ind')?.offset;
    const inner = editNode(value, text);
    if (!isScalar(key) || inner === null || colon === undefined) return null;
    members.push({
      key: String(key.value),
      quoted: key.type === 'QUOTE_DOUBLE',
      colon,
      start:
        srcToken?.start.find(({ type }) => type === 'explicit-key-ind')?.offset ??
        key.range?.[0] ??
        0,
      end: inner.end,
      node: inner,
    });
  }
  const flow = node.flow === true;
  return { kind: 'map', start, end: flow ? close : endOf(members, close), flow, members };
}

function endOf(spots: readonly Spot[], close: number): number {
  return spots.at(-1)?.end ?? close;
}

function dashesOf(token: CST.Token | undefined): number[] {
  if (token?.type !== 'block-seq') return [];
  return token.items.flatMap(
    ({ start }) => start.find(({ type }) => type === 'seq-item-ind')?.offset ?? [],
  );
}

function scalarNode(node: Node, text: string): EditScalar | null {
  if (!isScalar(node)) return null;
  const { value, type, range, srcToken } = node;
  if (value !== null && !['string', 'number', 'boolean'].includes(typeof value)) return null;
  const [start, close] = range ?? [0, 0];
  const common = { kind: 'scalar', start, value: value as JsonScalar } as const;
  if (srcToken?.type !== 'block-scalar')
    return { ...common, end: close, style: STYLES[type ?? ''] ?? 'plain', comment: '' };
  const props = srcToken.props.filter((prop) => 'source' in prop);
  const header = props.find((prop) => prop.type === 'block-scalar-header')?.source ?? '';
  const comment = props.find((prop) => prop.type === 'comment')?.source ?? '';
  const whole = text.slice(start, close);
  const kept = header.includes('+') ? whole.replace(/\r?\n$/, '') : whole.trimEnd();
  return { ...common, end: start + kept.length, style: 'block', comment };
}

const STYLES: Readonly<Record<string, EditScalar['style']>> = {
  QUOTE_DOUBLE: 'double',
  QUOTE_SINGLE: 'single',
};

/** The data a node stands for. */
export function plainOf(node: EditNode): Json {
  if (node.kind === 'scalar') return node.value;
  if (node.kind === 'list') return node.items.map((item) => plainOf(item.node));
  return Object.fromEntries(node.members.map((member) => [member.key, plainOf(member.node)]));
}
