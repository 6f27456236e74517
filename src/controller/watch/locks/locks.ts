import { usageError, asSetpointError, SetpointError } from '../../../reconciler/model/error.ts';
import type { WatchState } from '../../../reconciler/model/watch.ts';
import type { Conditions } from '../conditions.ts';

/**
 * Locks that only one process at a time holds, each for the environment that it is named after. Who holds one may write that environment;
 * who does not, waits. A lock survives nothing of its holder: after a kill, a hang or a lost network, another process takes it over, once
 * the holder can no longer believe that it holds it.
 *
 * 1. Must `take` a lock for one process at a time, without a wait, and throw lock-failed if the holder is unknown.
 * 2. Must abort a lost lock at once, and let nobody take one within ten seconds after `stillHeld`.
 * 3. Must release everything in `close`, and throw nothing.
 * 4. May `removeGone`, and then only free locks.
 *
 * @example
 * const alone: Locks = {
 *   take: async (name) => new OwnLock(name),
 *   close: async () => {},
 * };
 */
export interface Locks {
  /**
   * Tries once and does not wait for a release. A lock is held until it is released, lost, or `close` is called; holding many costs no more
   * than holding one. Throws a SetpointError (lock-failed) if its holder is unknown, or if this process lost it a moment ago.
   */
  take(name: string): Promise<Lock | LockRefusal>;
  /**
   * Removes the stored state of locks whose environments are gone, if they are free: those that a controller before this one left. They are
   * those with the known names, and others where they can be distinguished from the locks of other controllers.
   */
  removeGone?(isGone: (name: string) => boolean, known: readonly string[]): Promise<void>;
  /** Releases every lock. Throws nothing: what cannot be released is free once this process is gone. */
  close(): Promise<void>;
}

/**
 * Another process holds the lock. `heldBy` is its holder, for people to read. A dead holder is recognized by a heartbeat that stands still,
 * which takes two tries, `retryIn` milliseconds apart.
 */
export interface LockRefusal {
  readonly heldBy: string;
  readonly retryIn: number;
}

export interface Lock {
  readonly name: string;
  /**
   * Aborts as soon as another process holds the lock, or may hold it: then nothing more is written, and requests under way are given up.
   * Its reason is a SetpointError (lock-lost). A release does not abort it.
   */
  readonly lost: AbortSignal;
  /** True if the lock is lost; for thousands of locks without listeners. */
  readonly isLost: boolean;
  /**
   * Checks whether this process still holds the lock, and must be called right before each write, because a process that stood still (a
   * sleeping machine, SIGSTOP) does not know it. If it does, no other process can take the lock within the next ten seconds, whatever
   * happens to this process. Never throws: if the answer is unknown, it is no, and the lock is lost.
   */
  stillHeld(): Promise<boolean>;
  /**
   * Reports whether this process holds the lock by its own clock, without a request. Enough for actions that do no harm if two processes
   * take them.
   */
  isHeld(): boolean;
  /**
   * Releases the lock at once; a second call does nothing. If its environment is gone, its files are removed. Throws a SetpointError
   * (lock-failed) if others could not be notified.
   */
  release(isGone?: boolean): Promise<void>;
}

export function isLockRefused(taken: Lock | LockRefusal): taken is LockRefusal {
  return 'heldBy' in taken;
}

const SCOPE = /^[a-z\d](?:[a-z\d.-]{0,38}[a-z\d])?$/;

/** The locks of one scope: those of the same name in another scope, or in none, are others. Throws a usage error for an invalid name. */
export function scopeLocks(locks: Locks, scope: string): Locks {
  if (!SCOPE.test(scope))
    throw usageError(
      '--lock PLACE=SCOPE takes a scope of at most 40 small letters, digits, hyphens and dots.',
      'Name what the controller watches, such as team-a.',
    );
  return {
    take: (name) => locks.take(`${scope}/${name}`),
    removeGone: async (isGone, known) =>
      locks.removeGone?.(
        (name) => name.startsWith(`${scope}/`) && isGone(name.slice(scope.length + 1)),
        known.map((name) => `${scope}/${name}`),
      ),
    close: () => locks.close(),
  };
}

