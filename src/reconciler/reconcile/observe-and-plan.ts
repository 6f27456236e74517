import { SetpointError } from '../model/error.ts';
import type { PartPlan } from '../model/plan.ts';
import type { ObservedState } from '../model/state.ts';
import { planEnvironment, type Planned } from '../plan/plan-environment.ts';
import {
  plannedSettings,
  sameChanges,
  settingsPlanIn,
  withSettings,
} from '../plan/settings-part.ts';
import type { ManagedResource, PlanInput } from './contract.ts';

/**
 * The one way to a plan: plan, drift, apply, a plan against a snapshot and explain all observe and plan here, and differ in
 * what they observe and in what they do with the plan. Sends nothing. Throws a SetpointError if something that the file
 * declares cannot be observed, or this service does not have it.
 */
export async function observeAndPlan<O extends ObservedState | null>(
  input: PlanInput<O>,
): Promise<Planned<O>> {
  const observed = await input.settings.observe(input.signal);
  const read: Awaited<ReturnType<ManagedResource['read']>>[] = [];
  const lacking: LackingError[] = [];
  for (const resource of input.resources) {
    try {
      read.push(await resource.read(input, observed));
    } catch (thrown) {
      if (thrown instanceof LackingError) lacking.push(thrown);
      else throw lackingAll(lacking) ?? thrown;
    }
  }
  const lacked = lackingAll(lacking);
  if (lacked !== null) throw lacked;
  const parts: PartPlan[] = [];
  for (const plan of read) if (plan !== null) parts.push(plan(parts));
  return proven(input, planEnvironment(input, observed, parts));
}

/** That a service has nothing of a kind that the file declares: what, and where it is declared. */
export class LackingError extends SetpointError {
  readonly what: string;

  constructor(what: string, message: string, hint: string) {
    super('unfit-for-service', message, { hint });
    this.what = what;
  }
}

/** One error for all that a service lacks. */
function lackingAll(errors: readonly LackingError[]): SetpointError | null {
  const [first = null, ...others] = errors;
  if (others.length === 0) return first;
  const what = errors.map((one) => one.what).join(', ');
  return new SetpointError(
    'unfit-for-service',
    `This service lacks what the file declares, and nothing was sent to it: ${what}.`,
    { hint: errors.map(({ hint }) => hint).join(' ') },
  );
}

/** The same with the settings observed anew; the other resources are observed again when their turn comes. */
export async function planAgain(input: PlanInput, { plan, proofs }: Planned): Promise<Planned> {
  const observed = await input.settings.observe(input.signal);
  const again = withSettings(plan, () => plannedSettings(input, observed));
  const isSame = sameChanges(settingsPlanIn(plan), settingsPlanIn(again));
  const planned = planEnvironment(input, observed, again, isSame ? proofs : undefined);
  return isSame ? planned : proven(input, planned);
}

/**
 * A plan with what the service tried of it, judged by that as well. What a guard refuses is not tried: a try sends the keys, and
 * starts the programs.
 */
async function proven<O extends ObservedState | null>(
  input: PlanInput<O>,
  planned: Planned<O>,
): Promise<Planned<O>> {
  const { plan, observed, refusals } = planned;
  if (input.prove === undefined || observed === null) return planned;
  const [other] = refusals.filter(({ rule }) => rule !== 'unproven');
  const refused = other === undefined ? null : `an apply would be refused (rule ${other.rule})`;
  const proofs = await input.prove(plan, observed, refused);
  return planEnvironment(input, observed, plan, proofs);
}
