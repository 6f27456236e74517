import { sameState, type ObservedState } from '../model/state.ts';
import { interruption, unlessAbandoned } from './interruption.ts';
import type { ReconcileInput } from './reconciled.ts';

/** A read may come from a replica that lags behind a write: it is taken again after these pauses, in milliseconds. */
const PAUSES = [500, 1000, 2000, 4000];

/**
 * Observes the service after a write until it shows something else than one of the earlier states, or what `isDone` takes as
 * done. After a request to stop there is one observation more and no pause.
 */
export async function observePastLag(
  input: ReconcileInput,
  earlier: readonly ObservedState[],
  isDone: (look: ObservedState) => boolean,
): Promise<ObservedState> {
  for (let attempt = 0; ; attempt++) {
    const look = await unlessAbandoned(input.observer.observe(), input.abandon);
    const pause = PAUSES[attempt];
    const lags = earlier.some((state) => sameState(state, look)) && !isDone(look);
    if (!lags || pause === undefined || interruption(input.signal) !== null) return look;
    await input.clock.sleep(pause, input.signal);
  }
}