export interface LockTools {
  readonly locks: Locks;
  /** Returns the current state of an environment in the journal. */
  readonly recall: (name: string) => Promise<WatchState>;
  /** Reports whether no other process has added to the journal since the controller began. */
  readonly isAsStarted: () => Promise<boolean>;
  readonly lockProblem: NoteLockProblem;
}

/** The lock if this process holds it, its holder if another process does, or the reason why that is unknown. */
interface LockState {
  readonly lock: Lock | null;
  readonly heldBy: string | null;
  readonly problem: SetpointError | null;
}

/**
 * The lock of one environment. Known facts about an environment are valid only while its lock is held: whenever the lock is taken and
 * another process may have written meanwhile, the journal is read again.
 */
export class EnvironmentLock {
  readonly #name: string;
  readonly #tools: LockTools;
  readonly #restored: (known: WatchState) => void;
  #lock: Lock | null = null;
  #hasFailed = false;
  /** True if another process may have written the environment since its state was restored; null if only since the start. */
  #stale: boolean | null = null;

  /** `restored` receives the records of the journal, each time that it was read again. */
  constructor(name: string, tools: LockTools, restored: (known: WatchState) => void) {
    this.#name = name;
    this.#tools = tools;
    this.#restored = restored;
  }

  get isHolder(): boolean {
    return this.#lock !== null;
  }

  /** True if the lock was lost, or could not be taken although no other holder is known. */
  get isLacking(): boolean {
    return this.#hasFailed || this.#isLost;
  }

  get #isLost(): boolean {
    return this.#lock?.isLost === true;
  }

  /** True if the lock is held as of the last check, and the state in the journal is known. */
  get isSure(): boolean {
    return this.#stale === false && this.#lock?.isHeld() === true;
  }

  /** Takes the lock unless it is held already. Never throws. */
  async take(): Promise<LockState> {
    this.#hasFailed = false;
    try {
      const heldBy = await this.#take();
      return { lock: this.#lock, heldBy, problem: null };
    } catch (thrown) {
      this.#hasFailed = true;
      return { lock: null, heldBy: null, problem: asSetpointError(thrown) };
    }
  }

  /** Releases the lock, and its stored state if its environment is gone. Throws lock-failed if others could not be notified. */
  async release(isGone: boolean): Promise<void> {
    const lock = this.#lock;
    this.#lock = null;
    await lock?.release(isGone);
  }

  async #take(): Promise<string | null> {
    const { locks, recall, isAsStarted } = this.#tools;
    if (this.#isLost) {
      this.#lock = null;
      this.#stale = true;
    }
    if (this.#lock === null) {
      const taken = await locks.take(this.#name);
      if (isLockRefused(taken)) {
        this.#stale = true;
        return taken.heldBy;
      }
      this.#lock = taken;
    }
    if (this.#stale ?? !(await isAsStarted())) this.#restored(await recall(this.#name));
    this.#stale = false;
    return null;
  }
}

/** Receives the reason why the lock of an environment cannot be used; null if it can, or no longer concerns this controller. */
type NoteLockProblem = (environment: string, problem: string | null) => void;

/** Reports the problems of the locks as one condition of the controller, which ends with that of the last environment. */
export function lockProblems(conditions: Pick<Conditions, 'set'>): NoteLockProblem {
  const without = new Set<string>();
  return (environment, problem) => {
    if (problem !== null) {
      without.add(environment);
      conditions.set('locks', problem);
    } else if (without.delete(environment) && without.size === 0) conditions.set('locks', null);
  };
}

/**
 * The reason why locks cannot be used if that caused the loss of a lock; null if it is not lost, or another process may have it. The next
 * attempt to take the lock receives it, so that one problem is logged once.
 */
export function whyUnusable(lock: Pick<Lock, 'isLost' | 'lost'>): string | null {
  const reason: unknown = lock.isLost ? lock.lost.reason : null;
  if (!(reason instanceof SetpointError)) return null;
  const { cause } = reason;
  return cause instanceof SetpointError && cause.code === 'lock-failed' ? cause.message : null;
}
