import { usageError, asSetpointError, SetpointError } from '../../../reconciler/model/error.ts';
import type { WatchState } from '../../../reconciler/model/watch.ts';
import type { Conditions } from '../conditions.ts';

/**
 * Locks that only one process at a time holds, each for the environment that it is named after. Who holds one may write that
 * environment; who does not, waits. A lock survives nothing of its holder: after a kill, a hang or a lost network, another process
 * takes it over, once the holder can no longer believe that it holds it.
 */
export interface Locks {
  /**
   * Tries once and waits for nobody. A lock is held until it is released, lost, or `close` is called; holding many costs no more
   * than holding one. Throws a SetpointError (lock-failed) if it cannot be told who holds it, or if this process lost it a moment ago.
   */
  take(name: string): Promise<Lock | LockRefusal>;
  /**
   * Removes what is stored of locks whose environments are gone, if nobody holds them: those that a controller before this one left. Does nothing where that
   * cannot be distinguished from what belongs to another controller.
   */
  removeGone?(isGone: (name: string) => boolean): Promise<void>;
  /** Releases every lock. Throws nothing: what cannot be released is free once this process is gone. */
  close(): Promise<void>;
}

/**
 * Somebody else holds the lock. `heldBy` is who, for people to read. A holder that died is recognized by standing still, which
 * takes two tries, `retryIn` milliseconds apart.
 */
export interface LockRefusal {
  readonly heldBy: string;
  readonly retryIn: number;
}

export interface Lock {
  readonly name: string;
  /**
   * Aborts as soon as it is known, or can no longer be excluded, that somebody else may hold the lock: then nothing more is
   * written, and what is being sent is given up. Its reason is a SetpointError (lock-lost). A release does not abort it.
   */
  readonly lost: AbortSignal;
  /** True if the lock is lost; for thousands of locks without listeners. */
  readonly isLost: boolean;
  /**
   * Asks whether this process still holds the lock, and must be called right before each write, because a process that stood still
   * (a sleeping machine, SIGSTOP) does not know it. If it does, nobody else can take the lock within the next ten seconds,
   * whatever happens to this process.
   * Never throws: what cannot be told is no, and the lock is lost.
   */
  stillHeld(): Promise<boolean>;
  /**
   * Reports whether this process holds the lock by its own clock, without a request. Enough for actions that do no harm if two processes
   * take them.
   */
  isHeld(): boolean;
  /**
   * Gives the lock up at once; a second call does nothing. If its environment is gone, nothing is left of it. Throws a SetpointError (lock-failed) if others could
   * not be told.
   */
  release(isGone?: boolean): Promise<void>;
}

export function isLockRefused(taken: Lock | LockRefusal): taken is LockRefusal {
  return 'heldBy' in taken;
}

const SCOPE = /^[a-z\d](?:[a-z\d.-]{0,38}[a-z\d])?$/;

/** The locks of one scope: those of the same name in another scope, or in none, are others. Throws a usage error if it is no name. */
export function scopeLocks(locks: Locks, scope: string): Locks {
  if (!SCOPE.test(scope))
    throw usageError(
      '--lock-scope takes a name of at most 40 small letters, digits, hyphens and dots.',
      'Name what the controller watches, such as team-a.',
    );
  return {
    take: (name) => locks.take(`${scope}/${name}`),
    removeGone: async (isGone) =>
      locks.removeGone?.(
        (name) => name.startsWith(`${scope}/`) && isGone(name.slice(scope.length + 1)),
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

/** The lock if this process holds it, who holds it if somebody else does, or why that cannot be told. */
interface LockState {
  readonly lock: Lock | null;
  readonly heldBy: string | null;
  readonly problem: SetpointError | null;
}

/**
 * The lock of one environment. What is known of an environment holds only while its lock is held: whenever the lock is taken and
 * somebody else may have written meanwhile, the journal is read again.
 */
export class EnvironmentLock {
  readonly #name: string;
  readonly #tools: LockTools;
  readonly #restored: (known: WatchState) => void;
  #lock: Lock | null = null;
  #hasFailed = false;
  /** True if another process may have written the environment since its state was restored; null if only since the start. */
  #stale: boolean | null = null;

  /** `restored` is told what the journal says, each time that it was read again. */
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

  /** True if the lock is held as far as known now, and the state in the journal is known. */
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

  /** Gives the lock up, and what is stored of it if its environment is gone. Throws lock-failed if others could not be told. */
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

/** Told why the lock of an environment cannot be used; null if it can, or is no matter of this controller any more. */
type NoteLockProblem = (environment: string, problem: string | null) => void;

/** Takes what is wrong with the locks as one condition of the controller, which ends with that of the last environment. */
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
 * Why locks cannot be used if a lock was lost by that; null if it is not lost, or somebody else may have it. It is what the next attempt to take the
 * lock is told, so that one problem is logged once.
 */
export function whyUnusable(lock: Pick<Lock, 'isLost' | 'lost'>): string | null {
  const reason: unknown = lock.isLost ? lock.lost.reason : null;
  if (!(reason instanceof SetpointError)) return null;
  const { cause } = reason;
  return cause instanceof SetpointError && cause.code === 'lock-failed' ? cause.message : null;
}
