import type { Json } from '../model/value.ts';
import { isArray, isObject, type JsonObject, type JsonScalar } from './json-value.ts';
import { scalarText, type Quotes } from './scalar-text.ts';
import type { Layout } from './yaml-source.ts';

const LONGEST_LINE = 100;

/** A value on one line: `{ url: https://x, args: [-y, "a b"] }`. */
export function flowText(value: Json, quotes: Quotes): string {
  if (isArray(value)) return `[${value.map((item) => flowText(item, quotes)).join(', ')}]`;
  if (!isObject(value)) return scalarText(value, quotes, true);
  const members = Object.entries(value).map(([key, member]) => flowMember(key, member, quotes));
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}

export function flowMember(key: string, value: Json, quotes: Quotes): string {
  return `${scalarText(key, quotes, true)}: ${flowText(value, quotes)}`;
}

/** Whether a value is written behind its key or dash in block style too: scalars, and what is empty. */
export function isInline(value: Json): value is JsonScalar {
  if (isArray(value)) return value.length === 0;
  return !isObject(value) || Object.keys(value).length === 0;
}

/** The text of such a value. */
export function inlineText(value: Json, quotes: Quotes, flow: boolean): string {
  return isArray(value) || isObject(value)
    ? flowText(value, quotes)
    : scalarText(value, quotes, flow);
}

/** A member in block style as lines without line breaks, indented by `column` blanks. */
export function memberLines(key: string, value: Json, column: number, layout: Layout): string[] {
  const head = `${' '.repeat(column)}${scalarText(key, 'plain', false)}:`;
  if (isInline(value)) return [`${head} ${inlineText(value, 'plain', false)}`];
  const flow = shortList(value, head.length + 1);
  if (flow !== null) return [`${head} ${flow}`];
  return [head, ...nestedLines(value, column, layout)];
}

/** A list of single values in brackets, where it fits behind what takes `width` columns already; null for anything else. */
export function shortList(value: Json, width: number): string | null {
  if (!isArray(value) || !value.every(isInline)) return null;
  const text = flowText(value, 'plain');
  return width + text.length <= LONGEST_LINE ? text : null;
}

/** What stands below a key at a column: the lines of a map or list that is not empty. */
export function nestedLines(value: Json, column: number, layout: Layout): string[] {
  if (isArray(value)) return value.flatMap((item) => itemLines(item, column + layout.dash, layout));
  return isObject(value) ? mapLines(value, column + layout.step, layout) : [];
}

function mapLines(value: JsonObject, column: number, layout: Layout): string[] {
  return Object.entries(value).flatMap(([key, member]) => memberLines(key, member, column, layout));
}

/** An item of a list in block style; its dash stands at `column`. */
export function itemLines(item: Json, column: number, layout: Layout): string[] {
  const dash = `${' '.repeat(column)}-${' '.repeat(layout.gap - 1)}`;
  if (!isObject(item) || isInline(item))
    return [dash + (isInline(item) ? inlineText(item, 'plain', false) : flowText(item, 'plain'))];
  const [first = '', ...rest] = mapLines(item, column + layout.gap, layout);
  return [dash + first.slice(column + layout.gap), ...rest];
}
