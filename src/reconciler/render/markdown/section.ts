import { formatCount } from '../../model/wording.ts';
import type { Remainder } from '../../model/outcome.ts';
import { formatPath, type Path } from '../../model/path.ts';
import { type Change, type Unknown, formatChangeName, isById } from '../../model/plan.ts';
import type { Json } from '../../model/value.ts';
import { isDangerous, type ShownChange, inlineValue, isNested, isTooLong } from '../change.ts';
import { changeText, sideText } from '../section-text.ts';
import {
  PROOF_LABELS,
  findUnlistedError,
  formatGroupCount,
  groupUnmanaged,
  type Section,
  rankWarning,
} from '../section.ts';
import { PLAIN, WHOLE, type Style } from '../text.ts';
import { waysSentences } from '../../model/uncompared.ts';
import { commandFor, refusalSentence, refusalTitle, sentenceText } from '../wording.ts';
import {
  alert,
  bulletList,
  errorAlert,
  table,
  tableRow,
  type CommentBlock,
  type CommentEntry,
} from './blocks.ts';
import { codeSpan, htmlCode, label, longestRun, prose, shortenVisible } from './inline.ts';

const CELL: Style = { ...PLAIN, width: 90 };
const LONGEST_NAME = 160;
const MOST_UNMANAGED = 6;
export const TITLES = { plan: 'Plan', drift: 'Drift', apply: 'Apply' } as const;

/** One environment of several, folded under its name. */
export function foldSectionBlocks(section: Section): CommentBlock[] {
  const { name, headline } = section;
  const opening = `<details><summary>${htmlCode(name)} — ${headline}</summary>\n\n`;
  return [opening, ...bodyBlocks(section), '</details>\n\n'];
}

/** One environment under its title. */
export function sectionBlocks(section: Section): CommentBlock[] {
  const { command, name, headline } = section;
  return [`## ${TITLES[command]}: ${label(name)} — ${headline}\n\n`, ...bodyBlocks(section)];
}

/** Renders the body of a section: urgent notes, changes, unknowns, next steps. */
function bodyBlocks(section: Section): CommentBlock[] {
  const { command, sentence, changes } = section;
  const error = findUnlistedError(section);
  const alerts = error === null ? '' : errorAlert(error);
  if (command === 'apply') {
    return [
      alerts,
      refusalAlert(section),
      serviceLine(section),
      remainingList(section),
      warningAlert(section),
      resultTable(section),
      proofList(section),
      unknownList(section),
      waysLine(section),
      `${prose(sentenceText(sentence))}\n\n`,
    ];
  }
  return [
    alerts,
    serviceLine(section),
    refusalAlert(section),
    warningAlert(section),
    ...changeTable(section),
    proofList(section),
    changes.length > 0 ? '' : `${prose(sentence.lead)}\n\n`,
    unknownList(section),
    waysLine(section),
    formatUnmanagedMarkdown(section),
    nextSteps(section),
  ];
}

function serviceLine({ command, name, origin, seen, organization }: Section): string {
  if (origin === null && seen === null) return '';
  const where = origin === null ? label(name) : codeSpan(shortenVisible(origin, 200));
  const age = seen === null ? '' : ` ${prose(seen)}`;
  return `${command === 'apply' ? 'To' : 'Against'} ${where}${age}.\n\n${organization === null ? '' : `${prose(organization)}\n\n`}`;
}

function refusalAlert(section: Section): CommentBlock {
  const items = section.refusals.map((refusal) => ({
    rank: 0,
    sentence: refusalSentence(refusal),
  }));
  return alert(`> [!CAUTION]\n> **${refusalTitle(section)}**\n>\n`, 'refusal', items);
}

function warningAlert(section: Section): CommentBlock {
  const items = section.warnings.map(({ code, message }) => ({
    rank: rankWarning(code) === 2 ? 2 : 0,
    sentence: message,
  }));
  return alert('> [!WARNING]\n', 'warning', items);
}

