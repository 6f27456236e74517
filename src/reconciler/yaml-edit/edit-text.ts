import {
  flowMember,
  flowText,
  inlineText,
  isInline,
  itemLines,
  memberLines,
  formatNestedLines,
  type Quotes,
  scalarText,
  shortList,
} from './print.ts';
import {
  isArray,
  isObject,
  type JsonObject,
  readJsonMember,
  isSameData,
  computeColumn,
  type EditItem,
  type EditList,
  type EditMap,
  type EditNode,
  lineStart,
  toPlainData,
  type Spot,
  yamlSource,
  type YamlSource,
} from './source.ts';
import type { Json } from '../model/value.ts';
import {
  flowSplices,
  linesAfter,
  linesBehind,
  type Splice,
  applySplices,
  removeMapMembers,
  withoutSpots,
} from './splice.ts';

/** A value to write under keys of the file. Maps that are missing on the way are added. Without a value the key goes, with its comments. */
export interface Edit {
  readonly path: readonly string[];
  readonly value: Json | undefined;
}

/**
 * The text of a settings file with the edits made. Everything that does not have to change stays byte for byte: comments, order,
 * quotes, indentation, line breaks. The result has been read back and holds exactly the edited data; null if it would not, or if
 * the text is not a valid settings file.
 */
export function editText(text: string, edits: readonly Edit[]): string | null {
  const source = yamlSource(text);
  if (source === null) return null;
  const before = toPlainData(source.root);
  const desired = edits.reduce<Json>(
    (value, edit) => withValue(value, edit.path, edit.value),
    before,
  );
  if (!isObject(desired)) return null;
  if (isSameData(before, desired)) return text;
  const edited = applySplices(source.text, reshapeRoot(source, desired));
  if (edited === null) return null;
  const after = yamlSource(source.mark + edited);
  return after !== null && isSameData(toPlainData(after.root), desired)
    ? source.mark + edited
    : null;
}

function withValue(value: Json, path: readonly string[], edited: Json | undefined): Json {
  const [key, ...rest] = path;
  if (key === undefined) return edited ?? null;
  const record: JsonObject = isObject(value) && !isArray(value) ? value : {};
  if (edited === undefined && (rest.length === 0 || !Object.hasOwn(record, key)))
    return Object.fromEntries(Object.entries(record).filter(([name]) => name !== key));
  return Object.fromEntries([
    ...Object.entries(record),
    [key, withValue(readJsonMember(record, key) ?? null, rest, edited)],
  ]);
}

/** The surroundings of a value: whether it is in braces or brackets, its key's column and colon, and the quotes used there. */
interface Site {
  readonly flow: boolean;
  readonly column: number;
  /** Null for an item of a list. */
  readonly colon: number | null;
  readonly quotes: Quotes;
}

/** The smallest changes that turn the root into `desired`: equal parts stay in their written form. */
export function reshapeRoot(source: YamlSource, desired: JsonObject): Splice[] {
  return reshape(source, source.root, desired, {
    flow: source.root.flow,
    column: 0,
    colon: null,
    quotes: 'plain',
  });
}

function reshape(source: YamlSource, node: EditNode, desired: Json, place: Site): Splice[] {
  if (isSameData(toPlainData(node), desired)) return [];
  if (isInline(desired)) return toInline(source, node, desired, place);
  if (node.kind === 'map' && isObject(desired)) {
    const stay = node.members.filter(({ key }) => Object.hasOwn(desired, key));
    if (stay.length > 0) return reshapeMap(source, node, desired, stay);
  }
  if (node.kind === 'list' && isArray(desired)) {
    const kept = matchStayingItems(node.items, desired);
    if (kept.size > 0) return reshapeList(source, node, desired, kept, place);
  }
  return replaceNode(source, node, desired, place);
}

function reshapeMap(
  source: YamlSource,
  node: EditMap,
  desired: JsonObject,
  stay: EditMap['members'],
): Splice[] {
  const { text, layout } = source;
  const quotes = node.flow && node.members.every(({ quoted }) => quoted) ? 'double' : 'plain';
  const inner = stay.flatMap(({ key, start, colon, node: value }) => {
    const column = computeColumn(text, start);
    return reshape(source, value, readJsonMember(desired, key) ?? null, {
      flow: node.flow,
      column,
      colon,
      quotes,
    });
  });
  const known = new Set(node.members.map(({ key }) => key));
  const added = Object.entries(desired).filter(([key]) => !known.has(key));
  const gone = selectRemovedSpots(node.members, stay);
  if (node.flow) {
    const texts = added.map(([key, value]) => flowMember(key, value, quotes));
    return [...inner, ...flowSplices(source, node.members, gone, texts)];
  }
  const column = computeColumn(text, node.members[0]?.start ?? 0);
  const lines = added.flatMap(([key, value]) => memberLines(key, value, column, layout));
  return [
    ...inner,
    linesBehind(source, stay.at(-1)?.end ?? node.end, column, lines),
    ...removeMapMembers(source, node.members, gone, column),
  ];
}

