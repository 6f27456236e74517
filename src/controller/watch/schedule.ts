import type { ErrorCode } from '../../reconciler/model/error.ts';
import type { WatchSettings, Window } from '../../reconciler/model/watch.ts';
import { readWatchSettings } from '../../reconciler/desired/blocks/watch.ts';
import type { Target } from '../../reconciler/desired/target.ts';
import type { EnvironmentPlan } from '../../reconciler/model/plan.ts';
import type { Clock } from '../../reconciler/model/ports.ts';
import type { ReadReason } from './read-limit.ts';

/** The time between the first read that finds a difference and the second, in milliseconds. */
export const CONFIRM = 15_000;
/** The shortest time between two reads that count as two, in milliseconds. */
export const APART = 5_000;
/** The longest back-off, in milliseconds: of an outage, whose end should be seen soon, and of a problem that a user has to fix first. */
const LONGEST_OF_OUTAGE = 300_000;
const LONGEST_BACK_OFF = 3_600_000;
/** The failures of a service that may be back at any moment, or of the API server that has its key. */
const OUTAGES: ReadonlySet<string> = new Set([
  'unreachable',
  'timed-out',
  'server-error',
  'cluster-failed',
] satisfies ErrorCode[]);
/** The time before an outage is checked again, in milliseconds: the first time, and the longest. */
const FIRST_CHECK = 5_000;
const LONGEST_CHECK = 60_000;
/** The approximate distance between the first reads, and the longest time that all of them take, in milliseconds. */
const START_APART = 100;
const LONGEST_START = 60_000;
/** The variation of the time between two reads, so that environments do not move in step. */
const JITTER = 0.1;

/** Returns the watch settings of an environment, from its file and limits, and the interval and strictness of the controller. */
export function watchSettings(target: Target, interval: number, strict = false): WatchSettings {
  const settings = readWatchSettings(target.watch, strict);
  const { interval: least = 0, approvals } = target.limits ?? {};
  return { ...settings, interval: Math.max(settings.interval ?? interval, least), approvals };
}

/**
 * Milliseconds until the next read: the interval, twice as long after each failure in a row, a tenth more or less. A failure before any
 * request does not spare a service by waiting, and is tried at the interval. Otherwise it ends at five minutes for an outage, by the `code`
 * of the error, and else at an hour. `random` is from 0 to 1. The pace of an origin implements the wait that a service requests.
 */
export function untilNextRead(
  interval: number,
  failures: number,
  code: string,
  random: number,
): number {
  const longest = isOutage(code) ? LONGEST_OF_OUTAGE : LONGEST_BACK_OFF;
  const backedOff =
    failures === 0 || NOT_SENT.has(code)
      ? interval
      : Math.max(interval, Math.min(longest, interval * 2 ** Math.min(failures - 1, 20)));
  return backedOff * (1 - JITTER + 2 * JITTER * random);
}

/** Errors before a request: a user has yet to create the Secret, or to write the file. */
const NOT_SENT: ReadonlySet<string> = new Set(['reference-missing'] satisfies ErrorCode[]);

/** Reports whether a retry comes automatically and may succeed: after an outage, or for a service that asks to wait. */
export function isPassing(code: string): boolean {
  return isOutage(code) || code === 'rate-limited';
}

/** Reports whether an error code means that the service may be back at any moment. */
export function isOutage(code: string): boolean {
  return OUTAGES.has(code);
}

/** Milliseconds until an outage is checked again, after as many checks: seconds, twice as long each time, up to a minute; a half more or less. */
function untilCheck(checks: number, random: number): number {
  return Math.min(LONGEST_CHECK, FIRST_CHECK * 2 ** Math.min(checks, 20)) * (0.5 + random);
}

/**
 * Milliseconds until the first read of one of `count` environments that are new: ten of them a second, within the first minute and the
 * interval. `place` is from 0 to 1, by the name: a start reads in the same order as the one before, so that each keeps its distance from its last read.
 */
export function untilFirstRead(interval: number, count: number, place: number): number {
  return Math.min(interval, LONGEST_START, count * START_APART) * place;
}

/** Reports whether a time, in milliseconds since 1970, is in one of the windows; null is always. */
export function isInAnyWindow(windows: readonly Window[] | null, at: number): boolean {
  return windows === null || windows.some((window) => isWithinWindow(window, at));
}

function isWithinWindow({ days, from, to, zone }: Window, at: number): boolean {
  const { day, minute } = localTime(at, zone);
  if (from < to) return days.has(day) && minute >= from && minute < to;
  // It goes on after midnight: its days are those on which it begins.
  return (days.has(day) && minute >= from) || (days.has((day + 6) % 7) && minute < to);
}

