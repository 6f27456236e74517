import type { SetpointError } from '../model/error.ts';
import type { SettingsWrite } from '../model/plan.ts';
import { sameState, type ObservedState } from '../model/state.ts';
import { NOTHING_KNOWN, planSettings } from '../plan/plan-settings.ts';
import { interruption, unlessAbandoned } from './interruption.ts';
import { observePastLag } from './observe-past-lag.ts';
import type { ReconcileInput } from './reconciled.ts';

/**
 * How a write went. `stored`: it took effect; `confirmed` when the service says so, else `error` is what it answered all the
 * same. `not-stored`: every answer says that it did not. `unclear`: it was sent, and may take effect still.
 */
export type Sent =
  | { readonly kind: 'stored'; readonly confirmed: boolean; readonly error: SetpointError | null }
  | { readonly kind: 'not-stored'; readonly error: SetpointError }
  | { readonly kind: 'unclear'; readonly error: SetpointError };

const SENDS = 2;

/**
 * Sends a write, twice at most. A second send follows only an observation that shows the service as it was before the first,
 * after the time that a lagging read may take: then the first had no effect, or one that cannot be seen, and sending the same
 * again gives the same. When the observation shows what was declared, an error that the service answered is a warning. When
 * it shows a third state, somebody else is writing, and nothing more is sent. What was sent and not clearly refused is never
 * `not-stored`: it may be on its way.
 */
export async function send(
  input: ReconcileInput,
  write: SettingsWrite,
  before: ObservedState,
): Promise<Sent> {
  let inDoubt = false;
  for (let attempt = 1; ; attempt++) {
    const answer = await unlessAbandoned(input.actuator.store(write), input.abandon);
    if (answer.kind === 'stored') return { kind: 'stored', confirmed: true, error: null };
    const { error } = answer;
    inDoubt ||= answer.kind === 'ambiguous';
    const failed: Sent = { kind: inDoubt ? 'unclear' : 'not-stored', error };
    const reached = answer.kind === 'ambiguous' || answer.reached;
    const again = attempt < SENDS && (answer.kind === 'ambiguous' || answer.retry);
    if (answer.kind === 'not-applied' && again)
      await input.clock.sleep(pauseAfter(error), input.signal);
    if (!reached && (!again || interruption(input.signal) !== null)) return failed;
    const now = await observed(input, before, inDoubt);
    if (now === null) return failed;
    if (!sameState(before, now))
      return reached && isDesired(input, now)
        ? { kind: 'stored', confirmed: false, error }
        : failed;
    if (!again || interruption(input.signal) !== null) return failed;
  }
}

function isDesired({ desired }: ReconcileInput, look: ObservedState): boolean {
  return planSettings(desired, look, NOTHING_KNOWN).changes.length === 0;
}

/** What the service shows after a send; null when it cannot be read. After a clear refusal no lag is waited for. */
async function observed(
  input: ReconcileInput,
  before: ObservedState,
  inDoubt: boolean,
): Promise<ObservedState | null> {
  try {
    return inDoubt
      ? await observePastLag(input, [before], (look) => isDesired(input, look))
      : await unlessAbandoned(input.observer.observe(), input.abandon);
  } catch (thrown) {
    if (input.abandon?.aborted === true) throw thrown;
    return null;
  }
}

const PAUSE = 500;

/** How long the service asked to be left alone, in milliseconds; half a second where it did not say. */
export function pauseAfter(error: SetpointError): number {
  const wanted: unknown = 'retryAfter' in error ? error.retryAfter : null;
  return typeof wanted === 'number' ? wanted : PAUSE;
}
