import { splitErrorMessage, type ErrorReport } from '../../model/error.ts';
import { formatCount } from '../../model/wording.ts';
import { longestRun, prose } from './inline.ts';

/** A piece of a comment: text that cannot be left out, or entries that can. */
export type CommentBlock = string | EntryBlock;

/** Entries in the order in which they are shown, in what goes around them; `missing` is for the number of those left out. */
export interface EntryBlock {
  readonly entries: readonly CommentEntry[];
  readonly around: (shown: readonly string[]) => string;
  readonly missing: (count: number) => string;
}

/** A part that may be left out, and only whole. The lowest rank stays longest. */
export interface CommentEntry {
  readonly rank: number;
  /** Null if it is too long to be made. */
  readonly text: () => string | null;
  /** If that one is left out, so is this one. */
  readonly of?: CommentEntry;
}

/** The blocks in at most `limit` bytes of UTF-8, by leaving out whole entries. What cannot be left out must fit. */
export function fitBlocks(blocks: readonly CommentBlock[], limit: number): string {
  let room = limit - frameSize(blocks);
  const kept = new Map<CommentEntry, string>();
  const entries = blocks.flatMap((block) => (typeof block === 'string' ? [] : block.entries));
  for (const entry of entries.toSorted((one, other) => one.rank - other.rank)) {
    if (room <= 0) break;
    if (entry.of !== undefined && !kept.has(entry.of)) continue;
    const text = entry.text();
    if (text === null) continue;
    const cost = Buffer.byteLength(text) + 2 * longestRun(text);
    if (cost > room) continue;
    room -= cost;
    kept.set(entry, text);
  }
  return blocks.map((block) => blockText(block, kept)).join('');
}

/** Returns the size of blocks without their entries, in bytes. */
export function frameSize(blocks: readonly CommentBlock[]): number {
  return blocks.reduce((sum, block) => sum + Buffer.byteLength(frame(block)), 0);
}

function frame(block: CommentBlock): string {
  if (typeof block === 'string') return block;
  const { entries, around, missing } = block;
  return entries.length === 0 ? '' : around([]) + missing(entries.length);
}

function blockText(block: CommentBlock, kept: ReadonlyMap<CommentEntry, string>): string {
  if (typeof block === 'string') return block;
  const shown = block.entries.flatMap((entry) => kept.get(entry) ?? []);
  const missing = block.entries.length - shown.length;
  return (
    (shown.length > 0 ? block.around(shown) : '') + (missing > 0 ? block.missing(missing) : '')
  );
}

/** Renders an error and its remedy, in a box. */
export function errorAlert(error: ErrorReport): string {
  const lines = splitErrorMessage(error).map(prose).join('  \n> ');
  return `> [!CAUTION]\n> **Error:** ${lines}\n>\n> ${prose(error.hint)}\n\n`;
}

/** Sentences in a box. `noun` is what one of them is, for the count of those left out. */
export function alert(
  opening: string,
  noun: string,
  items: readonly { readonly rank: number; readonly sentence: string }[],
): EntryBlock {
  return {
    entries: items.map(({ rank, sentence }) => ({ rank, text: () => `> - ${prose(sentence)}\n` })),
    around: (shown) => `${opening}${shown.join('')}\n`,
    missing: (count) => `*and ${formatCount(count, `more ${noun}`)}, see the run*\n\n`,
  };
}

/** A titled list, of entries made by `- …`. */
export function bulletList(
  title: string,
  entries: readonly CommentEntry[],
  missing: (count: number) => string,
): EntryBlock {
  return {
    entries,
    around: (shown) => `**${title}**\n\n${shown.join('')}\n`,
    missing: (count) => `*and ${missing(count)}, see the run*\n\n`,
  };
}

/** A table of rows made by `tableRow`. */
export function table(
  head: readonly string[],
  noun: string,
  entries: readonly CommentEntry[],
): EntryBlock {
  const opening = tableRow(head) + tableRow(head.map(() => '---'));
  return {
    entries,
    around: (rows) => `${opening}${rows.join('')}\n`,
    missing: (count) => `*and ${formatCount(count, `more ${noun}`)}, see the run*\n\n`,
  };
}

/** A row of a table; its cells are Markdown. */
export function tableRow(cells: readonly string[]): string {
  return `| ${cells.map(escapePipes).join(' | ')} |\n`;
}

/** A pipe ends a cell even inside a code span, unless a backslash precedes it; after a backslash of the value's own it is escaped. */
function escapePipes(cell: string): string {
  return cell.replaceAll(/(\\*)\|/g, (_, slashes: string) =>
    slashes.length % 2 === 0 ? `${slashes}\\|` : `${slashes}\\u{7c}`,
  );
}
