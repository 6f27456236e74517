import type { Clock } from '../../reconciler/model/ports.ts';
import {
  GIVES_WAY,
  HANGS,
  isIdle,
  noneRunning,
  Places,
  PROMPT,
  SLOWLY,
  computeSpeed,
  findSlowestSpeed,
  type Group,
  type Line,
  type Ring,
  type ReadSpeed,
} from './read-places.ts';
import { RoundRobin } from './round-robin.ts';
import { DelayQueue, type ScheduledItem } from './schedule.ts';

/**
 * The interval for checking whether a read must give its place away, in milliseconds, if it must not be moved because this process is
 * busy.
 */
const LOOK_AGAIN = 100;

/** An environment that is read again and again. */
export interface Readable extends ScheduledItem {
  readonly name: string;
  /** True if it is in use and cannot be read now. */
  readonly busy: boolean;
}

interface QueueOptions<T> {
  readonly clock: Pick<Clock, 'monotonic'>;
  /** The number of concurrent reads of services that answer promptly. */
  readonly parallel: number;
  /** Whom an environment shares places with first, such as those of its namespace. */
  readonly groupOf: (one: T) => string;
  /** Reads of a group at a time. Default: as many as there are places. */
  readonly mostOf?: (group: string) => number;
  readonly originOf: (one: T) => string;
  /** Reports whether this process has not read it yet. */
  readonly isNew: (one: T) => boolean;
  /** Reports whether enough requests wait because of an origin's limit. */
  readonly isHeldUp: (origin: string) => boolean;
  /** Reports whether reads wait for this process itself: more at a time would not help. */
  readonly isBusy: () => boolean;
}

/** The reason why an environment is due and not read. */
type WaitReason = 'origin-limits' | 'group-limit' | 'group-share' | 'origin-share' | 'places';

/** Environments that have waited longer than they may, by their groups. */
export interface LateGroup {
  readonly count: number;
  /** The longest wait, in milliseconds. */
  readonly longest: number;
  readonly groups: ReadonlyMap<string, number>;
}

/** The environments that wait too long, those whose services are slow apart from the others, and how many hold them up. */
export interface Lateness {
  readonly prompt: LateGroup;
  readonly slow: LateGroup;
  /** Environments whose service did not answer for seconds when it was read last, or does not now. */
  readonly hanging: number;
}

/** Describes why a due environment is not read, in a sentence. `group` names its group, such as a namespace. */
export function waitText(reason: WaitReason, group: string): string {
  return `It waits for its turn: ${WAITS[reason](group)}.`;
}

const WAITS: Readonly<Record<WaitReason, (group: string) => string>> = {
  'origin-limits': () => 'its service limits requests, and other reads of it wait already',
  'group-limit': (group) => `the limit of its ${group} for reads at a time is reached`,
  'group-share': (group) =>
    `other reads of its ${group} wait for slow services and use its share of the places`,
  'origin-share': () => 'other reads of its service wait for an answer and use its share',
  places: () => 'other environments use all places',
};

interface QueuePosition<T> {
  readonly line: Line<T>;
  readonly speed: ReadSpeed;
}

/**
 * The order of reads. Places are shared by group and then by origin, in turn. There are places for services that answer promptly, others
 * for slow ones, and others for those that hang: each read begins where the last one of its origin has ended, and moves on while it waits
 * for an answer. So the reads of services that hang take no place from the others, however they hang.
 */
export class ReadQueue<T extends Readable> {
  readonly #options: QueueOptions<T>;
  readonly #later = new DelayQueue<T>();
  readonly #groups = new Map<string, Group>();
  readonly #lines = new Map<string, Line<T>>();
  /** The due environments, with their line, and since when they wait. */
  readonly #waiting = new Map<T, { readonly line: Line<T>; readonly since: number }>();
  readonly #places: Places<T>;
  readonly #hanging = new Set<T>();
  readonly #lastLines = new WeakMap<T, Line<T>>();
  /** Lines by the speed of their origin, and those that begin with a new environment. */
  readonly #prompt: Ring<T> = new RoundRobin();
  readonly #new: Ring<T> = new RoundRobin();
  readonly #slow: Ring<T> = new RoundRobin();
  readonly #hung: Ring<T> = new RoundRobin();
  #isTurnOfNew = false;
  #all: ReadonlySet<T> = new Set();

  constructor(options: QueueOptions<T>) {
    this.#options = options;
    this.#places = new Places(options.parallel, options.mostOf);
  }

