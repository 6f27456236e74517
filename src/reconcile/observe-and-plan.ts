import { SetpointError } from '../model/error.ts';
import type { SandboxPlan } from '../model/plan.ts';
import type { ObservedState } from '../model/state.ts';
import { requireFit } from '../plan/fit.ts';
import { planEnvironment, type Planned } from '../plan/plan-environment.ts';
import { SANDBOXES_LATER } from '../plan/plan-sandboxes.ts';
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
  if (observed !== null && input.desired.sandboxes.length > 0) requireFit(input.desired, observed);
  return planEnvironment(input, observed, await sandboxesOf(input, observed));
}

/**
 * Some releases cannot list sandboxes while no settings are stored, and fail. The settings are planned without them then: refused
 * together, neither would ever be written. Source: behaviour 3.1.
 */
async function sandboxesOf<O extends ObservedState | null>(
  input: PlanInput<O>,
  observed: O,
): Promise<SandboxPlan> {
  try {
    return await planObservedSandboxes(input);
  } catch (thrown) {
    const isFirst = observed !== null && !observed.stored && input.desired.fields.length > 0;
    if (isFirst && thrown instanceof SetpointError && thrown.code === 'server-error')
      return SANDBOXES_LATER;
    throw thrown;
  }
}

/** The same with the settings observed anew; the sandboxes are observed again when their turn comes. */
export async function planAgain(input: PlanInput, { plan }: Planned): Promise<Planned> {
  const observed = await input.observers.settings.observe(input.signal);
  return planEnvironment(input, observed, plan.sandboxes);
}
