import { ERRORS } from './error.ts';
import type { ErrorReport } from './plan.ts';

/** Of several environments the first in this order wins. */
const ORDER = [130, 143, 7, 8, 1, 9, 4, 6, 5, 3, 2, 0];

export function worstExitCode(codes: readonly number[]): number {
  return ORDER.find((code) => codes.includes(code)) ?? 0;
}

/** The exit code of a document's error; 0 for null. */
export function exitCodeOf(error: ErrorReport | null): number {
  if (error === null) return 0;
  const known = Object.entries(ERRORS).find(([code]) => code === error.code);
  return known?.[1].exit ?? 1;
}
