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
  /** The rule that refuses. */
  readonly rule: Rule | 'frozen';
  /** A sentence about what happened. */
  readonly message: string;
  /** A sentence about what to do. */
  readonly hint: string;
  /** The path that it is about; null if it is about the whole plan. */
  readonly path: Path;
}

/** The finding of a rule in a plan, and its path. */
export type GuardFinding = Pick<Refusal, 'message' | 'path'>;
