import type { Refusal, Rule } from '../model/guard.ts';
import { samePath } from '../model/path.ts';
import {
  warningsOf,
  type PartPlan,
  type Plan,
  type SettingsPlan,
  type Warning,
} from '../model/plan.ts';
import type { Fingerprints } from '../model/ports.ts';
import type { DesiredState, ObservedState } from '../model/state.ts';
import { requireFit, requireWritable } from './fit.ts';
import { guardWarnings, refusalsOf } from './guard.ts';
import { planSettings } from './plan-settings.ts';
import type { Rotation } from './plan-secrets.ts';
import { plannedAlike, remember } from './planned-alike.ts';
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

export const NO_SETTINGS: SettingsPlan = {
  changes: [],
  unknown: [],
  warnings: [],
  unmanaged: [],
  unpreservable: [],
  gone: [],
  write: null,
};

/**
 * Plans the observed settings, adds the plans of the other resources, and has the guards judge all of it. Pure. Throws a SetpointError if
 * the service cannot hold what the file declares.
 */
export function planEnvironment<O extends ObservedState | null>(
  terms: PlanTerms,
  observed: O,
  parts: readonly PartPlan[],
): Planned<O> {
  if (observed === null) {
    const plan = { settings: NO_SETTINGS, parts };
    return { plan, observed, warnings: warningsOf(plan), refusals: [] };
  }
  const known = plannedAlike(terms, observed, parts);
  if (known !== null) return { ...known, observed };
  const planned = planObserved(terms, observed, parts);
  remember(terms, planned);
  return { ...planned, observed };
}

function planObserved(
  terms: PlanTerms,
  observed: ObservedState,
  parts: readonly PartPlan[],
): Planned {
  const { desired, base, allowed } = terms;
  requireFit(desired, observed);
  const found = { settings: planSettings(desired, observed, terms), parts };
  const plan = classifiedBy(base, found, terms, observed);
  const guarded = { plan, observed, guards: desired.guards };
  const refusals = refusalsOf(guarded, allowed);
  // What the guards refuse is not sent either, and they say more.
  if (refusals.length === 0) requireWritable(plan.settings.write);
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
