import type { EnvironmentOutcome } from '../../reconciler/model/outcome.ts';
import { formatPath } from '../../reconciler/model/path.ts';
import type { Change } from '../../reconciler/model/plan.ts';
import type {
  Heal,
  HealFailures,
  HealingStop,
  Moment,
  UnstoredValue,
  WatchState,
} from '../../reconciler/model/watch.ts';
import type { Json } from '../../reconciler/model/value.ts';
import { selectFound } from '../../reconciler/model/verdict.ts';
import { formatCount, namesListed } from '../../reconciler/model/wording.ts';
import { ageText } from '../../reconciler/render/change.ts';

const HOUR = 3_600_000;
/** The time that a server may still show its values from before a write, in milliseconds. */
const SETTLES = 60_000;

/** The reason why healing stops, for its record. */
export type StopReason = Omit<HealingStop, 'at' | 'digest'>;

/**
 * Returns why healing must stop before the next write; null if it may go on. The server stored other values than the last write sent, or the environment
 * was healed of drift as often in an hour as it may be, whatever the paths: then another client writes them, and the two would overwrite each other forever.
 */
export function whyStopHealing(state: WatchState, now: number): StopReason | null {
  return storesOther(state) ?? competing(state, now);
}

/** Returns why healing must stop if all that differs is what the server showed right after the last write instead of what was sent; null otherwise. */
export function storesOther({ plan, healFailed }: WatchState): StopReason | null {
  const notStored = healFailed?.notStored ?? [];
  const changes = selectFound(plan?.changes ?? []);
  const found = changes.map((change) => notStored.find((one) => matchesNotStored(one, change)));
  const [first] = found;
  if (first === undefined || found.includes(undefined)) return null;
  const others = found.length === 1 ? '' : ` So it does with ${found.length - 1} more.`;
  const reason = `${describeNotStored(first)}${others} Write in the file what the server stores, or leave it out.`;
  return { path: first.path, reason, cause: 'server' };
}

/** Reports whether a server that showed its old values right after the last write may still show the new ones. */
export function maySettle({ healFailed, lastApply }: WatchState, now: number): boolean {
  const isOld = healFailed?.notStored?.some((one) => one.isOld) ?? false;
  const passed = lastApply === null ? SETTLES : now - Date.parse(lastApply);
  return isOld && passed >= 0 && passed < SETTLES;
}

function matchesNotStored(
  { path, expected, actual }: UnstoredValue,
  change: Change<Json>,
): boolean {
  return (
    path === formatPath(change.path) &&
    isEqualJson(expected, change.after) &&
    isEqualJson(actual, change.before)
  );
}

function isEqualJson(one: Json, other: Json): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

const LONGEST_VALUE = 120;

function describeNotStored({ path, expected, actual, isOld }: UnstoredValue): string {
  if (isOld && !isEqualJson(expected, actual))
    return `The server took a write of ${shortJson(expected)} for ${path}, and still shows ${shortJson(actual)}.`;
  const after = 'It showed that right after the write.';
  if (isEqualJson(expected, actual))
    return `The server does not store the value of ${path}. ${after}`;
  const stored = actual === null ? 'nothing' : shortJson(actual);
  if (expected === null)
    return `The server stores ${stored} where the file clears ${path}. ${after}`;
  return `The server stores ${stored} for ${shortJson(expected)} (${path}). ${after}`;
}

function shortJson(value: Json): string {
  const text = JSON.stringify(value);
  return text.length > LONGEST_VALUE ? `${text.slice(0, LONGEST_VALUE)}…` : text;
}

/** Differences that are remembered of a write. */
const MOST_NOT_STORED = 20;

/** Returns what the server showed right after a write instead of what was sent; undefined if that is nothing. */
export function notStoredAfter({
  changes,
  remaining,
}: Pick<EnvironmentOutcome, 'changes' | 'remaining'>): HealFailures['notStored'] {
  if (!isSomeSent(changes) || remaining.length === 0) return undefined;
  return remaining.length > MOST_NOT_STORED
    ? undefined
    : remaining.map(({ path, expected, actual }) => {
        const name = formatPath(path);
        const change = changes.find((one) => formatPath(one.path) === name);
        const isOld = change !== undefined && isEqualJson(change.before, actual);
        return { path: name, expected, actual, isOld };
      });
}

/** Returns why healing must stop because the environment was healed of drift too often; null if it was not, or nothing drifts now. */
function competing(state: WatchState, now: number): StopReason | null {
  const { plan, settings, healFailed } = state;
  const heals = healsSince(state, now - HOUR).filter(
    ({ kept, paths, drifted = paths }) => kept !== false && drifted.length > 0,
  );
  const notStored = healFailed?.notStored ?? [];
  const drift = (plan?.changes ?? []).filter(
    (change) => isDrift(change) && notStored.every((one) => !matchesNotStored(one, change)),
  );
  if (drift.length === 0 || heals.length < settings.maxHealsPerHour) return null;
  const [worst] = drift
    .map((change) => ({ change, times: listHealTimes(change, heals) }))
    .toSorted((one, other) => other.times.length - one.times.length);
  if (worst === undefined) return null;
  const path = formatPath(worst.change.path);
  const isAlone = worst.times.length === heals.length;
  return { path, reason: isAlone ? ofPath(worst, state, now) : ofEnvironment(path, heals, now) };
}

