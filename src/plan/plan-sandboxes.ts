import type { SandboxPlan, SandboxStep, Warning } from '../model/plan.ts';
import {
  isUp,
  type CountedSandboxes,
  type DesiredSandboxes,
  type ObservedSandboxes,
  type Sandbox,
} from '../model/sandbox.ts';
import { claimSandboxes, type Started } from './claim-sandboxes.ts';
import { planNamedSandbox } from './plan-named-sandbox.ts';
import { busyWarning, pauseStep, resumeStep, startStep } from './sandbox-step.ts';

export const NO_SANDBOXES: SandboxPlan = { steps: [], unmet: [], warnings: [] };

/**
 * What makes the sandboxes those that were declared. Pure: a look at what was declared gives an empty plan.
 *
 * PAUSED sandboxes are resumed, oldest first, before any is started; a surplus is paused newest first, so that the ones that
 * run stay the same from run to run. A sandbox in which a conversation runs is left alone unless its item says otherwise.
 * `started` says which sandboxes an apply has started, and for which item: there they count, whatever spec is shown.
 */
export function planSandboxes(
  desired: readonly DesiredSandboxes[],
  observed: ObservedSandboxes,
  started: Started = new Map(),
): SandboxPlan {
  const claims = claimSandboxes(desired, observed.sandboxes, started);
  const plans = desired.map((item): SandboxPlan => {
    const claimed = claims.get(item) ?? [];
    return item.kind === 'named'
      ? planNamedSandbox(item, claimed, observed)
      : planCounted(item, claimed, observed);
  });
  return {
    steps: plans.flatMap(({ steps }) => steps),
    unmet: plans.flatMap(({ unmet }) => unmet),
    warnings: plans.flatMap(({ warnings }) => warnings),
  };
}

function planCounted(
  item: CountedSandboxes,
  claimed: readonly Sandbox[],
  observed: ObservedSandboxes,
): SandboxPlan {
  const up = claimed.filter((sandbox) => isUp(sandbox, observed.at));
  if (up.length > item.running && item.surplus === 'pause')
    return pauseSurplus(item, up, observed.busy);
  const missing = Math.max(0, item.running - up.length);
  const reason = `${up.length} of ${item.running} running`;
  const resumed = claimed
    .filter(({ status }) => status === 'PAUSED')
    .toSorted(byAge)
    .slice(0, missing);
  const starts = Array.from({ length: missing - resumed.length }, (_, index) =>
    startStep(item, index + 1, reason),
  );
  return {
    steps: [...resumed.map((sandbox) => resumeStep(item, sandbox, reason)), ...starts],
    unmet: [],
    warnings: missing > 0 ? failedOnes(claimed, observed.at) : [],
  };
}

function pauseSurplus(
  item: CountedSandboxes,
  up: readonly Sandbox[],
  busy: ObservedSandboxes['busy'],
): SandboxPlan {
  const surplus = up.length - item.running;
  const candidates = up.toSorted((a, b) => isStarting(a) - isStarting(b) || byAge(b, a));
  const spared =
    item.whenBusy === 'skip' ? candidates.filter(({ id }) => busy?.has(id) === true) : [];
  const left = new Set(spared);
  const paused = candidates.filter((sandbox) => !left.has(sandbox)).slice(0, surplus);
  const reason = `${up.length} running, ${item.running} wanted`;
  const steps: SandboxStep[] = paused.map((sandbox) => pauseStep(item, sandbox, reason));
  return {
    steps,
    unmet: [],
    warnings: spared.slice(0, surplus - paused.length).map(busyWarning),
  };
}

/** One that does not run yet may not take a pause: it comes last. */
function isStarting({ status }: Sandbox): number {
  return status === 'RUNNING' ? 0 : 1;
}

/** The oldest first; where the age is not said, by id. */
function byAge(a: Sandbox, b: Sandbox): number {
  return (a.createdAt ?? 0) - (b.createdAt ?? 0) || (a.id < b.id ? -1 : 1);
}

/** Those that count as down and cannot be resumed: new ones take their place, and somebody should look. */
function failedOnes(claimed: readonly Sandbox[], at: number): Warning[] {
  return claimed
    .filter((sandbox) => sandbox.status === 'ERROR' && !isUp(sandbox, at))
    .toSorted(byAge)
    .map(({ id }) => ({
      code: 'sandbox-failed',
      message: `Sandbox ${id} reads ERROR and does not count; it is left as it is.`,
      path: [id],
    }));
}
