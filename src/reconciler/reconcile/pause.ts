import type { SetpointError } from '../model/error.ts';

/** The first pause between two observations of something slow, in milliseconds. */
export const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 5000;

export function nextPause(pause: number): number {
  return Math.min(LONGEST_PAUSE, pause * 1.5);
}

/** Returns the wait before a request is repeated, in milliseconds: what the service requested, or half a second. */
export function retryPause(error: SetpointError): number {
  const retryAfter: unknown = 'retryAfter' in error ? error.retryAfter : null;
  return typeof retryAfter === 'number' ? retryAfter : FIRST_PAUSE;
}
