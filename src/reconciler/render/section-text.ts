import type { EnvironmentOutcome, OutcomeDocument } from '../model/outcome.ts';
import { formatPath } from '../model/path.ts';
import {
  type EnvironmentPlan,
  type PlanDocument,
  formatChangeName,
  type Unknown,
  isById,
} from '../model/plan.ts';
import { findActionParticiple } from '../model/action.ts';
import { type Warning } from '../model/error.ts';
import type { Costs, Proof } from '../model/proof.ts';
import type { ServiceDialect } from '../model/state.ts';
import {
  type Voice,
  IN_THE_FILE,
  ON_THE_SERVICE,
  type ShownChange,
  type Side,
  inlineValue,
  diffNested,
} from './change.ts';
import {
  formatGroupCount,
  groupUnmanaged,
  outcomeSection,
  planSection,
  PROOF_LABELS,
  type Section,
} from './section.ts';
import { isLeftOut, formatMergeNotes, summaryText, waysText } from './summary.ts';
import { formatCount } from '../model/wording.ts';
import { formatDetailSource, paint, type Style, visible } from './text.ts';
import {
  NOTHING_TO_CHECK,
  refusalSentence,
  refusalTitle,
  requestCounts,
  formatServiceVersion,
} from './wording.ts';
import { waysOfAll } from '../model/uncompared.ts';

/**
 * A plan, environment by environment, and then its summary if there are several or if it is of a shard. The last line of each environment is
 * `No changes.` exactly when its plan is empty.
 */
export function planText(document: PlanDocument, style: Style, voice: Voice = 'plan'): string {
  const { environments } = document;
  const about = { voice, plan: document, total: environments.length };
  return joinParagraphs([
    ...environments.map((environment) => environmentText(environment, about, style)),
    summaryText(document, voice, style),
    waysText(waysOfAll(environments), voice, style),
    formatMergeNotes(document.merged, style),
  ]);
}

/** One environment of a plan; empty if there are so many that it is left to the summary. */
export function environmentText(
  environment: EnvironmentPlan,
  {
    voice,
    plan,
    total,
  }: { voice: Voice; plan: Pick<PlanDocument, 'created_at' | 'strict'>; total: number },
  style: Style,
): string {
  const section = planSection(environment, voice, plan);
  return isLeftOut(section, total) && !style.verbose ? '' : sectionText(section, style);
}

/** Texts that are not empty, with an empty line between two. */
function joinParagraphs(texts: readonly string[]): string {
  return texts.filter((text) => text !== '').join('\n');
}

/** One environment's plan right before it is applied. A refusal is not in it: it is the error that follows. */
export function previewText(environment: EnvironmentPlan, style: Style): string {
  return sectionText(
    { ...planSection(environment, 'plan', { created_at: '' }), refusals: [] },
    style,
  );
}
/**
 * The result of an apply, environment by environment, and then its summary if there are several or if it is of a shard. Errors and refusals
 * are not in the sections: they are printed with the messages.
 */
export function outcomeText(document: OutcomeDocument, style: Style): string {
  const { environments, merged } = document;
  const total = environments.length;
  return joinParagraphs([
    ...environments.map((environment) => formatOutcomeSection(environment, total, style)),
    summaryText(document, 'apply', style),
    waysText(waysOfAll(environments), 'apply', style),
    formatMergeNotes(merged, style),
  ]);
}

/**
 * One environment of an outcome; empty if a user declined it, which its error states, or if there are so many that only the summary has it.
 */
export function formatOutcomeSection(
  environment: EnvironmentOutcome,
  total: number,
  style: Style,
): string {
  if (environment.error?.code === 'declined') return '';
  const section = outcomeSection(environment);
  if (isLeftOut(section, total) && !style.verbose) return '';
  return sectionText({ ...section, refusals: [] }, style);
}

