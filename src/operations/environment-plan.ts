import type { EnvironmentPlan, ErrorReport, Plan, Warning } from '../model/plan.ts';
import type { DesiredState, ObservedState } from '../model/state.ts';
import { environmentPlan } from '../plan/plan-document.ts';
import { guardPlan, guardWarnings, type Guarded } from '../plan/guard.ts';

type Where = Pick<EnvironmentPlan, 'name' | 'origin' | 'observed_at'>;

/** A target's part of the document: its plan, what preparing it warned of, and what its guards would say of an apply. */
export function plannedEnvironment(
  plan: Plan,
  observed: ObservedState,
  { guards }: DesiredState,
  where: Where,
  warnings: readonly Warning[],
): EnvironmentPlan {
  const planned = environmentPlan(plan, { ...where, dialect: observed.dialect });
  return {
    ...planned,
    warnings: [...warnings, ...planned.warnings, ...guarded({ plan, observed, guards })],
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
    unmanaged: [],
    error,
  };
}

/** What a guard would say of an apply; what would be lost is among the plan's own warnings. */
function guarded(plan: Guarded): Warning[] {
  const refused = guardPlan(plan, ['lose-unreadable']);
  return [
    ...refused.map(({ message, hint }): Warning => ({
      code: 'would-be-refused',
      message: `${message} ${hint}`,
      path: [],
    })),
    ...guardWarnings(plan),
  ];
}
