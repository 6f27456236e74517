import { structuredPatch } from 'diff';
import type { Json } from '../model/value.ts';
import { paint, type Style } from './style.ts';
import { visible } from './visible.ts';
import { yamlText } from './yaml-text.ts';

const FOLD_AFTER = 16;

/** Two nested values as a unified diff of their YAML, one line an element; a long one is folded. Null stands for nothing. */
export function nestedDiff(before: Json, after: Json, style: Style): string[] {
  const patch = structuredPatch('', '', yamlOf(before), yamlOf(after), '', '', { context: 3 });
  const lines = patch.hunks.flatMap(({ lines }, index) => (index === 0 ? lines : ['…', ...lines]));
  const shown = lines
    .filter((line) => !line.startsWith('\\'))
    .map((line) => colored(visible(line), style));
  if (style.verbose || shown.length <= FOLD_AFTER) return shown;
  return [
    ...shown.slice(0, FOLD_AFTER),
    `… ${shown.length - FOLD_AFTER} more lines; -v shows them`,
  ];
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