const MINUTES_A_DAY = 1440;

/** Returns when the next of closed windows opens, by the clock of its zone: `Mon 08:00 Europe/Berlin`. */
export function nextOpening(windows: readonly Window[] | null, at: number): string {
  const openings = (windows ?? []).flatMap(({ days, from, zone }) => {
    const { day, minute } = localTime(at, zone);
    return [0, 1, 2, 3, 4, 5, 6, 7].flatMap((later) => {
      const [on, wait] = [(day + later) % 7, later * MINUTES_A_DAY + from - minute];
      return days.has(on) && wait > 0
        ? [{ wait, text: `${DAYS[on]} ${formatMinute(from)} ${zone}` }]
        : [];
    });
  });
  return openings.toSorted((one, other) => one.wait - other.wait)[0]?.text ?? 'it opens again';
}

function formatMinute(minute: number): string {
  return [Math.floor(minute / 60), minute % 60]
    .map((part) => String(part).padStart(2, '0'))
    .join(':');
}

const formats = new Map<string, Intl.DateTimeFormat>();
const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];

function localTime(at: number, zone: string): { day: number; minute: number } {
  const format =
    formats.get(zone) ??
    new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      weekday: 'short',
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
    });
  formats.set(zone, format);
  const parts = new Map(format.formatToParts(at).map(({ type, value }) => [type, value]));
  return {
    day: DAYS.indexOf(parts.get('weekday') ?? ''),
    minute: Number(parts.get('hour')) * 60 + Number(parts.get('minute')),
  };
}

/** Something that is due at a time, in milliseconds of the monotonic clock. */
export interface ScheduledItem {
  readonly due: number;
}

interface DueItem<T> {
  readonly due: number;
  readonly of: T;
}

/**
 * The item that is due next, among thousands: a heap. An item that is due at another time is added again, and counts by its current time:
 * an earlier entry is dropped when it is reached.
 */
export class DelayQueue<T extends ScheduledItem> {
  #heap: DueItem<T>[] = [];

  /** Begins again with these. */
  reset(all: Iterable<T>): void {
    this.#heap = Array.from(all, (of) => ({ due: of.due, of })).toSorted(
      (one, other) => one.due - other.due,
    );
  }

  add(of: T): void {
    const heap = this.#heap;
    const entry = { due: of.due, of };
    let place = heap.length;
    heap.push(entry);
    while (place > 0) {
      const above = (place - 1) >> 1;
      const other = heap[above];
      if (other === undefined || other.due <= entry.due) break;
      heap[place] = other;
      place = above;
    }
    heap[place] = entry;
  }

  /** The first one of now, of those that fit. Those that do not are dropped, and are to be added again once they do. */
  first(fits: (of: T) => boolean): T | undefined {
    for (;;) {
      const [top] = this.#heap;
      if (top === undefined) return undefined;
      if (top.due === top.of.due && fits(top.of)) return top.of;
      this.shift();
    }
  }

  /** Takes the first entry away. */
  shift(): void {
    const heap = this.#heap;
    const entry = heap.pop();
    if (entry === undefined || heap.length === 0) return;
    let place = 0;
    for (;;) {
      const [left, right] = [heap[2 * place + 1], heap[2 * place + 2]];
      if (left === undefined) break;
      const isRight = right !== undefined && right.due < left.due;
      const child = isRight ? right : left;
      if (child.due >= entry.due) break;
      heap[place] = child;
      place = 2 * place + (isRight ? 2 : 1);
    }
    heap[place] = entry;
  }
}

/** Origins that are checked at a time. If more are down, it is likely the network of the controller: when one of them answers, others are read. */
const MOST_CHECKED = 32;
/** Origins that are not checked and are read when another one answers: when a network is back, each that answers has more of them read. */
const READ_FOR_EACH = 4;

/** The time within which the environments of a recovered service are read, in milliseconds. */
const BACK_WITHIN = 10_000;

/**
 * The environments that could not be read because their origin is down. The first of each origin checks whether it is back, by a cheap
 * read, so an origin with hundreds of environments is asked once; when one of them is answered, the others are read.
 */
export class Outages<T> {
  readonly #down = new Map<string, Set<T>>();
  /** The origins among them that are checked. */
  readonly #checked = new Set<string>();
  readonly #placeOf = new Map<T, string>();

