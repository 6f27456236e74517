import type { Warning, WarningCode } from '../model/plan.ts';

/** Warnings in the order of their weight, else in their own: what a write would lose, what guards say, the rest. */
export function byWeight(warnings: readonly Warning[]): Warning[] {
  return warnings.toSorted((one, other) => weightOf(one.code) - weightOf(other.code));
}

/** 0 for what a write would lose, 1 for what guards say, 2 for the rest. */
export function weightOf(code: WarningCode): 0 | 1 | 2 {
  if (code === 'lose-unreadable') return 0;
  return code === 'guard' ? 1 : 2;
}