/** Reports whether a change is more than an edit of the file. */
export function isDrift(change: Pick<Change<Json>, 'class' | 'consequence'>): boolean {
  return change.class !== 'pending' && change.consequence !== true;
}

/** Reports whether the service has refused the heal as often in an hour as an environment may be healed: it is tried again later. */
export function isRefusedTooOften(state: WatchState, now: number): boolean {
  // A refusal of an earlier edit does not apply to this one.
  const refused = healsSince(state, now - HOUR).filter(
    ({ kept, edited = null }) => kept === false && edited === state.edit,
  );
  const most = state.settings.maxHealsPerHour;
  return (state.plan?.changes ?? []).some(
    (change) => listHealTimes(change, refused).length >= most,
  );
}

interface TimedHeal extends Heal {
  /** In milliseconds since 1970. */
  readonly time: number;
}

function healsSince({ heals }: Pick<WatchState, 'heals'>, from: number): readonly TimedHeal[] {
  return heals
    .map((heal) => ({ ...heal, time: Date.parse(heal.at) }))
    .filter(({ time }) => time > from);
}

function listHealTimes({ path }: Change<Json>, heals: readonly TimedHeal[]): readonly number[] {
  const name = formatPath(path);
  return heals.filter(({ paths }) => paths.includes(name)).map(({ time }) => time);
}

interface HealedChange {
  readonly change: Change<Json>;
  readonly times: readonly number[];
}

/** Describes the other writer of a path. The service does not name it. */
function ofPath({ change, times }: HealedChange, state: WatchState, now: number): string {
  const value = change.sensitive ? 'a value that is not shown' : JSON.stringify(change.before);
  const last =
    state.after === null
      ? ''
      : `, the last time between ${toSecond(state.after)} and ${toSecond(state.since)}`;
  return `It was healed ${formatCount(times.length, 'time')} within an hour, and another client set it to ${value} again, ${every(times, now)}${last}. ${WHO}`;
}

function ofEnvironment(path: string, heals: readonly TimedHeal[], now: number): string {
  const paths = new Set(heals.flatMap(({ paths: all, drifted = all }) => drifted));
  const times = heals.map(({ time }) => time);
  return `The environment was healed ${formatCount(heals.length, 'time')} within an hour (${namesListed([...paths], 3)}), and another client changed it again, ${every(times, now)}, now at ${path}. ${WHO}`;
}

function every(times: readonly number[], now: number): string {
  return `about every ${ageText((now - Math.min(...times)) / times.length, ' ')}`;
}

const WHO =
  'The server does not report which one: look for another pipeline, a user or a start script that writes it.';

function toSecond(at: string): string {
  return at.replace(/\.\d+Z$/, 'Z');
}

/**
 * Heals once the last of them has ended: one that sent nothing does not count, and one does not stay if the service stored nothing of it.
 */
export function healsAfter(
  heals: readonly Heal[],
  { requests, changes }: Pick<EnvironmentOutcome, 'requests' | 'changes'>,
): readonly Heal[] {
  const before = heals.slice(0, -1);
  const last = heals.at(-1);
  if (requests.post === 0 || last === undefined) return before;
  return [...before, isSomeSent(changes) ? last : { ...last, kept: false }];
}

/** Reports whether the service may have stored a change. */
export function isSomeSent(changes: EnvironmentOutcome['changes']): boolean {
  return changes.some(({ result }) => result !== 'not-sent');
}

/** Milliseconds from one time to another; by the time of day only if nothing better is known. */
function between(earlier: Moment, later: Moment): number {
  const [from, to] = [earlier.up, later.up];
  const isSameStart = from !== undefined && to !== undefined && from.boot === to.boot;
  return isSameStart && to.ms >= from.ms
    ? to.ms - from.ms
    : Date.parse(later.at) - Date.parse(earlier.at);
}

/** The heals of the hour before a time. */
export function recent(heals: readonly Heal[], now: Moment): readonly Heal[] {
  return heals.filter((heal) => between(heal, now) < HOUR);
}

/** Heals with their times on the current clock, whatever it was set to when they happened. */
export function adjustHealTimes(heals: readonly Heal[], now: Moment): readonly Heal[] {
  return heals.map((heal) => ({
    ...heal,
    at: new Date(Date.parse(now.at) - between(heal, now)).toISOString(),
  }));
}

/** Heals with their times moved, after the clock was set by some milliseconds. */
export function shiftHealTimes(heals: readonly Heal[], by: number): readonly Heal[] {
  return heals.map((heal) => ({
    ...heal,
    at: new Date(Date.parse(heal.at) + by).toISOString(),
  }));
}
