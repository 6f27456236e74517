import type { Watching } from '../watching.ts';

/** How late a read may be, in milliseconds, before the controller does not keep watch any more. */
const LATE = 10 * 60_000;
const MOST_TURNS = 3;

/**
 * Whether the controller keeps watch at a time, in milliseconds since 1970: its loop turns, no environment waits long for its read, and what is found
 * can be recorded and told.
 */
export function keepsWatch(
  watching: Pick<Watching, 'health' | 'states' | 'conditions'>,
  now: number,
): boolean {
  const { turnedAt, turnsEvery } = watching.health;
  if (now - turnedAt > MOST_TURNS * turnsEvery || watching.conditions.areSilencing) return false;
  return watching
    .states()
    .every(({ nextRead }) => nextRead === null || now - Date.parse(nextRead) < LATE);
}
