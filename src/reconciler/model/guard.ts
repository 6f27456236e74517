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
  'reset-agent',
  'secrets-gone',
  'remove-others',
  'shared-key',
  'unproven',
] as const;
export type Rule = (typeof RULES)[number];

/** The guards of a file. The rules in `on` refuse; the others only warn. */
export interface GuardSettings {
  readonly on: ReadonlySet<Rule>;
  readonly maxChanges: number | null;
  /** The reason why nothing may be written; null if writes are allowed. */
  readonly frozen: string | null;
  /** Rules in `on` that nothing lifts, each with its source. */
  readonly forbidden?: ReadonlyMap<Rule, string>;
}

/** The reason why an apply refuses a plan: the rule, its finding, the path (`[]` for the whole plan), and how to lift it. */
export interface Refusal {
  readonly rule: Rule | 'frozen';
  readonly message: string;
  readonly hint: string;
  readonly path: Path;
}

/** The finding of a rule in a plan, and its path. */
export type GuardFinding = Pick<Refusal, 'message' | 'path'>;
