import type { ErrorCode } from './error.ts';

/**
 * Every state of an environment that is reported, the worst last: a plan, drift, an outcome, a controller, the metrics, the page and the
 * notices each report some of them, and no others. In sync: all values that can be compared are as declared. `unknown` only where values
 * that cannot be compared also count. `pending`: every difference is an edit of the file that has not been applied yet. `differs`: the
 * author of the differences is not known, or not reported. `drift`: another client changed the service, or that is not known. `conflict`:
 * the file changed too. `refused`: it differs, and an apply would refuse that. `not-read`: the controller has not read it yet.
 * `not-started`: the run had stopped.
 */
export const VERDICTS = [
  'in-sync',
  'not-empty',
  'applied',
  'suspended',
  'not-read',
  'not-started',
  'unknown',
  'pending',
  'differs',
  'drift',
  'conflict',
  'refused',
  'error',
  'failed',
  'not-converged',
  'partial',
] as const;
/** The result for an environment. */
export type Verdict = (typeof VERDICTS)[number];

/** Some of the states, by name: one that is not on the list does not compile. */
export type VerdictSubset<V extends Verdict> = V;

/** The verdicts of a plan on an environment. */
export const PLAN_VERDICTS = [
  'in-sync',
  'not-started',
  'unknown',
  'pending',
  'differs',
  'refused',
  'error',
] as const satisfies readonly Verdict[];
/** The result of a plan for an environment. */
export type PlanVerdict = (typeof PLAN_VERDICTS)[number];

/** The verdicts of an apply on an environment. `not-started`: nothing was sent, because the run had stopped. */
export const OUTCOME_VERDICTS = [
  'in-sync',
  'not-empty',
  'applied',
  'not-started',
  'refused',
  'failed',
  'not-converged',
  'partial',
] as const satisfies readonly Verdict[];
/** The result of an apply for an environment. */
export type OutcomeVerdict = (typeof OUTCOME_VERDICTS)[number];

/** The states of an environment for a controller, and for the metrics of a run. */
export const WATCH_STATUSES = [
  'in-sync',
  'suspended',
  'not-read',
  'unknown',
  'pending',
  'drift',
  'conflict',
  'refused',
  'error',
] as const satisfies readonly Verdict[];
export type WatchStatus = (typeof WATCH_STATUSES)[number];

/** Counts the environments in each state: only states that there are, the worst first. */
export function countStatuses(
  environments: readonly { readonly status: WatchStatus }[],
): readonly (readonly [status: WatchStatus, count: number])[] {
  const counts = new Map<WatchStatus, number>();
  for (const { status } of environments) counts.set(status, (counts.get(status) ?? 0) + 1);
  return WATCH_STATUSES.toReversed().flatMap((status) => {
    const count = counts.get(status);
    return count === undefined ? [] : [[status, count] as const];
  });
}

/** The filters for a list of a controller's environments. */
export const STATE_FILTERS = [
  'any',
  'attention',
  'flapping',
  'healing-stopped',
  'held-elsewhere',
  ...WATCH_STATUSES,
] as const;
export type StateFilter = (typeof STATE_FILTERS)[number];

export function isStateFilter(text: string): text is StateFilter {
  return (STATE_FILTERS as readonly string[]).includes(text);
}

/** Reports whether an environment with this verdict needs attention. */
export function needsAttention(verdict: Verdict): boolean {
  return verdictGravity(verdict) >= verdictGravity('not-started');
}

/** Reports whether only its error describes the result. */
export function isFailureVerdict(verdict: Verdict): boolean {
  return verdict === 'error' || verdict === 'failed';
}

/** A number that is the higher the worse. */
export function verdictGravity(verdict: Verdict): number {
  return VERDICTS.indexOf(verdict);
}

/** The members of an environment's plan that decide its state. */
interface VerdictPlan {
  readonly status: 'in-sync' | 'differs' | 'error';
  readonly changes: readonly PlannedChange[];
  readonly unknown: readonly unknown[];
  readonly refusals: readonly unknown[];
  readonly error: VerdictError | null;
}

interface PlannedChange {
  readonly class?: string | null;
  readonly consequence?: true;
}

interface VerdictError {
  readonly code: string;
}

/** The members of an environment's outcome that decide its result. */
interface VerdictOutcome {
  readonly status: Exclude<OutcomeVerdict, 'not-started'>;
  readonly error: VerdictError | null;
  readonly requests: { readonly get: number; readonly post: number };
}

/** Selects the differences that were found. What follows from writing one of them is known only right before the write. */
export function selectFound<C extends Pick<PlannedChange, 'consequence'>>(
  changes: readonly C[],
): readonly C[] {
  return changes.filter(({ consequence }) => consequence !== true);
}

/** Returns the verdict of a plan on an environment. `strict`: what could not be compared counts. */
export function planVerdict(
  { status, changes, unknown, refusals, error }: VerdictPlan,
  strict = false,
): PlanVerdict {
  if (status === 'error') return error?.code === SKIPPED ? 'not-started' : 'error';
  if (refusals.length > 0) return 'refused';
  if (status === 'in-sync') return strict && unknown.length > 0 ? 'unknown' : 'in-sync';
  const differing = selectFound(changes);
  const waits = differing.length > 0 && differing.every((change) => change.class === 'pending');
  return waits ? 'pending' : 'differs';
}

/** Converts a plan to the state of a controller. A change without a class counts as drift. */
export function toWatchStatus(plan: VerdictPlan, strict = false): WatchStatus {
  const verdict = planVerdict(plan, strict);
  if (verdict === 'not-started') return 'not-read';
  if (verdict !== 'differs') return verdict;
  return plan.changes.some((change) => change.class === 'conflict') ? 'conflict' : 'drift';
}

/** An apply that is stopped does not start the environments that are left: their error is that of the stop. */
export function outcomeVerdict({ status, error, requests }: VerdictOutcome): OutcomeVerdict {
  const stopped = status === 'failed' && STOPS.has(error?.code ?? '');
  return stopped && requests.get + requests.post === 0 ? 'not-started' : status;
}

const SKIPPED = 'skipped' satisfies ErrorCode;
const STOPS: ReadonlySet<string> = new Set([
  SKIPPED,
  'interrupted',
  'terminated',
] satisfies ErrorCode[]);
