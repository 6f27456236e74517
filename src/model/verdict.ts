import type { ErrorCode } from './error.ts';
import type { EnvironmentOutcome } from './outcome.ts';
import type { EnvironmentPlan } from './plan.ts';

/**
 * What a plan says of an environment, the worst last. `pending`: every difference is an edit of the file that has not been applied yet;
 * `refused`: it differs, and an apply would refuse that; `not-started`: the run had stopped; `unknown` only where what could not be
 * compared counts.
 */
export const PLAN_VERDICTS = [
  'in-sync',
  'not-started',
  'unknown',
  'pending',
  'differs',
  'refused',
  'error',
] as const;
export type PlanVerdict = (typeof PLAN_VERDICTS)[number];

/** What became of an environment in an apply, the worst last. `not-started`: nothing was sent, because the run had stopped. */
export const OUTCOME_VERDICTS = [
  'in-sync',
  'not-empty',
  'applied',
  'not-started',
  'refused',
  'failed',
  'not-converged',
  'partial',
] as const;
export type OutcomeVerdict = (typeof OUTCOME_VERDICTS)[number];

export type Verdict = PlanVerdict | OutcomeVerdict;

/** Whether somebody should look at an environment of this verdict. */
export function needsAttention(verdict: Verdict): boolean {
  return verdict !== 'in-sync' && verdict !== 'not-empty' && verdict !== 'applied';
}

/** Whether its error says what became of it, and nothing else does. */
export function isFailure(verdict: Verdict): boolean {
  return verdict === 'error' || verdict === 'failed';
}

/** A number that is the higher the worse; not for comparing one of a plan with one of an outcome. */
export function verdictGravity(verdict: Verdict): number {
  const place = (verdicts: readonly Verdict[]): number => verdicts.indexOf(verdict);
  return Math.max(place(PLAN_VERDICTS), place(OUTCOME_VERDICTS));
}

export function planVerdict(
  {
    status,
    changes,
    unknown,
    refusals,
    error,
  }: Pick<EnvironmentPlan, 'status' | 'changes' | 'unknown' | 'refusals' | 'error'>,
  strict = false,
): PlanVerdict {
  if (status === 'error') return error?.code === SKIPPED ? 'not-started' : 'error';
  if (refusals.length > 0) return 'refused';
  if (status === 'in-sync') return strict && unknown.length > 0 ? 'unknown' : 'in-sync';
  const waits = changes.length > 0 && changes.every((change) => change.class === 'pending');
  return waits ? 'pending' : 'differs';
}

/** An apply that is stopped does not start the environments that are left: their error is that of the stop. */
export function outcomeVerdict({
  status,
  error,
  requests,
}: Pick<EnvironmentOutcome, 'status' | 'error' | 'requests'>): OutcomeVerdict {
  const stopped = status === 'failed' && STOPS.has(error?.code ?? '');
  return stopped && requests.get + requests.post === 0 ? 'not-started' : status;
}

const SKIPPED = 'skipped' satisfies ErrorCode;
const STOPS: ReadonlySet<string> = new Set([
  SKIPPED,
  'interrupted',
  'terminated',
] satisfies ErrorCode[]);
