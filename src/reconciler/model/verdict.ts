import type { ErrorCode } from './error.ts';

/**
 * Every state of an environment that anything tells, the worst last: a plan, drift, an outcome, a controller, the metrics, the page and the
 * notices each tell some of them, and no others. In sync is what has all values that can be compared as declared: `unknown` only where what
 * cannot be compared counts, too. `pending`: every difference is an edit of the file that has not been applied yet; `differs`: it is not
 * known, or not told, who made the differences; `drift`: somebody changed the service, or that is not known; `conflict`: so did the file;
 * `refused`: it differs, and an apply would refuse that; `not-read`: the controller has not read it yet; `not-started`: the run had stopped.
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
export type Verdict = (typeof VERDICTS)[number];

/** Some of the states, by name: one that is not on the list does not compile. */
export type OneOf<V extends Verdict> = V;

/** What a plan says of an environment. */
export const PLAN_VERDICTS = [
  'in-sync',
  'not-started',
  'unknown',
  'pending',
  'differs',
  'refused',
  'error',
] as const satisfies readonly Verdict[];
export type PlanVerdict = (typeof PLAN_VERDICTS)[number];

/** What became of an environment in an apply. `not-started`: nothing was sent, because the run had stopped. */
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
export type OutcomeVerdict = (typeof OUTCOME_VERDICTS)[number];

/** What a controller says of an environment, and so do the metrics of a run. */
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

/** What a list of a controller's environments can be narrowed to. */
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

/** Whether somebody should look at an environment of this verdict. */
export function needsAttention(verdict: Verdict): boolean {
  return verdictGravity(verdict) >= verdictGravity('not-started');
}

/** Whether its error says what became of it, and nothing else does. */
export function isFailureVerdict(verdict: Verdict): boolean {
  return verdict === 'error' || verdict === 'failed';
}

/** A number that is the higher the worse. */
export function verdictGravity(verdict: Verdict): number {
  return VERDICTS.indexOf(verdict);
}

/** What of the plan of an environment says how it is. */
interface Planned {
  readonly status: 'in-sync' | 'differs' | 'error';
  readonly changes: readonly PlannedChange[];
  readonly unknown: readonly unknown[];
  readonly refusals: readonly unknown[];
  readonly error: Failed | null;
}

interface PlannedChange {
  readonly class?: string | null;
  readonly consequence?: true;
}

interface Failed {
  readonly code: string;
}

/** What of the outcome of an environment says what became of it. */
interface Applied {
  readonly status: Exclude<OutcomeVerdict, 'not-started'>;
  readonly error: Failed | null;
  readonly requests: { readonly get: number; readonly post: number };
}

/** What a plan says of an environment. `strict`: what could not be compared counts. */
export function planVerdict(
  { status, changes, unknown, refusals, error }: Planned,
  strict = false,
): PlanVerdict {
  if (status === 'error') return error?.code === SKIPPED ? 'not-started' : 'error';
  if (refusals.length > 0) return 'refused';
  if (status === 'in-sync') return strict && unknown.length > 0 ? 'unknown' : 'in-sync';
  const differing = changes.filter(({ consequence }) => consequence !== true);
  const waits = differing.length > 0 && differing.every((change) => change.class === 'pending');
  return waits ? 'pending' : 'differs';
}

/** The same as a controller says it; without a class a change counts as drift. */
export function toWatchStatus(plan: Planned, strict = false): WatchStatus {
  const verdict = planVerdict(plan, strict);
  if (verdict === 'not-started') return 'not-read';
  if (verdict !== 'differs') return verdict;
  return plan.changes.some((change) => change.class === 'conflict') ? 'conflict' : 'drift';
}

/** An apply that is stopped does not start the environments that are left: their error is that of the stop. */
export function outcomeVerdict({ status, error, requests }: Applied): OutcomeVerdict {
  const stopped = status === 'failed' && STOPS.has(error?.code ?? '');
  return stopped && requests.get + requests.post === 0 ? 'not-started' : status;
}

const SKIPPED = 'skipped' satisfies ErrorCode;
const STOPS: ReadonlySet<string> = new Set([
  SKIPPED,
  'interrupted',
  'terminated',
] satisfies ErrorCode[]);
