import type {
  Change,
  FORMAT_VERSION,
  Merged,
  PlanSummary,
  Run,
  StartedMember,
  Summary,
  Tool,
  Unknown,
} from './plan.ts';
import type { ErrorReport, Warning } from './error.ts';
import type { Refusal } from './guard.ts';
import type { Proof } from './proof.ts';
import type { Shard } from './shard.ts';
import type { ServiceDialect } from './state.ts';
import type { Json } from './value.ts';
import type { OutcomeVerdict } from './verdict.ts';

export const RESULTS = ['verified', 'set', 'unverifiable', 'not-sent', 'unknown'] as const;
/**
 * The result of one change: `verified` (the service shows it), `set` (a secret: the service reports that one is stored now, and
 * not which), `unverifiable` (sent, and cannot be read back; or
 * what reads STARTING for good), `not-sent` (nothing was sent, or the service refused it and stored
 * nothing), `unknown` (sent, and not observed since: it may be stored).
 */
export type Result = (typeof RESULTS)[number];

export interface OutcomeChange extends Change<Json>, StartedMember {
  readonly result: Result;
}

/** A difference that remains after the write: masked, like everything in a document. */
export interface Remainder {
  readonly resource: Change['resource'];
  readonly path: readonly string[];
  readonly expected: Json;
  readonly actual: Json;
  /** Why it remains, for programs; absent for a sandbox and an item of a block. */
  readonly code?: 'cached' | 'server-adds' | 'other-client' | 'not-kept';
  readonly reason: string;
  readonly hint: string;
}

export interface EnvironmentOutcome extends ServiceDialect {
  readonly name: string;
  readonly origin: string | null;
  /** `not-empty`: an apply that was to write only if nothing is stored yet found settings, and wrote nothing. */
  readonly status: Exclude<OutcomeVerdict, 'not-started'>;
  /** The guards that `--allow` lifted. */
  readonly allowed: readonly string[];
  readonly changes: readonly OutcomeChange[];
  readonly remaining: readonly Remainder[];
  readonly unknown: readonly Unknown[];
  readonly warnings: readonly Warning[];
  /** The reasons why the guards refused the plan. */
  readonly refusals: readonly Refusal[];
  readonly requests: { readonly get: number; readonly post: number };
  /** The checks that the service made before anything was written; absent if none were requested. */
  readonly proofs?: readonly Proof[] | undefined;
  readonly error: ErrorReport | null;
}

/** The result of an apply, for every end. schemas/outcome.schema.json is its schema. Times are ISO 8601, UTC. */
export interface OutcomeDocument {
  readonly format_version: typeof FORMAT_VERSION;
  readonly kind: 'outcome';
  readonly tool: Tool;
  readonly started_at: string;
  /** The part of the environments that this is about; null if it is about all of those chosen. */
  readonly shard: Shard | null;
  readonly environments: readonly EnvironmentOutcome[];
  readonly finished_at: string;
  readonly run: Run;
  readonly summary: OutcomeSummary;
  /** Only if `setpoint report` made it of several. */
  readonly merged?: Merged | undefined;
}

/** The members of an outcome document around its environments: it is written while it is made. */
export type OutcomeHead = Omit<OutcomeDocument, 'environments' | keyof OutcomeTail>;
export type OutcomeTail = Pick<OutcomeDocument, 'finished_at' | 'run' | 'summary'>;

export type OutcomeSummary = Summary<OutcomeVerdict>;
export type AnySummary = PlanSummary | OutcomeSummary;
