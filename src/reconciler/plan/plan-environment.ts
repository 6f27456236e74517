import type { Refusal, Rule } from '../model/guard.ts';
import { samePath } from '../model/path.ts';
import { warningsOf, type Plan, type Warning } from '../model/plan.ts';
import type { Fingerprints } from '../model/ports.ts';
import type { DesiredState, ObservedState } from '../model/state.ts';
import { requireWritable } from './fit.ts';
import { guardWarnings, refusalsOf } from './guard.ts';
import type { Rotation } from './field-plan.ts';
import { settingsPlanIn } from './settings-part.ts';
import { classified, type Since } from './three-way.ts';

/** What an environment is planned by, apart from what the service has. */
export interface PlanTerms {
  readonly desired: DesiredState;
  /** What the file declared when it was last applied (`--base`), or was the same as the service; null if that is not known. */
  readonly base: DesiredState | Since | null;
  readonly rotation: Rotation;
  readonly fingerprints: Fingerprints;
  /** The guards that are lifted for this run. */
  readonly allowed: readonly Rule[];
}

/** A plan, and what is known about it before anything is sent. */
export interface Planned<O extends ObservedState | null = ObservedState> {
  readonly plan: Plan;
  /** The settings that it was made from; null if they were not observed. */
  readonly observed: O;
  /** What the plan and its guards warn of; a refusal is not repeated here. */
  readonly warnings: readonly Warning[];
  /** Why an apply would refuse the plan: every reason. */
  readonly refusals: readonly Refusal[];
}

/**
 * Joins the plans of all resources to that of an environment: says who made each change, and has the guards judge all of it. Pure. Throws a
 * SetpointError if the write of the plan must not be sent.
 */
export function planEnvironment<O extends ObservedState | null>(
  terms: PlanTerms,
  observed: O,
  parts: Plan,
): Planned<O> {
  if (observed === null)
    return { plan: parts, observed, warnings: warningsOf(parts), refusals: [] };
  const { desired, base, allowed } = terms;
  const plan = classifiedBy(base, parts, terms, observed);
  const guarded = { plan, observed, guards: desired.guards };
  const refusals = refusalsOf(guarded, allowed);
  // What the guards refuse is not sent either, and they say more.
  if (refusals.length === 0) requireWritable(settingsPlanIn(plan).write);
  const isRefused = ({ code, path }: Warning): boolean =>
    code === 'lose-unreadable' &&
    refusals.some((refusal) => refusal.rule === code && samePath(refusal.path, path));
  const warnings = [
    ...ofLaterRelease(observed),
    ...warningsOf(plan).filter((warning) => !isRefused(warning)),
    ...guardWarnings(guarded, allowed),
  ];
  return { plan, observed, warnings, refusals };
}

function classifiedBy(
  base: PlanTerms['base'],
  plan: Plan,
  terms: PlanTerms,
  observed: ObservedState,
): Plan {
  if (base === null) return plan;
  if ('classify' in base) return base.classify(plan, terms.desired, observed);
  return classified(plan, terms.desired, base, observed, terms);
}

function ofLaterRelease({ newer }: ObservedState): Warning[] {
  return newer === undefined ? [] : [{ code: 'later-release', message: newer, path: [] }];
}
