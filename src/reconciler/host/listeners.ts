import { setMaxListeners } from 'node:events';

/** Lets each request of a run listen to the run's signal. Node warns from eleven listeners on, which may be a mistake elsewhere. */
export function allowListeners(signal: AbortSignal | undefined): void {
  if (signal !== undefined) setMaxListeners(0, signal);
}
