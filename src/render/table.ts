import { paint, type Style } from './style.ts';
import { visible } from './visible.ts';

/** Rows under a head, every column as wide as its widest cell; `empty` where there are none. */
export function table(
  empty: string,
  head: readonly string[],
  rows: readonly (readonly string[])[],
  style: Style,
): string {
  if (rows.length === 0) return `  ${empty}`;
  const shown = rows.map((row) => row.map(visible));
  const widths = head.map((title, column) =>
    Math.max(title.length, ...shown.map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]): string =>
    `  ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd();
  return [paint(style, 'dim', line(head)), ...shown.map(line)].join('\n');
}
