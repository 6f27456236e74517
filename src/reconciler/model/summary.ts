import {
  type Attention,
  type EnvironmentPlan,
  type PlanDocument,
  type PlanSummary,
  type Summary,
} from './plan.ts';
import { countActions, findActionEffect, type Action } from './action.ts';
import { ERRORS, errorGravity, type ErrorCode, type ErrorReport } from './error.ts';
import type { EnvironmentOutcome, OutcomeDocument, OutcomeSummary } from './outcome.ts';
import { listUncomparedRest } from './uncompared.ts';
import {
  isFailureVerdict,
  needsAttention,
  OUTCOME_VERDICTS,
  outcomeVerdict,
  PLAN_VERDICTS,
  planVerdict,
  verdictGravity,
  type OutcomeVerdict,
  type PlanVerdict,
  type Verdict,
} from './verdict.ts';

/** The environments that a summary lists. */
export const MOST_LISTED = 1000;
const MOST_RULES = 20;
const LONGEST_MESSAGE = 300;

/**
 * Adds up the known facts of all environments, which are dropped one by one: counts, and a line for each that needs attention. It stores
 * nothing else, and a bounded number of lines. Its input must be masked.
 */
export interface Tally<E, V extends Verdict = Verdict> {
  /** In the order of the document. */
  readonly add: (environment: E) => void;
  readonly summary: () => Summary<V>;
}

/** `strict` counts an environment as `unknown` if all that can be compared is in sync and something cannot. */
export function planTally(strict = false): Tally<EnvironmentPlan, PlanVerdict> {
  const counts = new Counts(PLAN_VERDICTS);
  return {
    add: (environment) => counts.add(planAttention(environment, strict)),
    summary: () => counts.summary(),
  };
}

/** Counts the changes that were sent. */
export function outcomeTally(): Tally<EnvironmentOutcome, OutcomeVerdict> {
  const counts = new Counts(OUTCOME_VERDICTS);
  return {
    add: (environment) => counts.add(outcomeAttention(environment)),
    summary: () => counts.summary(),
  };
}

/** Summarizes the plan of one environment. */
export function planAttention(
  environment: EnvironmentPlan,
  strict = false,
): Attention<PlanVerdict> {
  return computeAttention(environment, planVerdict(environment, strict), environment.changes);
}

/** Summarizes the outcome of one environment. Its changes report the secrets that it has written. */
export function outcomeAttention(environment: EnvironmentOutcome): Attention<OutcomeVerdict> {
  const sent = environment.changes.filter(({ result }) => result !== 'not-sent');
  const unknown = listUncomparedRest(environment);
  return computeAttention({ ...environment, unknown }, outcomeVerdict(environment), sent);
}

export function planSummary(environments: readonly EnvironmentPlan[], strict = false): PlanSummary {
  return tallyEnvironments(planTally(strict), environments);
}

export function outcomeSummary(environments: readonly EnvironmentOutcome[]): OutcomeSummary {
  return tallyEnvironments(outcomeTally(), environments);
}

function tallyEnvironments<E, V extends Verdict>(
  tally: Tally<E, V>,
  environments: readonly E[],
): Summary<V> {
  for (const environment of environments) tally.add(environment);
  return tally.summary();
}

/** A document with these environments, which are no longer those of a shard, and their summary. */
export function replaceEnvironments(
  document: PlanDocument,
  environments: readonly EnvironmentPlan[],
): PlanDocument;
export function replaceEnvironments(
  document: OutcomeDocument,
  environments: readonly EnvironmentOutcome[],
): OutcomeDocument;
export function replaceEnvironments(
  document: PlanDocument | OutcomeDocument,
  environments: readonly EnvironmentPlan[] | readonly EnvironmentOutcome[],
): PlanDocument | OutcomeDocument {
  return recountSummary({ ...document, shard: null, environments } as
    | PlanDocument
    | OutcomeDocument);
}

/** A plan or an outcome with the summary of its environments; any other document unchanged. */
export function recountSummary<D extends object>(document: D): D {
  const read: object = document;
  return isPlan(read)
    ? { ...document, summary: planSummary(read.environments, read.strict) }
    : isOutcome(read)
      ? { ...document, summary: outcomeSummary(read.environments) }
      : document;
}

function isPlan(document: object): document is PlanDocument {
  return 'kind' in document && document.kind === 'plan';
}

function isOutcome(document: object): document is OutcomeDocument {
  return 'kind' in document && document.kind === 'outcome';
}

interface RankedEnvironment {
  readonly name: string;
  readonly unknown: readonly unknown[];
  readonly warnings: readonly unknown[];
  readonly refusals: readonly { readonly rule: string }[];
  readonly error: ErrorReport | null;
}

