import type { SetpointError } from '../model/error.ts';
import type { Remainder, Result } from '../model/outcome.ts';
import type { Change, Plan, Unknown, Warning } from '../model/plan.ts';
import type { Actuator, Clock, Fingerprints, Observer } from '../model/ports.ts';
import type { DesiredState, Dialect } from '../model/state.ts';
import type { Rule } from '../plan/guard.ts';
import type { Rotation } from '../plan/rotation.ts';

/** What one reconcile works with. The two signals stop it: before a write at once, during one only when `abandon` fires. */
export interface ReconcileInput {
  readonly desired: DesiredState;
  readonly observer: Observer;
  readonly actuator: Actuator;
  readonly clock: Clock;
  readonly fingerprints: Fingerprints;
  readonly rotation: Rotation;
  readonly allowed: readonly Rule[];
  /** Told each plan that has changes, before it is guarded. */
  readonly announce: (plan: Plan, dialect: Dialect) => Promise<void>;
  /** Asked once for each plan that would be written. */
  readonly approve: () => Promise<boolean>;
  /** A person or the system asks to stop: the write in flight is finished and verified. */
  readonly signal?: AbortSignal | undefined;
  /** They ask again: what is in flight is given up. */
  readonly abandon?: AbortSignal | undefined;
}

/** How a reconcile ended. `error` says why where it is not as it should be; a stop that was verified has one too. */
export interface Reconciled {
  readonly status: 'in-sync' | 'applied' | 'not-converged' | 'refused' | 'failed';
  readonly plan: Plan;
  readonly dialect: Dialect | null;
  readonly results: ReadonlyMap<Change, Result>;
  readonly remaining: readonly Remainder[];
  readonly unknown: readonly Unknown[];
  readonly warnings: readonly Warning[];
  readonly error: SetpointError | null;
}

/** An end at which nothing was verified: every change has the same result. */
export function unverifiedEnd(
  status: Reconciled['status'],
  plan: Plan,
  dialect: Dialect | null,
  result: Result,
  error: SetpointError | null,
): Reconciled {
  return {
    status,
    plan,
    dialect,
    results: new Map(plan.changes.map((change) => [change, result])),
    remaining: [],
    unknown: plan.unknown,
    warnings: plan.warnings,
    error,
  };
}
