import type { SetpointError } from '../../model/error.ts';
import { type SettingsWrite, sameState, type ObservedState } from '../../model/state.ts';
import { NOTHING_KNOWN, planSettings } from '../../plan/plan-settings.ts';
import { findInterruption, unlessAbandoned } from '../../reconcile/interruption.ts';
import { retryPause } from '../../reconcile/pause.ts';
import { DIALECTS } from '../../service/dialects.ts';
import type { ReconcileInput } from '../../reconcile/contract.ts';

/**
 * The result of a write. `stored`: it took effect; `confirmed` if the service reported so, else `error` is its answer. `not-stored`: every
 * answer reported that it did not. `unclear`: it was sent, and may still take effect.
 */
export type WriteResult =
  | { readonly kind: 'stored'; readonly confirmed: boolean; readonly error: SetpointError | null }
  | { readonly kind: 'not-stored'; readonly error: SetpointError }
  | { readonly kind: 'unclear'; readonly error: SetpointError };

const SENDS = 2;

/**
 * Sends a write, twice at most. A second send follows only an observation that shows the service unchanged since before the first, once a
 * read can no longer lag: then the first had no effect, or one that cannot be observed, and sending the same again gives the same. If the
 * observation shows what was declared, an error that the service answered is a warning. If it shows a third state, another client is
 * writing, and nothing more is sent. A write that was sent and not clearly refused is never `not-stored`: it may be on its way.
 */
export async function send(
  input: ReconcileInput,
  write: SettingsWrite,
  before: ObservedState,
): Promise<WriteResult> {
  const store = input.writer(DIALECTS[write.observed.dialect.name].write);
  let inDoubt = false;
  for (let attempt = 1; ; attempt++) {
    const answer = await store(write);
    if (answer.kind === 'stored') return { kind: 'stored', confirmed: true, error: null };
    const { error } = answer;
    inDoubt ||= answer.kind === 'ambiguous';
    const failure: WriteResult = { kind: inDoubt ? 'unclear' : 'not-stored', error };
    const reached = answer.kind === 'ambiguous' || answer.reached;
    const again = attempt < SENDS && (answer.kind === 'ambiguous' || answer.retry);
    if (answer.kind === 'not-applied' && again)
      await input.clock.sleep(retryPause(error), input.signal);
    if (!reached && (!again || findInterruption(input.signal) !== null)) return failure;
    const now = await observeSend(input, before, inDoubt);
    if (now === null) return failure;
    if (!sameState(before, now))
      return reached && isDesired(input, now)
        ? { kind: 'stored', confirmed: false, error }
        : failure;
    if (!again || findInterruption(input.signal) !== null) return failure;
  }
}

function isDesired({ desired }: ReconcileInput, shown: ObservedState): boolean {
  return planSettings(desired, shown, NOTHING_KNOWN).changes.length === 0;
}

/** Observes the service after a send; null if it cannot be read. A clear refusal has no lag to wait for. */
async function observeSend(
  input: ReconcileInput,
  before: ObservedState,
  inDoubt: boolean,
): Promise<ObservedState | null> {
  try {
    return inDoubt
      ? await observePastLag(input, [before], (shown) => isDesired(input, shown))
      : await unlessAbandoned(input.settings.observe(), input.abandon);
  } catch (thrown) {
    if (input.abandon?.aborted === true) throw thrown;
    return null;
  }
}

/** A read may come from a replica that lags behind a write: it is repeated after these pauses, in milliseconds. */
const PAUSES = [500, 1000, 2000, 4000];

/**
 * Observes the settings after a write until they differ from all earlier states, or `isDone` accepts them. After a request to
 * stop there is one more observation and no pause.
 */
export async function observePastLag(
  input: ReconcileInput,
  earlier: readonly ObservedState[],
  isDone: (shown: ObservedState) => boolean,
): Promise<ObservedState> {
  for (let attempt = 0; ; attempt++) {
    const shown = await unlessAbandoned(input.settings.observe(), input.abandon);
    const pause = PAUSES[attempt];
    const lags = earlier.some((state) => sameState(state, shown)) && !isDone(shown);
    if (!lags || pause === undefined || findInterruption(input.signal) !== null) return shown;
    await input.clock.sleep(pause, input.signal);
  }
}
