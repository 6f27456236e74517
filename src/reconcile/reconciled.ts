import type { SetpointError } from '../model/error.ts';
import type { WrittenSecret } from '../model/fingerprint.ts';
import type { Remainder, Result } from '../model/outcome.ts';
import type { Path } from '../model/path.ts';
import { changesOf, type Change, type Plan, type Unknown, type Warning } from '../model/plan.ts';
import type {
  Actuator,
  Clock,
  Fingerprints,
  Observer,
  SandboxActuator,
  SandboxObserver,
} from '../model/ports.ts';
import type { DialectName } from '../model/dialect.ts';
import type { DesiredState, ObservedState } from '../model/state.ts';
import type { Refusal, Rule } from '../model/guard.ts';
import { warningsOf } from '../plan/plan-document.ts';
import type { Rotation } from '../plan/plan-secrets.ts';

/** What one reconcile works with. The two signals stop it: before a write at once, during one only when `abandon` fires. */
export interface ReconcileInput {
  readonly desired: DesiredState;
  readonly observer: Observer;
  readonly actuator: Actuator;
  readonly sandboxes: { readonly observer: SandboxObserver; readonly actuator: SandboxActuator };
  readonly clock: Clock;
  readonly fingerprints: Fingerprints;
  /** Why a plan goes beyond the one that was approved earlier; null where it does not, or none was. */
  readonly cover: (plan: Plan) => SetpointError | null;
  /** Adds to a plan what has moved since the file was last applied, where that is known. */
  readonly classify: (plan: Plan, observed: ObservedState) => Plan;
  /**
   * Drops what is known of the secrets under some paths, durably, before a write may change them. What it resolves to puts
   * that back.
   */
  readonly forget: (paths: readonly Path[]) => Promise<() => Promise<void>>;
  /** Takes in the secrets that a write has surely brought about. */
  readonly remember: (written: readonly WrittenSecret[]) => Promise<void>;
  readonly rotation: Rotation;
  readonly allowed: readonly Rule[];
  /** How long sandboxes are waited for, in milliseconds; 0 does not wait. */
  readonly wait: number;
  /** Told what the sandboxes that are waited for are at, after each look at them. */
  readonly progress: (waiting: readonly SandboxProgress[]) => void;
  /** Told each plan that has changes, and the look it came from, before it is guarded. */
  readonly announce: (plan: Plan, look: ObservedState) => Promise<void>;
  /** Asked once for each plan that would be written. */
  readonly approve: () => Promise<boolean>;
  /** A person or the system asks to stop: the write in flight is finished and verified. */
  readonly signal?: AbortSignal | undefined;
  /** They ask again: what is in flight is given up. */
  readonly abandon?: AbortSignal | undefined;
}

/** A sandbox that is waited for. `id` is null until the service has named it, `status` null until it is listed. */
export interface SandboxProgress {
  /** `watch`: it reads ERROR and may be booting. */
  readonly action: 'start' | 'resume' | 'pause' | 'watch';
  readonly id: string | null;
  readonly spec: string | null;
  readonly status: string | null;
  readonly done: boolean;
}

/** How a reconcile ended. `error` says why where it is not as it should be; a stop that was verified has one too. */
export interface Reconciled {
  readonly status: 'in-sync' | 'applied' | 'partial' | 'not-converged' | 'refused' | 'failed';
  readonly plan: Plan;
  readonly dialect: DialectName | null;
  readonly results: ReadonlyMap<Change, Result>;
  /** The ids of sandboxes that were started. */
  readonly started: ReadonlyMap<Change, string>;
  readonly remaining: readonly Remainder[];
  readonly unknown: readonly Unknown[];
  readonly warnings: readonly Warning[];
  /** Why the guards refused the plan: every reason. */
  readonly refusals: readonly Refusal[];
  readonly error: SetpointError | null;
}

/** How one part of a plan ended: what is said of the settings, or of the sandboxes, in a `Reconciled`. */
export type PartEnd = Pick<
  Reconciled,
  'status' | 'results' | 'remaining' | 'unknown' | 'warnings' | 'error'
>;

/** An end at which nothing was verified: every change has the same result. */
export function unverifiedEnd(
  status: Reconciled['status'],
  plan: Plan,
  dialect: DialectName | null,
  result: Result,
  error: SetpointError | null,
): Reconciled {
  return {
    status,
    plan,
    dialect,
    results: sameResult(changesOf(plan), result),
    started: new Map(),
    remaining: [],
    unknown: plan.settings.unknown,
    warnings: warningsOf(plan),
    refusals: [],
    error,
  };
}

export function sameResult(
  changes: readonly Change[],
  result: Result,
): ReadonlyMap<Change, Result> {
  return new Map(changes.map((change) => [change, result]));
}
