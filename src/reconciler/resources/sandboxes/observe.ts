import type { Warning } from '../../model/plan.ts';
import type { ObservedSandboxes, SandboxPlan } from './sandbox.ts';
import type { ObservedState } from '../../model/state.ts';
import { NO_SANDBOXES, planSandboxes } from './plan.ts';
import { declaredSandboxes } from './sandbox.ts';
import { SANDBOX_READER, type SandboxReader } from './wire.ts';
import { specProblem } from './spec-problem.ts';
import type { PlanInput } from '../../reconcile/contract.ts';
import { interruption } from '../../reconcile/interruption.ts';

type Input = PlanInput<ObservedState | null>;

/** How long, in milliseconds, an ERROR that is too old for a start is watched before it is believed, and how often. */
const PATIENCE = 30_000;
const PAUSE = 3000;
/** An empty list may be an outage of what runs the sandboxes: it is read again after this, in milliseconds. */
const EMPTY_PAUSE = 2000;

/**
 * The plan of the sandboxes as they are. A sandbox in ERROR may be booting however old it is: no answer shows when it
 * was resumed. If the plan would give one up, it is watched for a while first; with `wait` 0 it is not. A request to stop ends
 * the watch with its error. If no sandbox is declared, nothing is requested.
 */
export async function planObservedSandboxes(input: Input): Promise<SandboxPlan> {
  const { desired, clock, signal } = input;
  if (declaredSandboxes(desired).length === 0) return NO_SANDBOXES;
  const begun = clock.monotonic();
  let { plan } = await observeSandboxes(input, ({ unmet }) => unmet.length > 0);
  for (;;) {
    const failed = failedIn(plan);
    const isOver = clock.monotonic() - begun >= Math.min(PATIENCE, input.wait);
    if (failed.length === 0 || isOver) return plan;
    const stopped = interruption(signal);
    if (stopped !== null) throw stopped;
    input.progress(
      failed.map((id) => ({ action: 'watch', id, spec: null, status: 'ERROR', done: false })),
    );
    await clock.sleep(PAUSE, signal);
    ({ plan } = await readSandboxes(input));
  }
}

function failedIn({ unmet, warnings }: SandboxPlan): string[] {
  return [...unmet, ...warnings].flatMap(({ code, path: [id] }) =>
    code === 'sandbox-failed' && id !== undefined ? [id] : [],
  );
}

export interface SandboxObservation {
  readonly observed: ObservedSandboxes;
  readonly plan: SandboxPlan;
}

/** Observes the sandboxes and plans them; an empty list whose plan is doubted is read a second time. */
export async function observeSandboxes(
  input: Input,
  isDoubted: (plan: SandboxPlan) => boolean,
): Promise<SandboxObservation> {
  const first = await readSandboxes(input);
  const isEmpty = first.observed.sandboxes.length === 0;
  if (!isEmpty || !isDoubted(first.plan) || interruption(input.signal) !== null) return first;
  await input.clock.sleep(EMPTY_PAUSE, input.signal);
  return readSandboxes(input);
}

/** Reads specs only if an item names one, and conversations only if a pause could interrupt one. Throws `spec-refused`. */
async function readSandboxes(input: Input): Promise<SandboxObservation> {
  const { signal } = input;
  const desired = declaredSandboxes(input.desired);
  const observer = input.reader(SANDBOX_READER);
  const isNamed = desired.some((item) => item.kind === 'counted' && item.spec !== null);
  const [{ sandboxes, at }, specs] = await Promise.all([
    observer.sandboxes(signal),
    isNamed ? observer.specs(signal) : null,
  ]);
  const first: ObservedSandboxes = { sandboxes, specs, busy: null, at };
  const plan = planSandboxes(desired, first);
  const problem = specProblem(desired, first, plan);
  if (problem !== null) throw problem;
  if (!plan.steps.some(({ action, item }) => action === 'pause' && item.whenBusy === 'skip'))
    return { observed: first, plan };
  const busy = await busySandboxes(observer, signal);
  if (busy === null)
    return { observed: first, plan: { ...plan, warnings: [...plan.warnings, UNKNOWN_BUSY] } };
  const observed = { ...first, busy };
  return { observed, plan: planSandboxes(desired, observed) };
}

const UNKNOWN_BUSY: Warning = {
  code: 'sandbox-busy',
  message:
    'The snapshot does not show where conversations run; a sandbox in which one runs would not be paused.',
  path: [],
};

/** Null if the observer has no conversations. */
async function busySandboxes(
  observer: SandboxReader,
  signal: AbortSignal | undefined,
): Promise<ReadonlySet<string> | null> {
  const conversations = await observer.conversations(signal);
  if (conversations === null) return null;
  return new Set(
    conversations.flatMap(({ sandbox, status }) =>
      sandbox !== null && status === 'running' ? [sandbox] : [],
    ),
  );
}
