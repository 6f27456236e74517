import { structuredPatch } from 'diff';
import type { Json } from '../model/value.ts';
import { paint, type Style } from './style.ts';
import { visible } from './visible.ts';
import { yamlText } from './yaml-text.ts';

const FOLD_AFTER = 16;
const MOST_EDITS = 1000;
const LONGEST_COMPARED = 20_000;

/** Whether two values are of too many characters together for what is read on a page or in a comment to compare them line by line. */
export function isTooLong(before: Json, after: Json): boolean {
  return JSON.stringify([before, after]).length > LONGEST_COMPARED;
}

/** Two nested values as a unified diff of their YAML, one line an element; a long one is folded. Null stands for nothing. */
export function nestedDiff(before: Json, after: Json, style: Style): string[] {
  const shown = patchLines(yamlOf(before), yamlOf(after)).map((line) =>
    colored(visible(line), style),
  );
  if (style.verbose || shown.length <= FOLD_AFTER) return shown;
  return [
    ...shown.slice(0, FOLD_AFTER),
    `… ${shown.length - FOLD_AFTER} more lines; -v shows them`,
  ];
}

/** The lines of a patch; where two texts have too little in common to look for it, all of the one and then of the other. */
function patchLines(before: string, after: string): string[] {
  const options = { context: 3, maxEditLength: MOST_EDITS };
  const patch = structuredPatch('', '', before, after, '', '', options);
  if (patch === undefined) return [...marked('-', before), ...marked('+', after)];
  return patch.hunks
    .flatMap(({ lines }, index) => (index === 0 ? lines : ['…', ...lines]))
    .filter((line) => !line.startsWith('\\'));
}

function marked(mark: string, text: string): string[] {
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
