import type { WatchState } from '../../reconciler/model/watch.ts';

/** The time that a change of another client counts, in milliseconds. */
const WITHIN = 600_000;
/** From how many changes on an environment is flapping. */
const FLAPPING = 3;
const MOST = 20;

/**
 * Reports whether other clients keep changing an environment, to and fro or to ever new values: that is reported once, and not each
 * change.
 */
export function isFlapping({ flips }: Pick<WatchState, 'flips'>, now: number): boolean {
  return flips.filter((at) => now - Date.parse(at) < WITHIN).length >= FLAPPING;
}

/** The changes of the last minutes, with one more. */
export function flipsAfter(flips: readonly string[], at: string): readonly string[] {
  const time = Date.parse(at);
  return [...flips.filter((one) => Math.abs(time - Date.parse(one)) < WITHIN), at].slice(-MOST);
}
