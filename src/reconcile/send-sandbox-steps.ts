import { asSetpointError, type SetpointError } from '../model/error.ts';
import type { SandboxStep } from '../model/plan.ts';
import type { StartAnswer, WriteAnswer } from '../model/ports.ts';
import type { ObservedSandboxes } from '../model/sandbox.ts';
import { planSandboxes } from '../plan/plan-sandboxes.ts';
import { interruption, unlessAbandoned } from './interruption.ts';
import type { ReconcileInput } from './reconciled.ts';
import { pauseAfter } from './send.ts';
import { sideBySide } from './side-by-side.ts';
import { startedIn, stillNeeded } from './still-needed.ts';

/**
 * A step and how sending it went. `sent`: the service said that it began. `ambiguous`: it may have begun. `not-sent`: it
 * surely did not, or was never sent; `again` where it may be tried again.
 */
export interface SentStep {
  readonly step: SandboxStep;
  readonly kind: 'sent' | 'ambiguous' | 'not-sent';
  /** The id of the sandbox; null where a start did not tell. */
  readonly id: string | null;
  readonly error: SetpointError | null;
  readonly again: boolean;
}

const ROUNDS = 3;
const SIDE_BY_SIDE = 4;

/**
 * Sends every step once: pauses first, which make room, then the others, some side by side. What the service turned away is
 * sent again only where another look still asks for it, and only as often as nothing else has come of it meanwhile. After a
 * request to stop nothing more is sent.
 */
export async function sendSandboxSteps(
  input: ReconcileInput,
  steps: readonly SandboxStep[],
  before: ObservedSandboxes,
): Promise<readonly SentStep[]> {
  let sent = await sendAll(input, steps);
  for (let round = 1; round < ROUNDS; round += 1) {
    const turnedAway = sent.filter(({ again }) => again);
    const [first] = turnedAway;
    if (first === undefined || interruption(input.signal) !== null) return sent;
    if (first.error !== null) await input.clock.sleep(pauseAfter(first.error), input.signal);
    const now = await lookAgain(input, before, sent, turnedAway);
    if (now === null || interruption(input.signal) !== null) return sent;
    const others = sent.filter((one) => !turnedAway.includes(one));
    const dropped = turnedAway.filter(({ step }) => !now.needed.includes(step));
    // What is not needed any more may be so because it took effect after all: the looks that follow tell.
    const kind = now.isNew ? 'ambiguous' : 'not-sent';
    sent = [
      ...others,
      ...dropped.map((one): SentStep => ({
        ...one,
        kind: one.id === null ? kind : 'ambiguous',
        error: null,
        again: false,
      })),
      ...(await sendAll(input, now.needed)),
    ];
  }
  return sent;
}

async function sendAll(
  input: ReconcileInput,
  steps: readonly SandboxStep[],
): Promise<readonly SentStep[]> {
  const send = (step: SandboxStep): Promise<SentStep> => sendStep(input, step);
  const pauses = steps.filter(({ action }) => action === 'pause');
  const others = steps.filter(({ action }) => action !== 'pause');
  return [
    ...(await sideBySide(pauses, SIDE_BY_SIDE, send)),
    ...(await sideBySide(others, SIDE_BY_SIDE, send)),
  ];
}

async function sendStep(input: ReconcileInput, step: SandboxStep): Promise<SentStep> {
  const id = step.sandbox;
  const stopped = interruption(input.signal);
  if (stopped !== null) return { step, kind: 'not-sent', id, error: stopped, again: false };
  const answer = await unlessAbandoned(sendOnce(input, step), input.abandon);
  switch (answer.kind) {
    case 'started':
      return { step, kind: 'sent', id: answer.id, error: null, again: false };
    case 'stored':
      return { step, kind: 'sent', id, error: null, again: false };
    case 'ambiguous':
      return { step, kind: 'ambiguous', id, error: answer.error, again: false };
    case 'not-applied':
      return { step, kind: 'not-sent', id, error: answer.error, again: answer.retry };
  }
}

/** One request. A sandbox that is to be resumed or paused has an id; one to be started has none. */
export function sendOnce(
  { sandboxes: { actuator } }: ReconcileInput,
  { action, sandbox, item }: SandboxStep,
): Promise<StartAnswer | WriteAnswer> {
  if (sandbox === null) return actuator.start(item.kind === 'counted' ? item.spec : null);
  return action === 'pause' ? actuator.pause(sandbox) : actuator.resume(sandbox);
}

/** What a new look tells of steps that were turned away. */
interface Again {
  readonly needed: readonly SandboxStep[];
  /** Whether a sandbox has appeared that nobody has spoken of. */
  readonly isNew: boolean;
}

/**
 * Which of the turned-away steps a new look asks for; null where there was none. A start whose answer was lost may be what
 * the look shows, or may show later: it counts once more.
 */
async function lookAgain(
  input: ReconcileInput,
  { sandboxes, specs, busy }: ObservedSandboxes,
  sent: readonly SentStep[],
  turnedAway: readonly SentStep[],
): Promise<Again | null> {
  try {
    const { observer } = input.sandboxes;
    const look = await unlessAbandoned(observer.sandboxes(input.signal), input.abandon);
    const fresh = planSandboxes(
      input.desired.sandboxes,
      { ...look, specs, busy },
      startedIn(sent.map(({ step, id }) => ({ step, id }))),
    );
    const lost = sent.filter(({ kind, id }) => kind === 'ambiguous' && id === null);
    const known = new Set([...sandboxes, ...sent].map(({ id }) => id));
    return {
      needed: stillNeeded(
        turnedAway.map(({ step }) => step),
        fresh,
        lost.map(({ step }) => step),
      ),
      isNew: look.sandboxes.some(({ id }) => !known.has(id)),
    };
  } catch (thrown) {
    if (input.abandon?.aborted === true) throw asSetpointError(thrown);
    return null;
  }
}
