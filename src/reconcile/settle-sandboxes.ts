import { asSetpointError, type ErrorCode, type SetpointError } from '../model/error.ts';
import type { ObservedSandboxes } from '../model/sandbox.ts';
import { adopt } from './adopt.ts';
import { interruption, unlessAbandoned } from './interruption.ts';
import type { ReconcileInput } from './reconciled.ts';
import { FIRST_PAUSE, nextPause } from './poll-pause.ts';
import { sendOnce, type SentStep } from './send-sandbox-steps.ts';
import { afterLook, progressOf, waitingFor, type Waiting } from './waiting.ts';

/** The last look, or why there was none, and what it shows of the steps that were sent. */
export interface Settled {
  readonly look: Pick<ObservedSandboxes, 'sandboxes' | 'at'> | null;
  readonly waiting: readonly Waiting[];
  readonly error: SetpointError | null;
}

/** What a look may take at least, in milliseconds, however little is left to wait. */
const SHORTEST_LOOK = 10_000;
/** How long a start whose answer was lost is looked for, in milliseconds. It is never sent again. */
const ADOPTED_WITHIN = 30_000;

/**
 * Looks until every step that was sent has settled, the time is up, or a stop is asked for; pauses grow from 0.5 s to 5 s.
 * Without waiting there is one look. A look that fails tells nothing: it is taken again while there is time, unless it would
 * fail again.
 */
export async function settleSandboxes(
  input: ReconcileInput,
  before: ObservedSandboxes,
  sent: readonly SentStep[],
): Promise<Settled> {
  const { clock } = input;
  const { observer } = input.sandboxes;
  const begun = clock.monotonic();
  const known = new Set(before.sandboxes.map(({ id }) => id));
  let waiting: readonly Waiting[] = sent.filter(({ kind }) => kind !== 'not-sent').map(waitingFor);
  let look: Settled['look'] = null;
  for (let pause = FIRST_PAUSE; ; pause = nextPause(pause)) {
    let error: SetpointError | null = null;
    try {
      // A look that is under way when a stop is asked for is given up; one that begins after it is the last.
      const signal = interruption(input.signal) === null ? input.signal : undefined;
      const within = Math.max(SHORTEST_LOOK, input.wait - (clock.monotonic() - begun));
      look = await unlessAbandoned(observer.sandboxes(signal, within), input.abandon);
      const shown = look.sandboxes;
      waiting = adopt(waiting, input.desired.sandboxes, known, shown).map((one) =>
        afterLook(one, shown),
      );
      waiting = await Promise.all(waiting.map((one) => sendAgain(input, one)));
      input.progress(waiting.map(progressOf));
    } catch (thrown) {
      error = asSetpointError(thrown);
      if (input.abandon?.aborted === true) throw error;
      if (!PASSING.has(error.code)) return { look, waiting, error };
    }
    const passed = clock.monotonic() - begun;
    const open = waiting.some(
      (one) => one.state === 'open' && isWaitedFor(one, input.wait, passed),
    );
    const over = error === null ? !open : passed >= input.wait;
    if (over || interruption(input.signal) !== null) return { look, waiting, error };
    await clock.sleep(Math.min(pause, Math.max(FIRST_PAUSE, input.wait - passed)), input.signal);
  }
}

/** A start that nothing shows is looked for a while, whether sandboxes are waited for or not. */
function isWaitedFor({ id }: Waiting, wait: number, passed: number): boolean {
  return passed < (id === null ? ADOPTED_WITHIN : wait);
}

/** A resume or pause whose answer was lost, and that the look does not show, is sent once more: it does no more than the first. */
async function sendAgain(input: ReconcileInput, waiting: Waiting): Promise<Waiting> {
  const { sent, state } = waiting;
  const { step, kind } = sent;
  if (kind !== 'ambiguous' || step.sandbox === null || state !== 'open') return waiting;
  const begun = step.action === 'resume' && waiting.status !== 'PAUSED';
  if (begun || interruption(input.signal) !== null) return waiting;
  const answer = await unlessAbandoned(sendOnce(input, step), input.abandon);
  const error = 'error' in answer ? answer.error : null;
  return { ...waiting, sent: { ...sent, kind: 'sent', error } };
}

/** What may be another thing the next time. */
const PASSING: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'unreachable',
  'timed-out',
  'server-error',
  'rate-limited',
  'bad-response',
  'contended',
]);
