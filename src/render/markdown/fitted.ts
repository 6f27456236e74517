import { longestRun } from './code-span.ts';

/** A part that may be left out, and only whole. The lowest rank is kept longest. */
export interface Entry {
  readonly rank: number;
  /** Null where it is too much to be made at all. */
  readonly text: () => string | null;
  /** Without that one, this one is not wanted either. */
  readonly of?: Entry;
}

/** Entries in the order in which they are shown, in what goes around them; `missing` says how many are left out. */
export interface Listing {
  readonly entries: readonly Entry[];
  readonly around: (shown: readonly string[]) => string;
  readonly missing: (count: number) => string;
}

/** A piece of a comment: text that cannot be left out, or entries that can. */
export type Block = string | Listing;

/** The blocks in at most so many bytes of UTF-8, by leaving out whole entries. What cannot be left out must fit. */
export function fitted(blocks: readonly Block[], limit: number): string {
  let room = limit - frameSize(blocks);
  const kept = new Map<Entry, string>();
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

/** What blocks take when every entry is left out, in bytes. */
export function frameSize(blocks: readonly Block[]): number {
  return blocks.reduce((sum, block) => sum + Buffer.byteLength(frame(block)), 0);
}

function frame(block: Block): string {
  if (typeof block === 'string') return block;
  const { entries, around, missing } = block;
  return entries.length === 0 ? '' : around([]) + missing(entries.length);
}

function blockText(block: Block, kept: ReadonlyMap<Entry, string>): string {
  if (typeof block === 'string') return block;
  const shown = block.entries.flatMap((entry) => kept.get(entry) ?? []);
  const missing = block.entries.length - shown.length;
  return (
    (shown.length > 0 ? block.around(shown) : '') + (missing > 0 ? block.missing(missing) : '')
  );
}
