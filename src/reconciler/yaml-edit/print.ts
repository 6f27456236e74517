import type { Json } from '../model/value.ts';
import { type Layout, isArray, isObject, type JsonScalar, type JsonObject } from './source.ts';
import { isScalar, parseDocument } from 'yaml';

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

/** Reports whether a value is written on the line of its key or dash in block style too: scalars, and empty values. */
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
  return [head, ...formatNestedLines(value, column, layout)];
}

/** A list of single values in brackets, if it fits on a line with `width` used columns; null for anything else. */
export function shortList(value: Json, width: number): string | null {
  if (!isArray(value) || !value.every(isInline)) return null;
  const text = flowText(value, 'plain');
  return width + text.length <= LONGEST_LINE ? text : null;
}

/** The lines below a key at a column: those of a map or list that is not empty. */
export function formatNestedLines(value: Json, column: number, layout: Layout): string[] {
  if (isArray(value)) return value.flatMap((item) => itemLines(item, column + layout.dash, layout));
  return isObject(value) ? mapLines(value, column + layout.step, layout) : [];
}

function mapLines(value: JsonObject, column: number, layout: Layout): string[] {
  return Object.entries(value).flatMap(([key, member]) => memberLines(key, member, column, layout));
}

/** An item of a list in block style, with its dash at `column`. */
export function itemLines(item: Json, column: number, layout: Layout): string[] {
  const dash = `${' '.repeat(column)}-${' '.repeat(layout.gap - 1)}`;
  if (!isObject(item) || isInline(item))
    return [dash + (isInline(item) ? inlineText(item, 'plain', false) : flowText(item, 'plain'))];
  const [first = '', ...rest] = mapLines(item, column + layout.gap, layout);
  return [dash + first.slice(column + layout.gap), ...rest];
}

export type Quotes = 'plain' | 'single' | 'double';

/**
 * A scalar as YAML on one line: in the given quotes if the value allows them, else in double quotes with invisible characters
 * escaped. `flow`: it goes into braces or brackets, where more characters have a meaning.
 */
export function scalarText(value: JsonScalar, quotes: Quotes, flow: boolean): string {
  if (typeof value !== 'string') return JSON.stringify(value);
  if (quotes === 'plain' && isPlainScalar(value, flow)) return value;
  if (quotes === 'single' && isPrintable(value)) return `'${value.replaceAll("'", "''")}'`;
  return doubleQuoted(value);
}

// Everything but letters, marks, numbers, punctuation, symbols and the blank: controls, what has no width, other spaces.
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu;

function isPrintable(text: string): boolean {
  return text.search(UNSEEN) === -1;
}

function doubleQuoted(text: string): string {
  return JSON.stringify(text).replaceAll(UNSEEN, (char) => {
    const code = char.codePointAt(0) ?? 0;
    const digits = code.toString(16);
    return code > 0xff_ff ? `\\U${digits.padStart(8, '0')}` : `\\u${digits.padStart(4, '0')}`;
  });
}

const WORD = /^[A-Za-z][A-Za-z0-9_./-]*$/;
/** The texts that readers of older YAML take for a truth value, null, a number, a time or a date. */
const ELSEWHERE = /^(y|n|yes|no|on|off|true|false|null|~|[-+]?[.\d][\da-fox_.,:+ tz-]*)$/i;

/** Reports whether a text needs no quotes: parsing it returns exactly this text. */
function isPlainScalar(text: string, flow: boolean): boolean {
  if (text === '' || ELSEWHERE.test(text)) return false;
  if (WORD.test(text)) return true;
  if (text.trim() !== text || !isPrintable(text)) return false;
  const document = parseDocument(flow ? `[${text}, x]` : `k: ${text} # x`, {
    version: '1.2',
    schema: 'core',
    logLevel: 'error',
    prettyErrors: false,
  });
  if (document.errors.length > 0) return false;
  const read = document.getIn([flow ? 0 : 'k'], true);
  return (
    isScalar(read) && read.tag === undefined && read.anchor === undefined && read.value === text
  );
}
