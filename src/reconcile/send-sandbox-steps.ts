import type { SetpointError } from '../model/error.ts';
import type { SandboxStep } from '../model/plan.ts';
import type { StartAnswer, WriteAnswer } from '../model/ports.ts';
import { interruption, unlessAbandoned } from './interruption.ts';
import type { ReconcileInput } from './reconciled.ts';
import { pauseAfter } from './send.ts';
import { sideBySide } from './side-by-side.ts';

/**
 * A step and how sending it went. `sent`: the service said that it began. `ambiguous`: it may have begun. `not-sent`: it
 * surely did not, or was never sent.
 */
export interface SentStep {
  readonly step: SandboxStep;
  readonly kind: 'sent' | 'ambiguous' | 'not-sent';
  /** The id of the sandbox; null where a start did not tell. */
  readonly id: string | null;
  readonly error: SetpointError | null;
}

const TRIES = 3;
const SIDE_BY_SIDE = 4;

/**
 * Sends every step once: pauses first, which make room, then the others, some side by side. Only what surely had no effect is
 * sent again. After a request to stop nothing more is sent.
 */
export async function sendSandboxSteps(
  input: ReconcileInput,
  steps: readonly SandboxStep[],
): Promise<readonly SentStep[]> {
  const pauses = steps.filter(({ action }) => action === 'pause');
  const others = steps.filter(({ action }) => action !== 'pause');
  const send = (step: SandboxStep): Promise<SentStep> => sendStep(input, step);
  return [
    ...(await sideBySide(pauses, SIDE_BY_SIDE, send)),
    ...(await sideBySide(others, SIDE_BY_SIDE, send)),
  ];
}

async function sendStep(input: ReconcileInput, step: SandboxStep): Promise<SentStep> {
  const { sandbox } = step;
  for (let attempt = 1; ; attempt += 1) {
    const stopped = interruption(input.signal);
    if (stopped !== null) return { step, kind: 'not-sent', id: sandbox, error: stopped };
    const answer = await unlessAbandoned(sendOnce(input, step), input.abandon);
    switch (answer.kind) {
      case 'started':
        return { step, kind: 'sent', id: answer.id, error: null };
      case 'stored':
        return { step, kind: 'sent', id: sandbox, error: null };
      case 'ambiguous':
        return { step, kind: 'ambiguous', id: sandbox, error: answer.error };
      case 'not-applied':
        if (!answer.retry || attempt === TRIES)
          return { step, kind: 'not-sent', id: sandbox, error: answer.error };
        await input.clock.sleep(pauseAfter(answer.error), input.signal);
    }
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