/** Formats a section. Refusals of an apply come last, so that they are not missed. */
function sectionText(section: Section, style: Style): string {
  const { command, organization, seen, changes, remaining, unknown, warnings, refusals } = section;
  const lines = [
    heading(section, style) + (seen === null ? '' : paint(style, 'dim', `  ${visible(seen)}`)),
  ];
  if (organization !== null) lines.push(paint(style, 'dim', `  ${visible(organization)}`));
  const body = [
    ...changes.flatMap((change) => changeText(change, style)),
    ...remaining.flatMap(({ expected, actual, reason, ...place }) => [
      `  ${paint(style, 'red', '!')} ${visible(formatChangeName(place))}: ${visible(reason)}`,
      `      expected ${inlineValue(expected, style)}`,
      `      found    ${inlineValue(actual, style)}`,
    ]),
    // The plan of an apply has shown them.
    ...(command === 'apply' && changes.length > 0 ? [] : formatUnknowns(unknown, style)),
    ...warnings.map((warning) => warningText(warning, style)),
    ...proofLines(section, style),
    ...formatUnmanaged(section, style),
  ];
  if (body.length > 0) lines.push('', ...body);
  const refused = refusals.map(
    (refusal) =>
      `${paint(style, 'red', `${refusalTitle(section)}:`)} ${visible(refusalSentence(refusal))}`,
  );
  return `${[...lines, '', lastLine(section, style), ...refused].join('\n')}\n`;
}

/** The name of an environment, the service it names, and what that speaks, if it is not the dialect of the specification. */
export function heading(
  { name, origin, ...spoken }: Pick<Section, 'name' | 'origin'> & Partial<ServiceDialect>,
  style: Style,
): string {
  const { dialect = null, release = null } = spoken;
  const named =
    dialect !== 'settings-v0' || style.verbose ? formatServiceVersion({ dialect, release }) : null;
  const about = [origin, named].flatMap((text) => (text === null ? [] : [`  ${visible(text)}`]));
  return (
    paint(style, 'bold', visible(name)) + about.map((text) => paint(style, 'dim', text)).join('')
  );
}

function formatUnmanaged({ unmanaged, unlisted }: Section, style: Style): string[] {
  if (unmanaged.length === 0) return [];
  const names = style.verbose
    ? unmanaged.map((path) => visible(formatPath(path)))
    : groupUnmanaged(unmanaged).map(
        (group) => visible(formatPath(group.path)) + formatGroupCount(group),
      );
  const shown =
    style.verbose || names.length <= 6 ? names : [...names.slice(0, 6), `${names.length - 6} more`];
  const lines = [`  Not in the file, left alone: ${shown.join(', ')}`];
  if (style.verbose && unlisted !== null) lines.push(`    ${unlisted}`);
  return lines.map((line) => paint(style, 'dim', line));
}

function lastLine({ sentence, requests, dialect }: Section, style: Style): string {
  const { lead, color, rest } = sentence;
  const sent = requests === null ? null : requests.requests;
  const counts = sent !== null && style.verbose ? ` (${requestCounts(sent, dialect)})` : '';
  const first = color === null ? visible(lead) : paint(style, color, lead);
  return `${first}${visible(rest)}${counts}`;
}

/** A change in lines: what happens to which path, from which value to which, its reference; a diff if it is nested. */
export function changeText(shown: ShownChange, style: Style): string[] {
  if (shown.result !== null) return [resultLine(shown, style)];
  const [first = '', ...rest] =
    shown.voice === 'plan' ? formatPlannedChange(shown, style) : formatDriftChange(shown, style);
  const { class: origin } = shown.change;
  return [first + (origin === undefined ? '' : paint(style, 'dim', `  [${origin}]`)), ...rest];
}

function resultLine({ name, result }: ShownChange, style: Style): string {
  const { mark, words, color } = result ?? { mark: '', words: '', color: 'dim' };
  return `  ${paint(style, color, mark)} ${visible(name)}: ${visible(words)}`;
}

function formatPlannedChange(shown: ShownChange, style: Style): string[] {
  const { change, reason, values } = shown;
  const head = formatChangeHead(shown, style);
  if (isById(change))
    return [
      `${head}: will be ${findActionParticiple(change.action) ?? change.action} (${visible(reason)})`,
    ];
  const ref = refText(change.ref, style);
  switch (values.kind) {
    case 'arrow': {
      const after = sideText(values.after, style);
      const before = values.before === null ? '' : `${inlineValue(values.before, style)} → `;
      return [`${head}: ${before}${after}${ref}`];
    }
    case 'diff': {
      const diff = diffNested(values.before, values.after, style).map((line) => `      ${line}`);
      return [`${head}: ${visible(reason)}${ref}`, ...diff];
    }
    default:
      return [`${head}: ${visible(reason)}${ref}`];
  }
}

