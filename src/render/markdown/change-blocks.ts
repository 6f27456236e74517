import type { Change } from '../../model/plan.ts';
import type { Json } from '../../model/value.ts';
import { isDangerous } from '../change-text.ts';
import type { Voice } from '../sides.ts';
import { changeDiff, changeRow } from './change-markdown.ts';
import { longestRun } from './code-span.ts';
import type { Entry, Listing } from './fitted.ts';
import { table } from './table.ts';
import { counted } from '../../model/counted.ts';

/** The changes as a table, and in full in a fold. Those that cannot be undone are the last to be left out. */
export function changeBlocks(changes: readonly Change<Json>[], voice: Voice): Listing[] {
  const rows = changes.map((change): Entry => ({
    rank: isDangerous(change) ? 1 : 3,
    text: () => changeRow(change, voice),
  }));
  const missing = (count: number): string =>
    `*and ${counted(count, 'more change')}, see the run*\n\n`;
  return [table(HEADS[voice], rows, missing), fullDiff(changes, rows, voice)];
}

const HEADS: Readonly<Record<Voice, readonly string[]>> = {
  plan: ['', 'Path', 'From', 'To', 'Why'],
  drift: ['', 'Path', 'In the file', 'On the service', 'Why'],
};

function fullDiff(changes: readonly Change<Json>[], rows: readonly Entry[], voice: Voice): Listing {
  const entries = changes.map((change, index): Entry => {
    const of = rows[index];
    const rank = isDangerous(change) ? 5 : 6;
    return { rank, text: () => changeDiff(change, voice), ...(of === undefined ? {} : { of }) };
  });
  return {
    entries,
    around: folded,
    missing: (count) =>
      `*The full diff of ${counted(count, 'change')} is not shown here, see the run*\n\n`,
  };
}

function folded(diffs: readonly string[]): string {
  const text = diffs.join('');
  const fence = '`'.repeat(Math.max(3, longestRun(text) + 1));
  return `<details><summary>Full diff</summary>\n\n${fence}diff\n${text}${fence}\n\n</details>\n\n`;
}
