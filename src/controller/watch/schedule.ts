import type { ErrorCode } from '../../reconciler/model/error.ts';
import type { WatchSettings, Window } from '../../reconciler/model/watch.ts';
import { watchOf } from '../../reconciler/desired/blocks/watch.ts';
import type { Target } from '../../reconciler/desired/target.ts';

/** How long after the first read that finds a difference the second one is made, in milliseconds. */
export const CONFIRM = 15_000;
/** The shortest time between two reads that count as two, in milliseconds. */
export const APART = 5_000;
/** The longest back-off, in milliseconds: of an outage, the end of which is to be seen soon, and of what somebody has to mend first. */
const LONGEST_OF_OUTAGE = 300_000;
const LONGEST_BACK_OFF = 3_600_000;
/** How a service fails that may be back at any moment. */
const OUTAGES: ReadonlySet<string> = new Set([
  'unreachable',
  'timed-out',
  'server-error',
] satisfies ErrorCode[]);
/** The time before an outage is checked again, in milliseconds: the first time, and the longest. */
const FIRST_CHECK = 5_000;
const LONGEST_CHECK = 60_000;
/** How far apart the first reads are, about, and the most that all of them take, in milliseconds. */
const START_APART = 100;
const LONGEST_START = 60_000;
/** How much the time between two reads may be shorter or longer, so that environments do not move in step. */
const JITTER = 0.1;

/** How an environment is watched, by its file, and the interval and the strictness of the controller. */
export function watchSettings(target: Target, interval: number, strict = false): WatchSettings {
  const settings = watchOf(target.watch, strict);
  return { ...settings, interval: settings.interval ?? interval };
}

/**
 * Milliseconds until the next read: the interval, twice as long after each failure in a row, a tenth more or less. That ends at five minutes for an
 * outage, by the `code` of the error, and else at an hour. `random` is from 0 to 1. What a service asks to wait is kept by the pace of its origin.
 */
export function untilNextRead(
  interval: number,
  failures: number,
  code: string,
  random: number,
): number {
  const longest = isOutage(code) ? LONGEST_OF_OUTAGE : LONGEST_BACK_OFF;
  const backedOff =
    failures === 0
      ? interval
      : Math.max(interval, Math.min(longest, interval * 2 ** Math.min(failures - 1, 20)));
  return backedOff * (1 - JITTER + 2 * JITTER * random);
}

/** Whether an error, by its code, is that of a service that may be back at any moment. */
export function isOutage(code: string): boolean {
  return OUTAGES.has(code);
}

/** Milliseconds until an outage is checked again, after as many checks: seconds, twice as long each time, up to a minute; a half more or less. */
export function untilCheck(checks: number, random: number): number {
  return Math.min(LONGEST_CHECK, FIRST_CHECK * 2 ** Math.min(checks, 20)) * (0.5 + random);
}

/**
 * Milliseconds until the first read of one of `count` environments that are new: ten of them a second, within the first minute and the
 * interval. `random` is from 0 to 1.
 */
export function untilFirstRead(interval: number, count: number, random: number): number {
  return Math.min(interval, LONGEST_START, count * START_APART) * random;
}

/** Whether a time, in milliseconds since 1970, is in one of the windows; null is always. */
export function isInAnyWindow(windows: readonly Window[] | null, at: number): boolean {
  return windows === null || windows.some((window) => isIn(window, at));
}

function isIn({ days, from, to, zone }: Window, at: number): boolean {
  const { day, minute } = localTime(at, zone);
  if (from < to) return days.has(day) && minute >= from && minute < to;
  // It goes on after midnight: its days are those on which it begins.
  return (days.has(day) && minute >= from) || (days.has((day + 6) % 7) && minute < to);
}

const MINUTES_A_DAY = 1440;

/** When the next of closed windows opens, by the clock of its zone: `Mon 08:00 Europe/Berlin`. */
export function nextOpening(windows: readonly Window[] | null, at: number): string {
  const openings = (windows ?? []).flatMap(({ days, from, zone }) => {
    const { day, minute } = localTime(at, zone);
    return [0, 1, 2, 3, 4, 5, 6, 7].flatMap((later) => {
      const [on, wait] = [(day + later) % 7, later * MINUTES_A_DAY + from - minute];
      return days.has(on) && wait > 0
        ? [{ wait, text: `${DAYS[on]} ${clockOf(from)} ${zone}` }]
        : [];
    });
  });
  return openings.toSorted((one, other) => one.wait - other.wait)[0]?.text ?? 'it opens again';
}

function clockOf(minute: number): string {
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
export interface Dated {
  readonly due: number;
}

interface DueItem<T> {
  readonly due: number;
  readonly of: T;
}

/**
 * Who is due next, among thousands: a heap. Whoever is due at another time is added again, and counts by its time of now: what is left of
 * before is dropped when it is reached.
 */
export class DelayQueue<T extends Dated> {
  #heap: DueItem<T>[] = [];

  /** Begins anew with these. */
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
