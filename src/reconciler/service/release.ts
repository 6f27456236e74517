import { SetpointError } from '../model/error.ts';
import type { ObservedState } from '../model/state.ts';
import { askFor } from './ask.ts';
import type { Connection } from './connect.ts';
import { DIALECTS } from './dialects.ts';
import { namedRelease } from './named-release.ts';
import type { TimeLimits } from './retry.ts';

/**
 * The release of a service, exact if it answers the one GET that this sends; else what its settings have shown. Nothing
 * depends on it but what people read, so that a service that does not answer is no error.
 */
export async function askedRelease(
  connection: Connection,
  { dialect, release }: ObservedState,
  limits: TimeLimits,
  signal?: AbortSignal,
): Promise<string | null> {
  try {
    const ask = askFor(connection, limits, signal);
    return (await namedRelease(ask, DIALECTS[dialect.name].release)) ?? release;
  } catch (thrown) {
    if (thrown instanceof SetpointError) return release;
    throw thrown;
  }
}
