import type { ObservedState } from '../model/state.ts';
import { planEnvironment, type Planned } from '../plan/plan-environment.ts';
import { plannedSettings, withSettings } from '../plan/settings-part.ts';
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
  for (const resource of input.resources) read.push(await resource.read(input, observed));
  const parts = read.flatMap((plan) => (plan === null ? [] : [plan()]));
  return planEnvironment(input, observed, parts);
}

/** The same with the settings observed anew; the other resources are observed again when their turn comes. */
export async function planAgain(input: PlanInput, { plan }: Planned): Promise<Planned> {
  const observed = await input.settings.observe(input.signal);
  const again = withSettings(plan, () => plannedSettings(input, observed));
  return planEnvironment(input, observed, again);
}