function formatDriftChange(shown: ShownChange, style: Style): string[] {
  const { change, reason, values } = shown;
  const head = formatChangeHead(shown, style);
  if (values.kind === 'sides') {
    const why = isById(change) ? `: ${visible(reason)}` : '';
    const service = `- ${ON_THE_SERVICE}  ${sideText(values.service, style)}`;
    const file = `+ ${IN_THE_FILE}     ${sideText(values.file, style)}`;
    return [
      head + why,
      `      ${paint(style, 'red', service)}`,
      `      ${paint(style, 'green', file)}`,
    ];
  }
  const { before, after, ref } = change;
  if (values.kind === 'none') return [`${head}: ${visible(reason)}${refText(ref, style)}`];
  const lines = [
    paint(style, 'red', `--- ${ON_THE_SERVICE}${before === null ? ': none' : ''}`),
    paint(style, 'green', `+++ ${IN_THE_FILE}${after === null ? ': none' : ''}`),
    ...diffNested(before, after, style),
  ];
  return [
    `${head}: ${visible(reason)}${refText(ref, style)}`,
    ...lines.map((line) => `      ${line}`),
  ];
}

/** One side of a difference on a line. */
export function sideText(side: Side, style: Style): string {
  return 'words' in side ? visible(side.words) : inlineValue(side.value, style);
}

function formatChangeHead({ label, name }: ShownChange, style: Style): string {
  return `  ${paint(style, label.color, label.mark)} ${paint(style, 'bold', visible(name))}`;
}

export function refText(ref: string | null, style: Style): string {
  return ref === null ? '' : paint(style, 'dim', ` (${visible(ref)})`);
}

/** Stored secrets, which are in every plan until something can compare them, are one line. */
function formatUnknowns(unknown: readonly Unknown[], style: Style): string[] {
  const stored = unknown.filter(({ kind }) => kind === 'stored');
  if (style.verbose || stored.length < 2) return unknown.map((one) => unknownText(one, style));
  const mark = paint(style, 'cyan', '?');
  return [
    `  ${mark} ${formatCount(stored.length, 'stored secret')} cannot be compared (${formatDetailSource(style)} lists them)`,
    ...unknown.filter((one) => !stored.includes(one)).map((one) => unknownText(one, style)),
  ];
}

export function unknownText({ path, reason, ref }: Unknown, style: Style): string {
  const mark = paint(style, 'cyan', '?');
  return `  ${mark} ${visible(formatPath(path))}: ${visible(reason)}${refText(ref, style)}`;
}

function proofLines({ proofs }: Section, style: Style): string[] {
  if (proofs?.length === 0) return [paint(style, 'dim', `  ${NOTHING_TO_CHECK}`)];
  return proofs?.map((proof) => proofText(proof, style)) ?? [];
}

/** Formats the result of a trial. */
export function proofText({ path, status, found }: Proof, style: Style): string {
  const { mark, words, color } = PROOF_LABELS[status];
  return `  ${paint(style, color, mark)} ${visible(formatPath(path))} ${words}: ${visible(found)}`;
}

/** Tokens that one try of a model takes, about: two sentences to it, and one token back. */
const TOKENS = 20;

/** Formats the costs of a check as a sentence. */
export function costsText({ model, reach, program }: Costs): string {
  const parts = [
    ...(model === 0 ? [] : [`calls ${formatCount(model, 'model')} (about ${TOKENS} tokens each)`]),
    ...(reach === 0 ? [] : [`connects to ${formatCount(reach, 'mcp server')}`]),
    ...(program === 0 ? [] : [`starts ${formatCount(program, 'program')} on its machine`]),
  ];
  return `to check, the service ${parts.join(', ')}.`;
}

export function warningText({ message }: Warning, style: Style): string {
  return `  ${paint(style, 'yellow', '!')} ${visible(message)}`;
}
