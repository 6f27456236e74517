import { uptime } from 'node:os';
import { SetpointError } from '../../../reconciler/model/error.ts';
import type { Clock } from '../../../reconciler/model/ports.ts';
import { createHash } from 'node:crypto';

/**
 * The time a holder judges itself by. The monotonic clock stands still while a machine sleeps, and the system's uptime does not, so
 * the longer of both counts; neither follows the clock on the wall.
 */
export interface OwnTime {
  readonly clock: Clock;
  /** Milliseconds since the machine started, its sleep included. */
  readonly sinceBoot: () => number;
}

export function ownTime(clock: Clock): OwnTime {
  return { clock, sinceBoot: () => uptime() * 1000 };
}

/** Starts to measure; the returned function gives the milliseconds since then. */
export function stopwatch({ clock, sinceBoot }: OwnTime): () => number {
  const [monotonic, boot] = [clock.monotonic(), sinceBoot()];
  return () => Math.max(clock.monotonic() - monotonic, sinceBoot() - boot);
}

/**
 * A process among the holders of a store, by one heartbeat. It is lost once it could not renew the heartbeat for so long that others
 * may take it for dead, or found it taken away; it never comes back under the same name.
 */
export class Presence<Version> {
  readonly holder: string;
  readonly #store: ClaimStore<Version>;
  readonly #time: OwnTime;
  readonly #lost = new AbortController();
  #sinceBeat: () => number;
  #beating: Promise<void> = Promise.resolve();
  #failure: unknown;

  private constructor(
    store: ClaimStore<Version>,
    time: OwnTime,
    holder: string,
    since: () => number,
  ) {
    this.#store = store;
    this.#time = time;
    this.holder = holder;
    this.#sinceBeat = since;
  }

  static async begin<Version>(
    store: ClaimStore<Version>,
    time: OwnTime,
  ): Promise<Presence<Version>> {
    const since = stopwatch(time);
    const presence = new Presence(store, time, await store.begin(), since);
    void presence.#keepBeating();
    void presence.#keepChecking();
    return presence;
  }

  /** Aborts when this process can no longer be sure of what it holds, with a SetpointError (lock-lost) as the reason. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** Renews the heartbeat now. Throws the reason if it is lost, or what the store threw. */
  async beat(): Promise<void> {
    const beating = this.#beating.then(() => this.#beatOnce());
    this.#beating = beating.catch(() => {});
    await beating;
  }

