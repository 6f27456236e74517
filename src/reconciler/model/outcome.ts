import type {
  Change,
  FORMAT_VERSION,
  Merged,
  PlanSummary,
  Run,
  Summary,
  Tool,
  Unknown,
} from './plan.ts';
import type { StartedMember } from './action.ts';
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
 * not which), `unverifiable` (sent, and the server does not show it; or
 * what reads STARTING for good), `not-sent` (nothing was sent, or the service refused it and stored
 * nothing), `unknown` (sent, and not observed since: it may be stored).
 */
export type Result = (typeof RESULTS)[number];

/** A change of the plan with its result. */
export interface OutcomeChange extends Change<Json>, StartedMember {
  /** The result of the change. */
  readonly result: Result;
}

/** A difference that remains after the write: masked, like everything in a document. */
export interface Remainder {
  /** `settings`, or the name of a block. */
  readonly resource: Change['resource'];
  /** The path in the settings file. */
  readonly path: readonly string[];
  /** The value of the file, masked. */
  readonly expected: Json;
  /** The value of the server, masked. */
  readonly actual: Json;
  /** Why it remains, for programs; absent for a sandbox and an item of a block. */
  readonly code?: 'cached' | 'server-adds' | 'other-client' | 'not-kept';
  /** The reason that it differs, in a sentence. */
  readonly reason: string;
  /** A sentence about what to do. */
  readonly hint: string;
}

/** The outcome of one environment. */
export interface EnvironmentOutcome extends ServiceDialect {
  /** The name of the environment. */
  readonly name: string;
  /** Scheme, host and port of its server; null if the address is not known. */
  readonly origin: string | null;
  /** `not-empty`: an apply that was to write only if nothing is stored yet found settings, and wrote nothing. */
  readonly status: Exclude<OutcomeVerdict, 'not-started'>;
  /** The guards that `--allow` lifted. */
  readonly allowed: readonly string[];
  /** The changes, each with its result. */
  readonly changes: readonly OutcomeChange[];
  /** The differences that remain after the write. */
  readonly remaining: readonly Remainder[];
  /** The values that could not be compared. */
  readonly unknown: readonly Unknown[];
  /** Remarks that stop nothing. */
  readonly warnings: readonly Warning[];
  /** The reasons why the guards refused the plan. */
  readonly refusals: readonly Refusal[];
  /** The number of requests were sent. */
  readonly requests: { readonly get: number; readonly post: number };
  /** The checks that the service made before anything was written; absent if none were requested. */
  readonly proofs?: readonly Proof[] | undefined;
  /** The failure that ended the environment; null if none did. */
  readonly error: ErrorReport | null;
}

/** The result of an apply, for every end. schemas/outcome.schema.json is its schema. Times are ISO 8601, UTC. */
export interface OutcomeDocument {
  /** The version of this form of document. */
  readonly format_version: typeof FORMAT_VERSION;
  /** The kind of document. */
  readonly kind: 'outcome';
  /** The program and version that wrote the document. */
  readonly tool: Tool;
  /** The time at which the run began, ISO 8601, UTC. */
  readonly started_at: string;
  /** The part of the environments that this is about; null if it is about all of those chosen. */
  readonly shard: Shard | null;
  /** The chosen environments, in the order of their names. */
  readonly environments: readonly EnvironmentOutcome[];
  /** The time at which the run ended, ISO 8601, UTC. */
  readonly finished_at: string;
  /** The person and the commit of the run, as far as the pipeline reports them. */
  readonly run: Run;
  /** The counts, and the environments that need attention. */
  readonly summary: OutcomeSummary;
  /** Only if `setpoint report` made it of several. */
  readonly merged?: Merged | undefined;
}

/** The members of an outcome document around its environments: it is written while it is made. */
export type OutcomeHead = Omit<OutcomeDocument, 'environments' | keyof OutcomeTail>;
export type OutcomeTail = Pick<OutcomeDocument, 'finished_at' | 'run' | 'summary'>;

/** The counts of an apply. */
export type OutcomeSummary = Summary<OutcomeVerdict>;
export type AnySummary = PlanSummary | OutcomeSummary;
