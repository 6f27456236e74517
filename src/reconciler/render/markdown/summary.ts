import type { Merged, PlanDocument } from '../../model/plan.ts';
import type { AnySummary } from '../../model/outcome.ts';
import { formatCount } from '../../model/wording.ts';
import { attentionLabel, attentionWords, isSummed, NOT_WHOLE, summaryLine } from '../summary.ts';
import type { Wording } from '../change.ts';
import { alert, table, tableRow, type CommentBlock, type CommentEntry } from './blocks.ts';
import { label, prose, shortenVisible } from './inline.ts';

/** Rows of the table, which share the room of the comment with the environments themselves. */
const MOST_ROWS = 50;
const LONGEST_WORDS = 200;
/** It stays longer than any other optional part. */
const FIRST = -1;

/** All environments, counted, and a table of those that need attention, the worst first. Nothing for a single one. */
export function summaryBlocks(summary: AnySummary, wording: Wording): CommentBlock[] {
  if (!isSummed(summary)) return [];
  const { counts, rest } = summaryLine(summary, null, wording);
  const words = counts.map((count) => count.words).join(', ');
  const line = `${words}.${rest === '' ? '' : ` ${rest}`}\n\n`;
  const { attention, more } = summary;
  const rows = attention.slice(0, MOST_ROWS).map((one): CommentEntry => {
    const { mark, words } = attentionLabel(one, wording);
    const said = shortenVisible(attentionWords(one, wording), LONGEST_WORDS);
    const text = tableRow([mark, label(one.name), words, said === '' ? '' : prose(said)]);
    return { rank: FIRST, text: () => text };
  });
  const hidden = attention.length - rows.length + more;
  return [
    line,
    table(['', 'Environment', 'Result', ''], 'row', rows),
    hidden > 0 ? `*and ${formatCount(hidden, 'more row')}, see the run*\n\n` : '',
  ];
}

/** All environments of a run, counted, in one line: what an environment of its own is one of. Empty for a single one. */
export function countsMarkdown(
  { summary, shard }: Pick<PlanDocument, 'summary' | 'shard'>,
  wording: Wording,
): string {
  if (!isSummed(summary)) return '';
  const { total, counts } = summaryLine(summary, shard, wording);
  return `${total}: ${counts.map(({ words }) => words).join(', ')}.`;
}

/** Renders, in a box, the reasons that a merged report is incomplete, and other notes on it. */
export function formatMergeBlocks(merged: Merged | undefined): CommentBlock[] {
  const { problems = [], notes = [] } = merged ?? {};
  const items = problems.map((sentence) => ({ rank: FIRST, sentence }));
  return [
    alert(`> [!CAUTION]\n> **${NOT_WHOLE}**\n>\n`, 'problem', items),
    ...notes.map((note) => `${prose(note)}\n\n`),
  ];
}
