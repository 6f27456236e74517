import { SetpointError } from '../../model/error.ts';
import type { PartPlan } from '../../model/plan.ts';
import { BLOCK, declaredSandboxes, type SandboxPlan } from './sandbox.ts';
import type { DesiredState, ObservedState } from '../../model/state.ts';
import { requireFit } from '../../plan/fit.ts';
import { SANDBOXES_LATER } from './plan.ts';
import type { ManagedResource, PlanInput, ShownList } from '../../reconcile/contract.ts';
import { planObservedSandboxes } from './observe.ts';
import { SANDBOX_READER, type SandboxReader } from './wire.ts';
import { writeSandboxes } from './write.ts';

/** The sandboxes of a service. All items are one to approvals and agreements: what one claims depends on the others. */
export const SANDBOXES: ManagedResource = {
  name: 'sandbox',
  block: BLOCK,
  items: {
    declared: (desired) =>
      new Map([[ALL, declaredSandboxes(desired).map((item) => ({ ...item, source: null }))]]),
    of: () => ALL,
  },
  // What a change does not show, and an approval is about: whether a conversation may be cut off.
  terms: (part) => planIn(part).steps.map(({ item: { kind, whenBusy } }) => [kind, whenBusy]),
  read: async (input, settings) => {
    const { desired } = input;
    if (declaredSandboxes(desired).length === 0) return null;
    // A service without sandboxes is not asked for any.
    if (settings !== null) requireFit(desired, settings);
    const plan = await planned(input, settings, desired);
    return () => sandboxPart(plan);
  },
  isList: true,
  lists: {
    sandboxes: listOf(async (reader, signal) =>
      (await reader.sandboxes(signal)).sandboxes.map(({ id, spec, status, createdAt }) => ({
        id,
        spec,
        status,
        created_at: timeText(createdAt),
      })),
    ),
    specs: listOf(async (reader, signal) =>
      (await reader.specs(signal))?.map(({ id }, index) => ({ id, default: index === 0 })),
    ),
    conversations: listOf(async (reader, signal) =>
      (await reader.conversations(signal))?.map(({ id, sandbox, status, createdAt }) => ({
        id,
        sandbox,
        status,
        created_at: timeText(createdAt),
      })),
    ),
  },
  write: (input, part) => writeSandboxes(input, planIn(part)),
};

const ALL = '';

function listOf(
  read: (reader: SandboxReader, signal: AbortSignal | undefined) => Promise<unknown>,
): ShownList {
  return {
    read: (reader, _, signal) => read(reader(SANDBOX_READER), signal),
    bySettings: false,
    isOptional: false,
  };
}

function timeText(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString();
}

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