interface ClassifiedChange {
  readonly action: Action;
  readonly class?: string;
}

function computeAttention<V extends Verdict>(
  { name, unknown, warnings, refusals, error }: RankedEnvironment,
  verdict: V,
  changes: readonly ClassifiedChange[],
): Attention<V> {
  const actions: Partial<Record<Action, number>> = {};
  for (const { action } of changes) actions[action] = (actions[action] ?? 0) + 1;
  const classed = changes.some((change) => change.class !== undefined);
  return {
    name,
    verdict,
    changes: actions,
    pending: classed ? changes.filter((change) => change.class === 'pending').length : null,
    unknown: unknown.length,
    warnings: warnings.length,
    rules: [...new Set(refusals.map(({ rule }) => rule))].slice(0, MOST_RULES),
    error: error === null ? null : { code: error.code, message: shortMessage(error.message) },
  };
}

/** Returns the total number of changes. */
export function changeCount({ changes }: Pick<Attention, 'changes'>): number {
  return Object.values(changes).reduce((sum, count) => sum + count, 0);
}

/** For comparing what needs attention first: the verdict, the kind of error, what is lost, how much there is to do. */
export function rankAttention(attention: Attention): readonly number[] {
  const { verdict, changes, error } = attention;
  const dropped = Object.entries(changes).reduce(
    (sum, [action, count]) => (findActionEffect(action as Action) === 'drop' ? sum + count : sum),
    0,
  );
  return [verdictGravity(verdict), errorGravity(error), dropped, changeCount(attention)];
}

class Counts<V extends Verdict> {
  readonly #actions = countActions([]) as Record<Action, number>;
  readonly #environments: Record<V | 'total', number>;
  readonly #errors = new Map<ErrorCode | 'other', number>();
  readonly #worst = new Worst<Attention<V>>(MOST_LISTED);
  #unknown = 0;
  #warnings = 0;

  constructor(verdicts: readonly V[]) {
    this.#environments = Object.fromEntries(
      ['total', ...verdicts].map((name) => [name, 0]),
    ) as Record<V | 'total', number>;
  }

  add(attention: Attention<V>): void {
    const { verdict, changes, unknown, warnings, error } = attention;
    for (const [action, count] of Object.entries(changes)) this.#actions[action as Action] += count;
    this.#unknown += unknown;
    this.#warnings += warnings;
    this.#environments.total += 1;
    this.#environments[verdict] += 1;
    if (isFailureVerdict(verdict)) {
      const code = toKnownCode(error?.code ?? '');
      this.#errors.set(code, (this.#errors.get(code) ?? 0) + 1);
    }
    if (needsAttention(verdict)) this.#worst.add(attention, rankAttention(attention));
  }

  summary(): Summary<V> {
    const { held, more } = this.#worst.list();
    return {
      ...this.#actions,
      unknown: this.#unknown,
      warnings: this.#warnings,
      environments: { ...this.#environments },
      errors: Object.fromEntries([...this.#errors].toSorted(([, one], [, other]) => other - one)),
      attention: held,
      more,
    };
  }
}

function toKnownCode(code: string): ErrorCode | 'other' {
  return Object.hasOwn(ERRORS, code) ? (code as ErrorCode) : 'other';
}

/** The list is for an overview; the environment's own part has all of it. */
function shortMessage(message: string): string {
  return message.length <= LONGEST_MESSAGE
    ? message
    : `${message.slice(0, LONGEST_MESSAGE).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/** The worst of many: at most `limit` are held, the rest is counted. */
export class Worst<T> {
  readonly #limit: number;
  #held: { readonly one: T; readonly gravity: readonly number[] }[] = [];
  #count = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Adds an item. Of two, the one with the greater first number that differs is worse. */
  add(one: T, gravity: readonly number[]): void {
    this.#count += 1;
    this.#held.push({ one, gravity });
    // Now and then, so that the sorting costs little for each.
    if (this.#held.length >= 2 * this.#limit) this.#cut();
  }

  /** The worst first, those alike in the order in which they came; and how many more there were. */
  list(): { readonly held: readonly T[]; readonly more: number } {
    this.#cut();
    return { held: this.#held.map(({ one }) => one), more: this.#count - this.#held.length };
  }

  #cut(): void {
    this.#held = this.#held
      .toSorted((one, other) => compareRanks(other.gravity, one.gravity))
      .slice(0, this.#limit);
  }
}

/** Negative if the first is less grave. */
export function compareRanks(one: readonly number[], other: readonly number[]): number {
  const index = one.findIndex((number, at) => number !== other[at]);
  return index === -1 ? 0 : (one[index] ?? 0) - (other[index] ?? 0);
}
