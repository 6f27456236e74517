import { SetpointError } from '../model/error.ts';
import type { Keeper } from './keeper.ts';
import type { Lock } from './locks/locks.ts';

/** Told why the lock of an environment cannot be used; null if it can, or is no matter of this controller any more. */
export type NoteLockProblem = (environment: string, problem: string | null) => void;

/** Reports what is wrong with the locks once for all environments, and once when they can be used again. */
export function lockProblems(keeper: Pick<Keeper, 'inform' | 'warn'>): NoteLockProblem {
  const without = new Set<string>();
  const told = new Set<string>();
  return (environment, problem) => {
    if (problem === null) {
      const wasLast = without.delete(environment) && without.size === 0;
      if (!wasLast) return;
      told.clear();
      keeper.inform('The locks can be used again.');
      return;
    }
    without.add(environment);
    if (told.has(problem)) return;
    told.add(problem);
    keeper.warn(`${problem} Nothing is healed without a lock.`);
  };
}

/** Why a lock was lost if locks cannot be used; null if it is not lost, or somebody else may have it. */
export function whyUnusable({ lost }: Lock): string | null {
  const reason: unknown = lost.reason;
  if (!lost.aborted || !(reason instanceof SetpointError)) return null;
  const { cause, message } = reason;
  return cause instanceof SetpointError && cause.code === 'lock-failed' ? message : null;
}
