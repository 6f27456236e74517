import type { Json } from '../model/value.ts';
import { linesAfter, linesBehind, withoutSpots } from './block-splices.ts';
import { plainOf, type EditList, type EditMap, type EditNode, type Spot } from './edit-node.ts';
import { flowSplices } from './flow-splices.ts';
import { isArray, isObject, own, sameJson, type JsonObject } from './json-value.ts';
import { keptItems } from './kept-items.ts';
import { scalarText, type Quotes } from './scalar-text.ts';
import type { Splice } from './splice.ts';
import {
  flowMember,
  flowText,
  inlineText,
  isInline,
  itemLines,
  memberLines,
  nestedLines,
  shortList,
} from './value-text.ts';
import { columnOf, lineStart, type YamlSource } from './yaml-source.ts';

/** Where a value stands: in braces or brackets or not, behind which key's column and colon, among which quotes. */
interface Place {
  readonly flow: boolean;
  readonly column: number;
  /** Null for an item of a list. */
  readonly colon: number | null;
  readonly quotes: Quotes;
}

/** The least that has to change for the root to stand for `wanted`: what is equal stays as it is written. */
export function reshapeRoot(source: YamlSource, wanted: JsonObject): Splice[] {
  return reshape(source, source.root, wanted, {
    flow: source.root.flow,
    column: 0,
    colon: null,
    quotes: 'plain',
  });
}

function reshape(source: YamlSource, node: EditNode, wanted: Json, place: Place): Splice[] {
  if (sameJson(plainOf(node), wanted)) return [];
  if (isInline(wanted)) return toInline(source, node, wanted, place);
  if (node.kind === 'map' && isObject(wanted)) {
    const stay = node.members.filter(({ key }) => Object.hasOwn(wanted, key));
    if (stay.length > 0) return reshapeMap(source, node, wanted, stay);
  }
  if (node.kind === 'list' && isArray(wanted)) {
    const kept = keptItems(node.items, wanted);
    if (kept.size > 0) return reshapeList(source, node, wanted, kept, place);
  }
  return replaced(source, node, wanted, place);
}

function reshapeMap(
  source: YamlSource,
  node: EditMap,
  wanted: JsonObject,
  stay: EditMap['members'],
): Splice[] {
  const { text, layout } = source;
  const quotes = node.flow && node.members.every(({ quoted }) => quoted) ? 'double' : 'plain';
  const inner = stay.flatMap(({ key, start, colon, node: value }) => {
    const column = columnOf(text, start);
    return reshape(source, value, own(wanted, key) ?? null, {
      flow: node.flow,
      column,
      colon,
      quotes,
    });
  });
  const known = new Set(node.members.map(({ key }) => key));
  const added = Object.entries(wanted).filter(([key]) => !known.has(key));
  const gone = without(node.members, stay);
  if (node.flow) {
    const texts = added.map(([key, value]) => flowMember(key, value, quotes));
    return [...inner, ...flowSplices(source, node.members, gone, texts)];
  }
  const column = columnOf(text, node.members[0]?.start ?? 0);
  const lines = added.flatMap(([key, value]) => memberLines(key, value, column, layout));
  return [
    ...inner,
    linesBehind(source, stay.at(-1)?.end ?? node.end, column, lines),
    ...withoutSpots(source, node.members, gone),
  ];
}

function reshapeList(
  source: YamlSource,
  node: EditList,
  wanted: readonly Json[],
  kept: ReadonlyMap<EditList['items'][number], number>,
  { quotes }: Place,
): Splice[] {
  const { text, layout } = source;
  const stay = [...kept.keys()];
  const inner = [...kept].flatMap(([{ start, node: value }, index]) => {
    const column = columnOf(text, start);
    return reshape(source, value, wanted[index] ?? null, {
      flow: node.flow,
      column,
      colon: null,
      quotes,
    });
  });
  const added = wanted.slice(kept.size);
  const gone = without(node.items, stay);
  if (node.flow) {
    const texts = added.map((value) => flowText(value, quotes));
    return [...inner, ...flowSplices(source, node.items, gone, texts)];
  }
  const column = columnOf(text, node.items[0]?.start ?? 0);
  const lines = added.flatMap((value) => itemLines(value, column, layout));
  return [
    ...inner,
    linesBehind(source, stay.at(-1)?.end ?? node.end, column, lines),
    ...withoutSpots(source, node.items, gone),
  ];
}

function without<T extends Spot>(all: readonly T[], stay: readonly T[]): Set<T> {
  const staying = new Set(stay);
  return new Set(all.filter((one) => !staying.has(one)));
}

/** A value that fits behind its key or dash, in the quotes that stand there. */
function toInline(source: YamlSource, node: EditNode, wanted: Json, place: Place): Splice[] {
  const { flow, colon } = place;
  if (isBlock(node) && colon !== null && isBelow(source, node, colon)) {
    const text = ` ${inlineText(wanted, place.quotes, flow)}`;
    return [{ start: colon + 1, end: colon + 1, text }, ...emptied(source, node)];
  }
  const { start, end } = node;
  if (node.kind !== 'scalar') return [{ start, end, text: inlineText(wanted, place.quotes, flow) }];
  const written = node.style === 'single' || node.style === 'double' ? node.style : place.quotes;
  const quotes = typeof node.value === 'string' ? written : place.quotes;
  const text =
    isArray(wanted) || isObject(wanted)
      ? flowText(wanted, place.quotes)
      : scalarText(wanted, quotes, flow);
  return [{ start, end, text: node.comment === '' ? text : `${text} ${node.comment}` }];
}

/** A map or list that is not empty in place of something else: below the key in block style where that can be, else in flow. */
function replaced(source: YamlSource, node: EditNode, wanted: Json, place: Place): Splice[] {
  const { start, end } = node;
  const { flow, colon, column, quotes } = place;
  const whole = [{ start, end, text: flowText(wanted, quotes) }];
  if (flow || colon === null) return whole;
  const lines = linesAfter(source, colon, nestedLines(wanted, column, source.layout));
  if (isBlock(node))
    return isBelow(source, node, colon) ? [lines, ...emptied(source, node)] : whole;
  const oneLine = lineStart(source.text, colon) === lineStart(source.text, end);
  const short = shortList(wanted, columnOf(source.text, start)) !== null;
  if (short || !oneLine || !isInline(plainOf(node))) return whole;
  return [{ start: colon + 1, end, text: '' }, lines];
}

function isBlock(node: EditNode): node is EditMap | EditList {
  return node.kind !== 'scalar' && !node.flow;
}

/** Whether a block collection starts on a line below its key. */
function isBelow({ text }: YamlSource, node: EditNode, colon: number): boolean {
  return lineStart(text, node.start) > colon;
}

function emptied(source: YamlSource, node: EditMap | EditList): Splice[] {
  const spots: readonly Spot[] = node.kind === 'map' ? node.members : node.items;
  return withoutSpots(source, spots, new Set(spots));
}
