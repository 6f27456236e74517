import type { ErrorReport } from './error.ts';

/** The checks of this machine. */
export type MachineCheck = 'node' | 'file' | 'certificates' | 'debugging';
/** The checks of one environment. */
export type TargetCheck =
  | 'references'
  | 'policy'
  | 'proxy'
  | 'reach'
  | 'key'
  | 'dialect'
  | 'organization'
  | 'clock'
  | 'logins'
  | 'secrets'
  | 'sandboxes';

/**
 * The result of one check. `warning`: it works, and is worth knowing; `skipped`: it could not be judged, because another one
 * failed. `remedy` is what to do, and `code` the error that an apply would end with.
 */
export interface Check<Name extends string = MachineCheck | TargetCheck> {
  /** The name of the check. */
  readonly name: Name;
  /** The result. */
  readonly status: 'passed' | 'warning' | 'failed' | 'skipped';
  /** The finding, in a sentence. */
  readonly found: string;
  /** The advice; null if nothing is to be done. */
  readonly remedy: string | null;
  /** The code of the error that an apply would end with; null if it would not. */
  readonly code: string | null;
}

export function createPassedCheck<Name extends string>(name: Name, found: string): Check<Name> {
  return { name, status: 'passed', found, remedy: null, code: null };
}

export function createWarnedCheck<Name extends string>(
  name: Name,
  found: string,
  remedy: string,
): Check<Name> {
  return { name, status: 'warning', found, remedy, code: null };
}

export function createFailedCheck<Name extends string>(
  name: Name,
  { code, message, hint }: ErrorReport,
): Check<Name> {
  return { name, status: 'failed', found: message, remedy: hint, code };
}

export function createSkippedCheck<Name extends string>(name: Name, why: string): Check<Name> {
  return { name, status: 'skipped', found: `not checked: ${why}`, remedy: null, code: null };
}
