import { notChecked, type Costs, type Proof } from '../../model/proof.ts';
import type { DesiredState, ObservedState } from '../../model/state.ts';
import type { Plan } from '../../model/plan.ts';
import { provableIn, type Provable } from '../../plan/unproven.ts';
import type { PlanInput } from '../../reconcile/contract.ts';
import { interruption } from '../../reconcile/observe-and-plan.ts';
import { CHECKS } from '../../service/agent-server/checks.ts';
import { notInSnapshot, type ReaderOf } from '../../service/port.ts';
import { getting } from '../collections/port.ts';
import type { Get } from '../collections/wire.ts';
import {
  declaredProfiles,
  plannedAgent,
  plannedKey,
  plannedModel,
  storedProfile,
} from './profiles.ts';
import { declaredInSettings, plannedSettings, storedSettings } from './settings.ts';
import { untried, type Trial, type Trying, type TryingPlan } from './trial.ts';

/** What something is tried with, and who is told beforehand what it costs. */
export interface Proving {
  readonly reader: PlanInput['reader'];
  readonly desired: DesiredState;
  readonly settings: ObservedState;
  readonly signal?: AbortSignal | undefined;
  readonly announce: (costs: Costs) => void;
}

/**
 * Has the service try what a plan changes, before anything is written. What it cannot be asked is `not-checked`, and so is everything
 * if `refused` says why the plan would not be written: what a guard refuses is not sent to be tried, either.
 */
export async function provePlan(
  proving: Proving,
  plan: Plan,
  refused: string | null,
): Promise<readonly Proof[]> {
  const provable = provableIn(plan);
  if (provable.length === 0) return [];
  const why = refused ?? whyNot(proving);
  if (why !== null)
    return tried(
      provable.map((one) => untried(one, why)),
      proving,
    );
  const trying: TryingPlan = { ...tryingWith(proving), plan, drafts: new Map() };
  const inSettings = provable.filter(isOfSettings);
  const others = provable.filter((one) => !isOfSettings(one));
  return tried(
    [
      ...(await plannedSettings(trying, inSettings)),
      ...others.map((one) => PLANNED[one.kind](trying, one)),
    ],
    proving,
  );
}

/** Has the service try what the file declares and the service has. */
export async function proveStored(proving: Proving): Promise<readonly Proof[]> {
  const profiles = declaredProfiles(proving);
  const why = whyNot(proving);
  if (why !== null) {
    const all = [...declaredInSettings(proving), ...profiles];
    return tried(
      all.map((one) => untried(one, why)),
      proving,
    );
  }
  const trying = tryingWith(proving);
  const ofProfiles = profiles.map((one) => storedProfile(trying, one));
  return tried([...(await storedSettings(trying)), ...ofProfiles], proving);
}

/** Why a service cannot be asked to try anything; null if it can. */
function whyNot({ settings }: Pick<Proving, 'settings'>): string | null {
  const { name } = settings.dialect;
  if (name === 'agent-server') return null;
  return `a service of the dialect ${name} tries nothing; only an Agent Server does`;
}

const PLANNED = {
  model: plannedModel,
  key: plannedKey,
  agent: plannedAgent,
  server: (_: TryingPlan, one: Provable) => untried(one, 'it is no server of the settings'),
} as const satisfies Record<Provable['kind'], (trying: TryingPlan, about: Provable) => Trial>;

function isOfSettings({ kind, path: [first] }: Provable): boolean {
  return kind === 'server' || (kind === 'model' && first === 'agent_settings');
}

const GETS: ReaderOf<(signal?: AbortSignal) => Get> = {
  open: (reading) => (signal) => getting(reading, signal),
  saved: () => {
    throw notInSnapshot('A snapshot tries nothing.');
  },
};

function tryingWith({ reader, desired, settings, signal }: Proving): Trying {
  return { checks: reader(CHECKS), get: reader(GETS)(signal), desired, settings };
}

/** One after another: each may cost something. After a request to stop nothing more is tried. */
async function tried(
  trials: readonly Trial[],
  { announce, signal }: Proving,
): Promise<readonly Proof[]> {
  const costs = costsOf(trials);
  if (Object.values(costs).some((count) => count > 0)) announce(costs);
  const proofs: Proof[] = [];
  for (const { kind, path, attempt } of trials) {
    const isStopped = interruption(signal) !== null;
    const { status, found } = isStopped ? notChecked('stopped') : await attempt();
    proofs.push({ kind, path, status, found });
  }
  return proofs;
}

function costsOf(trials: readonly Trial[]): Costs {
  const count = (cost: Trial['cost']) => trials.filter((one) => one.cost === cost).length;
  return { model: count('model'), reach: count('reach'), program: count('program') };
}