  /** Records the result of a read; returns the environments to read, if an origin has answered that was down. */
  after(one: T, { origin, error }: Pick<EnvironmentPlan, 'origin' | 'error'>): readonly T[] {
    const place = origin !== null && URL.canParse(origin) ? new URL(origin).origin : '';
    if (this.#placeOf.get(one) !== place) this.leave(one);
    if (place === '') return [];
    const waiting = this.#down.get(place);
    if (error !== null && isOutage(error.code)) {
      if (waiting === undefined) this.#down.set(place, new Set([one]));
      else waiting.add(one);
      this.#placeOf.set(one, place);
      if (this.#isFirst(one, place) && this.#checked.size < MOST_CHECKED) this.#checked.add(place);
      return [];
    }
    if (waiting === undefined) return [];
    for (const other of waiting) this.#placeOf.delete(other);
    this.#remove(place);
    waiting.delete(one);
    return [...waiting, ...this.#takeUnchecked()];
  }

  /** Takes the first of some origins that are not checked, and moves these to the end: the next answer takes others. */
  #takeUnchecked(): readonly T[] {
    const places: [string, Set<T>][] = [];
    for (const found of this.#down) {
      if (places.length === READ_FOR_EACH) break;
      if (!this.#checked.has(found[0])) places.push(found);
    }
    for (const [place, waiting] of places) {
      this.#down.delete(place);
      this.#down.set(place, waiting);
    }
    return places.flatMap(([, waiting]) => [...waiting].slice(0, 1));
  }

  /** Reports whether an environment is to check repeatedly for the return of its origin. */
  checks(one: T): boolean {
    const place = this.#placeOf.get(one);
    return place !== undefined && this.#checked.has(place) && this.#isFirst(one, place);
  }

  #isFirst(one: T, place: string): boolean {
    return this.#down.get(place)?.values().next().value === one;
  }

  /** Forgets one that is watched no more, or elsewhere. */
  leave(one: T): void {
    const place = this.#placeOf.get(one) ?? '';
    const waiting = this.#down.get(place);
    this.#placeOf.delete(one);
    waiting?.delete(one);
    if (waiting?.size === 0) this.#remove(place);
  }

  #remove(place: string): void {
    this.#down.delete(place);
    this.#checked.delete(place);
  }
}

/** An environment that is read before its time; see EnvironmentWatcher. */
interface RetryTarget {
  readonly readAt: (at: number, reason: ReadReason) => void;
}

/** The common tools of all environments' turns. `random` is from 0 to 1. */
export interface OutageTools {
  readonly outages: Outages<RetryTarget>;
  readonly clock: Clock;
  readonly random: () => number;
}

/** The next turn of one environment: a read, or before that a check for the return of its service. Times are of the monotonic clock. */
export class ReadSchedule {
  readonly #of: RetryTarget;
  readonly #tools: OutageTools;
  #due: number;
  #readDue: number;
  /** Since its service is down. */
  #checks = 0;
  /** Milliseconds from one look at its key to the next, while the key may be the reason why it cannot be read; null otherwise. */
  keyEvery: number | null = null;

  constructor(of: RetryTarget, due: number, tools: OutageTools) {
    this.#of = of;
    this.#tools = tools;
    this.#due = due;
    this.#readDue = due;
  }

  get due(): number {
    return this.#due;
  }

  /** Sets the time of the read. */
  set due(due: number) {
    this.#readDue = due;
    this.#due = due;
  }

  /** The kind of the current turn: a read, a check for the return of the service, or a look at its key. */
  get kind(): 'check' | 'key' | 'read' {
    if (this.#tools.clock.monotonic() >= this.#readDue) return 'read';
    if (this.#tools.outages.checks(this.#of)) return 'check';
    return this.keyEvery === null ? 'read' : 'key';
  }

  /** Records the result of a read. If that was an answer, those that have waited for it are read. */
  recordRead(plan: Pick<EnvironmentPlan, 'origin' | 'error'>): void {
    const { clock, outages, random } = this.#tools;
    for (const other of outages.after(this.#of, plan))
      other.readAt(clock.monotonic() + random() * BACK_WITHIN, 'changed');
    if (!outages.checks(this.#of)) this.#checks = 0;
  }

  /** After a turn: it is read again in `wait` milliseconds; null if it was not read, because its service is still down or its key is the same. */
  after(wait: number | null): void {
    const { clock, outages, random } = this.#tools;
    if (wait === null) this.#checks += 1;
    else this.#readDue = clock.monotonic() + wait;
    const isChecking = outages.checks(this.#of);
    const check = isChecking
      ? untilCheck(this.#checks, random())
      : (this.keyEvery ?? Number.POSITIVE_INFINITY);
    this.#due = Math.min(this.#readDue, clock.monotonic() + check);
  }

  leave(): void {
    this.#tools.outages.leave(this.#of);
  }
}
