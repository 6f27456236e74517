import {
  changesOf,
  countActions,
  FORMAT_VERSION,
  type Change,
  type EnvironmentPlan,
  type Plan,
  type PlanDocument,
  type SandboxPlan,
  type Summary,
  type Warning,
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
  const { settings, sandboxes } = plan;
  const changes = changesOf(plan);
  return {
    ...target,
    status: changes.length === 0 && sandboxes.unmet.length === 0 ? 'in-sync' : 'differs',
    complete: settings.unknown.length === 0,
    changes: changes.map(maskedChange),
    unknown: settings.unknown,
    warnings: warningsOf(plan),
    unmanaged: settings.unmanaged,
    error: null,
  };
}

export function warningsOf({ settings, sandboxes }: Plan): Warning[] {
  return [...settings.warnings, ...sandboxWarnings(sandboxes)];
}

/** What is worth knowing of the sandboxes, declared ones that cannot be had first. */
export function sandboxWarnings({ unmet, warnings }: SandboxPlan): Warning[] {
  const gone = unmet.map(({ code, message, hint, path }) => ({
    code,
    message: `${message} ${hint}`,
    path,
  }));
  return [...gone, ...warnings];
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
