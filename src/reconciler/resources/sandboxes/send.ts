import { asSetpointError } from '../../model/error.ts';
import type { WriteAnswer } from '../../model/ports.ts';
import { declaredSandboxes, type ObservedSandboxes, type SandboxStep } from './sandbox.ts';
import { planSandboxes } from './plan.ts';
import type { ReconcileInput } from '../../reconcile/contract.ts';
import { inParallel } from '../../reconcile/in-parallel.ts';
import { interruption, unlessAbandoned } from '../../reconcile/interruption.ts';
import { retryPause } from '../../reconcile/pauses.ts';
import { SANDBOX_READER, sandboxWriter, type StartAnswer } from './wire.ts';
import { startedIn, stillNeeded, type RunStep } from './run.ts';

const ROUNDS = 3;
const PARALLEL_REQUESTS = 4;

/**
 * Sends every step once: pauses first, which make room, then the others. What the service turned away is sent again only if
 * another observation still shows the need, and no more often than that. After a request to stop nothing more is sent.
 */
export async function sendSteps(
  input: ReconcileInput,
  steps: readonly SandboxStep[],
  before: ObservedSandboxes,
): Promise<readonly RunStep[]> {
  let sent = await sendAll(input, steps);
  for (let round = 1; round < ROUNDS; round += 1) {
    const turnedAway = sent.filter(({ state }) => state === 'turned-away');
    const [first] = turnedAway;
    if (first === undefined || interruption(input.signal) !== null) return sent;
    if (first.error !== null) await input.clock.sleep(retryPause(first.error), input.signal);
    const now = await neededAgain(input, before, sent, turnedAway);
    if (now === null || interruption(input.signal) !== null) return sent;
    const others = sent.filter((one) => !turnedAway.includes(one));
    const dropped = turnedAway.filter(({ step }) => !now.needed.includes(step));
    // It may not be needed any more because it took effect after all: the observations that follow show it.
    const state = now.hasNew ? 'lost' : 'not-sent';
    sent = [
      ...others,
      ...dropped.map((one): RunStep => ({
        ...one,
        state: one.id === null ? state : 'lost',
        error: null,
      })),
      ...(await sendAll(input, now.needed)),
    ];
  }
  return sent;
}

/** One request. A step about a sandbox that is there has its id; a start has none. */
export function sendOnce(
  { writer }: ReconcileInput,
  { action, sandbox, item }: SandboxStep,
): Promise<StartAnswer | WriteAnswer> {
  const actuator = writer(sandboxWriter);
  if (sandbox === null) return actuator.start(item.kind === 'counted' ? item.spec : null);
  return action === 'pause' ? actuator.pause(sandbox) : actuator.resume(sandbox);
}

async function sendAll(
  input: ReconcileInput,
  steps: readonly SandboxStep[],
): Promise<readonly RunStep[]> {
  const send = (step: SandboxStep): Promise<RunStep> => sendStep(input, step);
  const pauses = steps.filter(({ action }) => action === 'pause');
  const others = steps.filter(({ action }) => action !== 'pause');
  return [
    ...(await inParallel(pauses, PARALLEL_REQUESTS, send)),
    ...(await inParallel(others, PARALLEL_REQUESTS, send)),
  ];
}

async function sendStep(input: ReconcileInput, step: SandboxStep): Promise<RunStep> {
  const begun: RunStep = {
    step,
    state: 'running',
    id: step.sandbox,
    status: null,
    wasUp: false,
    error: null,
  };
  const stopped = interruption(input.signal);
  if (stopped !== null) return { ...begun, state: 'not-sent', error: stopped };
  const answer = await unlessAbandoned(sendOnce(input, step), input.abandon);
  switch (answer.kind) {
    case 'started':
      return { ...begun, id: answer.id };
    case 'stored':
      return begun;
    case 'ambiguous':
      return { ...begun, state: 'lost', error: answer.error };
    case 'not-applied':
      return { ...begun, state: answer.retry ? 'turned-away' : 'not-sent', error: answer.error };
  }
}

/**
 * Which of the steps that were turned away another observation still shows the need for, and whether it shows a sandbox that
 * no answer named; null if it failed. A lost start may be what it shows, or may show later: it counts as one more.
 */
async function neededAgain(
  input: ReconcileInput,
  { sandboxes, specs, busy }: ObservedSandboxes,
  sent: readonly RunStep[],
  turnedAway: readonly RunStep[],
): Promise<{ readonly needed: readonly SandboxStep[]; readonly hasNew: boolean } | null> {
  try {
    const observing = input.reader(SANDBOX_READER).sandboxes(input.signal);
    const now = await unlessAbandoned(observing, input.abandon);
    const later = planSandboxes(
      declaredSandboxes(input.desired),
      { ...now, specs, busy },
      startedIn(sent),
    );
    const lost = sent.filter(({ state, id }) => state === 'lost' && id === null);
    const known = new Set([...sandboxes, ...sent].map(({ id }) => id));
    return {
      needed: stillNeeded(
        turnedAway.map(({ step }) => step),
        later,
        lost.map(({ step }) => step),
      ),
      hasNew: now.sandboxes.some(({ id }) => !known.has(id)),
    };
  } catch (thrown) {
    if (input.abandon?.aborted === true) throw asSetpointError(thrown);
    return null;
  }
}
