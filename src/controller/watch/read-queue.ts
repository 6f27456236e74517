import type { Clock } from '../../reconciler/model/ports.ts';
import { RoundRobin } from './round-robin.ts';
import { DelayQueue, type Dated } from './schedule.ts';

/** Milliseconds after which a read gives its place to one that waits, counts as slow, and counts as hanging. */
const GIVES_WAY = 250;
const SLOW = 1_000;
const HANGING = 4_000;

/** How promptly the service of a read answers: by its last read, or by how long the one under way has taken. */
const [PROMPT, SLOWLY, HANGS] = [0, 1, 2];

/** Reads at a time of services that answer slowly, that hang, and in all, for each prompt one. A read that waits for an answer costs a socket and little else. */
const PLACES = [1, 2, 4] as const;
const MOST = 16;

/** How often the queue looks whether a read must give its place away, in milliseconds, if it must not be moved because this process is busy. */
const LOOK_AGAIN = 100;

/** An environment that is read again and again. */
export interface Readable extends Dated {
  readonly name: string;
  /** Whether something is done with it, so that it cannot be read now. */
  readonly busy: boolean;
}

interface QueueOptions<T> {
  readonly clock: Pick<Clock, 'monotonic'>;
  /** How many are read at a time of those whose services answer promptly. */
  readonly parallel: number;
  /** Whom an environment shares places with first, such as those of its namespace. */
  readonly groupOf: (one: T) => string;
  readonly originOf: (one: T) => string;
  /** Whether this process has not read it yet. */
  readonly isNew: (one: T) => boolean;
  /** Whether enough requests wait because an origin limits them. */
  readonly isHeldUp: (origin: string) => boolean;
  /** Whether this process itself is what reads wait for: then more at a time would help nobody. */
  readonly isBusy: () => boolean;
}

/** Why an environment is due and not read. */
type WaitReason = 'origin-limits' | 'group-share' | 'origin-share' | 'places';

/** The environments that wait longer than they should, and those that hold them up. */
interface Lateness {
  readonly late: number;
  /** How long the one that waits longest has waited, in milliseconds. */
  readonly longest: number;
  readonly groups: ReadonlyMap<string, number>;
  /** Environments whose service did not answer for seconds when it was read last, or does not now. */
  readonly hanging: number;
}

/** Why an environment is not read although it is due, in a sentence. `group` is what its group is, such as a namespace. */
export function waitText(reason: WaitReason, group: string): string {
  return `It waits for its turn: ${WAITS[reason](group)}.`;
}

const WAITS: Readonly<Record<WaitReason, (group: string) => string>> = {
  'origin-limits': () => 'its service limits requests, and other reads of it wait already',
  'group-share': (group) =>
    `other reads of its ${group} wait for slow services and use its share of the places`,
  'origin-share': () => 'other reads of its service wait for an answer and use its share',
  places: () => 'other environments use all places',
};

interface Group {
  readonly name: string;
  readonly running: number[];
  /** How many lines it has. */
  lines: number;
}

/** The environments of one group and origin. */
interface Line<T> {
  readonly key: string;
  readonly group: Group;
  readonly origin: string;
  readonly waiting: T[];
  readonly running: number[];
  /** Of the last read. */
  speed: number;
  ring: Ring<T> | null;
}

type Ring<T> = RoundRobin<Group, Line<T>>;

interface Found<T> {
  readonly line: Line<T>;
  readonly speed: number;
}

interface Turn<T> {
  readonly line: Line<T>;
  readonly began: number;
  speed: number;
}

/**
 * Who is read next. Places are shared by group and then by origin, in turn. There are places for services that answer promptly, others for slow ones, and others for
 * those that hang: each read begins where the last one of its origin has ended, and moves on while it waits for an answer. So the
 * reads of services that hang take no place from the others, however they hang.
 */
