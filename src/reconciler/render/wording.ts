import { type Change, type EnvironmentPlan, type Unknown } from '../model/plan.ts';
import { ACTIONS, countActions, formatActionNoun, type ActionCounts } from '../model/action.ts';
import { computeErrorExitCode, type ErrorReport } from '../model/error.ts';
import { formatCount, groupThousands } from '../model/wording.ts';
import type { Refusal } from '../model/guard.ts';
import type { EnvironmentOutcome } from '../model/outcome.ts';
import { formatPath } from '../model/path.ts';
import type { ServiceDialect } from '../model/state.ts';
import type { Json } from '../model/value.ts';
import { listUncomparedRest } from '../model/uncompared.ts';
import { type Voice, ageText, type Wording } from './change.ts';
import type { Paint } from './text.ts';

/** The last line of an environment's text: a part that is coloured, and the rest of it. */
export interface Sentence {
  readonly lead: string;
  readonly color: Paint | null;
  readonly rest: string;
}

const COULD_NOT_READ = "Could not read the service's settings.";
const NOT_STARTED = 'Not started.';

/** Explains why an environment has nothing to show. Its error has the details. */
export function unreadSentence(error: ErrorReport | null): string {
  switch (error?.code) {
    case 'unfit-for-service':
    case 'spec-refused':
      return 'Refused: the service cannot take what the file declares.';
    case 'not-in-snapshot':
    case 'snapshot-too-old':
    case 'other-origin':
      return 'Refused: the snapshot does not stand for the service.';
    default:
      return isNotStarted(error) ? NOT_STARTED : COULD_NOT_READ;
  }
}

/** Whether an error is one of the file, its variables or its policies, or of another environment: the service was not asked. */
function isNotStarted(error: ErrorReport | null): boolean {
  return error !== null && (computeErrorExitCode(error) === 3 || error.code === 'skipped');
}

const NOT_FIXABLE = 'Not as declared, and an apply cannot change that: see the warnings.';

/** `strict` adds that what could not be compared counts as drift. */
export function planSentence(
  environment: EnvironmentPlan,
  voice: Voice,
  strict: boolean,
): Sentence {
  const { status, changes, unknown } = environment;
  if (status === 'error') return sentence('red', unreadSentence(environment.error));
  if (changes.length > 0) {
    if (voice === 'plan') return sentence(null, `Plan: ${countsText(countActions(changes))}.`);
    const caveat = driftCaveat(changes);
    return sentence(
      null,
      `${driftText(changes.length, countPendingEdits(changes))}.`,
      caveat === '' ? '' : ` ${caveat}`,
    );
  }
  if (status === 'differs') return sentence('yellow', NOT_FIXABLE);
  return summarizeNoChanges(unknown, strict ? ' (--strict counts them)' : '');
}

export function planHeadline(environment: EnvironmentPlan, voice: Voice): string {
  const { status, changes, refusals } = environment;
  if (status === 'error') return 'failed';
  if (changes.length === 0) return status === 'differs' ? 'not as declared' : 'no changes';
  const found = voice === 'drift' ? driftTitle(changes) : countsText(countActions(changes));
  return `${found}${refusals.length > 0 ? '; apply would be refused' : ''}`;
}

export function outcomeSentence(environment: EnvironmentOutcome): Sentence {
  const { status, changes, unknown, error } = environment;
  const sent = countSent(environment);
  switch (status) {
    case 'in-sync':
      return changes.length === 0
        ? summarizeNoChanges(unknown, ' and was not written')
        : sentence(null, 'No changes: the service already matches the file.');
    case 'applied':
      return sentence(
        'green',
        'Applied',
        ` ${formatCount(sent, 'change')}.${notComparedSentences(listUncomparedRest(environment))}`,
      );
    case 'not-empty':
      return sentence(null, 'No changes were made: settings are already stored (--if-empty).');
    case 'partial':
      return sentence('yellow', changes.length === 0 ? NOT_FIXABLE : 'Applied in part.');
    case 'not-converged':
      return sentence('red', 'Applied, but not converged.');
    case 'refused':
      return sentence('red', 'Refused.', ' Nothing was written.');
    case 'failed':
      return sentence(
        'red',
        ENDINGS[error?.code ?? ''] ?? 'Failed.',
        sent > 0 ? ' What was sent may or may not have been stored.' : ' Nothing was written.',
      );
  }
}

const ENDINGS: Readonly<Record<string, string>> = {
  declined: 'Cancelled.',
  interrupted: 'Stopped.',
  terminated: 'Stopped.',
  skipped: 'Not started.',
};

export function outcomeHeadline(environment: EnvironmentOutcome): string {
  return environment.status === 'applied'
    ? `${formatCount(countSent(environment), 'change')} applied`
    : OUTCOME_HEADLINES[environment.status];
}

const OUTCOME_HEADLINES = {
  'in-sync': 'in sync',
  'not-empty': 'stored already, nothing written',
  partial: 'applied in part',
  'not-converged': 'applied, but not converged',
  refused: 'refused',
  failed: 'failed',
} as const;

/** The sentence as one text. */
export function sentenceText({ lead, rest }: Sentence): string {
  return lead + rest;
}

/** The counts of drift as the end of a title: `1 difference, 2 pending edits`. */
export function driftTitle(changes: readonly Change<Json>[]): string {
  return driftCounts(changes.length, countPendingEdits(changes));
}