/** The changes as a table, and in full in a fold. Those that cannot be undone are the last to be left out. */
function changeTable({ command, changes }: Section): CommentBlock[] {
  const isPlan = command === 'plan';
  const head = isPlan ? ['From', 'To'] : ['In the file', 'On the service'];
  const rows = changes.map((shown): CommentEntry => ({
    rank: isDangerous(shown.change) ? 1 : 3,
    text: () => changeRow(shown),
  }));
  return [table(['', 'Path', ...head, 'Why'], 'change', rows), fullDiff(changes, rows)];
}

/** Mark, path, from, to, why. Of drift: mark, path, what the file has, what the service has, why. */
function changeRow(shown: ShownChange): string {
  const { change, voice, label, reason } = shown;
  const isDrift = voice === 'drift';
  // The two sides of a drifted scalar need no reason.
  const sidesSuffice = shown.values.kind === 'sides' && !isById(change);
  const why = [
    sidesSuffice ? '' : prose(reason),
    change.class ?? '',
    sidesSuffice || change.ref === null ? '' : codeSpan(shortenVisible(change.ref, LONGEST_NAME)),
  ];
  return tableRow([
    label.mark,
    nameMarkdown(change),
    ...(isDrift ? sideCells(shown) : [valueCell('before', change), valueCell('after', change)]),
    why.filter((part) => part !== '').join(' · '),
  ]);
}

/** Empty if there is nothing; a block whose two sides differ somewhere is left to the diff. */
function valueCell(side: 'before' | 'after', change: Change<Json>): string {
  const { before, after, action, [side]: value } = change;
  if (value === null) return action === 'clear' && before !== null ? codeSpan('null') : '';
  if (isNested(before) && isNested(after)) return '…';
  if (isById(change) && typeof value === 'string')
    return codeSpan(shortenVisible(value, LONGEST_NAME));
  return codeSpan(inlineValue(value, CELL));
}

function sideCells({ change: { before, after }, values }: ShownChange): string[] {
  if (values.kind === 'sides') {
    const sides = [values.file, values.service].map((side) => sideText(side, CELL));
    return sides.map((text) => codeSpan(shortenVisible(text, 2 * LONGEST_NAME)));
  }
  return [after, before].map((value) => {
    if (value === null) return 'none';
    return isNested(before) && isNested(after) ? '…' : codeSpan(inlineValue(value, CELL));
  });
}

function fullDiff(changes: readonly ShownChange[], rows: readonly CommentEntry[]): CommentBlock {
  const entries = changes.map((shown, index): CommentEntry => {
    const row = rows[index];
    const rank = isDangerous(shown.change) ? 5 : 6;
    return { rank, text: () => changeDiff(shown), ...(row === undefined ? {} : { of: row }) };
  });
  return {
    entries,
    around: foldDiffs,
    missing: (count) =>
      `*The full diff of ${formatCount(count, 'change')} is not shown here, see the run*\n\n`,
  };
}

function foldDiffs(diffs: readonly string[]): string {
  const text = diffs.join('');
  const fence = '`'.repeat(Math.max(3, longestRun(text) + 1));
  return `<details><summary>Full diff</summary>\n\n${fence}diff\n${text}${fence}\n\n</details>\n\n`;
}

/** A change in full, for a fence of the kind `diff`, with the marks in the first column; null if it is too long to compare. */
function changeDiff(shown: ShownChange): string | null {
  const { change, label } = shown;
  if (isTooLong(change.before, change.after)) return null;
  const [head = '', ...members] = changeText(shown, WHOLE);
  const line = `${label.mark === '~' ? '!' : label.mark}${head.slice(3)}`;
  return `${[line, ...members.map(marksFirst)].join('\n')}\n`;
}

function marksFirst(member: string): string {
  const head = /^ {6}((?:---|\+\+\+) .*)/.exec(member)?.[1];
  return head ?? `${member.slice(6, 7)}   ${member.slice(7)}`;
}

function resultTable({ changes }: Section): CommentBlock {
  const rows = changes.map(({ change, result }): CommentEntry => {
    const { mark = '', words = '' } = result ?? {};
    return {
      rank: mark === '✓' ? 3 : 1,
      text: () => tableRow([mark, nameMarkdown(change), prose(words)]),
    };
  });
  return table(['', 'Path', 'Result'], 'change', rows);
}

