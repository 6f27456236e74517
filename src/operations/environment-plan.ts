import type { Rule } from '../model/guard.ts';
import { samePath } from '../model/path.ts';
import type { EnvironmentPlan, ErrorReport, Plan, Warning } from '../model/plan.ts';
import type { Digests } from '../model/ports.ts';
import type { DesiredState, ObservedState } from '../model/state.ts';
import { declaredDigests } from '../plan/declared-form.ts';
import { environmentPlan } from '../plan/plan-document.ts';
import { guardWarnings, refusalsOf, type Guarded } from '../plan/guard.ts';

type Where = Pick<EnvironmentPlan, 'name' | 'origin' | 'observed_at'>;

/** What preparing a target warned of, the guards that are lifted, and how digests are made of a plan that may be saved. */
interface Terms {
  readonly warnings: readonly Warning[];
  readonly allowed: readonly Rule[];
  readonly sealing: Sealing | null;
}

/** How digests are made, and that of the target's address. */
export interface Sealing {
  readonly digests: Digests;
  readonly address: string | null;
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
  { warnings, allowed, sealing }: Terms,
): EnvironmentPlan {
  const { guards } = desired;
  const planned = environmentPlan(plan, { ...where, dialect: observed.dialect.name });
  const guarded: Guarded = { plan, observed, guards };
  const refusals = refusalsOf(guarded, allowed);
  const refused = ({ code, path }: Warning): boolean =>
    code === 'lose-unreadable' &&
    refusals.some((refusal) => refusal.rule === code && samePath(refusal.path, path));
  return {
    ...planned,
    warnings: [
      ...warnings,
      ...planned.warnings.filter((warning) => !refused(warning)),
      ...guardWarnings(guarded, allowed),
    ],
    refusals,
    digests:
      sealing === null
        ? null
        : {
            address: sealing.address,
            changes: declaredDigests(plan, desired, sealing.digests),
          },
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
    digests: null,
    error,
  };
}