/** Formats the counts of drift: all changes, and the edits of the file among them. */
export function driftCounts(changes: number, pending: number): string {
  return driftText(changes, pending)
    .replace(/^Drift: /, '')
    .replace(/^No/, 'no')
    .replace('. ', ', ');
}

/** States that the counts of drift may include edits of the file; empty if every change has a class. */
export function driftCaveat(changes: readonly Change<Json>[]): string {
  return changes.every((change) => change.class !== undefined)
    ? ''
    : 'To distinguish drift from edits of the file, pass the file as last applied with --base.';
}

/** `as observed 2 h ago (TIME)`, by the age at the time of the plan. Null if the service itself was observed. */
export function formatObservationAge(observedAt: string | null, plannedAt: string): string | null {
  if (observedAt === null) return null;
  const age = ageText(Date.parse(plannedAt) - Date.parse(observedAt), ' ');
  return `as observed ${age} ago (${observedAt})`;
}

/** The known parts of `app-server 1.11`; null if nothing is known. */
export function formatServiceVersion({ dialect, release }: ServiceDialect): string | null {
  if (dialect === null) return null;
  return release === null ? dialect : `${dialect} ${release}`;
}

/** The title of a list of refusals. */
export function refusalTitle({ command }: { readonly command: Wording }): string {
  return command === 'apply' ? 'Apply was refused' : 'Apply would be refused';
}

/** Formats a refusal: the finding, the rule, and how to lift it. */
export function refusalSentence({ message, rule, hint }: Refusal): string {
  return `${message} (rule ${rule}) ${hint}`;
}

/** A command for environments, as a shell takes it. */
export function commandFor(verb: 'apply' | 'pull', names: readonly string[]): string {
  return `setpoint ${verb} ${names.map((name) => `-e ${shellWord(name)}`).join(' ')}`;
}

function shellWord(text: string): string {
  return /^[A-Za-z0-9._-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

function sentence(color: Paint | null, lead: string, rest = ''): Sentence {
  return { lead, color, rest };
}

function summarizeNoChanges(unknown: readonly Unknown[], clause: string): Sentence {
  return sentence('green', 'No changes.', notComparedSentences(unknown, clause));
}

/** Formats, as further sentences, what was not compared or was skipped; empty if everything was compared. */
function notComparedSentences(unknown: readonly Unknown[], clause = ''): string {
  const left = unknown.filter(({ kind }) => kind === 'left').length;
  const count = unknown.length - left;
  const noun = unknown.every(({ kind }) => kind === 'stored' || kind === 'left')
    ? 'secret'
    : 'value';
  const said = count > 1 ? clause.replace(' was ', ' were ') : clause;
  return [
    ...(count === 0 ? [] : [` ${formatUncomparedCount(count, noun)}${said}.`]),
    ...(left === 0 ? [] : [` ${formatCount(left, 'value')} left unchanged by --without.`]),
  ].join('');
}

/** The result of a check in which no change can fail. */
export const NOTHING_TO_CHECK =
  'Nothing to check: --check tries what this plan changes, and no model, mcp server or agent profile does. doctor --check tries what is stored now.';

/** `1 value could not be compared: llm_api_key` */
export function notComparedText(unknown: readonly Unknown[]): string {
  const names = unknown.map(({ path }) => formatPath(path)).join(', ');
  return `${formatUncomparedCount(unknown.length)}: ${names}`;
}

/** `2 values could not be compared` */
export function formatUncomparedCount(count: number, noun = 'value'): string {
  return `${formatCount(count, noun)} could not be compared`;
}

const NO_ACTIONS = countActions([]);

function countSent({ changes }: EnvironmentOutcome): number {
  return changes.filter(({ result }) => result !== 'not-sent').length;
}

/** `1 to set, 2 to change`, and behind a `;` the counts with a noun, which the first has; actions with a count of zero are omitted. */
export function countsText(counted: Partial<ActionCounts>): string {
  const counts = { ...NO_ACTIONS, ...counted };
  const made = ACTIONS.filter((action) => counts[action] > 0);
  const changed = made.filter((action) => formatActionNoun(action) === null);
  const named = made.filter((action) => formatActionNoun(action) !== null);
  const parts = [
    changed.map((action) => `${groupThousands(counts[action])} to ${action}`),
    named.map((action, index) => {
      const noun = index > 0 ? '' : ` ${formatActionNoun(action, counts[action])}`;
      return `${groupThousands(counts[action])}${noun} to ${action}`;
    }),
  ];
  return parts.flatMap((part) => (part.length === 0 ? [] : [part.join(', ')])).join('; ');
}

/** Drift and pending edits, counted separately: `Drift: 1 difference. 2 pending edits`. Without --base every difference may be drift. */
function driftText(changes: number, pending: number): string {
  const drifted = changes - pending;
  const edits = pending === 0 ? [] : [formatCount(pending, 'pending edit')];
  const drift = drifted === 0 ? 'No drift' : `Drift: ${formatCount(drifted, 'difference')}`;
  return [drift, ...edits].join('. ');
}

function countPendingEdits(changes: readonly Change<Json>[]): number {
  return changes.filter((change) => change.class === 'pending').length;
}

/** The requests of an apply, by the methods that services of the dialect take. */
export function requestCounts(
  { get, post }: EnvironmentOutcome['requests'],
  dialect: EnvironmentOutcome['dialect'],
): string {
  return `${get} GET, ${post} ${dialect === 'agent-server' ? 'PATCH' : 'POST'}`;
}
