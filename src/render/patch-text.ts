import { structuredPatch } from 'diff';
import type { FileEdit, ShownLine } from '../model/pulled.ts';
import { paint, type Style } from './style.ts';
import { visible } from './visible.ts';

/** What an edit does to a file, as a unified patch. What may be a secret is masked, so that the patch is for reading only. */
export function patchText({ file, before, after }: FileEdit, style: Style): string {
  const { hunks } = structuredPatch(file, file, whole(before), whole(after), '', '', {
    context: 3,
  });
  const lines = [
    paint(style, 'bold', `--- ${visible(file)}`),
    paint(style, 'bold', `+++ ${visible(file)}`),
  ];
  for (const { oldStart, oldLines, newStart, newLines, lines: changes } of hunks) {
    lines.push(paint(style, 'cyan', `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`));
    let [old, now] = [oldStart - 1, newStart - 1];
    for (const change of changes) {
      const mark = change.slice(0, 1);
      if (mark === '-') lines.push(paint(style, 'red', `-${shown(before[old++])}`));
      else if (mark === '+') lines.push(paint(style, 'green', `+${shown(after[now++])}`));
      else if (mark === ' ') {
        lines.push(` ${shown(after[now++])}`);
        old += 1;
      }
    }
  }
  return `${lines.join('\n')}\n`;
}

function whole(lines: readonly ShownLine[]): string {
  return lines.map(({ text }) => text).join('\n');
}

function shown(line: ShownLine | undefined): string {
  return visible((line?.shown ?? '').replace(/\r$/, ''));
}
