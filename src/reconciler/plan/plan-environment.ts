import { inactiveWarnings } from './profiles.ts';
import { type PlanTerms, extractSettingsPlan } from './settings-part.ts';
import type { Refusal } from '../model/guard.ts';
import { samePath } from '../model/path.ts';
import {
  listPlanWarnings,
  type Plan,
  listPlanChanges,
  FORMAT_VERSION,
  listPlanUnknowns,
  listUnmanagedPlanPaths,
  listPlanUnmet,
  type Change,
  type EnvironmentPlan,
  type PlanHead,
} from '../model/plan.ts';
import { type Warning, type ErrorReport } from '../model/error.ts';
import {
  type DesiredState,
  type ObservedState,
  NOT_OBSERVED,
  describeDialectVersion,
} from '../model/state.ts';
import { formatOnly } from '../model/uncompared.ts';
import { requireWritable } from './fit.ts';
import { guardWarnings, collectRefusals } from './guard.ts';
import { listMissingServerSecrets } from './field-here.ts';
import { classifyChanges } from './three-way.ts';
import type { Proof } from '../model/proof.ts';
import { maskSecrets, type Json } from '../model/value.ts';
import { TOOL } from '../model/version.ts';

/** A plan, and what is known about it before anything is sent. */
export interface PlanResult<O extends ObservedState | null = ObservedState> {
  readonly plan: Plan;
  /** The settings that it was made from; null if they were not observed. */
  readonly observed: O;
  /** The warnings of the plan and its guards. Refusals are not repeated here. */
  readonly warnings: readonly Warning[];
  /** Every reason that an apply would refuse the plan. */
  readonly refusals: readonly Refusal[];
  /** The service's trials of the plan; absent if they were not requested. */
  readonly proofs?: readonly Proof[] | undefined;
}

/**
 * Joins the plans of all resources to that of an environment: adds the author of each change, and has the guards judge all of it. Pure.
 * Throws a SetpointError if the write of the plan must not be sent.
 */
export function planEnvironment<O extends ObservedState | null>(
  terms: PlanTerms,
  observed: O,
  parts: Plan,
  proofs?: readonly Proof[],
): PlanResult<O> {
  if (observed === null)
    return { plan: parts, observed, warnings: listPlanWarnings(parts), refusals: [] };
  const { desired, base, allowed } = terms;
  const plan = classifyPlan(base, parts, terms, observed);
  const bare = listMissingServerSecrets(desired, observed);
  const judged = bare.length === 0 ? observed : { ...observed, bare };
  const guarded = { plan, observed: judged, guards: desired.guards, proofs };
  const refusals = collectRefusals(guarded, allowed);
  // A change that the guards refuse is not sent either, and they report more.
  if (refusals.length === 0) requireWritable(extractSettingsPlan(plan).write);
  const isRefused = ({ code, path }: Warning): boolean =>
    code === 'lose-unreadable' &&
    refusals.some((refusal) => refusal.rule === code && samePath(refusal.path, path));
  const warnings = [
    ...warnOfOnly(desired),
    ...ofLaterRelease(observed),
    ...warnOfCache(observed),
    ...inactiveWarnings(desired, observed),
    ...selectUnknownNames(desired, plan),
    ...listPlanWarnings(plan).filter((warning) => !isRefused(warning)),
    ...guardWarnings(guarded, allowed),
  ];
  return { plan, observed, warnings, refusals, ...(proofs === undefined ? {} : { proofs }) };
}

function classifyPlan(
  base: PlanTerms['base'],
  plan: Plan,
  terms: PlanTerms,
  observed: ObservedState,
): Plan {
  if (base === null) return plan;
  if ('classify' in base) return base.classify(plan, terms.desired, observed);
  return classifyChanges(plan, terms.desired, base, observed, terms);
}

/** Reports that a run is limited to parts of the file. */
function warnOfOnly(desired: Pick<DesiredState, 'onlyParts'>): Warning[] {
  const message = formatOnly(desired);
  return message === null ? [] : [{ code: 'only', message, path: [] }];
}

function warnOfCache({ cachedFor }: ObservedState): Warning[] {
  if (cachedFor === undefined) return [];
  const age = cachedFor === 0 ? '' : `, ${cachedFor} s old`;
  return [
    {
      code: 'cached-answer',
      message: `A cache in front of the service answered${age}: this may be an earlier state. Have it pass the service's API uncached.`,
      path: [],
    },
  ];
}

function ofLaterRelease({ newer }: ObservedState): Warning[] {
  return newer === undefined ? [] : [{ code: 'later-release', message: newer, path: [] }];
}

/** The names that neither the file declares nor the service lists. */
function selectUnknownNames(
  { unknownNames: names = [] }: DesiredState,
  plan: Plan,
): readonly Warning[] {
  if (names.length === 0) return names;
  const listed = listUnmanagedPlanPaths(plan);
  return names.filter(({ path }) => !listed.some((one) => samePath(one, path)));
}

/** The members of a document about an environment, apart from its plan. */
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
  { plan, observed, warnings, refusals, proofs }: PlanResult,
  about: About & Pick<EnvironmentPlan, 'digests'>,
  earlier: readonly Warning[],
): EnvironmentPlan {
  const changes = listPlanChanges(plan);
  const unknown = listPlanUnknowns(plan);
  const { dialect, release } = describeDialectVersion(observed);
  // One by one: an object made of several others takes V8 several times as long, and a run makes one for each environment.
  return {
    name: about.name,
    origin: about.origin,
    observed_at: about.observed_at,
    dialect,
    release,
    status: changes.length === 0 && listPlanUnmet(plan).length === 0 ? 'in-sync' : 'differs',
    complete: unknown.length === 0,
    changes: changes.map(maskChange),
    unknown,
    warnings: [...earlier, ...warnings],
    refusals,
    unmanaged: listUnmanagedPlanPaths(plan),
    digests: about.digests,
    ...(proofs === undefined ? {} : { proofs }),
    ...(observed?.organization === undefined ? {} : { organization: observed.organization }),
    error: null,
  };
}

/** The part of an environment that could not be planned. */
export function createFailedEnvironment(
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
export function maskChange(change: Change): Change<Json> {
  const { cause: _, ...shown } = change;
  return { ...shown, before: maskSecrets(change.before), after: maskSecrets(change.after) };
}
