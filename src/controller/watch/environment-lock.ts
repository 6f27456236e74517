import { asSetpointError, SetpointError } from '../../reconciler/model/error.ts';
import type { WatchState } from '../../reconciler/model/watch.ts';
import { isRefused, type Lock, type Locks } from './locks/locks.ts';
import type { Conditions } from './conditions.ts';

export interface LockTools {
  readonly locks: Locks;
  /** What the journal says of an environment by now. */
  readonly recall: (name: string) => Promise<WatchState>;
  /** Whether nobody else has added anything to the journal since the controller began. */
  readonly isAsStarted: () => Promise<boolean>;
  readonly lockProblem: NoteLockProblem;
}

/** The lock if this process holds it, who holds it if somebody else does, or why that cannot be told. */
export interface Held {
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
  /** Whether somebody else may have written the environment since its state was restored; null if only since the start. */
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

  /** Whether the lock was lost, or could not be taken although nobody else is known to have it. */
  get isLacking(): boolean {
    return this.#hasFailed || this.#isLost;
  }

  get #isLost(): boolean {
    return this.#lock?.lost.aborted === true;
  }

  /** Whether the lock is held by all that is known now, and what the journal says is known. */
  get isSure(): boolean {
    return this.#stale === false && this.#lock?.isHeld() === true;
  }

  /** Takes the lock unless it is held already. Never throws. */
  async take(): Promise<Held> {
    this.#hasFailed = false;
    try {
      const heldBy = await this.#take();
      return { lock: this.#lock, heldBy, problem: null };
    } catch (thrown) {
      this.#hasFailed = true;
      return { lock: null, heldBy: null, problem: asSetpointError(thrown) };
    }
  }

  /** Gives the lock up. Throws lock-failed if others could not be told. */
  async release(): Promise<void> {
    const lock = this.#lock;
    this.#lock = null;
    await lock?.release();
  }

  async #take(): Promise<string | null> {
    const { locks, recall, isAsStarted } = this.#tools;
    if (this.#isLost) {
      this.#lock = null;
      this.#stale = true;
    }
    if (this.#lock === null) {
      const taken = await locks.take(this.#name);
      if (isRefused(taken)) {
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
export function whyUnusable({ lost }: Pick<Lock, 'lost'>): string | null {
  const reason: unknown = lost.reason;
  if (!lost.aborted || !(reason instanceof SetpointError)) return null;
  const { cause } = reason;
  return cause instanceof SetpointError && cause.code === 'lock-failed' ? cause.message : null;
}
