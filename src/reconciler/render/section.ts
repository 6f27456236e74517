import type { Refusal } from '../model/guard.ts';
import type { EnvironmentOutcome, OutcomeDocument, Remainder } from '../model/outcome.ts';
import type { Path } from '../model/path.ts';
import type {
  EnvironmentPlan,
  ErrorReport,
  PlanDocument,
  Unknown,
  Warning,
} from '../model/plan.ts';
import type { Spoken } from '../model/state.ts';
import { outcomeAttention, planAttention, type Attention } from '../model/summary.ts';
import { resultLabel, shownChange, type Label, type ShownChange, type Voice } from './change.ts';
import { verdictLabel, type Wording } from './verdict.ts';
import { groupedWarnings } from './warning-order.ts';
import {
  driftCaveat,
  outcomeHeadline,
  outcomeSentence,
  planHeadline,
  planSentence,
  seenText,
  type Sentence,
} from './wording.ts';

/**
 * What is shown of one environment, and in which words: the same in every format. A printer for each format lays it out and makes
 * its texts inert; none of them is before that.
 */
export interface Section extends Spoken {
  readonly command: Wording;
  readonly name: string;
  readonly origin: string | null;
  /** `as observed 2 h ago (TIME)`, if a snapshot took the place of the service; else null. */
  readonly seen: string | null;
  /** The environment in a few words, as a summary has it. */
  readonly attention: Attention;
  readonly verdict: Label;
  /** Follows the name in a title. */
  readonly headline: string;
  readonly sentence: Sentence;
  /** That drift may include edits of the file; empty if not. */
  readonly caveat: string;
  readonly error: ErrorReport | null;
  readonly refusals: readonly Refusal[];
  readonly remaining: readonly Remainder[];
  /** Grouped, the gravest first. */
  readonly warnings: readonly Warning[];
  readonly changes: readonly ShownChange[];
  readonly unknown: readonly Unknown[];
  readonly unmanaged: readonly Path[];
  /** What an apply sent, and the guards it lifted; null if nothing was applied. */
  readonly requests: Pick<EnvironmentOutcome, 'requests' | 'allowed'> | null;
}

export function planSections(document: PlanDocument, voice: Voice): Section[] {
  return document.environments.map((environment) => planSection(environment, voice, document));
}

/** If the plan is strict, the sentence says that what could not be compared counts. */
export function planSection(
  environment: EnvironmentPlan,
  voice: Voice,
  { created_at: plannedAt, strict }: Pick<PlanDocument, 'created_at' | 'strict'>,
): Section {
  const { name, origin, unknown, refusals, unmanaged, error } = environment;
  const attention = planAttention(environment, strict);
  return {
    command: voice,
    name,
    origin,
    dialect: environment.dialect,
    release: environment.release,
    seen: seenText(environment.observed_at, plannedAt),
    attention,
    verdict: verdictLabel(attention.verdict, voice, error),
    headline: planHeadline(environment, voice),
    sentence: planSentence(environment, voice, strict === true),
    caveat: voice === 'drift' ? driftCaveat(environment.changes) : '',
    error,
    refusals,
    remaining: [],
    warnings: groupedWarnings(environment.warnings),
    changes: environment.changes.map((change) => shownChange(change, voice)),
    unknown,
    unmanaged,
    requests: null,
  };
}

export function outcomeSections({ environments }: OutcomeDocument): Section[] {
  return environments.map(outcomeSection);
}

/** The plan was shown before, so only the warnings that came up since are. A single refusal is the error itself. */
export function outcomeSection(environment: EnvironmentOutcome): Section {
  const { name, origin, status, changes, remaining, unknown, refusals, error } = environment;
  const attention = outcomeAttention(environment);
  return {
    command: 'apply',
    name,
    origin,
    dialect: environment.dialect,
    release: environment.release,
    seen: null,
    attention,
    verdict: verdictLabel(attention.verdict, 'apply', error),
    headline: outcomeHeadline(environment),
    sentence: outcomeSentence(environment),
    caveat: '',
    error,
    refusals: refusals.length > 1 ? refusals : [],
    remaining,
    warnings: groupedWarnings(newWarnings(environment)),
    changes: changes.map((change) => shownChange(change, 'plan', resultLabel(change, status))),
    unknown: changes.length === 0 ? unknown : [],
    unmanaged: [],
    requests: environment,
  };
}

/** The error, unless the refusals that are listed are the error. */
export function unlistedError({ error, refusals }: Section): ErrorReport | null {
  return error?.code === 'guard-refused' && refusals.length > 0 ? null : error;
}

const AFTERWARDS: ReadonlySet<string> = new Set([
  'answered-with-error',
  'sandbox-busy',
  'sandbox-displaced',
  'sandbox-starting',
  'server-owned',
]);

function newWarnings({ changes, warnings }: EnvironmentOutcome): readonly Warning[] {
  return changes.length === 0 ? warnings : warnings.filter(({ code }) => AFTERWARDS.has(code));
}
