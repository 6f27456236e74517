import {
  countActions,
  FORMAT_VERSION,
  type Change,
  type EnvironmentPlan,
  type Plan,
  type PlanDocument,
  type Summary,
} from '../model/plan.ts';
import { masked, type Json } from '../model/value.ts';
import { TOOL } from '../model/version.ts';

/** A change as documents carry it: every sensitive value is the mask. */
export function maskedChange(change: Change): Change<Json> {
  return { ...change, before: masked(change.before), after: masked(change.after) };
}

/** The part of the document that follows from a plan. */
export function environmentPlan(
  plan: Plan,
  target: Pick<EnvironmentPlan, 'name' | 'origin' | 'dialect'>,
): EnvironmentPlan {
  return {
    ...target,
    status: plan.changes.length === 0 ? 'in-sync' : 'differs',
    complete: plan.unknown.length === 0,
    changes: plan.changes.map(maskedChange),
    unknown: plan.unknown,
    warnings: plan.warnings,
    unmanaged: plan.unmanaged,
    error: null,
  };
}

export function planDocument(environments: readonly EnvironmentPlan[]): PlanDocument {
  return {
    format_version: FORMAT_VERSION,
    kind: 'plan',
    tool: TOOL,
    environments,
    summary: summaryOf(environments),
  };
}

function summaryOf(environments: readonly EnvironmentPlan[]): Summary {
  return {
    ...countActions(environments.flatMap(({ changes }) => changes)),
    unknown: environments.flatMap(({ unknown }) => unknown).length,
  };
}
