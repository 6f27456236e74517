import { changeCount } from '../model/summary.ts';
import type { AnySummary, OutcomeDocument } from '../model/outcome.ts';
import type { Attention, Merged, PlanDocument } from '../model/plan.ts';
import { isFailureVerdict, VERDICTS, type Verdict } from '../model/verdict.ts';
import { formatCount, groupThousands } from '../model/wording.ts';
import type { Shard } from '../model/shard.ts';
import type { Label, Wording } from './change.ts';
import { type Section, verdictLabel, rankWarning } from './section.ts';
import { shardName } from './shard-text.ts';
import { countsText, driftCounts, formatUncomparedCount } from './wording.ts';
import { formatDetailSource, paint, type Style, visible } from './text.ts';
import { waysSentences, type Ways } from '../model/uncompared.ts';

/** Up to so many environments each has a section; of more, those that need no attention are left to the summary. */
export const FEW = 20;

/**
 * Reports whether a section is left to the summary: that of an environment that was not started, and, if there are many, those that need no
 * attention.
 */
export function isLeftOut(
  { attention: { verdict }, warnings }: Pick<Section, 'attention' | 'warnings'>,
  total: number,
): boolean {
  if (verdict === 'not-started') return total > 1;
  const quiet = verdict === 'in-sync' || verdict === 'not-empty';
  return total > FEW && quiet && warnings.every(({ code }) => rankWarning(code) === 2);
}

/** Before each reason why a report is not whole. */
export const NOT_WHOLE = 'Not whole:';

/** Reports whether a summary adds to its only section. */
export function isSummed({ environments }: AnySummary): boolean {
  return environments.total > 1;
}

/** A summary of many environments in one line: `10,000 environments: 9,970 in sync, 22 drift, 8 failed.` */
export interface SummaryLine {
  /** `10,000 environments`, or `5,000 environments of shard 0/2` */
  readonly total: string;
  /** The calm ones first. */
  readonly counts: readonly Label[];
  /** Further sentences; empty if there are none. */
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
    countVerdict(summary, 'in-sync') + countVerdict(summary, 'unknown') === environments.total;
  const rest = [
    unchanged ? 'No changes.' : '',
    unknown > 0 ? `${formatUncomparedCount(unknown)}.` : '',
    environments.total > FEW && warnings > 0 ? `${formatCount(warnings, 'warning')}.` : '',
  ].filter((sentence) => sentence !== '');
  return {
    total: environmentsText(environments.total, shard),
    counts: verdictCounts(summary, wording),
    rest: rest.join(' '),
  };
}

/** Formats the number of environments of a document, and its shard. */
export function environmentsText(count: number, shard: Shard | null): string {
  const environments = count === 0 ? 'no environments' : formatCount(count, 'environment');
  return shard === null ? environments : `${environments} of ${shardName(shard)}`;
}

/** Counts environments of each kind, as labels: `9,970 in sync`. Verdicts with the same words are counted together. */
function verdictCounts(summary: AnySummary, wording: Wording): Label[] {
  const sums = new Map<string, { count: number; readonly label: Label }>();
  const add = (count: number, label: Label): void => {
    const known = sums.get(label.words);
    if (known !== undefined) known.count += count;
    else if (count > 0) sums.set(label.words, { count, label });
  };
  for (const verdict of VERDICTS) {
    if (isFailureVerdict(verdict) && countVerdict(summary, verdict) > 0) {
      for (const [code, count] of Object.entries(summary.errors))
        add(count, verdictLabel(verdict, wording, { code }));
    } else add(countVerdict(summary, verdict), verdictLabel(verdict, wording, null));
  }
  return [...sums.values()].map(({ count, label }) => ({
    ...label,
    words: `${groupThousands(count)} ${countWords(label, count)}`,
  }));
}

function countVerdict({ environments }: AnySummary, verdict: Verdict): number {
  const counts: Readonly<Partial<Record<Verdict, number>>> = environments;
  return counts[verdict] ?? 0;
}

/** The words of a label behind a number. */
function countWords({ words, counted }: Label, count: number): string {
  return counted === undefined ? words : counted[count > 1 ? 1 : 0];
}

