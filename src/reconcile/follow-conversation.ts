import { asSetpointError, SetpointError } from '../model/error.ts';
import type { Clock, Conversing, StartTask } from '../model/ports.ts';
import type { SmokeStep } from '../model/smoke.ts';
import { FIRST_PAUSE, nextPause } from './poll-pause.ts';
import { interruption, unlessAbandoned } from './interruption.ts';

export interface FollowInput {
  readonly conversing: Conversing;
  readonly message: string;
  readonly clock: Clock;
  /** Milliseconds from the request to READY or ERROR. */
  readonly wait: number;
  readonly onStep: (step: SmokeStep) => void;
  readonly signal?: AbortSignal | undefined;
  readonly abandon?: AbortSignal | undefined;
}

/** How far a conversation came; `error` is null where it is ready. */
export interface Followed {
  readonly steps: readonly SmokeStep[];
  readonly conversation: string | null;
  readonly sandbox: string | null;
  readonly error: SetpointError | null;
}

/**
 * Starts one conversation and follows its task until it reads READY or ERROR. The request is sent once, whatever comes of it:
 * a second one would be a second conversation. Does not throw.
 */
export async function followConversation(input: FollowInput): Promise<Followed> {
  const { conversing, clock, wait, signal, abandon } = input;
  const begun = clock.monotonic();
  const seconds = (): number => Math.round((clock.monotonic() - begun) / 100) / 10;
  const steps: SmokeStep[] = [];
  let task: StartTask | null = null;
  const ended = (error: SetpointError | null): Followed => ({
    steps,
    conversation: task?.conversation ?? null,
    sandbox: task?.sandbox ?? null,
    error,
  });
  try {
    const answer = await unlessAbandoned(conversing.start(input.message), abandon);
    if (answer.kind === 'not-applied') return ended(answer.error);
    if (answer.kind === 'ambiguous') return ended(unclear(answer.error));
    task = answer.task;
    for (let pause = FIRST_PAUSE; ; pause = nextPause(pause)) {
      const { status } = task;
      if (steps.at(-1)?.status !== status) {
        steps.push({ status, seconds: seconds() });
        input.onStep({ status, seconds: seconds() });
      }
      if (status === 'READY') return ended(null);
      if (status === 'ERROR') return ended(failed(steps));
      const stopped = interruption(signal);
      if (stopped !== null) return ended(stopped);
      const left = wait - (clock.monotonic() - begun);
      if (left <= 0) return ended(tooLate(status));
      await clock.sleep(Math.min(pause, left), signal);
      task = await unlessAbandoned(conversing.task(task.id), abandon);
    }
  } catch (thrown) {
    return ended(asSetpointError(thrown));
  }
}

/** What the service says of the failure may quote a key: the step it failed at is told, and no more. */
function failed(steps: readonly SmokeStep[]): SetpointError {
  const before = steps.at(-2);
  const after = before === undefined ? '' : `, after ${before.status}`;
  return new SetpointError(
    'conversation-failed',
    `The conversation did not start: its task ended with ERROR${after}.`,
  );
}

function tooLate(status: string): SetpointError {
  return new SetpointError(
    'timed-out',
    `The conversation is not ready within the time for it: its task reads ${status}.`,
    {
      hint: 'It may still start; look with setpoint get conversations, or give it longer with --wait.',
    },
  );
}

function unclear(error: SetpointError): SetpointError {
  return new SetpointError(
    'state-unknown',
    `Whether a conversation was started is unclear; it was not requested again. ${error.message}`,
    { hint: 'Look with setpoint get conversations.', cause: error },
  );
}
