import type { Rule } from '../model/guard.ts';
import { samePath } from '../model/path.ts';
import type { EnvironmentPlan, ErrorReport, Plan, Warning } from '../model/plan.ts';
import type { Digests } from '../model/ports.ts';
import type { DesiredState, ObservedState } from '../model/state.ts';
import { approvableChanges, environmentPlan } from '../plan/plan-document.ts';
import { guardWarnings, refusalsOf, type Guarded } from '../plan/guard.ts';

type Where = Pick<EnvironmentPlan, 'name' | 'origin' | 'address_digest' | 'observed_at'>;

/** What preparing a target warned of, the guards that are lifted, and digests where the plan may be saved. */
interface Terms {
  readonly warnings: readonly Warning[];
  readonly allowed: readonly Rule[];
  readonly digests: Digests | null;
}

/**
 * A target's part of the document: its plan, and what its guards would say of an apply that lifts the rules in `allowed`. What
 * is refused is no warning besides.
 */
export function plannedEnvironment(
  plan: Plan,
  observed: ObservedState,
  desired: DesiredState,
  where: Where,
  { warnings, allowed, digests }: Terms,
): EnvironmentPlan {
  const { guards } = desired;
  const planned = environmentPlan(plan, { ...where, dialect: observed.dialect });
  const guarded: Guarded = { plan, observed, guards };
  const refusals = refusalsOf(guarded, allowed);
  const refused = ({ code, path }: Warning): boolean =>
    code === 'lose-unreadable' &&
    refusals.some((refusal) => refusal.rule === code && samePath(refusal.path, path));
  return {
    ...planned,
    ...(digests === null ? {} : { changes: approvableChanges(plan, desired, digests) }),
    warnings: [
      ...warnings,
      ...planned.warnings.filter((warning) => !refused(warning)),
      ...guardWarnings(guarded, allowed),
    ],
    refusals,
  };
}

/** The part of a target that could not be looked at. */
export function failedEnvironment(
  where: Where,
  error: ErrorReport,
  warnings: readonly Warning[] = [],
): EnvironmentPlan {
  return {
    ...where,
    dialect: null,
    status: 'error',
    complete: false,
    changes: [],
    unknown: [],
    warnings,
    refusals: [],
    unmanaged: [],
    error,
  };
}