function reshapeList(
  source: YamlSource,
  node: EditList,
  desired: readonly Json[],
  kept: ReadonlyMap<EditList['items'][number], number>,
  { quotes }: Site,
): Splice[] {
  const { text, layout } = source;
  const stay = [...kept.keys()];
  const inner = [...kept].flatMap(([{ start, node: value }, index]) => {
    const column = computeColumn(text, start);
    return reshape(source, value, desired[index] ?? null, {
      flow: node.flow,
      column,
      colon: null,
      quotes,
    });
  });
  const added = desired.slice(kept.size);
  const gone = selectRemovedSpots(node.items, stay);
  if (node.flow) {
    const texts = added.map((value) => flowText(value, quotes));
    return [...inner, ...flowSplices(source, node.items, gone, texts)];
  }
  const column = computeColumn(text, node.items[0]?.start ?? 0);
  const lines = added.flatMap((value) => itemLines(value, column, layout));
  return [
    ...inner,
    linesBehind(source, stay.at(-1)?.end ?? node.end, column, lines),
    ...withoutSpots(source, node.items, gone),
  ];
}

function selectRemovedSpots<T extends Spot>(all: readonly T[], stay: readonly T[]): Set<T> {
  const staying = new Set(stay);
  return new Set(all.filter((one) => !staying.has(one)));
}

/** A value on the line of its key or dash, in the quotes that are used there. */
function toInline(source: YamlSource, node: EditNode, desired: Json, place: Site): Splice[] {
  const { flow, colon } = place;
  if (isBlockCollection(node) && colon !== null && isBelowKey(source, node, colon)) {
    const text = ` ${inlineText(desired, place.quotes, flow)}`;
    const gone = isObject(desired) ? clearMap(source, node) : clearNode(source, node);
    return [{ start: colon + 1, end: colon + 1, text }, ...gone];
  }
  const { start, end } = node;
  if (node.kind !== 'scalar')
    return [{ start, end, text: inlineText(desired, place.quotes, flow) }];
  const written = node.style === 'single' || node.style === 'double' ? node.style : place.quotes;
  const quotes = typeof node.value === 'string' ? written : place.quotes;
  const text =
    isArray(desired) || isObject(desired)
      ? flowText(desired, place.quotes)
      : scalarText(desired, quotes, flow);
  return [{ start, end, text: node.comment === '' ? text : `${text} ${node.comment}` }];
}

/** A filled map or list instead of something else: below the key in block style if possible, else in flow style. */
function replaceNode(source: YamlSource, node: EditNode, desired: Json, place: Site): Splice[] {
  const { start, end } = node;
  const { flow, colon, column, quotes } = place;
  const whole = [{ start, end, text: flowText(desired, quotes) }];
  if (flow || colon === null) return whole;
  const lines = linesAfter(source, colon, formatNestedLines(desired, column, source.layout));
  if (isBlockCollection(node)) {
    const gone = isObject(desired) ? clearMap(source, node) : clearNode(source, node);
    return isBelowKey(source, node, colon) ? [lines, ...gone] : whole;
  }
  const oneLine = lineStart(source.text, colon) === lineStart(source.text, end);
  const short = shortList(desired, computeColumn(source.text, start)) !== null;
  if (short || !oneLine || !isInline(toPlainData(node))) return whole;
  return [{ start: colon + 1, end, text: '' }, lines];
}

function isBlockCollection(node: EditNode): node is EditMap | EditList {
  return node.kind !== 'scalar' && !node.flow;
}

/** Reports whether a block collection starts on a line below its key. */
function isBelowKey({ text }: YamlSource, node: EditNode, colon: number): boolean {
  return lineStart(text, node.start) > colon;
}

function clearNode(source: YamlSource, node: EditMap | EditList): Splice[] {
  const spots: readonly Spot[] = node.kind === 'map' ? node.members : node.items;
  return withoutSpots(source, spots, new Set(spots));
}

/** A map that stays a map: its members go with their comments. */
function clearMap(source: YamlSource, node: EditMap | EditList): Splice[] {
  if (node.kind === 'list') return clearNode(source, node);
  const { members } = node;
  const column = computeColumn(source.text, members[0]?.start ?? 0);
  return removeMapMembers(source, members, new Set(members), column);
}

/**
 * The items of a list that stay, each with its position in the desired list. The others are removed, and desired items after
 * those that stay are added. Two items are alike if they are equal, or have the same name or url.
 */
export function matchStayingItems(
  items: readonly EditItem[],
  desired: readonly Json[],
): Map<EditItem, number> {
  const kept = new Map<EditItem, number>();
  for (const item of items) {
    const next = desired[kept.size];
    if (next !== undefined && isSameListItem(toPlainData(item.node), next))
      kept.set(item, kept.size);
  }
  return kept;
}

function isSameListItem(one: Json, other: Json): boolean {
  if (isSameData(one, other)) return true;
  return ['name', 'url'].some((key) => {
    const known = readItemKey(one, key);
    return known !== null && known === readItemKey(other, key);
  });
}

function readItemKey(value: Json, key: string): string | null {
  if (typeof value === 'string') return key === 'url' ? value : null;
  const known = isObject(value) ? readJsonMember(value, key) : undefined;
  return typeof known === 'string' ? known : null;
}
