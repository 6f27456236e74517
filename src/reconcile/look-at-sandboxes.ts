import type { SandboxPlan } from '../model/plan.ts';
import type { SandboxObserver } from '../model/ports.ts';
import type { DesiredSandboxes, ObservedSandboxes } from '../model/sandbox.ts';
import { NO_SANDBOXES, planSandboxes } from '../plan/plan-sandboxes.ts';
import { specProblem } from '../plan/spec-problem.ts';

/** An empty list may be an outage of what runs the sandboxes: it is read again after this, in milliseconds. */
export const EMPTY_PAUSE = 2000;

export interface SandboxLook {
  readonly observed: ObservedSandboxes;
  readonly plan: SandboxPlan;
}

/**
 * Looks at what the declared sandboxes need to be planned, and plans them. Specs are read where one is named, conversations
 * where one could be cut off. Throws `spec-refused` where a declared spec cannot be used.
 */
export async function lookAtSandboxes(
  observer: SandboxObserver,
  desired: readonly DesiredSandboxes[],
  signal?: AbortSignal,
): Promise<SandboxLook> {
  const named = desired.some((item) => item.kind === 'counted' && item.spec !== null);
  const [{ sandboxes, at }, specs] = await Promise.all([
    observer.sandboxes(signal),
    named ? observer.specs(signal) : null,
  ]);
  const first: ObservedSandboxes = { sandboxes, specs, busy: null, at };
  const plan = planSandboxes(desired, first);
  const problem = specProblem(desired, first, plan);
  if (problem !== null) throw problem;
  if (!plan.steps.some(({ action, item }) => action === 'pause' && item.whenBusy === 'skip'))
    return { observed: first, plan };
  const observed = { ...first, busy: await busySandboxes(observer, signal) };
  return { observed, plan: planSandboxes(desired, observed) };
}

/** The plan of such a look. Where no sandbox is declared, nothing is asked. */
export async function planOfSandboxes(
  observer: SandboxObserver,
  desired: readonly DesiredSandboxes[],
  signal?: AbortSignal,
): Promise<SandboxPlan> {
  return desired.length === 0
    ? NO_SANDBOXES
    : (await lookAtSandboxes(observer, desired, signal)).plan;
}

async function busySandboxes(
  observer: SandboxObserver,
  signal: AbortSignal | undefined,
): Promise<ReadonlySet<string>> {
  const conversations = await observer.conversations(signal);
  return new Set(
    conversations.flatMap(({ sandbox, status }) =>
      sandbox !== null && status === 'running' ? [sandbox] : [],
    ),
  );
}
