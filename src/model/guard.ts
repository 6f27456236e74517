import type { Path } from './path.ts';

/** The rules by which a plan refuses itself, and that `--allow` lifts, each for one run. */
export const RULES = [
  'max-changes',
  'clear-secret',
  'lose-unreadable',
  'move-endpoint',
  'run-code',
  'disable-safety',
  'overwrite-drift',
  'empty-store',
] as const;
export type Rule = (typeof RULES)[number];

/** What a file says of its guards. `on` are the rules that refuse; the others only warn. */
export interface GuardSettings {
  readonly on: ReadonlySet<Rule>;
  readonly maxChanges: number | null;
  /** Why nothing may be written at all; null where it may. */
  readonly frozen: string | null;
}

/** Why an apply refuses a plan: the rule, what it found, where (`[]` for the whole plan), and how to lift it. */
export interface Refusal {
  readonly rule: Rule | 'frozen';
  readonly message: string;
  readonly hint: string;
  readonly path: Path;
}

/** What a rule has found in a plan, and where. */
export type Finding = Pick<Refusal, 'message' | 'path'>;