/** Lists the service's trials. Failed ones are the last to be left out. */
function proofList({ proofs }: Section): CommentBlock {
  const entries = (proofs ?? []).map(({ path, status, found }): CommentEntry => {
    const { mark, words } = PROOF_LABELS[status];
    return {
      rank: status === 'works' ? 3 : 1,
      text: () => `- ${mark} ${pathSpan(path, LONGEST_NAME)} ${words}: ${prose(found)}\n`,
    };
  });
  return bulletList('Checked by the service', entries, (count) => formatCount(count, 'more check'));
}

function remainingList(section: Section): CommentBlock {
  const entries = section.remaining.map((one): CommentEntry => ({
    rank: 0,
    text: () => remainderItem(one),
  }));
  return bulletList(
    'Not as requested',
    entries,
    (count) => `${formatCount(count, 'more difference')} that remain`,
  );
}

function remainderItem({ reason, expected, actual, hint, ...place }: Remainder): string {
  const values = `expected ${codeSpan(inlineValue(expected, CELL))}, found ${codeSpan(inlineValue(actual, CELL))}`;
  return `- ${nameMarkdown(place)}: ${prose(reason)}, ${values}. ${prose(hint)}\n`;
}

function unknownList(section: Section): CommentBlock {
  const entries = section.unknown.map((one): CommentEntry => ({
    rank: 4,
    text: () => unknownItem(one),
  }));
  return bulletList(
    `${formatCount(entries.length, 'value')} could not be compared`,
    entries,
    (count) => `${formatCount(count, 'more value')} that could not be compared`,
  );
}

/** Describes how to compare what could not be compared. */
function waysLine({ ways, command }: Section): string {
  const sentences = waysSentences(ways, command);
  return sentences.length === 0 ? '' : `${sentences.map(prose).join(' ')}\n\n`;
}

function unknownItem({ path, reason, ref }: Unknown): string {
  const from = ref === null ? '' : ` (${codeSpan(shortenVisible(ref, LONGEST_NAME))})`;
  return `- ${pathSpan(path, LONGEST_NAME)}: ${prose(reason)}${from}\n`;
}

function formatUnmanagedMarkdown({ unmanaged: paths }: Section): string {
  if (paths.length === 0) return '';
  const groups = groupUnmanaged(paths);
  const more = groups.length - MOST_UNMANAGED;
  const names = groups
    .slice(0, MOST_UNMANAGED)
    .map((group) => pathSpan(group.path, 100) + formatGroupCount(group));
  return `Not in the file, left alone: ${[...names, ...(more > 0 ? [`${more} more`] : [])].join(', ')}\n\n`;
}

/** Lists the next steps. A command that a guard would refuse is not one. */
function nextSteps({ command, changes, name, refusals, caveat }: Section): string {
  if (changes.length === 0) return '';
  const [apply, pull] = (['apply', 'pull'] as const).map((verb) =>
    codeSpan(commandFor(verb, [shortenVisible(name, 200)])),
  );
  const refused = refusals.length > 0;
  if (command === 'plan')
    return refused
      ? ''
      : `Next: review and merge, where a pipeline applies it; or run ${apply}.\n\n`;
  const ways = refused
    ? `Bring it into the file with ${pull}.`
    : `Undo with ${apply}, or bring it into the file with ${pull}.`;
  return `${ways}${caveat === '' ? '' : ` ${prose(caveat)}`}\n\n`;
}

/** The name of a change, its path or its ids as code. */
function nameMarkdown(change: Pick<Change, 'resource' | 'path'>): string {
  const { resource, path } = change;
  if (!isById(change)) return pathSpan(path, LONGEST_NAME);
  return formatChangeName({
    resource,
    path: path.map((segment) => codeSpan(shortenVisible(segment, LONGEST_NAME))),
  });
}

function pathSpan(path: Path, limit: number): string {
  return codeSpan(shortenVisible(formatPath(path), limit));
}
