import {
  changesOf,
  FORMAT_VERSION,
  unknownOf,
  unmanagedOf,
  unmetOf,
  type Change,
  type EnvironmentPlan,
  type ErrorReport,
  type PlanHead,
  type Warning,
} from '../model/plan.ts';
import { NOT_OBSERVED, spokenBy } from '../model/state.ts';
import { masked, type Json } from '../model/value.ts';
import { TOOL } from '../model/version.ts';
import type { Planned } from './plan-environment.ts';

/** What a document has about an environment besides its plan. */
type About = Pick<EnvironmentPlan, 'name' | 'origin' | 'observed_at'>;

/** The first members of the document of a plan made at a time, in milliseconds since 1970. */
export function planHead(at: number, made: Pick<PlanHead, 'shard' | 'strict' | 'salt'>): PlanHead {
  return {
    format_version: FORMAT_VERSION,
    kind: 'plan',
    tool: TOOL,
    created_at: new Date(at).toISOString(),
    shard: made.shard,
    ...(made.strict === true ? { strict: true } : {}),
    salt: made.salt,
  };
}

/** An environment's part of the document; `earlier` are the warnings from before it was observed. */
export function environmentPlan(
  { plan, observed, warnings, refusals }: Planned,
  about: About & Pick<EnvironmentPlan, 'digests'>,
  earlier: readonly Warning[],
): EnvironmentPlan {
  const changes = changesOf(plan);
  const unknown = unknownOf(plan);
  const { dialect, release } = spokenBy(observed);
  // One by one: an object made of several others takes V8 several times as long, and a run makes one for each environment.
  return {
    name: about.name,
    origin: about.origin,
    observed_at: about.observed_at,
    dialect,
    release,
    status: changes.length === 0 && unmetOf(plan).length === 0 ? 'in-sync' : 'differs',
    complete: unknown.length === 0,
    changes: changes.map(maskedChange),
    unknown,
    warnings: [...earlier, ...warnings],
    refusals,
    unmanaged: unmanagedOf(plan),
    digests: about.digests,
    error: null,
  };
}

/** The part of an environment that could not be planned. */
export function failedEnvironment(
  about: About,
  error: ErrorReport,
  earlier: readonly Warning[],
): EnvironmentPlan {
  return {
    ...about,
    ...NOT_OBSERVED,
    status: 'error',
    complete: false,
    changes: [],
    unknown: [],
    warnings: earlier,
    refusals: [],
    unmanaged: [],
    digests: null,
    error,
  };
}

/** A change as documents carry it: every sensitive value is the mask. */
export function maskedChange(change: Change): Change<Json> {
  return { ...change, before: masked(change.before), after: masked(change.after) };
}
