import { usageError } from '../../../reconciler/model/error.ts';

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
  take(name: string): Promise<Lock | LockRefused>;
  /** Releases every lock. Throws nothing: what cannot be released is free once this process is gone. */
  close(): Promise<void>;
}

/**
 * Somebody else holds the lock. `heldBy` is who, for people to read. A holder that died is recognized by standing still, which
 * takes two tries, `retryIn` milliseconds apart.
 */
export interface LockRefused {
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
  /**
   * Asks whether this process still holds the lock, and must be called right before each write, because a process that stood still
   * (a sleeping machine, SIGSTOP) does not know it. If it does, nobody else can take the lock within the next ten seconds,
   * whatever happens to this process.
   * Never throws: what cannot be told is no, and the lock is lost.
   */
  stillHeld(): Promise<boolean>;
  /** Whether this process holds the lock as far as its own clock tells; nobody is asked. Enough for what does no harm if two do it. */
  isHeld(): boolean;
  /** Gives the lock up at once; a second call does nothing. Throws a SetpointError (lock-failed) if others could not be told. */
  release(): Promise<void>;
}

export function isRefused(taken: Lock | LockRefused): taken is LockRefused {
  return 'heldBy' in taken;
}

const SCOPE = /^[a-z\d](?:[a-z\d.-]{0,38}[a-z\d])?$/;

/** The locks of one scope: those of the same name in another scope, or in none, are others. Throws a usage error if it is no name. */
export function scopedLocks(locks: Locks, scope: string): Locks {
  if (!SCOPE.test(scope))
    throw usageError(
      '--lock-scope takes a name of at most 40 small letters, digits, hyphens and dots.',
      'Name what the controller watches, such as team-a.',
    );
  return {
    take: (name) => locks.take(`${scope}/${name}`),
    close: () => locks.close(),
  };
}
