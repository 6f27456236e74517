import { SetpointError } from '../model/error.ts';

/** The error of a stop that was requested, or null. The signal's reason distinguishes SIGTERM from SIGINT. */
export function findInterruption(signal: AbortSignal | undefined): SetpointError | null {
  if (signal?.aborted !== true) return null;
  return signal.reason === 'SIGTERM'
    ? new SetpointError('terminated', 'Stopped by SIGTERM.')
    : new SetpointError('interrupted', 'Stopped by SIGINT.');
}

/** The promise, abandoned as soon as the signal fires; the work behind it goes on unobserved. */
export async function unlessAbandoned<T>(
  promise: Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  if (signal === undefined) return promise;
  let giveUp = (): void => {};
  const abandoned = new Promise<never>((_, reject) => {
    giveUp = () =>
      reject(
        new SetpointError(
          'state-unknown',
          'Abandoned while a write was under way: it may or may not have been stored.',
        ),
      );
    if (signal.aborted) giveUp();
    signal.addEventListener('abort', giveUp);
  });
  try {
    return await Promise.race([promise, abandoned]);
  } finally {
    signal.removeEventListener('abort', giveUp);
    promise.catch(() => {});
  }
}
