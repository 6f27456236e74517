import type { WatchState } from '../../model/watch.ts';
import type { Health } from '../watching.ts';

/** How late a read may be, in milliseconds, before the controller does not keep watch any more. */
const LATE = 10 * 60_000;
const MOST_TURNS = 3;

/** Whether the controller keeps watch at a time, in milliseconds since 1970: its loop turns, and no environment waits long for its read. */
export function keepsWatch(
  { turnedAt, turnsEvery }: Pick<Health, 'turnedAt' | 'turnsEvery'>,
  states: readonly Pick<WatchState, 'nextRead'>[],
  now: number,
): boolean {
  if (now - turnedAt > MOST_TURNS * turnsEvery) return false;
  return states.every(({ nextRead }) => nextRead === null || now - Date.parse(nextRead) < LATE);
}
