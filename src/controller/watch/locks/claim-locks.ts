import { asSetpointError, SetpointError } from '../../../reconciler/model/error.ts';
import type { Clock } from '../../../reconciler/model/ports.ts';
import {
  describeHolder,
  type Claim,
  type ClaimStore,
  Observations,
  ownTime,
  Presence,
  stopwatch,
  type OwnTime,
} from './presence.ts';
import type { Lock, LockRefusal, Locks } from './locks.ts';

/**
 * Locks made of claims and heartbeats. A claim is in effect as long as its holder's heartbeat moves, judged by the observer's own monotonic
 * clock since it saw it move last: no two clocks are compared. It is taken over by replacing exactly the claim that was read. A holder that
 * checks whether it still holds a lock replaces its own claim in the same way: of the two, one fails.
 */
export function claimLocks<Version>(
  store: ClaimStore<Version>,
  clock: Clock,
  time: OwnTime = ownTime(clock),
): Locks {
  return new ClaimLocks(store, time);
}

class ClaimLocks<Version> implements Locks {
  readonly #store: ClaimStore<Version>;
  readonly #time: OwnTime;
  readonly #others: Observations;
  readonly #held = new Map<string, HeldLock<Version>>();
  readonly #taking = new Map<string, Promise<unknown>>();
  #presence: Presence<Version> | null = null;
  #beginning: Promise<Presence<Version>> | null = null;
  #closing: Promise<void> | null = null;

  constructor(store: ClaimStore<Version>, time: OwnTime) {
    this.#store = store;
    this.#time = time;
    this.#others = new Observations(store, time.clock);
  }

