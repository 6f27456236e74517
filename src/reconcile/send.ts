import type { SetpointError } from '../model/error.ts';
import type { ObservedState } from '../model/state.ts';
import type { ValueRecord } from '../model/value.ts';
import { sameValue } from '../model/value.ts';
import { NOTHING_KNOWN, planSettings } from '../plan/plan-settings.ts';
import { interruption, unlessAbandoned } from './interruption.ts';
import type { ReconcileInput } from './reconciled.ts';

/** How a write went. `stored`: it took effect, or the service says so; `error` is what the service answered all the same. */
export type Sent =
  | { readonly kind: 'stored'; readonly error: SetpointError | null }
  | { readonly kind: 'not-stored'; readonly error: SetpointError }
  | { readonly kind: 'unclear'; readonly error: SetpointError };

const SENDS = 2;

/**
 * Sends a record, twice at most. A second send follows only a look that shows the service as it was before the first: then
 * the first surely had no effect, or had one that cannot be seen, and sending the same again gives the same. Where the look
 * shows what was wanted, an error the service answered with is a warning. Where it shows a third state, somebody else is
 * writing, and nothing more is sent.
 */
export async function send(
  input: ReconcileInput,
  record: ValueRecord,
  before: ObservedState,
): Promise<Sent> {
  for (let attempt = 1; ; attempt++) {
    const answer = await unlessAbandoned(input.actuator.store(record), input.abandon);
    if (answer.kind === 'stored') return { kind: 'stored', error: null };
    const { error } = answer;
    if (answer.kind === 'not-applied') {
      if (!answer.retry || attempt === SENDS || interruption(input.signal) !== null)
        return { kind: 'not-stored', error };
      await input.clock.sleep(pauseAfter(error), input.signal);
      if (interruption(input.signal) !== null) return { kind: 'not-stored', error };
      const look = await unlessAbandoned(input.observer.observe(), input.abandon);
      if (!sameLook(before, look)) return { kind: 'not-stored', error };
      continue;
    }
    const look = await lookAfter(input);
    if (look === null) return { kind: 'unclear', error };
    if (!sameLook(before, look))
      return isDesired(input, look) ? { kind: 'stored', error } : { kind: 'unclear', error };
    if (attempt === SENDS || interruption(input.signal) !== null)
      return { kind: isDesired(input, look) ? 'unclear' : 'not-stored', error };
  }
}

/** Whether two looks show the same record. */
export function sameLook(a: ObservedState, b: ObservedState): boolean {
  return a.stored === b.stored && sameValue(a.record, b.record);
}

function isDesired({ desired }: ReconcileInput, look: ObservedState): boolean {
  return planSettings(desired, look, NOTHING_KNOWN).changes.length === 0;
}

async function lookAfter(input: ReconcileInput): Promise<ObservedState | null> {
  try {
    return await unlessAbandoned(input.observer.observe(), input.abandon);
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