  /** Ends the heartbeat, so that others need not wait. */
  async end(): Promise<void> {
    if (this.#lost.signal.aborted) return;
    this.#lose('This process has released its locks.');
    await this.#beating;
    await this.#store.end(this.holder);
  }

  /** Reports whether it can still be sure, by the clock: timers may be late. */
  isSure(): boolean {
    const { lostAfter } = this.#store.pace;
    if (!this.#lost.signal.aborted && this.#sinceBeat() >= lostAfter) {
      const seconds = Math.round(this.#sinceBeat() / 1000);
      this.#lose(`The locks could not be renewed for ${seconds} s.`);
    }
    return !this.#lost.signal.aborted;
  }

  async #beatOnce(): Promise<void> {
    if (!this.isSure()) throw this.#lost.signal.reason;
    const since = stopwatch(this.#time);
    if (!(await this.#store.beat(this.holder))) {
      this.#lose('Another controller considered this one dead, or its locks were removed.');
    }
    if (!this.isSure()) throw this.#lost.signal.reason;
    this.#sinceBeat = since;
    this.#failure = undefined;
    this.isSure();
  }

  async #keepBeating(): Promise<void> {
    while (!this.#lost.signal.aborted) {
      await this.#time.clock.sleep(this.#store.pace.renewEvery, this.#lost.signal);
      if (this.#lost.signal.aborted) return;
      await this.beat().catch((thrown: unknown) => {
        this.#failure = thrown;
      });
    }
  }

  /** A beat may hang, and must not hide that time is up. After a sleep of the machine timers are late by all of it. */
  async #keepChecking(): Promise<void> {
    while (this.isSure()) {
      const left = this.#store.pace.lostAfter - this.#sinceBeat();
      await this.#time.clock.sleep(Math.min(Math.max(1, left), 1000), this.#lost.signal);
    }
  }

  #lose(message: string): void {
    if (this.#lost.signal.aborted) return;
    const why = this.#failure instanceof SetpointError ? ` ${this.#failure.message}` : '';
    this.#lost.abort(new SetpointError('lock-lost', `${message}${why}`, { cause: this.#failure }));
  }
}

interface ObservedHeartbeat {
  readonly state: HeartbeatState;
  /** The first time (at the latest) and last time (at the earliest) that the heartbeat was seen in this state, on the monotonic clock. */
  readonly since: number;
  readonly last: number;
}

/** The number of stored observations; a dropped one only delays a take-over. */
const MOST = 1000;

/**
 * The heartbeats of other holders that this process has seen, by its own monotonic clock, so that it waits once for all locks of a dead
 * one.
 */
export class Observations {
  readonly #store: Pick<ClaimStore<unknown>, 'removeHeartbeat' | 'pace' | 'heartbeatOf'>;
  readonly #clock: Clock;
  readonly #seen = new Map<string, ObservedHeartbeat>();
  readonly #dead = new Set<string>();
  readonly #retired = new Map<string, number>();
  readonly #asked = new Map<string, Promise<number>>();

  constructor(
    store: Pick<ClaimStore<unknown>, 'removeHeartbeat' | 'pace' | 'heartbeatOf'>,
    clock: Clock,
  ) {
    this.#store = store;
    this.#clock = clock;
  }

  /** A former name of this process, which is not used any more from now on. */
  retire(holder: string): void {
    this.#retired.set(holder, this.#clock.monotonic());
    dropOldest(this.#retired);
  }

  isRetired(holder: string): boolean {
    return this.#retired.has(holder);
  }

  /** Milliseconds until a holder can be taken for dead, if it does not move; 0 once it is dead, which is final. */
  async untilDead(holder: string): Promise<number> {
    if (this.#dead.has(holder)) return 0;
    const asked = this.#asked.get(holder) ?? this.#ask(holder);
    this.#asked.set(holder, asked);
    try {
      return await asked;
    } finally {
      this.#asked.delete(holder);
    }
  }

  async #ask(holder: string): Promise<number> {
    const former = this.#seen.get(holder);
    const now = this.#clock.monotonic();
    const retired = this.#retired.get(holder);
    if (retired !== undefined) {
      // A request that was under way at the loss may still arrive.
      const left = retired + this.#store.pace.ttl - now;
      return left > 0 ? left : this.#removeDead(holder, { kind: 'ended' });
    }
    // Thousands of locks may have one holder: it is looked at once in the time in which a heartbeat moves, and when its time is up.
    const isRecent = former !== undefined && now - former.last < this.#store.pace.renewEvery;
    if (isRecent && this.#timeLeft(former, now) > 0) return this.#timeLeft(former, now);
    const seen = await this.#look(holder, former);
    const left = this.#timeLeft(seen, seen.last);
    return left > 0 ? left : this.#removeDead(holder, seen.state);
  }

  async #removeDead(holder: string, state: HeartbeatState): Promise<number> {
    if (await this.#store.removeHeartbeat(holder, state)) {
      this.#dead.add(holder);
      dropOldest(this.#dead);
    }
    this.#seen.delete(holder);
    return this.#dead.has(holder) ? 0 : this.#store.pace.ttl;
  }

  #timeLeft({ state, since }: ObservedHeartbeat, now: number): number {
    if (state.kind === 'ended') return 0;
    return since + (state.kind === 'alive' ? state.ttl : this.#store.pace.ttl) - now;
  }

  async #look(holder: string, former: ObservedHeartbeat | undefined): Promise<ObservedHeartbeat> {
    const last = this.#clock.monotonic();
    const state = await this.#store.heartbeatOf(holder);
    const moved =
      former === undefined || (state.kind === 'alive' && !isSameBeat(state, former.state));
    const seen = { state, since: moved ? this.#clock.monotonic() : former.since, last };
    this.#seen.delete(holder);
    this.#seen.set(holder, seen);
    dropOldest(this.#seen);
    return seen;
  }
}

function isSameBeat(one: HeartbeatState, other: HeartbeatState): boolean {
  return one.kind === 'alive' && other.kind === 'alive' && one.text === other.text;
}

function dropOldest(kept: Map<string, unknown> | Set<string>): void {
  for (const key of kept.keys()) {
    if (kept.size <= MOST) break;
    kept.delete(key);
  }
}

/** A claim: a lock and its holder; null means that it has none. `version` changes with every claim of that lock and never comes back. */
export interface Claim<Version> {
  readonly version: Version;
  readonly holder: string | null;
}

/**
 * The observation of another holder. `alive`: its heartbeat, whose text changes with each beat. `missing`: it has none, or it cannot be
 * known. `ended`: it has reported its end, or its process is gone for certain.
 */
export type HeartbeatState =
  | { readonly kind: 'alive'; readonly text: string; readonly ttl: number }
  | { readonly kind: 'missing' }
  | { readonly kind: 'ended' };

/** Milliseconds. */
export interface Pace {
  /** The time that a heartbeat stands still before others consider its holder dead. */
  readonly ttl: number;
  readonly renewEvery: number;
  /** The time after its last heartbeat when a holder stops believing in its locks: less than `ttl`, by more than clocks drift. */
  readonly lostAfter: number;
}

/**
 * The store of claims and heartbeats. One process has one heartbeat for all its locks. Every function throws a SetpointError (lock-failed)
 * if the place does not answer.
 *
 * 1. Must keep the `pace`: a holder believes in its locks for a shorter time than others do.
 * 2. Must `begin`, `beat` and `end` one heartbeat for each process, and read it with `heartbeatOf`.
 * 3. Must have either a beat or `removeHeartbeat` succeed, never both.
 * 4. Must `read`, `claim` and `remove` by version: of two that replace one claim, one fails.
 * 5. Must `list` claims of controllers such as this one, and `close`.
 * 6. Must throw lock-failed if the place does not answer.
 *
 * @example
 * const claimed = await store.claim('production', await store.read('production'), holder);
 * if (claimed === null) return refusal; // another process was quicker
 */
export interface ClaimStore<Version> {
  readonly pace: Pace;
  /** Starts the heartbeat of a holder that has never been there before, and returns its name. */
  begin(): Promise<string>;
  /** Renews it. False if it is not there any more; then it never comes back. */
  beat(holder: string): Promise<boolean>;
  /** Records that a holder has released everything. */
  end(holder: string): Promise<void>;
  heartbeatOf(holder: string): Promise<HeartbeatState>;
  /**
   * Removes the heartbeat of a dead holder, so that its next beat fails. False if it has beaten since the state was seen: a beat
   * succeeds or the removal does, never both.
   */
  removeHeartbeat(holder: string, state: HeartbeatState): Promise<boolean>;
  /** The claim in effect; null if the lock is not claimed yet. Many are read at a bounded rate. */
  read(name: string): Promise<Claim<Version> | null>;
  /** Replaces the claim that was read. Null if that was not in effect any more: another process was quicker. */
  claim(
    name: string,
    former: Claim<Version> | null,
    holder: string | null,
  ): Promise<Claim<Version> | null>;
  /** Removes a claim, and no other that was put into its place. */
  remove(name: string, claim: Claim<Version>): Promise<void>;
  /** The locks that have a claim and belong to controllers such as this one. */
  list(): Promise<readonly { readonly name: string; readonly claim: Claim<Version> }[]>;
  close(): Promise<void>;
}

/** Describes the holder of a lock for people, by its name: `HOST_PROCESS_UUID`. */
export function describeHolder(holder: string): string {
  const [, host, process] = /^(.+)_(\d+)_[\da-f-]{36}$/.exec(holder) ?? [];
  return host === undefined ? 'a controller that is not known' : `process ${process} on ${host}`;
}

/** The name of a holder that has never been there. */
export function newHolder(host: string, process: number, uuid: string): string {
  return `${host}_${process}_${uuid}`;
}

const LONGEST = 120;

/**
 * The name of a lock as the name of a file, on every file system: no two locks have the same, also when capitals do not count
 * there. What is too long for one is its digest.
 */
export function fileName(lock: string): string {
  const written = [...Buffer.from(lock, 'utf8')].map((byte) => {
    const character = String.fromCharCode(byte);
    return /[a-z\d_-]/.test(character) ? character : `%${byte.toString(16).padStart(2, '0')}`;
  });
  const text = written.join('');
  return text.length <= LONGEST ? `lock-${text}` : `digest-${hashLockName(lock)}`;
}

/** The name of a lock as the name of an object of Kubernetes: what can be read of it, and its digest. */
export function createLeaseName(lock: string): string {
  const readable = lock
    .toLowerCase()
    .replaceAll(/[^a-z\d]+/g, '-')
    .slice(0, 40)
    .replaceAll(/^-+|-+$/g, '');
  return `setpoint-lock-${readable === '' ? '' : `${readable}-`}${hashLockName(lock).slice(0, 32)}`;
}

function hashLockName(lock: string): string {
  return createHash('sha256').update(lock).digest('hex');
}
