import type { Warning, WarningCode } from '../model/plan.ts';

/** Warnings in the order of their weight, else in their own: what an apply would refuse or lose, what guards say, the rest. */
export function byWeight(warnings: readonly Warning[]): Warning[] {
  return warnings.toSorted((one, other) => weightOf(one.code) - weightOf(other.code));
}

/** 0 for what an apply would refuse or lose, 1 for what guards say, 2 for the rest. */
export function weightOf(code: WarningCode): 0 | 1 | 2 {
  if (code === 'would-be-refused' || code === 'lose-unreadable') return 0;
  return code === 'guard' ? 1 : 2;
}
