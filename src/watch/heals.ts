import type { Heal } from '../model/watch.ts';

/** Heals as the clock tells their times after it was set by some milliseconds. */
export function moved(heals: readonly Heal[], by: number): readonly Heal[] {
  return heals.map(({ at, paths }) => ({
    at: new Date(Date.parse(at) + by).toISOString(),
    paths,
  }));
}
