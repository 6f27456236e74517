import { SetpointError } from '../../reconciler/model/error.ts';
import type { Conditions } from './conditions.ts';
import type { Lock } from './locks/locks.ts';

/** Told why the lock of an environment cannot be used; null if it can, or is no matter of this controller any more. */
export type NoteLockProblem = (environment: string, problem: string | null) => void;

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

/** Why a lock was lost if locks cannot be used; null if it is not lost, or somebody else may have it. */
export function whyUnusable({ lost }: Lock): string | null {
  const reason: unknown = lost.reason;
  if (!lost.aborted || !(reason instanceof SetpointError)) return null;
  const { cause, message } = reason;
  return cause instanceof SetpointError && cause.code === 'lock-failed' ? message : null;
}
