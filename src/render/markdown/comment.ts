import { fitted, frameSize, type Block } from './fitted.ts';
import { counted } from '../../model/counted.ts';

/**
 * The longest comment, in bytes of UTF-8: GitHub takes 65,536 characters, whichever way they are counted, and something may be
 * put before it.
 */
export const LONGEST_COMMENT = 59_000;
const FRAMES = 40_000;

/** One target's part: its frame is shown whole or not at all. The lowest rank is kept longest. */
export interface Section {
  readonly rank: number;
  readonly changes: number;
  readonly blocks: readonly Block[];
}

/** Sections that share the room of one comment, and what closes them. */
export function comment(sections: readonly Section[], footer: string): string {
  const shown = framed(sections);
  const left = sections.filter((section) => !shown.has(section));
  const blocks = sections.filter((section) => shown.has(section)).flatMap(({ blocks }) => blocks);
  return fitted([...blocks, leftText(left), footer], LONGEST_COMMENT);
}

function framed(sections: readonly Section[]): ReadonlySet<Section> {
  let room = FRAMES;
  const shown = new Set<Section>();
  for (const section of sections.toSorted((one, other) => one.rank - other.rank)) {
    const size = frameSize(section.blocks);
    if (size > room) continue;
    room -= size;
    shown.add(section);
  }
  return shown;
}

function leftText(left: readonly Section[]): string {
  if (left.length === 0) return '';
  const changes = left.reduce((sum, section) => sum + section.changes, 0);
  return `*and ${counted(left.length, 'more environment')} with ${counted(changes, 'change')}, see the run*\n\n`;
}
