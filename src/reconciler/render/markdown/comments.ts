import { formatCount } from '../../model/wording.ts';
import type { FailureDocument } from '../../model/error.ts';
import type { OutcomeDocument } from '../../model/outcome.ts';
import type { PlanDocument, Run, Tool } from '../../model/plan.ts';
import type { DiagnosticReport, ValidationDocument } from '../../model/documents.gen.ts';
import { TOOL } from '../../model/version.ts';
import { outcomeSections, planSections, type Section } from '../section.ts';
import { type Wording } from '../change.ts';
import { environmentsText, isLeftOut, isSummed } from '../summary.ts';
import { linkTarget } from '../text.ts';
import {
  errorAlert,
  fitBlocks,
  frameSize,
  table,
  tableRow,
  type CommentBlock,
  type CommentEntry,
} from './blocks.ts';
import { codeSpan, label, prose, shortenVisible } from './inline.ts';
import { foldSectionBlocks, sectionBlocks, TITLES } from './section.ts';
import { formatMergeBlocks, summaryBlocks } from './summary.ts';

// Each document as a comment, an issue or a summary: at most LONGEST_COMMENT bytes of Markdown, all values inert.

/**
 * The longest comment, in bytes of UTF-8: GitHub takes 65,536 characters, whichever way they are counted, and something may be
 * put before it.
 */
const LONGEST_COMMENT = 59_000;
/** The part of it for what a section cannot leave out. */
const FRAMES = 2 / 3;

/** `limit` is in bytes of UTF-8. */
export function planMarkdown(document: PlanDocument, limit = LONGEST_COMMENT): string {
  return renderComment(planSections(document, 'plan'), document, 'plan', limit);
}

/** Renders a plan as drift. */
export function driftMarkdown(document: PlanDocument, limit = LONGEST_COMMENT): string {
  return renderComment(planSections(document, 'drift'), document, 'drift', limit);
}

export function outcomeMarkdown(document: OutcomeDocument, limit = LONGEST_COMMENT): string {
  return renderComment(outcomeSections(document), document, 'apply', limit);
}

export function validationMarkdown({ diagnostics }: ValidationDocument): string {
  const errors = diagnostics.filter(({ severity }) => severity === 'error').length;
  const warnings = diagnostics.length - errors;
  const counts = [
    errors === 0 ? '' : formatCount(errors, 'error'),
    warnings === 0 ? '' : formatCount(warnings, 'warning'),
  ].filter((part) => part !== '');
  const title = `## Validation — ${counts.join(', ') || 'no problems'}\n\n`;
  return fitBlocks([title, problems(diagnostics), `${toolMarkdown(TOOL)}\n`], LONGEST_COMMENT);
}

/** Renders why a command could not begin. */
export function failureMarkdown({ error }: FailureDocument): string {
  const blocks = [
    '## setpoint could not begin\n\n',
    errorAlert(error),
    problems(error.diagnostics ?? []),
    `${toolMarkdown(TOOL)}\n`,
  ];
  return fitBlocks(blocks, LONGEST_COMMENT);
}

/** Commit, run, actor and version of setpoint. The address of the run is the only link in a comment. */
export function footer(run: Run, tool: Tool): string {
  const parts = [
    run.commit === null ? '' : `commit ${codeSpan(shortCommit(run.commit))}`,
    runLink(run.url),
    run.actor === null ? '' : `by ${codeSpan(shortenVisible(run.actor, 60))}`,
    toolMarkdown(tool),
  ];
  return `${parts.filter((part) => part !== '').join(' · ')}\n`;
}

/**
 * Sections that share the room of one comment: the frame of each is shown whole or left out, failures before the rest. Several are folded
 * below their summary; of many, those that need no attention are only counted there.
 */
function renderComment(
  all: readonly Section[],
  { summary, shard, merged, run, tool }: PlanDocument | OutcomeDocument,
  wording: Wording,
  limit: number,
): string {
  const several = isSummed(summary);
  const sections = all.filter((section) => !isLeftOut(section, all.length));
  const titled = several || shard !== null;
  const opening = [
    titled ? `## ${TITLES[wording]}: ${environmentsText(all.length, shard)}\n\n` : '',
    ...formatMergeBlocks(merged),
    ...summaryBlocks(summary, wording),
  ];
  let room = limit * FRAMES - frameSize(opening);
  const shown = new Map<Section, CommentBlock[]>();
  for (const section of sections.toSorted((one, other) => rankSection(one) - rankSection(other))) {
    const blocks = several ? foldSectionBlocks(section) : sectionBlocks(section);
    const size = frameSize(blocks);
    if (size > room) continue;
    room -= size;
    shown.set(section, blocks);
  }
  const left = sections.filter((section) => !shown.has(section));
  const blocks = sections.flatMap((section) => shown.get(section) ?? []);
  return fitBlocks([...opening, ...blocks, formatOmittedSections(left), footer(run, tool)], limit);
}

function rankSection({ verdict }: Section): number {
  return ['red', 'yellow', 'green'].indexOf(verdict.color);
}

function formatOmittedSections(left: readonly Section[]): string {
  if (left.length === 0) return '';
  const changes = left.reduce((sum, section) => sum + section.changes.length, 0);
  return `*and ${formatCount(left.length, 'more environment')} with ${formatCount(changes, 'change')}, see the run*\n\n`;
}

/** Problems of settings files as a table; errors are the last to be left out. */
function problems(diagnostics: readonly DiagnosticReport[]): CommentBlock {
  const rows = diagnostics.map((diagnostic): CommentEntry => ({
    rank: diagnostic.severity === 'error' ? 0 : 1,
    text: () => problemRow(diagnostic),
  }));
  return table(['', 'Place', 'Problem', 'What to do'], 'problem', rows);
}

function problemRow(diagnostic: DiagnosticReport): string {
  const { severity, code, message, hint, file, line, column } = diagnostic;
  return tableRow([
    severity,
    codeSpan(`${shortenVisible(file, 160)}:${line}:${column}`),
    `${prose(message)} ${codeSpan(shortenVisible(code, 60))}`,
    prose(hint),
  ]);
}

function toolMarkdown({ version }: Tool): string {
  return `setpoint ${label(version)}`;
}

function shortCommit(commit: string): string {
  return /^[0-9a-f]{7,64}$/.test(commit) ? commit.slice(0, 7) : shortenVisible(commit, 40);
}

/** Links a run. Characters that could end the link are percent-encoded. */
function runLink(text: string | null): string {
  const url = text === null ? null : linkTarget(text);
  if (url === null || !/^[a-z0-9.-]+$/.test(url.hostname)) return '';
  const target = url.href.replaceAll(
    /[^A-Za-z0-9\-._~:/?#@!$+,;=%&]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return target.length > 1000 ? '' : `[run](${target.replaceAll('&', '&amp;')})`;
}
