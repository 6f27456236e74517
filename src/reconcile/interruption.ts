import { SetpointError } from '../model/error.ts';

/** The error of a stop that was asked for, or null. The signal's reason tells SIGTERM from SIGINT. */
export function interruption(signal: AbortSignal | undefined): SetpointError | null {
  if (signal?.aborted !== true) return null;
  return signal.reason === 'SIGTERM'
    ? new SetpointError('terminated', 'Stopped by SIGTERM.')
    : new SetpointError('interrupted', 'Stopped by SIGINT.');
}

/** The promise, given up as soon as the signal fires. What it does goes on unseen. */
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
          'Given up while a write was under way: it may or may not have been stored.',
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
