import type { Entry, Listing } from './fitted.ts';

/** A row of a table; its cells are Markdown. */
export function tableRow(cells: readonly string[]): string {
  return `| ${cells.map(escapePipes).join(' | ')} |\n`;
}

/** A table of rows that may be left out, one after another, and what they are called then. */
export function table(
  head: readonly string[],
  entries: readonly Entry[],
  missing: Listing['missing'],
): Listing {
  const opening = tableRow(head) + tableRow(head.map(() => '---'));
  return { entries, around: (rows) => `${opening}${rows.join('')}\n`, missing };
}

/** A bar ends a cell even inside of a code span, unless a backslash is before it; after a backslash of its own it is written out. */
function escapePipes(cell: string): string {
  return cell.replaceAll(/(\\*)\|/g, (_, slashes: string) =>
    slashes.length % 2 === 0 ? `${slashes}\\|` : `${slashes}\\u{7c}`,
  );
}
