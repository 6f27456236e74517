import { countActions, type ActionCounts } from './action.ts';
import type { Path } from './path.ts';
import { CONDITION_KINDS, type Condition, type WatchSettings, type WatchState } from './watch.ts';
import { WATCH_STATUSES, type WatchStatus } from './verdict.ts';
import type { TargetMetric } from './metrics.ts';

/* What metrics say, as it is now. */

/** One line of a metric. */
export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** The state of an environment for metrics. A run knows less than a controller and stores no plan. */
export interface EnvironmentMetrics
  extends
    Pick<WatchState, 'name' | 'status' | 'dialect' | 'release' | 'lastRead' | 'lastInSync'>,
    Partial<
      Pick<WatchState, 'failures' | 'lastApply' | 'nextRead' | 'stopped' | 'healFailed' | 'heldBy'>
    > {
  readonly settings: Pick<WatchSettings, 'mode'>;
  readonly differences: Differences;
  /** The item that healing would remove, and may not; null without one. */
  readonly keptItem?: Path | null;
  /** Whether other clients keep changing it. */
  readonly flapping?: boolean;
}

/** The numbers of changes and unknown values in a read; `unknown` is null if nothing was compared. */
export interface Differences {
  readonly changes: Readonly<Partial<ActionCounts>>;
  readonly unknown: number | null;
}

/** Returns the differences in the last read of a state. */
export function countStateDifferences({
  plan,
  found,
}: Pick<WatchState, 'plan' | 'found'>): Differences {
  if (plan !== null) return { changes: countActions(plan.changes), unknown: plan.unknown.length };
  return { changes: {}, unknown: found === 'in-sync' ? 0 : null };
}

/** The lines of one metric about one environment. */
export function targetSamples(
  metric: TargetMetric,
  measured: EnvironmentMetrics,
): readonly Sample[] {
  const environment = measured.name;
  switch (metric) {
    case 'setpoint_target_info': {
      const { dialect, release, settings } = measured;
      const labels = { dialect: dialect ?? '', server_version: release ?? '', mode: settings.mode };
      return [{ labels: { environment, ...labels }, value: 1 }];
    }
    case 'setpoint_target_status':
      return STATUS_LABELS.map(([status, label]) => ({
        labels: { environment, status: label },
        value: Number(status === measured.status),
      }));
    case 'setpoint_target_changes':
      return Object.entries(measured.differences.changes)
        .filter(([, count]) => count > 0)
        .map(([action, value]) => ({ labels: { environment, action }, value }));
    case 'setpoint_target_unknowns':
      return single(environment, measured.differences.unknown);
    case 'setpoint_target_failures':
      return single(environment, measured.failures);
    case 'setpoint_target_last_look_timestamp_seconds':
      return single(environment, toUnixSeconds(measured.lastRead));
    case 'setpoint_target_last_in_sync_timestamp_seconds':
      return single(environment, toUnixSeconds(measured.lastInSync));
    case 'setpoint_target_last_apply_timestamp_seconds':
      return single(environment, toUnixSeconds(measured.lastApply));
    case 'setpoint_target_next_look_timestamp_seconds':
      return single(environment, toUnixSeconds(measured.nextRead));
    case 'setpoint_target_healing_stopped':
      return single(environment, flag(measured.stopped));
    case 'setpoint_target_flapping':
      return single(environment, count(measured.flapping));
    case 'setpoint_target_heal_would_remove':
      return single(environment, flag(measured.keptItem));
    case 'setpoint_target_heal_failures': {
      const { healFailed } = measured;
      return single(environment, healFailed === null ? 0 : healFailed?.count);
    }
    case 'setpoint_leader':
      return single(environment, flag(measured.heldBy, false));
  }
}

/** The lines of `setpoint_targets`: every status, also those that no environment has. */
export function statusSamples(statuses: readonly WatchStatus[]): readonly Sample[] {
  return STATUS_LABELS.map(([status, label]) => ({
    labels: { status: label },
    value: statuses.filter((one) => one === status).length,
  }));
}

/** The lines of `setpoint_controller_problem`: every kind, and every receiver. */
export function problemSamples(
  conditions: readonly Condition[],
  receivers: readonly string[],
): readonly Sample[] {
  const kinds = CONDITION_KINDS.filter((kind) => kind !== 'receiver');
  return [
    ...kinds.map((kind) => ({
      labels: { kind },
      value: Number(conditions.some((one) => one.kind === kind)),
    })),
    ...receivers.map((receiver) => ({
      labels: { kind: 'receiver', receiver },
      value: Number(conditions.some((one) => one.receiver === receiver)),
    })),
  ];
}

/** Every status, and as a label has it: `in_sync`. */
const STATUS_LABELS = WATCH_STATUSES.map(
  (status) => [status, status.replaceAll('-', '_')] as const,
);

function single(environment: string, value: number | null | undefined): readonly Sample[] {
  return value === null || value === undefined ? [] : [{ labels: { environment }, value }];
}

/** Returns 1 if the presence of a value equals `there`, else 0; undefined if unknown. */
function flag(value: object | string | null | undefined, there = true): number | undefined {
  return value === undefined ? undefined : Number((value !== null) === there);
}

/** 1 or 0; undefined if it is not known. */
function count(value: boolean | undefined): number | undefined {
  return value === undefined ? undefined : Number(value);
}

function toUnixSeconds(at: string | null | undefined): number | null {
  return at === null || at === undefined ? null : Date.parse(at) / 1000;
}