  /** Takes over who is to be read from now on. What is being read goes on, and who waits keeps its place. */
  reset(all: Iterable<T>): void {
    const before = this.#all;
    this.#all = new Set(all);
    for (const one of before) if (!this.#all.has(one)) this.#forget(one);
    const [first, ...others] = this.#all;
    const group = first === undefined ? '' : this.#options.groupOf(first);
    this.#places.isShared = others.some((one) => this.#options.groupOf(one) !== group);
    this.#later.reset(this.#all);
  }

  #forget(one: T): void {
    const line = this.#waiting.get(one)?.line ?? this.#lastLines.get(one);
    this.#hanging.delete(one);
    if (line === undefined) return;
    if (this.#waiting.delete(one)) line.waiting.splice(line.waiting.indexOf(one), 1);
    // Others of its origin show soon how it is.
    if (!this.#places.has(one)) line.speed = PROMPT;
    this.#sort(line);
    this.#tidy(line);
  }

  /** To be called whenever an environment is due at another time, or is free again. */
  add(one: T): void {
    const known = this.#waiting.get(one);
    if (known === undefined) return this.#later.add(one);
    // It was asked for: it comes before others of its line.
    const { waiting } = known.line;
    const place = one.due === Number.NEGATIVE_INFINITY ? waiting.indexOf(one) : 0;
    if (place > 0) waiting.unshift(...waiting.splice(place, 1));
  }

  /** The next one that may be read now; undefined if none may. Its place is free again once `endRead` is called. */
  next(): T | undefined {
    const now = this.#options.clock.monotonic();
    this.#takeDue(now);
    this.#move(now);
    for (;;) {
      const found = this.#nextPrompt() ?? this.#nextSlow(SLOWLY) ?? this.#nextSlow(HANGS);
      const one = found === undefined ? undefined : this.#takeFirst(found.line);
      if (found === undefined || one === undefined) return undefined;
      if (this.#begin(one, found, now)) return one;
    }
  }

  /** Records the end of a read. */
  endRead(one: T): void {
    const turn = this.#places.end(one);
    if (turn === undefined) return;
    const { line, began } = turn;
    const took = this.#options.clock.monotonic() - began;
    line.speed = computeSpeed(took, this.#options.isBusy());
    this.#lastLines.set(one, line);
    if (line.speed === HANGS && this.#all.has(one)) this.#hanging.add(one);
    else this.#hanging.delete(one);
    this.#sort(line);
    this.#tidy(line);
  }

  /** The number of due environments that wait for their turn. */
  get queued(): number {
    this.#takeDue(this.#options.clock.monotonic());
    return this.#waiting.size;
  }

  /** Milliseconds until another one may be read, unless a read ends before; at most as given. */
  untilNext(most: number): number {
    const now = this.#options.clock.monotonic();
    const first = this.#later.first((one) => this.#isFree(one));
    const due = first === undefined ? most : first.due - now;
    if (!this.#isContended) return Math.min(most, due);
    const began = this.#places.oldestPrompt;
    const moves = began === undefined ? most : Math.max(LOOK_AGAIN, began + GIVES_WAY - now);
    return Math.min(most, due, moves);
  }

  /** Returns why a due environment is not read, and for how long, in milliseconds; null if it is not due. */
  whyWaiting(one: T): { readonly reason: WaitReason; readonly waits: number } | null {
    const found = this.#waiting.get(one);
    if (found === undefined) return null;
    const { line, since } = found;
    const speed = findSlowestSpeed(line);
    const ring = this.#findRing(speed);
    const waits = this.#options.clock.monotonic() - since;
    if (this.#options.isHeldUp(line.origin)) return { reason: 'origin-limits', waits };
    if (this.#places.isAtMost(line.group)) return { reason: 'group-limit', waits };
    if (speed !== PROMPT && !this.#places.mayGroup(line.group, speed, ring))
      return { reason: 'group-share', waits };
    if (speed !== PROMPT && !this.#places.mayLine(line, speed, ring))
      return { reason: 'origin-share', waits };
    return { reason: 'places', waits };
  }

  /** Counts those that have waited longer than `mayWait` allows each, in milliseconds, and reports each. */
  lateness(mayWait: (one: T) => number, isLate: (one: T) => void = () => {}): Lateness {
    const now = this.#options.clock.monotonic();
    this.#takeDue(now);
    this.#move(now);
    const found = [PROMPT, SLOWLY].map(() => ({
      count: 0,
      longest: 0,
      groups: new Map<string, number>(),
    }));
    for (const [one, { line, since }] of this.#waiting) {
      const waits = now - since;
      const late = found[Math.min(SLOWLY, findSlowestSpeed(line))];
      if (late === undefined || waits <= mayWait(one) || one.busy) continue;
      const { name } = line.group;
      isLate(one);
      late.count += 1;
      late.longest = Math.max(late.longest, waits);
      late.groups.set(name, (late.groups.get(name) ?? 0) + 1);
    }
    const [prompt = NONE_LATE, slow = NONE_LATE] = found;
    return { prompt, slow, hanging: this.#hanging.size };
  }

  #isFree(one: T): boolean {
    return !one.busy && this.#all.has(one) && !this.#waiting.has(one) && !this.#places.has(one);
  }

  #takeDue(now: number): void {
    for (;;) {
      const one = this.#later.first((other) => this.#isFree(other));
      if (one === undefined || one.due > now) return;
      this.#later.shift();
      const line = this.#openLine(one);
      if (one.due === Number.NEGATIVE_INFINITY) line.waiting.unshift(one);
      else line.waiting.push(one);
      this.#waiting.set(one, { line, since: one.due === Number.NEGATIVE_INFINITY ? now : one.due });
      this.#sort(line);
    }
  }

  #openLine(one: T): Line<T> {
    const [name, origin] = [this.#options.groupOf(one), this.#options.originOf(one)];
    const key = lineKey(name, origin);
    const known = this.#lines.get(key);
    if (known !== undefined) return known;
    const group = this.#groups.get(name) ?? { name, running: noneRunning(), lines: 0 };
    this.#groups.set(name, group);
    group.lines += 1;
    const line: Line<T> = {
      key,
      group,
      origin,
      waiting: [],
      running: noneRunning(),
      speed: PROMPT,
      ring: null,
    };
    this.#lines.set(key, line);
    return line;
  }

  /** Puts a line among those that take turns with it. */
  #sort(line: Line<T>): void {
    const [first] = line.waiting;
    const ring = first === undefined ? null : this.#ringFor(line, first);
    if (ring === line.ring) return;
    line.ring?.remove(line);
    ring?.add(line);
    line.ring = ring;
  }

  #ringFor(line: Line<T>, first: T): Ring<T> {
    const speed = findSlowestSpeed(line);
    if (speed !== PROMPT) return this.#findRing(speed);
    return this.#options.isNew(first) ? this.#new : this.#prompt;
  }

  #findRing(speed: ReadSpeed): Ring<T> {
    return speed === SLOWLY ? this.#slow : this.#hung;
  }

  /** Forgets a line without known facts. */
  #tidy(line: Line<T>): void {
    const { key, group, speed } = line;
    if (speed !== PROMPT || !isIdle(line) || !this.#lines.delete(key)) return;
    group.lines -= 1;
    if (group.lines === 0) this.#groups.delete(group.name);
  }

  #move(now: number): void {
    const load = { isBusy: this.#options.isBusy(), isWanted: () => this.#isContended };
    this.#places.move(now, load, (one, line, speed) => {
      if (speed === HANGS && this.#all.has(one)) this.#hanging.add(one);
      this.#sort(line);
    });
  }

  get #isContended(): boolean {
    return !this.#prompt.isEmpty || !this.#new.isEmpty;
  }

  /** New ones and known ones take turns, unless so many are waited for already that new ones would only add to them. */
  #nextPrompt(): QueuePosition<T> | undefined {
    if (this.#places.isFull) return undefined;
    for (const isNew of this.#isTurnOfNew ? [true, false] : [false, true]) {
      if (isNew && !this.#places.takesNew) continue;
      const found = (isNew ? this.#new : this.#prompt).first(
        (group) => this.#places.mayBePrompt(group, isNew),
        ({ origin }) => !this.#options.isHeldUp(origin),
      );
      if (found === undefined) continue;
      this.#isTurnOfNew = !isNew;
      return { line: found, speed: PROMPT };
    }
    return undefined;
  }

  #nextSlow(speed: ReadSpeed): QueuePosition<T> | undefined {
    const ring = this.#findRing(speed);
    const line = ring.first(
      (group) => this.#places.mayGroup(group, speed, ring),
      (one) => !this.#options.isHeldUp(one.origin) && this.#places.mayLine(one, speed, ring),
    );
    return line === undefined ? undefined : { line, speed };
  }

  /** Takes the first of a line, which then comes after the others of its group, and its group after the other groups. */
  #takeFirst(line: Line<T>): T | undefined {
    const one = line.waiting.shift();
    if (one !== undefined) this.#waiting.delete(one);
    line.ring?.takeTurn(line);
    line.ring = null;
    return one;
  }

  /** False if it cannot be read now: something has happened to it since it became due. */
  #begin(one: T, { line, speed }: QueuePosition<T>, now: number): boolean {
    const isReadable = !one.busy && one.due <= now && this.#all.has(one);
    if (isReadable) this.#places.begin(one, line, speed, now);
    else if (!one.busy && this.#all.has(one)) this.#later.add(one);
    this.#sort(line);
    this.#tidy(line);
    return isReadable;
  }
}

export const NONE_LATE: LateGroup = { count: 0, longest: 0, groups: new Map() };

function lineKey(group: string, origin: string): string {
  return `${group}\n${origin}`;
}
