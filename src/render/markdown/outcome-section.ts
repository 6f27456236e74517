import type { EnvironmentOutcome, OutcomeChange, Remainder } from '../../model/outcome.ts';
import { inlineValue } from '../inline-value.ts';
import { endingText, newWarnings, resultMark, resultText } from '../outcome-text.ts';
import type { Style } from '../style.ts';
import { errorAlert } from './alert.ts';
import { CELL, changeNameMarkdown } from './change-markdown.ts';
import { codeSpan, shortened } from './code-span.ts';
import type { Section } from './comment.ts';
import type { Block, Entry, Listing } from './fitted.ts';
import { refusalBlock, unknownBlock, warningBlock } from './notes.ts';
import { label, prose } from './prose.ts';
import { table, tableRow } from './table.ts';
import { counted } from '../../model/counted.ts';

const STYLE: Style = { color: false, width: null, verbose: false };

/** What became of one target: title, what went wrong, what is left, the changes and their results. */
export function outcomeSection(environment: EnvironmentOutcome): Section {
  const { name, origin, changes, remaining, unknown, error } = environment;
  return {
    rank: error === null ? 1 : 0,
    changes: changes.length,
    blocks: [
      `## Apply: ${label(name)} — ${verdict(environment)}\n\n`,
      ...failureBlocks(environment),
      origin === null ? '' : `To ${codeSpan(shortened(origin, 200))}.\n\n`,
      remainderBlock(remaining),
      warningBlock(newWarnings(environment)),
      resultBlock(environment),
      unknownBlock(changes.length === 0 ? unknown : []),
      `${prose(endingText(environment, STYLE))}\n\n`,
    ],
  };
}

/** What went wrong. Several refusals are a list, which also says how to lift each. */
function failureBlocks({ error, refusals }: EnvironmentOutcome): Block[] {
  const list = refusalBlock(refusals.length > 1 ? refusals : [], 'Apply was refused');
  if (error === null) return [];
  return list.entries.length > 0 && error.code === 'guard-refused'
    ? [list]
    : [errorAlert(error), list];
}

const VERDICTS: Readonly<Record<EnvironmentOutcome['status'], string>> = {
  'in-sync': 'in sync',
  applied: 'applied',
  partial: 'applied in part',
  'not-converged': 'applied, but not converged',
  refused: 'refused',
  failed: 'failed',
};

function verdict({ status, changes }: EnvironmentOutcome): string {
  const made = changes.filter(({ result }) => result !== 'not-sent').length;
  return status === 'applied' ? `${counted(made, 'change')} applied` : VERDICTS[status];
}

function remainderBlock(remaining: readonly Remainder[]): Listing {
  return {
    entries: remaining.map((one): Entry => ({ rank: 0, text: () => remainderItem(one) })),
    around: (items) => `**Not as requested**\n\n${items.join('')}\n`,
    missing: (count) => `*and ${counted(count, 'more difference')} that stayed, see the run*\n\n`,
  };
}

function remainderItem({ reason, expected, actual, hint, ...place }: Remainder): string {
  const values = `expected ${codeSpan(inlineValue(expected, CELL))}, found ${codeSpan(inlineValue(actual, CELL))}`;
  return `- ${changeNameMarkdown(place)}: ${prose(reason)}, ${values}. ${prose(hint)}\n`;
}

function resultBlock({ changes, status }: EnvironmentOutcome): Listing {
  const rows = changes.map((change): Entry => ({
    rank: change.result === 'verified' || change.result === 'set' ? 3 : 1,
    text: () => resultRow(change, status),
  }));
  const missing = (count: number): string =>
    `*and ${counted(count, 'more change')}, see the run*\n\n`;
  return table(['', 'Path', 'Result'], rows, missing);
}

function resultRow(change: OutcomeChange, status: EnvironmentOutcome['status']): string {
  const [mark] = resultMark(change, status);
  return tableRow([mark, changeNameMarkdown(change), prose(resultText(change, status))]);
}
