import {
  changesOf,
  FORMAT_VERSION,
  summaryOf,
  type Change,
  type EnvironmentPlan,
  type Plan,
  type PlanDocument,
  type Run,
  type SandboxPlan,
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
  target: Pick<EnvironmentPlan, 'name' | 'origin' | 'dialect' | 'observed_at'>,
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
    refusals: [],
    unmanaged: settings.unmanaged,
    digests: null,
    error: null,
  };
}

export function warningsOf({ settings, sandboxes }: Plan): Warning[] {
  return [...settings.warnings, ...sandboxWarnings(sandboxes)];
}

/** What is worth knowing of the sandboxes, declared ones that are unavailable first. */
export function sandboxWarnings({ unmet, warnings }: SandboxPlan): Warning[] {
  const gone = unmet.map(({ code, message, hint, path }) => ({
    code,
    message: `${message} ${hint}`,
    path,
  }));
  return [...gone, ...warnings];
}

/** The document of a plan made at a time, in milliseconds since 1970. */
export function planDocument(
  environments: readonly EnvironmentPlan[],
  made: { readonly at: number; readonly run: Run; readonly salt: string | null },
): PlanDocument {
  return {
    format_version: FORMAT_VERSION,
    kind: 'plan',
    tool: TOOL,
    created_at: new Date(made.at).toISOString(),
    run: made.run,
    salt: made.salt,
    environments,
    summary: summaryOf(environments),
  };
}