  async take(name: string): Promise<Lock | LockRefusal> {
    if (this.#closing !== null) throw lockFailed('The locks of this process are closed.');
    if (this.#held.has(name) || this.#taking.has(name)) {
      return { heldBy: 'this process', retryIn: this.#store.pace.ttl };
    }
    const taking = this.#take(name);
    this.#taking.set(name, taking);
    try {
      return await taking;
    } finally {
      this.#taking.delete(name);
    }
  }

  async #take(name: string): Promise<Lock | LockRefusal> {
    const presence = await this.#present();
    const claim = await this.#store.read(name);
    const holder = claim?.holder ?? null;
    if (holder !== null && holder !== presence.holder) {
      const left = await this.#others.untilDead(holder);
      if (left > 0 && this.#others.isRetired(holder)) throw this.#createLostLocksError();
      if (left > 0) return { heldBy: describeHolder(holder), retryIn: left };
    }
    const since = stopwatch(this.#time);
    const won = await this.#store.claim(name, claim, presence.holder);
    if (won === null) return this.#createHolderRefusal(name);
    // Others have waited for a claim in the making, and no longer.
    if (since() >= this.#store.pace.lostAfter || !presence.isSure()) {
      throw lockFailed(
        'Acquiring the lock took too long, so it may be lost already.',
        presence.lost.reason,
      );
    }
    const forgotten = (): void => {
      this.#held.delete(name);
    };
    const lock = new HeldLock(
      { store: this.#store, time: this.#time, presence },
      name,
      won,
      forgotten,
    );
    this.#held.set(name, lock);
    return lock;
  }

  /** The lock is free: late writes of this process from before the loss of its locks may still arrive. */
  #createLostLocksError(): SetpointError {
    const seconds = Math.ceil(this.#store.pace.ttl / 1000);
    return lockFailed(`This process lost its locks, and takes them again within ${seconds} s.`);
  }

  async #createHolderRefusal(name: string): Promise<LockRefusal> {
    const claim = await this.#store.read(name);
    const holder = claim?.holder ?? null;
    const { renewEvery } = this.#store.pace;
    return {
      heldBy: holder === null ? 'no controller' : describeHolder(holder),
      retryIn: renewEvery,
    };
  }

  /** This process among the holders, under a new name once the former one is lost. */
  async #present(): Promise<Presence<Version>> {
    if (this.#presence?.isSure() === true) return this.#presence;
    // If several take it at once, the first begins it.
    if (this.#beginning === null) {
      this.#beginning = this.#begin().finally(() => {
        this.#beginning = null;
      });
    }
    return this.#beginning;
  }

  async #begin(): Promise<Presence<Version>> {
    const presence = await Presence.begin(this.#store, this.#time);
    presence.lost.addEventListener('abort', () => {
      this.#others.retire(presence.holder);
      for (const lock of this.#held.values()) lock.presenceLost(presence);
    });
    this.#presence = presence;
    return presence;
  }

  async removeGone(isGone: (name: string) => boolean, known: readonly string[]): Promise<void> {
    const listed = new Map((await this.#store.list()).map(({ name, claim }) => [name, claim]));
    for (const name of new Set([...listed.keys(), ...known])) {
      if (this.#closing !== null) return;
      if (this.#held.has(name) || this.#taking.has(name) || !isGone(name)) continue;
      const claim = listed.get(name) ?? (await this.#store.read(name));
      if (claim === null) continue;
      const { holder } = claim;
      const left = holder === null ? 0 : await this.#others.untilDead(holder);
      if (left === 0) await this.#store.remove(name, claim);
    }
  }

  async close(): Promise<void> {
    this.#closing ??= this.#close();
    await this.#closing;
  }

  async #close(): Promise<void> {
    await Promise.allSettled(this.#taking.values());
    for (const lock of this.#held.values()) lock.forget();
    // Without it, others wait until this process counts as dead.
    await this.#presence?.end().catch(() => {});
    await this.#store.close();
  }
}

interface LockTools<Version> {
  readonly store: ClaimStore<Version>;
  readonly time: OwnTime;
  readonly presence: Presence<Version>;
}

class HeldLock<Version> implements Lock {
  readonly name: string;
  readonly #store: ClaimStore<Version>;
  readonly #time: OwnTime;
  readonly #presence: Presence<Version>;
  readonly #forgotten: () => void;
  /** Created for the first listener: thousands of locks are held, and few of them used. */
  #lost: AbortController | null = null;
  #lostBy: unknown = null;
  #claim: Claim<Version>;
  #isEnded = false;
  #asking: Promise<void> = Promise.resolve();

  constructor(
    { store, time, presence }: LockTools<Version>,
    name: string,
    claim: Claim<Version>,
    forgotten: () => void,
  ) {
    this.#store = store;
    this.#time = time;
    this.#presence = presence;
    this.name = name;
    this.#claim = claim;
    this.#forgotten = forgotten;
  }

  get lost(): AbortSignal {
    if (this.#lost === null) {
      this.#lost = new AbortController();
      if (this.isLost) this.#lost.abort(this.#lostBy);
    }
    return this.#lost.signal;
  }

  get isLost(): boolean {
    return this.#lostBy !== null;
  }

  async stillHeld(): Promise<boolean> {
    const asked = this.#asking.then(() => this.#ask());
    this.#asking = asked;
    await untilAborted(asked, this.lost);
    return !this.#isEnded;
  }

  isHeld(): boolean {
    return !this.#isEnded && this.#presence.isSure();
  }

  async #ask(): Promise<void> {
    if (this.#isEnded) return;
    const { ttl, lostAfter } = this.#store.pace;
    const since = stopwatch(this.#time);
    try {
      await this.#presence.beat();
      const claim = await this.#store.claim(this.name, this.#claim, this.#presence.holder);
      if (claim === null) this.#lose(lockLost('Another controller has taken the lock.'));
      else this.#claim = claim;
      if (since() > ttl - lostAfter) this.#lose(lockLost('It took too long to ask for the lock.'));
    } catch (thrown) {
      const { code, message } = asSetpointError(thrown);
      this.#lose(code === 'lock-lost' ? thrown : lockLost(message, thrown));
    }
  }

  async release(isGone = false): Promise<void> {
    if (this.#isEnded) return;
    this.forget();
    await this.#asking;
    if (isGone) await this.#store.remove(this.name, this.#claim);
    else await this.#store.claim(this.name, this.#claim, null);
  }

  /** Ends without a message. */
  forget(): void {
    this.#isEnded = true;
    this.#forgotten();
  }

  presenceLost(presence: Presence<Version>): void {
    if (presence === this.#presence) this.#lose(presence.lost.reason);
  }

  #lose(reason: unknown): void {
    if (this.#isEnded) return;
    this.forget();
    this.#lostBy = reason;
    this.#lost?.abort(reason);
  }
}

/** Waits for what may hang, and no longer once a signal aborts. */
function untilAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const finish = (): void => {
      signal.removeEventListener('abort', finish);
      resolve();
    };
    signal.addEventListener('abort', finish);
    void work.then(finish);
  });
}

function lockLost(message: string, cause?: unknown): SetpointError {
  return new SetpointError('lock-lost', message, { cause });
}

function lockFailed(message: string, cause?: unknown): SetpointError {
  return new SetpointError('lock-failed', message, { cause });
}
