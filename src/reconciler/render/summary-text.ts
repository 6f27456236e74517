import type { OutcomeDocument } from '../model/outcome.ts';
import type { Merged, PlanDocument } from '../model/plan.ts';
import type { AnySummary } from '../model/summary.ts';
import { grouped } from '../model/wording.ts';
import {
  attentionLabel,
  attentionWords,
  FEW,
  isSummed,
  NOT_WHOLE,
  summaryLine,
} from './summary.ts';
import { verdictLabel } from './section.ts';
import { changeCount } from '../model/summary.ts';
import { type Wording } from './change.ts';
import { elsewhere, paint, type Style, visible } from './text.ts';
import { waysSentences, type Ways } from '../model/ways.ts';

const LONGEST_NAME = 32;
const LONGEST_LABEL = 22;

/**
 * The environments of a run, counted, and below that a line for each that somebody should look at, the worst first; the first 20
 * of them unless the style is verbose. For a single environment only the shard is named, if it is of one.
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

/** What can be done about drift; empty if there is none. An edit that waits for its apply is none. */
function nextText({ attention }: AnySummary, style: Style): string {
  const isDrift = attention.some((one) => changeCount(one) > (one.pending ?? 0));
  return isDrift ? `${paint(style, 'dim', AFTER_DRIFT)}\n` : '';
}

const AFTER_DRIFT =
  'setpoint apply puts the service back; setpoint pull takes its values into the file.';

/** What can be done about what could not be compared. */
export function waysText(ways: Ways, wording: Wording, style: Style): string {
  return waysSentences(ways, wording)
    .map((sentence) => `${paint(style, 'dim', visible(sentence))}\n`)
    .join('');
}

/** Why a report is not whole, and what else is worth knowing of it. */
export function mergedText(merged: Merged | undefined, style: Style): string {
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
    const head = `  ${paint(style, color, mark)} ${cut(row.name, style, LONGEST_NAME).padEnd(name)}`;
    const said = cut(row.words, style, room(style, name + label + 8));
    return `${head}  ${paint(style, color, words)}${' '.repeat(Math.max(0, label - words.length))}  ${said}`.trimEnd();
  });
  // Those that were not started are the last: what is not listed is one of them as soon as one is.
  const waiting = attention.slice(started.length).map(({ name }) => visible(name));
  const left = waiting.length > 0 ? 0 : more;
  const rest = started.length - listed.length + left;
  const hint = style.verbose ? '' : `; ${elsewhere(style)} lists ${left === 0 ? 'them' : 'more'}`;
  if (rest > 0) lines.push(paint(style, 'dim', `  and ${grouped(rest)} more${hint}`));
  if (waiting.length > 0) lines.push(notStartedLine(waiting, more, style));
  return lines;
}

/** They are one line, because there is nothing to say of each. */
function notStartedLine(names: readonly string[], more: number, style: Style): string {
  const { mark, color, words } = verdictLabel('not-started', 'apply', null);
  const listed = style.verbose ? names : names.slice(0, FEW);
  const rest = names.length - listed.length + more;
  const others = rest === 0 ? '' : ` and ${grouped(rest)} more`;
  return `  ${paint(style, color, `${mark} ${words}`)}: ${listed.join(', ')}${others}`;
}

function widest(texts: readonly string[], limit: number): number {
  return Math.min(limit, Math.max(0, ...texts.map(({ length }) => length)));
}

/** The columns that are left on a line; without a terminal there are enough. */
function room({ width }: Style, used: number): number {
  return width === null ? Infinity : Math.max(24, width - used);
}

/** What does not fit on a terminal is cut off, unless the style is verbose. */
function cut(text: string, style: Style, limit: number): string {
  if (style.verbose || style.width === null || text.length <= limit) return text;
  return `${Array.from(text)
    .slice(0, limit - 1)
    .join('')}…`;
}
