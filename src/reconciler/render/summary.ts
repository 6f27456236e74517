import { changeCount, type Attention, type AnySummary } from '../model/summary.ts';
import { isFailure, VERDICTS, type Verdict } from '../model/verdict.ts';
import { counted, grouped } from '../model/wording.ts';
import type { Shard } from '../model/shard.ts';
import type { Label, Wording } from './change.ts';
import { type Section, verdictLabel, weightOf } from './section.ts';
import { shardName } from './shard-text.ts';
import { countsText, driftCounts, notCompared } from './wording.ts';

/** Up to so many environments each has a section; of more, those that need nobody are left to the summary. */
export const FEW = 20;

/**
 * Whether a section is left to the summary: that of an environment that was not started, and, if there are many, those in which
 * nothing needs anybody.
 */
export function isLeftOut(
  { attention: { verdict }, warnings }: Pick<Section, 'attention' | 'warnings'>,
  total: number,
): boolean {
  if (verdict === 'not-started') return total > 1;
  const quiet = verdict === 'in-sync' || verdict === 'not-empty';
  return total > FEW && quiet && warnings.every(({ code }) => weightOf(code) === 2);
}

/** Before each reason why a report is not whole. */
export const NOT_WHOLE = 'Not whole:';

/** Whether a summary says more than the one section. */
export function isSummed({ environments }: AnySummary): boolean {
  return environments.total > 1;
}

/** What is known of many environments, in one line: `10,000 environments: 9,970 in sync, 22 drift, 8 unreachable.` */
export interface SummaryLine {
  /** `10,000 environments`, or `5,000 environments of shard 0/2` */
  readonly total: string;
  /** The calm ones first. */
  readonly counts: readonly Label[];
  /** What else is to be said, in sentences; empty if nothing is. */
  readonly rest: string;
}

export function summaryLine(
  summary: AnySummary,
  shard: Shard | null,
  wording: Wording,
): SummaryLine {
  const { environments, unknown, warnings } = summary;
  const unchanged =
    wording !== 'apply' &&
    countOf(summary, 'in-sync') + countOf(summary, 'unknown') === environments.total;
  const rest = [
    unchanged ? 'No changes.' : '',
    unknown > 0 ? `${notCompared(unknown)}.` : '',
    environments.total > FEW && warnings > 0 ? `${counted(warnings, 'warning')}.` : '',
  ].filter((sentence) => sentence !== '');
  return {
    total: environmentsText(environments.total, shard),
    counts: verdictCounts(summary, wording),
    rest: rest.join(' '),
  };
}

/** How many environments a document is about, and of which shard. */
export function environmentsText(count: number, shard: Shard | null): string {
  const environments = count === 0 ? 'no environments' : counted(count, 'environment');
  return shard === null ? environments : `${environments} of ${shardName(shard)}`;
}

/** How many environments there are of each kind, as labels: `9,970 in sync`. Verdicts in the same words are counted together. */
function verdictCounts(summary: AnySummary, wording: Wording): Label[] {
  const sums = new Map<string, { count: number; readonly label: Label }>();
  const add = (count: number, label: Label): void => {
    const known = sums.get(label.words);
    if (known !== undefined) known.count += count;
    else if (count > 0) sums.set(label.words, { count, label });
  };
  for (const verdict of VERDICTS) {
    if (isFailure(verdict) && countOf(summary, verdict) > 0) {
      for (const [code, count] of Object.entries(summary.errors))
        add(count, verdictLabel(verdict, wording, { code }));
    } else add(countOf(summary, verdict), verdictLabel(verdict, wording, null));
  }
  return [...sums.values()].map(({ count, label }) => ({
    ...label,
    words: `${grouped(count)} ${countWords(label.words, count)}`,
  }));
}

function countOf({ environments }: AnySummary, verdict: Verdict): number {
  const counts: Readonly<Partial<Record<Verdict, number>>> = environments;
  return counts[verdict] ?? 0;
}

/** The words of a label behind a number. */
function countWords(words: string, count: number): string {
  if (words === 'differs' && count > 1) return 'differ';
  if (words === 'apply would be refused') return 'would be refused';
  return words === 'pending edits' ? 'pending' : words;
}

/** What is said of one environment, beside its verdict. */
export function attentionWords(attention: Attention, wording: Wording): string {
  const { verdict, error, rules, changes, pending, unknown } = attention;
  if (error !== null) return error.message;
  if (verdict === 'unknown') return notCompared(unknown);
  const count = changeCount(attention);
  if (count === 0) return wording === 'apply' ? '' : 'not as declared';
  const found = wording === 'drift' ? driftCounts(count, pending ?? 0) : countsText(changes);
  if (rules.length === 0) return found;
  const refused = wording === 'drift' ? 'apply would be refused: ' : '';
  return `${found}; ${refused}${rules.join(', ')}`;
}

export function attentionLabel({ verdict, error }: Attention, wording: Wording): Label {
  return verdictLabel(verdict, wording, error);
}
