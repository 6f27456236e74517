import { formatPath } from '../model/path.ts';
import type { Heal, HealingStopped, Moment, WatchState } from '../model/watch.ts';
import { counted } from '../model/wording.ts';
import { ageText } from '../render/values.ts';
import { isOpen } from './schedule.ts';

const HOUR = 3_600_000;

/** Why an environment is not healed now. `again`: the next read should come soon. */
export interface NotHealed {
  readonly reason: string;
  readonly again: boolean;
}

/**
 * Why what the last read found must not be healed at a time, in milliseconds since 1970; null if it may be. Two reads some time apart must have
 * found it (`repeated`): during the first, somebody may have been writing.
 */
export function mayHeal(state: WatchState, repeated: boolean, now: number): NotHealed | null {
  const { mode, windows } = state.settings;
  if (state.status === 'suspended') return no('It is suspended.');
  if (mode === 'detect') return no('Its mode is detect.');
  if (!HEALABLE.has(state.found)) return no('Nothing is to be healed.');
  if (state.stopped !== null) return no('Healing has stopped.');
  if (!isOpen(windows, now)) return no('No window is open.');
  if (!repeated) return { reason: 'Only one read has found this.', again: true };
  return null;
}

function no(reason: string): NotHealed {
  return { reason, again: false };
}

/** Includes `pending` and `conflict`: healing makes the service equal to the file. */
const HEALABLE: ReadonlySet<string> = new Set(['drift', 'pending', 'conflict']);

/**
 * Why healing must stop before the next write: a path would be healed more often in an hour than allowed. Then something else writes the same
 * path, and the two would overwrite each other forever.
 */
export function competing(state: WatchState, now: number): Omit<HealingStopped, 'at'> | null {
  const { plan, heals, settings } = state;
  const recent = heals.filter(({ at }) => Date.parse(at) > now - HOUR);
  for (const change of plan?.changes ?? []) {
    const path = formatPath(change.path);
    const times = recent.filter(({ paths }) => paths.includes(path)).map(({ at }) => at);
    if (times.length < settings.maxHealsPerHour) continue;
    return { path, reason: knownOf(path, times, state, now) };
  }
  return null;
}

/** What is known of the other writer of a path. The service does not say who wrote it. */
function knownOf(path: string, times: readonly string[], state: WatchState, now: number): string {
  const change = state.plan?.changes.find((one) => formatPath(one.path) === path);
  const value =
    change === undefined || change.sensitive
      ? 'a value that is not shown'
      : JSON.stringify(change.before);
  const every = ageText((now - Date.parse(times[0] ?? '')) / times.length, ' ');
  const last =
    state.after === null
      ? ''
      : `, the last time between ${toSecond(state.after)} and ${toSecond(state.since)}`;
  return (
    `It was healed ${counted(times.length, 'time')} within an hour, and somebody set it to ${value} again, about every ${every}${last}. ` +
    'The service does not say who: look for another pipeline, a person or a start script that writes it.'
  );
}

function toSecond(at: string): string {
  return at.replace(/\.\d+Z$/, 'Z');
}

/** Milliseconds from one time to another; by the time of day only if nothing better is known. */
function between(earlier: Moment, later: Moment): number {
  const isSame = earlier.up !== undefined && earlier.up.boot === later.up?.boot;
  const passed = isSame ? (later.up?.ms ?? 0) - (earlier.up?.ms ?? 0) : -1;
  return passed >= 0 ? passed : Date.parse(later.at) - Date.parse(earlier.at);
}

/** The heals of the hour before a time. */
export function recent(heals: readonly Heal[], now: Moment): readonly Heal[] {
  return heals.filter((heal) => between(heal, now) < HOUR);
}

/** Heals as the clock of now tells their times, whatever it was set to when they were. */
export function retold(heals: readonly Heal[], now: Moment): readonly Heal[] {
  return heals.map((heal) => ({
    ...heal,
    at: new Date(Date.parse(now.at) - between(heal, now)).toISOString(),
  }));
}

/** Heals with their times moved, after the clock was set by some milliseconds. */
export function moved(heals: readonly Heal[], by: number): readonly Heal[] {
  return heals.map((heal) => ({
    ...heal,
    at: new Date(Date.parse(heal.at) + by).toISOString(),
  }));
}
