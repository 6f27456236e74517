import { notChecked, type Costs, type Proof } from '../../model/proof.ts';
import type { DesiredState, ObservedState } from '../../model/state.ts';
import type { Plan } from '../../model/plan.ts';
import { listProvable, type Provable } from '../../plan/unproven.ts';
import type { PlanInput } from '../../reconcile/contract.ts';
import { findInterruption } from '../../reconcile/interruption.ts';
import { CHECKS } from '../../service/agent-server/checks.ts';
import { notInSnapshot, type ResourceReader } from '../../service/port.ts';
import { getting } from '../collections/port.ts';
import type { Get } from '../collections/wire.ts';
import {
  listDeclaredProfiles,
  tryPlannedAgent,
  tryPlannedKey,
  tryPlannedModel,
  tryStoredProfile,
} from './try-profiles.ts';
import { listTestableSettings, tryPlannedSettings, tryStoredSettings } from './settings.ts';
import { createSkippedTrial, type Trial, type Trying, type TryingPlan } from './trial.ts';

/** The input of trials, and the callback that announces their costs. */
export interface Proving {
  readonly reader: PlanInput['reader'];
  readonly desired: DesiredState;
  readonly settings: ObservedState;
  readonly signal?: AbortSignal | undefined;
  readonly announce: (costs: Costs) => void;
}

/**
 * Has the service try the changes of a plan, before anything is written. A part that cannot be tried is `not-checked`, and so is everything
 * if `refused` has a reason why the plan would not be written: the service does not try a plan that a guard refuses.
 */
export async function provePlan(
  proving: Proving,
  plan: Plan,
  refused: string | null,
): Promise<readonly Proof[]> {
  const provable = listProvable(plan);
  if (provable.length === 0) return [];
  const why = refused ?? explainNoTrials(proving);
  if (why !== null)
    return runTrials(
      provable.map((one) => createSkippedTrial(one, why)),
      proving,
    );
  const trying: TryingPlan = { ...tryingWith(proving), plan, drafts: new Map() };
  const inSettings = provable.filter(isSettingsProof);
  const others = provable.filter((one) => !isSettingsProof(one));
  return runTrials(
    [
      ...(await tryPlannedSettings(trying, inSettings)),
      ...others.map((one) => PLANNED[one.kind](trying, one)),
    ],
    proving,
  );
}

/** Has the service try what the file declares and the service has. */
export async function proveStored(proving: Proving): Promise<readonly Proof[]> {
  const profiles = listDeclaredProfiles(proving);
  const why = explainNoTrials(proving);
  if (why !== null) {
    const all = [...listTestableSettings(proving), ...profiles];
    return runTrials(
      all.map((one) => createSkippedTrial(one, why)),
      proving,
    );
  }
  const trying = tryingWith(proving);
  const ofProfiles = profiles.map((one) => tryStoredProfile(trying, one));
  return runTrials([...(await tryStoredSettings(trying)), ...ofProfiles], proving);
}

/** Explains why a service cannot try anything; null if it can. */
function explainNoTrials({ settings }: Pick<Proving, 'settings'>): string | null {
  const { name } = settings.dialect;
  if (name === 'agent-server') return null;
  return `this service (${name} API) cannot try it; only an Agent Server can`;
}

const PLANNED = {
  model: tryPlannedModel,
  key: tryPlannedKey,
  agent: tryPlannedAgent,
  server: (_: TryingPlan, one: Provable) =>
    createSkippedTrial(one, 'it is not an mcp server of the settings'),
} as const satisfies Record<Provable['kind'], (trying: TryingPlan, about: Provable) => Trial>;

function isSettingsProof({ kind, path: [first] }: Provable): boolean {
  return kind === 'server' || (kind === 'model' && first === 'agent_settings');
}

const GETS: ResourceReader<(signal?: AbortSignal) => Get> = {
  open: (reading) => (signal) => getting(reading, signal),
  saved: () => {
    throw notInSnapshot('A snapshot tries nothing.');
  },
};

function tryingWith({ reader, desired, settings, signal }: Proving): Trying {
  return { checks: reader(CHECKS), get: reader(GETS)(signal), desired, settings };
}

/** One after another: each may cost something. After a request to stop nothing more is tried. */
async function runTrials(
  trials: readonly Trial[],
  { announce, signal }: Proving,
): Promise<readonly Proof[]> {
  const costs = countTrialCosts(trials);
  if (Object.values(costs).some((count) => count > 0)) announce(costs);
  const proofs: Proof[] = [];
  for (const { kind, path, attempt } of trials) {
    const isStopped = findInterruption(signal) !== null;
    const { status, found } = isStopped ? notChecked('stopped') : await attempt();
    proofs.push({ kind, path, status, found });
  }
  return proofs;
}

function countTrialCosts(trials: readonly Trial[]): Costs {
  const count = (cost: Trial['cost']) => trials.filter((one) => one.cost === cost).length;
  return { model: count('model'), reach: count('reach'), program: count('program') };
}
