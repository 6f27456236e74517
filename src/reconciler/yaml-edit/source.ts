import { duplicateKeys, YAML_OPTIONS } from '../desired/read-yaml.ts';
import type { Json } from '../model/value.ts';
import {
  type CST,
  isMap,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  parseDocument,
  type YAMLMap,
} from 'yaml';

/** A settings file's text, ready to be edited. */
export interface YamlSource {
  /** The byte order mark that the file starts with, or nothing. */
  readonly mark: string;
  /** The text after it. */
  readonly text: string;
  readonly root: EditMap;
  readonly layout: Layout;
}

/** The layout of the file, which added lines follow. Widths are columns. */
export interface Layout {
  readonly eol: string;
  /** From a key to the keys below it. */
  readonly step: number;
  /** From a key to the dashes below it. */
  readonly dash: number;
  /** From a dash to its value. */
  readonly gap: number;
}

/** Reads the text of a settings file; null if it is not valid YAML with a map at its top. */
export function yamlSource(whole: string): YamlSource | null {
  const mark = whole.startsWith('\uFEFF') ? '\uFEFF' : '';
  const text = whole.slice(mark.length);
  const document = parseDocument(text, { ...YAML_OPTIONS, keepSourceTokens: true });
  if (document.errors.length > 0 || duplicateKeys(document.contents).length > 0) return null;
  const root = editNode(document.contents, text);
  if (root?.kind !== 'map') return null;
  return { mark, text, root, layout: measureLayout(text, root) };
}

export function computeColumn(text: string, offset: number): number {
  return offset - lineStart(text, offset);
}

export function lineStart(text: string, offset: number): number {
  return text.lastIndexOf('\n', offset - 1) + 1;
}

/** Returns the end of the line of an offset, before its line break. */
export function lineEnd(text: string, offset: number): number {
  const feed = text.indexOf('\n', offset);
  if (feed === -1) return text.length;
  return text[feed - 1] === '\r' ? feed - 1 : feed;
}

function measureLayout(text: string, root: EditMap): Layout {
  const feed = text.indexOf('\n');
  const found: { step?: number; dash?: number; gap?: number } = {};
  measure(text, root, found);
  const step = found.step ?? 2;
  return {
    eol: feed > 0 && text[feed - 1] === '\r' ? '\r\n' : '\n',
    step,
    dash: found.dash ?? step,
    gap: found.gap ?? 2,
  };
}

/** Finds the first of each width in the file. */
function measure(
  text: string,
  node: EditNode,
  found: { step?: number; dash?: number; gap?: number },
): void {
  if (node.kind === 'scalar' || node.flow) return;
  const column = (offset: number) => computeColumn(text, offset);
  if (node.kind === 'list') {
    for (const item of node.items) {
      if (lineStart(text, item.start) === lineStart(text, item.node.start))
        found.gap ??= item.node.start - item.start;
      measure(text, item.node, found);
    }
    return;
  }
  for (const { start, node: value } of node.members) {
    if (value.kind === 'map' && !value.flow && value.members[0] !== undefined)
      found.step ??= column(value.members[0].start) - column(start);
    if (value.kind === 'list' && !value.flow && value.items[0] !== undefined)
      found.dash ??= column(value.items[0].start) - column(start);
    measure(text, value, found);
  }
}

/** A value of the file with what is needed to change it in place. Offsets are those of the text without a byte order mark. */
export type EditNode = EditScalar | EditMap | EditList;

/** A range of the text. Trailing blanks, comments and line breaks are not part of it. */
export interface Spot {
  readonly start: number;
  readonly end: number;
}

export interface EditScalar extends Spot {
  readonly kind: 'scalar';
  readonly value: JsonScalar;
  readonly style: 'plain' | 'single' | 'double' | 'block';
  /** A comment after the `|` or `>` of a block scalar, with its #. */
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
  /** True if the key is in double quotes, as in JSON. */
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

/** The parser's node, which must have its source tokens, as the editor's own. Null for what settings files do not hold. */
export function editNode(node: Node | null, text: string): EditNode | null {
  if (isScalar(node)) return scalarNode(node, text);
  if (isMap(node)) return mapNode(node, text);
  if (!isSeq(node)) return null;
  const [start, close] = node.range ?? [0, 0];
  const flow = node.flow === true;
  const dashes = flow ? [] : listDashOffsets(node.srcToken);
  const items: EditItem[] = [];
  for (const [index, item] of node.items.entries()) {
    const inner = editNode(item as Node, text);
    const dash = flow ? inner?.start : dashes[index];
    if (inner === null || dash === undefined) return null;
    items.push({ start: dash, end: inner.end, node: inner });
  }
  return { kind: 'list', start, end: flow ? close : lastEnd(items, close), flow, items };
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
  return { kind: 'map', start, end: flow ? close : lastEnd(members, close), flow, members };
}

function lastEnd(spots: readonly Spot[], close: number): number {
  return spots.at(-1)?.end ?? close;
}

function listDashOffsets(token: CST.Token | undefined): number[] {
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

/** The data of a node. */
export function toPlainData(node: EditNode): Json {
  if (node.kind === 'scalar') return node.value;
  if (node.kind === 'list') return node.items.map((item) => toPlainData(item.node));
  return Object.fromEntries(node.members.map((member) => [member.key, toPlainData(member.node)]));
}

export type JsonObject = { readonly [key: string]: Json };
export type JsonScalar = null | boolean | number | string;

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !isArray(value);
}

export function isArray(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

/** An own member of a record, not one that every object inherits. */
export function readJsonMember(record: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}

/** Reports whether two values are the same data. The order of keys does not count. */
export function isSameData(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  if (isArray(a))
    return isArray(b) && a.length === b.length && a.every((one, i) => isSameData(one, b[i]));
  if (!isObject(a) || !isObject(b)) return false;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => isSameData(readJsonMember(a, key), readJsonMember(b, key)))
  );
}
