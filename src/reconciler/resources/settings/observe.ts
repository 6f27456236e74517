import { sameState, type ObservedState } from '../../model/state.ts';
import { interruption, unlessAbandoned } from '../../reconcile/interruption.ts';
import type { ReconcileInput } from '../../reconcile/contract.ts';

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
    if (!lags || pause === undefined || interruption(input.signal) !== null) return shown;
    await input.clock.sleep(pause, input.signal);
  }
}
