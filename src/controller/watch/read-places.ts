import type { RoundRobin } from './round-robin.ts';

/** Milliseconds after which a read gives its place to one that waits, counts as slow, and counts as hanging. */
export const GIVES_WAY = 250;
const SLOW = 1_000;
const HANGING = 4_000;

/** The speed of a service: by its last read, or by the time that the one under way has taken. */
export const [PROMPT, SLOWLY, HANGS] = [0, 1, 2] as const;
export type ReadSpeed = typeof PROMPT | typeof SLOWLY | typeof HANGS;
const SPEEDS = [PROMPT, SLOWLY, HANGS] as const;

/** Reads at a time of services that answer slowly, that hang, and in all, for each prompt one. A read that waits for an answer costs a socket and little else. */
const PLACES: Readonly<Record<ReadSpeed, number>> = { [PROMPT]: 1, [SLOWLY]: 2, [HANGS]: 4 };
const MOST = 16;

/** Returns the speed of a service that answers within some milliseconds, unless the time was this process's own. */
export function computeSpeed(took: number, isBusy: boolean, slow = SLOW): ReadSpeed {
  if (took >= HANGING) return HANGS;
  return took >= slow && !isBusy ? SLOWLY : PROMPT;
}

/** The number of reads under way, by the speed of their services. */
type Counts = Record<ReadSpeed, number>;

export interface Group {
  readonly name: string;
  readonly running: Counts;
  /** The number of its lines. */
  lines: number;
}

/** The environments of one group and origin. */
export interface Line<T> {
  readonly key: string;
  readonly group: Group;
  readonly origin: string;
  readonly waiting: T[];
  readonly running: Counts;
  /** The speed of the last read. */
  speed: ReadSpeed;
  ring: Ring<T> | null;
}

export type Ring<T> = RoundRobin<Group, Line<T>>;

/** A read under way. */
interface RunningRead<T> {
  readonly line: Line<T>;
  readonly began: number;
  speed: ReadSpeed;
}

export function noneRunning(): Counts {
  return { [PROMPT]: 0, [SLOWLY]: 0, [HANGS]: 0 };
}

/** Returns the speed of the services of a line: a slow read under way counts more than the last one. */
export function findSlowestSpeed<T>({ speed, running }: Line<T>): ReadSpeed {
  return SPEEDS.findLast((one) => one === speed || running[one] > 0) ?? PROMPT;
}

export function isIdle<T>({ waiting, running }: Line<T>): boolean {
  return waiting.length === 0 && SPEEDS.every((one) => running[one] === 0);
}

/** The places that reads take, and who may have one more. */
export class Places<T> {
  readonly #parallel: number;
  readonly #mostOf: (group: string) => number;
  readonly #turns = new Map<T, RunningRead<T>>();
  readonly #running = noneRunning();
  /** True if there is more than one group. */
  isShared = false;

  /** `parallel` is how many are read at a time of those whose services answer promptly. */
  constructor(
    parallel: number,
    mostOf: (group: string) => number = () => Number.POSITIVE_INFINITY,
  ) {
    this.#parallel = parallel;
    this.#mostOf = mostOf;
  }

  has(one: T): boolean {
    return this.#turns.has(one);
  }

  begin(one: T, line: Line<T>, speed: ReadSpeed, now: number): void {
    const turn = { line, began: now, speed };
    this.#turns.set(one, turn);
    this.#count(turn, 1);
  }

  /** Frees the place of a read; undefined if it has none. */
  end(one: T): Pick<RunningRead<T>, 'line' | 'began'> | undefined {
    const turn = this.#turns.get(one);
    if (turn === undefined) return undefined;
    this.#turns.delete(one);
    this.#count(turn, -1);
    return turn;
  }

  /**
   * Moves on the reads that take long; while others wait for prompt places, those that are not prompt, the oldest first. `moved` receives
   * each.
   */
  move(
    now: number,
    { isBusy, isWanted }: { readonly isBusy: boolean; readonly isWanted: () => boolean },
    moved: (one: T, line: Line<T>, speed: ReadSpeed) => void,
  ): void {
    for (const [one, turn] of this.#turns) {
      const givesWay = this.isFull && isWanted();
      const speed = computeSpeed(now - turn.began, isBusy, givesWay ? GIVES_WAY : SLOW);
      if (speed <= turn.speed) continue;
      this.#count(turn, -1);
      turn.speed = speed;
      this.#count(turn, 1);
      moved(one, turn.line, speed);
    }
  }

  /** The beginning of the oldest prompt read under way. */
  get oldestPrompt(): number | undefined {
    return [...this.#turns.values()].find(({ speed }) => speed === PROMPT)?.began;
  }

  /** True if all places for prompt services are taken, or one more read would be too many. */
  get isFull(): boolean {
    return this.#running[PROMPT] >= this.#parallel || this.#turns.size >= this.#most;
  }

  /** Whether a group has as many reads under way as it may have. */
  isAtMost({ name, running }: Group): boolean {
    return running[PROMPT] + countSlowReads(running) >= this.#mostOf(name);
  }

  /** True if new environments may be read: not so many reads wait already that more would only add to them. */
  get takesNew(): boolean {
    return countSlowReads(this.#running) < this.#mostHeldUp;
  }

  /** Reports whether one more environment of a group with a prompt service may be read. */
  mayBePrompt(group: Group, isNew: boolean): boolean {
    if (this.isAtMost(group)) return false;
    const { running } = group;
    return !this.isShared || countSlowReads(running) < (isNew ? this.#mostHeldUp : this.#most) / 2;
  }

  /** Reports whether a group may have one more place. A quarter of them is for groups without a place, which may have one extra. */
  mayGroup(group: Group, speed: ReadSpeed, ring: Ring<T>): boolean {
    if (this.isAtMost(group)) return false;
    const isFree = this.#free(speed) > 0;
    if (group.running[speed] === 0) return isFree || this.#turns.size < this.#most / 2;
    if (!isFree || !this.isShared) return isFree;
    const groups = new Set([...ring.groups, ...this.#at(speed).map(({ group: one }) => one)]);
    return this.#isWithin(group.running[speed], groups.size, speed);
  }

  mayLine(line: Line<T>, speed: ReadSpeed, ring: Ring<T>): boolean {
    if (line.running[speed] === 0) return true;
    const { group } = line;
    const others = this.#at(speed).filter((one) => one.group === group);
    const lines = new Set([...ring.listLines(group), ...others]);
    return this.#isWithin(line.running[speed], lines.size, speed);
  }

  #isWithin(held: number, sharers: number, speed: ReadSpeed): boolean {
    const places = this.#parallel * PLACES[speed];
    const share = Math.max(1, Math.floor(places / sharers));
    return held < share && this.#free(speed) > Math.floor(places / 4);
  }

  #free(speed: ReadSpeed): number {
    return this.#parallel * PLACES[speed] - this.#running[speed];
  }

  #at(speed: ReadSpeed): readonly Line<T>[] {
    return [...this.#turns.values()].flatMap((turn) => (turn.speed === speed ? [turn.line] : []));
  }

  #count({ speed, line }: RunningRead<T>, by: number): void {
    for (const counts of [this.#running, line.group.running, line.running]) counts[speed] += by;
  }

  get #most(): number {
    return MOST * this.#parallel;
  }

  get #mostHeldUp(): number {
    return this.#parallel * (PLACES[SLOWLY] + PLACES[HANGS]);
  }
}

function countSlowReads(running: Counts): number {
  return running[SLOWLY] + running[HANGS];
}
