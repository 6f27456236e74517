import { structuredPatch } from 'diff';
import { stringify } from 'yaml';
import type { Json } from '../model/value.ts';
import { paint, type Style } from './style.ts';
import { visible } from './visible.ts';

const LONGEST_INLINE = 120;
const FOLD_AFTER = 16;
const MOST_EDITS = 1000;
const LONGEST_COMPARED = 20_000;

/** Whether a value has members, so that it is shown as a block and not on a line. */
export function isNested(value: Json): value is readonly Json[] | { readonly [key: string]: Json } {
  return typeof value === 'object' && value !== null;
}

/** A value as JSON on one line; a long one is cut, with the number of characters that are missing. */
export function inlineValue(value: Json, style: Style): string {
  if (value === '(sensitive)') return value;
  const text = visible(JSON.stringify(value));
  const limit = Math.min(LONGEST_INLINE, Math.max(24, (style.width ?? LONGEST_INLINE) - 30));
  if (style.verbose || text.length <= limit) return text;
  const characters = Array.from(text);
  const more = characters.length - limit;
  const close = typeof value === 'string' ? '"' : '';
  return more <= 0
    ? text
    : `${characters.slice(0, limit).join('')}…${close} (${more} more characters)`;
}

/** A value as YAML, every scalar on one line: no foreign text begins a line of its own. */
export function yamlText(value: Json): string {
  return stringify(value, {
    lineWidth: 0,
    blockQuote: false,
    singleQuote: false,
    doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER,
  });
}

/** Two nested values as a unified diff of their YAML, one line an element; a long one is cut. Null is nothing. */
export function nestedDiff(before: Json, after: Json, style: Style): string[] {
  const lines = patchLines(yamlOf(before), yamlOf(after)).map((line) =>
    colored(visible(line), style),
  );
  if (style.verbose || lines.length <= FOLD_AFTER) return lines;
  return [
    ...lines.slice(0, FOLD_AFTER),
    `… ${lines.length - FOLD_AFTER} more lines; -v shows them`,
  ];
}

/** Whether two values are too long for a page or a comment to compare them line by line. */
export function isTooLong(before: Json, after: Json): boolean {
  return JSON.stringify([before, after]).length > LONGEST_COMPARED;
}

/** How long ago something was, in its largest unit: 40s, 5m, 3h, 12d. A clock that runs ahead gives 0s. */
export function ageText(milliseconds: number, separator = ''): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000)) || 0;
  const [size, letter] = UNITS.find(([size]) => seconds >= size) ?? [1, 's'];
  return `${Math.floor(seconds / size)}${separator}${letter}`;
}

const UNITS: readonly (readonly [number, string])[] = [
  [86_400, 'd'],
  [3_600, 'h'],
  [60, 'm'],
];

/** The lines of a patch. Two texts with too little in common are not searched for it: all of the one, then all of the other. */
function patchLines(before: string, after: string): string[] {
  const options = { context: 3, maxEditLength: MOST_EDITS };
  const patch = structuredPatch('', '', before, after, '', '', options);
  if (patch === undefined) return [...markedLines('-', before), ...markedLines('+', after)];
  return patch.hunks
    .flatMap(({ lines }, index) => (index === 0 ? lines : ['…', ...lines]))
    .filter((line) => !line.startsWith('\\'));
}

function markedLines(mark: string, text: string): string[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => mark + line);
}

function yamlOf(value: Json): string {
  return value === null ? '' : yamlText(value);
}

function colored(line: string, style: Style): string {
  const mark = line.slice(0, 1);
  const spaced = mark === '…' ? line : `${mark} ${line.slice(1)}`;
  if (mark === '+') return paint(style, 'green', spaced);
  return mark === '-' ? paint(style, 'red', spaced) : spaced;
}
