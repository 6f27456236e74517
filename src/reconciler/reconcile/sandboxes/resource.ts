import { SetpointError } from '../../model/error.ts';
import type { PartPlan } from '../../model/plan.ts';
import type { SandboxPlan } from '../../model/sandbox.ts';
import type { DesiredState, ObservedState } from '../../model/state.ts';
import { requireFit } from '../../plan/fit.ts';
import { SANDBOXES_LATER } from '../../plan/plan-sandboxes.ts';
import type { ManagedResource, PlanInput } from '../contract.ts';
import { planObservedSandboxes } from './observe.ts';
import { writeSandboxes } from './write.ts';

/** The sandboxes of a service. All items are one to approvals and agreements: what one claims depends on the others. */
export const SANDBOXES: ManagedResource = {
  name: 'sandbox',
  block: 'sandboxes',
  items: {
    declared: ({ sandboxes }) =>
      new Map([[ALL, sandboxes.map((item) => ({ ...item, source: null }))]]),
    of: () => ALL,
  },
  // What a change does not show, and an approval is about: whether a conversation may be cut off.
  terms: (part) => planIn(part).steps.map(({ item: { kind, whenBusy } }) => [kind, whenBusy]),
  read: async (input, settings) => {
    const { desired } = input;
    if (desired.sandboxes.length === 0) return null;
    // A service without sandboxes is not asked for any.
    if (settings !== null) requireFit(desired, settings);
    const plan = await planned(input, settings, desired);
    return () => sandboxPart(plan);
  },
  write: (input, part) => writeSandboxes(input, planIn(part)),
};

const ALL = '';

/**
 * Some releases cannot list sandboxes while no settings are stored, and fail. The settings are planned without them then: refused
 * together, neither would ever be written. Source: behaviour 3.1.
 */
async function planned(
  input: PlanInput<ObservedState | null>,
  settings: ObservedState | null,
  { fields }: DesiredState,
): Promise<SandboxPlan> {
  try {
    return await planObservedSandboxes(input);
  } catch (thrown) {
    const isFirst = settings !== null && !settings.stored && fields.length > 0;
    if (isFirst && thrown instanceof SetpointError && thrown.code === 'server-error')
      return SANDBOXES_LATER;
    throw thrown;
  }
}

/** The sandboxes' part of a plan. */
export function sandboxPart(plan: SandboxPlan): PartPlan<SandboxPlan> {
  const { steps, unmet, warnings } = plan;
  const changes = steps.map(({ change }) => change);
  return {
    resource: SANDBOXES,
    changes,
    unknown: [],
    warnings,
    unmanaged: [],
    gone: [],
    unpreservable: [],
    unmet,
    work: plan,
  };
}

/** The plan of the sandboxes in their part, its steps with the changes that the part has. */
function planIn({ work, changes }: PartPlan): SandboxPlan {
  const { steps, unmet, warnings } = work as SandboxPlan;
  return {
    steps: steps.map((step, index) => ({ ...step, change: changes[index] ?? step.change })),
    unmet,
    warnings,
  };
}