export class ReadQueue<T extends Readable> {
  readonly #options: QueueOptions<T>;
  readonly #later = new DelayQueue<T>();
  readonly #groups = new Map<string, Group>();
  readonly #lines = new Map<string, Line<T>>();
  /** Those that are due, with their line, and since when they wait. */
  readonly #waiting = new Map<T, { readonly line: Line<T>; readonly since: number }>();
  readonly #turns = new Map<T, Turn<T>>();
  readonly #running = [0, 0, 0];
  readonly #hanging = new Set<T>();
  readonly #lastLines = new WeakMap<T, Line<T>>();
  /** Lines by the speed of their origin, and those that begin with a new environment. */
  readonly #prompt: Ring<T> = new RoundRobin();
  readonly #new: Ring<T> = new RoundRobin();
  readonly #slow: Ring<T> = new RoundRobin();
  readonly #hung: Ring<T> = new RoundRobin();
  #isTurnOfNew = false;
  #isShared = false;
  #all: ReadonlySet<T> = new Set();

  constructor(options: QueueOptions<T>) {
    this.#options = options;
  }

  /** Takes over who is to be read from now on. What is being read goes on, and who waits keeps its place. */
  reset(all: Iterable<T>): void {
    const before = this.#all;
    this.#all = new Set(all);
    for (const one of before) if (!this.#all.has(one)) this.#forget(one);
    const [first, ...others] = this.#all;
    const group = first === undefined ? '' : this.#options.groupOf(first);
    this.#isShared = others.some((one) => this.#options.groupOf(one) !== group);
    this.#later.reset(this.#all);
  }

  #forget(one: T): void {
    const line = this.#waiting.get(one)?.line ?? this.#lastLines.get(one);
    this.#hanging.delete(one);
    if (line === undefined) return;
    if (this.#waiting.delete(one)) line.waiting.splice(line.waiting.indexOf(one), 1);
    // Others of its origin show soon how it is.
    if (!this.#turns.has(one)) line.speed = PROMPT;
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

  /** The next one that may be read now; undefined if none may. Its place is free again once `ended` is called. */
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

  /** Takes that a read has ended. */
  ended(one: T): void {
    const turn = this.#turns.get(one);
    if (turn === undefined) return;
    const took = this.#options.clock.monotonic() - turn.began;
    const isSlow = took >= SLOW && !this.#options.isBusy();
    const speed = took >= HANGING ? HANGS : isSlow ? SLOWLY : PROMPT;
    const { line } = turn;
    this.#turns.delete(one);
    this.#count(turn, -1);
    line.speed = speed;
    this.#lastLines.set(one, line);
    if (speed === HANGS && this.#all.has(one)) this.#hanging.add(one);
    else this.#hanging.delete(one);
    this.#sort(line);
    this.#tidy(line);
  }

  /** How many are due and wait for their turn. */
  get queued(): number {
    this.#takeDue(this.#options.clock.monotonic());
    return this.#waiting.size;
  }

  /** Milliseconds until another one may be read, unless a read ends before; at most as given. */
  untilNext(most: number): number {
    const now = this.#options.clock.monotonic();
    const first = this.#later.first((one) => this.#isFree(one));
    const due = first === undefined ? most : first.due - now;
    const isContended = !this.#prompt.isEmpty || !this.#new.isEmpty;
    if (!isContended) return Math.min(most, due);
    const began = [...this.#turns.values()].find(({ speed }) => speed === PROMPT)?.began;
    const moves = began === undefined ? most : Math.max(LOOK_AGAIN, began + GIVES_WAY - now);
    return Math.min(most, due, moves);
  }

  /** Why an environment is due and not read, and for how long, in milliseconds; null if it is not due. */
  whyWaiting(one: T): { readonly reason: WaitReason; readonly waits: number } | null {
    const found = this.#waiting.get(one);
    if (found === undefined) return null;
    const { line, since } = found;
    const speed = this.#speedOf(line);
    const waits = this.#options.clock.monotonic() - since;
    if (this.#options.isHeldUp(line.origin)) return { reason: 'origin-limits', waits };
    if (speed !== PROMPT && !this.#mayGroup(line.group, speed))
      return { reason: 'group-share', waits };
    if (speed !== PROMPT && !this.#mayLine(line, speed)) return { reason: 'origin-share', waits };
    return { reason: 'places', waits };
  }

  /** Counts those that have waited longer than `mayWait` allows each, in milliseconds. */
  lateness(mayWait: (one: T) => number): Lateness {
    const now = this.#options.clock.monotonic();
    this.#takeDue(now);
    const groups = new Map<string, number>();
    let late = 0;
    let longest = 0;
    for (const [one, { line, since }] of this.#waiting) {
      const waits = now - since;
      if (waits <= mayWait(one) || one.busy) continue;
      late += 1;
      longest = Math.max(longest, waits);
      groups.set(line.group.name, (groups.get(line.group.name) ?? 0) + 1);
    }
    this.#move(now);
    return { late, longest, groups, hanging: this.#hanging.size };
  }

  #isFree(one: T): boolean {
    return !one.busy && this.#all.has(one) && !this.#waiting.has(one) && !this.#turns.has(one);
  }

  #takeDue(now: number): void {
    for (;;) {
      const one = this.#later.first((other) => this.#isFree(other));
      if (one === undefined || one.due > now) return;
      this.#later.shift();
      const line = this.#lineOf(one);
      if (one.due === Number.NEGATIVE_INFINITY) line.waiting.unshift(one);
      else line.waiting.push(one);
      this.#waiting.set(one, { line, since: one.due === Number.NEGATIVE_INFINITY ? now : one.due });
      this.#sort(line);
    }
  }

  #lineOf(one: T): Line<T> {
    const [name, origin] = [this.#options.groupOf(one), this.#options.originOf(one)];
    const key = lineKey(name, origin);
    const known = this.#lines.get(key);
    if (known !== undefined) return known;
    const group = this.#groups.get(name) ?? { name, running: [0, 0, 0], lines: 0 };
    this.#groups.set(name, group);
    group.lines += 1;
    const line: Line<T> = {
      key,
      group,
      origin,
      waiting: [],
      running: [0, 0, 0],
      speed: PROMPT,
      ring: null,
    };
    this.#lines.set(key, line);
    return line;
  }

  /** A read under way that takes long says more than the last one did. */
  #speedOf({ speed, running }: Line<T>): number {
    return Math.max(
      speed,
      running.findLastIndex((count) => count > 0),
    );
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
    const speed = this.#speedOf(line);
    if (speed !== PROMPT) return this.#ringOf(speed);
    return this.#options.isNew(first) ? this.#new : this.#prompt;
  }

  #ringOf(speed: number): Ring<T> {
    return speed === SLOWLY ? this.#slow : this.#hung;
  }

  /** Forgets a line of which nothing is known. */
  #tidy({ key, group, waiting, running, speed }: Line<T>): void {
    if (speed !== PROMPT || waiting.length > 0 || totalOf(running) > 0) return;
    if (!this.#lines.delete(key)) return;
    group.lines -= 1;
    if (group.lines === 0) this.#groups.delete(group.name);
  }

  /** Moves on the reads that take long; while others wait for their places, those that are not prompt, the oldest first. */
  #move(now: number): void {
    const isBusy = this.#options.isBusy();
    for (const [one, turn] of this.#turns) {
      const took = now - turn.began;
      const isWanted = this.#isFull && (!this.#prompt.isEmpty || !this.#new.isEmpty);
      const isSlow = !isBusy && took >= (isWanted ? GIVES_WAY : SLOW);
      const speed = Math.max(turn.speed, took >= HANGING ? HANGS : isSlow ? SLOWLY : PROMPT);
      if (took >= HANGING && this.#all.has(one)) this.#hanging.add(one);
      if (speed === turn.speed) continue;
      this.#count(turn, -1);
      turn.speed = speed;
      this.#count(turn, 1);
      this.#sort(turn.line);
    }
  }

  #count({ speed, line: { group, running } }: Turn<T>, by: number): void {
    for (const counts of [this.#running, group.running, running])
      counts[speed] = (counts[speed] ?? 0) + by;
  }

  #places(speed: number): number {
    return this.#options.parallel * (PLACES[speed] ?? 1);
  }

  get #most(): number {
    return MOST * this.#options.parallel;
  }

  get #isFull(): boolean {
    return (this.#running[PROMPT] ?? 0) >= this.#options.parallel;
  }

  /** New ones and known ones take turns, unless so many are waited for already that new ones would only add to them. */
  #nextPrompt(): Found<T> | undefined {
    if (this.#isFull || this.#turns.size >= this.#most) return undefined;
    const held = this.#places(SLOWLY) + this.#places(HANGS);
    const isOver = (running: readonly number[], most: number): boolean =>
      totalOf(running.slice(SLOWLY)) >= most;
    for (const isNew of this.#isTurnOfNew ? [true, false] : [false, true]) {
      if (isNew && isOver(this.#running, held)) continue;
      const most = (isNew ? held : this.#most) / 2;
      const found = (isNew ? this.#new : this.#prompt).first(
        ({ running }) => !this.#isShared || !isOver(running, most),
        ({ origin }) => !this.#options.isHeldUp(origin),
      );
      if (found === undefined) continue;
      this.#isTurnOfNew = !isNew;
      return { line: found, speed: PROMPT };
    }
    return undefined;
  }

  #nextSlow(speed: number): Found<T> | undefined {
    const line = this.#ringOf(speed).first(
      (group) => this.#mayGroup(group, speed),
      (one) => !this.#options.isHeldUp(one.origin) && this.#mayLine(one, speed),
    );
    return line === undefined ? undefined : { line, speed };
  }

  #freePlaces(speed: number): number {
    return this.#places(speed) - (this.#running[speed] ?? 0);
  }

  /** Whether a group may have one more place: a quarter of them is for those that have none, which may have one more than there are. */
  #mayGroup(group: Group, speed: number): boolean {
    const held = group.running[speed] ?? 0;
    const isFree = this.#freePlaces(speed) > 0;
    if (held === 0) return isFree || this.#turns.size < this.#most / 2;
    if (!isFree || !this.#isShared) return isFree;
    const others = this.#sharers(speed, ({ line }) => line.group);
    for (const one of this.#ringOf(speed).groups) others.add(one);
    return this.#isWithin(held, this.#places(speed), others.size, speed);
  }

  #mayLine(line: Line<T>, speed: number): boolean {
    const held = line.running[speed] ?? 0;
    if (held === 0) return true;
    const { group } = line;
    const others = this.#sharers(speed, (turn) => (turn.line.group === group ? turn.line : null));
    for (const one of this.#ringOf(speed).linesOf(group)) others.add(one);
    others.delete(null);
    return this.#isWithin(held, this.#places(speed), others.size, speed);
  }

  #sharers<S>(speed: number, of: (turn: Turn<T>) => S): Set<S> {
    const turns = [...this.#turns.values()].filter((turn) => turn.speed === speed);
    return new Set(turns.map(of));
  }

  #isWithin(held: number, places: number, sharers: number, speed: number): boolean {
    const reserve = Math.floor(places / 4);
    return held < Math.max(1, Math.floor(places / sharers)) && this.#freePlaces(speed) > reserve;
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
  #begin(one: T, { line, speed }: Found<T>, now: number): boolean {
    const isReadable = !one.busy && one.due <= now && this.#all.has(one);
    if (isReadable) {
      const turn = { line, began: now, speed };
      this.#turns.set(one, turn);
      this.#count(turn, 1);
    } else if (!one.busy && this.#all.has(one)) this.#later.add(one);
    this.#sort(line);
    this.#tidy(line);
    return isReadable;
  }
}

function lineKey(group: string, origin: string): string {
  return `${group}\n${origin}`;
}

function totalOf(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0);
}