/** Formats one environment of a summary, without its verdict. */
export function attentionWords(attention: Attention, wording: Wording): string {
  const { verdict, error, rules, changes, pending, unknown } = attention;
  if (error !== null) return error.message;
  if (verdict === 'unknown') return formatUncomparedCount(unknown);
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

const LONGEST_NAME = 32;
const LONGEST_LABEL = 22;

/**
 * The environments of a run, counted, and below that a line for each that needs attention, the worst first; the first 20 of them unless the
 * style is verbose. For a single environment only the shard is named, if it is of one.
 */
export function summaryText(
  { summary, shard }: Pick<PlanDocument | OutcomeDocument, 'summary' | 'shard'>,
  wording: Wording,
  style: Style,
): string {
  const { total, counts, rest } = summaryLine(summary, shard, wording);
  const next = wording === 'drift' ? nextText(summary, style) : '';
  if (!isSummed(summary)) return next + (shard === null ? '' : `${paint(style, 'bold', total)}.\n`);
  const shown = counts.map(({ words, color }) => paint(style, color, words)).join(', ');
  const first = `${paint(style, 'bold', total)}: ${shown}.${rest === '' ? '' : ` ${rest}`}`;
  return `${[first, ...attentionLines(summary, wording, style)].join('\n')}\n${next === '' ? '' : `\n${next}`}`;
}

/** Explains how to handle drift; empty without drift. An edit that waits for its apply does not count. */
function nextText({ attention }: AnySummary, style: Style): string {
  const isDrift = attention.some((one) => changeCount(one) > (one.pending ?? 0));
  return isDrift ? `${paint(style, 'dim', AFTER_DRIFT)}\n` : '';
}

const AFTER_DRIFT =
  'setpoint apply puts the service back; setpoint pull takes its values into the file.';

/** Explains how to compare what could not be compared. */
export function waysText(ways: Ways, wording: Wording, style: Style): string {
  return waysSentences(ways, wording)
    .map((sentence) => `${paint(style, 'dim', visible(sentence))}\n`)
    .join('');
}

/** Formats the reasons that a merged report is incomplete, and other notes on it. */
export function formatMergeNotes(merged: Merged | undefined, style: Style): string {
  const { problems = [], notes = [] } = merged ?? {};
  const lines = [
    ...problems.map((problem) => `${paint(style, 'red', NOT_WHOLE)} ${visible(problem)}`),
    ...notes.map(visible),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

function attentionLines({ attention, more }: AnySummary, wording: Wording, style: Style): string[] {
  const started = attention.filter(({ verdict }) => verdict !== 'not-started');
  const listed = style.verbose ? started : started.slice(0, FEW);
  const rows = listed.map((one) => ({
    name: visible(one.name),
    label: attentionLabel(one, wording),
    words: visible(attentionWords(one, wording)),
  }));
  const name = widest(
    rows.map((row) => row.name),
    LONGEST_NAME,
  );
  const label = widest(
    rows.map((row) => row.label.words),
    LONGEST_LABEL,
  );
  const lines = rows.map((row) => {
    const { mark, color, words } = row.label;
    const head = `  ${paint(style, color, mark)} ${cutSummary(row.name, style, LONGEST_NAME).padEnd(name)}`;
    const said = cutSummary(row.words, style, room(style, name + label + 8));
    return `${head}  ${paint(style, color, words)}${' '.repeat(Math.max(0, label - words.length))}  ${said}`.trimEnd();
  });
  // Environments that were not started come last: if one of them is listed, all unlisted ones belong to them.
  const waiting = attention.slice(started.length).map(({ name }) => visible(name));
  const left = waiting.length > 0 ? 0 : more;
  const rest = started.length - listed.length + left;
  const hint = style.verbose
    ? ''
    : `; ${formatDetailSource(style)} lists ${left === 0 ? 'them' : 'more'}`;
  if (rest > 0) lines.push(paint(style, 'dim', `  and ${groupThousands(rest)} more${hint}`));
  if (waiting.length > 0) lines.push(notStartedLine(waiting, more, style));
  return lines;
}

/** They are one line, because each has no details. */
function notStartedLine(names: readonly string[], more: number, style: Style): string {
  const { mark, color, words } = verdictLabel('not-started', 'apply', null);
  const listed = style.verbose ? names : names.slice(0, FEW);
  const rest = names.length - listed.length + more;
  const others = rest === 0 ? '' : ` and ${groupThousands(rest)} more`;
  return `  ${paint(style, color, `${mark} ${words}`)}: ${listed.join(', ')}${others}`;
}

function widest(texts: readonly string[], limit: number): number {
  return Math.min(limit, Math.max(0, ...texts.map(({ length }) => length)));
}

/** The columns that are left on a line; without a terminal there are enough. */
function room({ width }: Style, used: number): number {
  return width === null ? Infinity : Math.max(24, width - used);
}

/** Cuts a text to the width of a terminal, unless the style is verbose. */
function cutSummary(text: string, style: Style, limit: number): string {
  if (style.verbose || style.width === null || text.length <= limit) return text;
  return `${Array.from(text)
    .slice(0, limit - 1)
    .join('')}…`;
}
