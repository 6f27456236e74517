import type { ObservedState } from '../model/state.ts';
import { requireFit } from '../plan/fit.ts';
import { planEnvironment, type Planned } from '../plan/plan-environment.ts';
import type { PlanInput } from './contract.ts';
import { planObservedSandboxes } from './sandboxes/observe.ts';

/**
 * The one way to a plan: plan, drift, apply, a plan against a snapshot and explain all observe and plan here, and differ in
 * what they observe and in what they do with the plan. Sends nothing. Throws a SetpointError if something that the file
 * declares cannot be observed, or names a spec that the service does not have.
 */
export async function observeAndPlan<O extends ObservedState | null>(
  input: PlanInput<O>,
): Promise<Planned<O>> {
  const observed = await input.observers.settings.observe(input.signal);
  // A service without sandboxes is not asked for any.
  if (observed !== null) requireFit(input.desired, observed);
  return planEnvironment(input, observed, await planObservedSandboxes(input));
}

/** The same with the settings observed anew; the sandboxes are observed again when their turn comes. */
export async function planAgain(input: PlanInput, { plan }: Planned): Promise<Planned> {
  const observed = await input.observers.settings.observe(input.signal);
  return planEnvironment(input, observed, plan.sandboxes);
}
