import { countActions, type ActionCounts } from './action.ts';
import { CONDITION_KINDS, type Condition, type WatchSettings, type WatchState } from './watch.ts';
import { WATCH_STATUSES, type WatchStatus } from './verdict.ts';

/** A metric as it is documented. No label holds an origin, a path or a value. */
export interface Metric {
  readonly type: 'gauge' | 'counter' | 'histogram';
  readonly help: string;
  readonly labels: readonly string[];
}

/** What is said of each environment, in the order in which it is written. */
export const TARGET_METRICS = {
  setpoint_target_info: {
    type: 'gauge',
    help: 'What is known of an environment: the dialect and the release of its service, and its mode. Always 1.',
    labels: ['environment', 'dialect', 'server_version', 'mode'],
  },
  setpoint_target_status: {
    type: 'gauge',
    help: 'The status of an environment: 1 for the one that it has, 0 for the others.',
    labels: ['environment', 'status'],
  },
  setpoint_target_changes: {
    type: 'gauge',
    help: 'Changes that an apply would make, by action; only the actions that there are.',
    labels: ['environment', 'action'],
  },
  setpoint_target_unknowns: {
    type: 'gauge',
    help: 'Declared values that could not be compared.',
    labels: ['environment'],
  },
  setpoint_target_failures: {
    type: 'gauge',
    help: 'Reads in a row that failed, until now.',
    labels: ['environment'],
  },
  setpoint_target_last_look_timestamp_seconds: {
    type: 'gauge',
    help: 'When the environment was last read, also if that failed.',
    labels: ['environment'],
  },
  setpoint_target_last_in_sync_timestamp_seconds: {
    type: 'gauge',
    help: 'When the environment was last found in sync.',
    labels: ['environment'],
  },
  setpoint_target_last_apply_timestamp_seconds: {
    type: 'gauge',
    help: 'When the file was last applied to the environment.',
    labels: ['environment'],
  },
  setpoint_target_next_look_timestamp_seconds: {
    type: 'gauge',
    help: 'When the environment is due to be read again.',
    labels: ['environment'],
  },
  setpoint_target_healing_stopped: {
    type: 'gauge',
    help: '1 if healing has stopped because something else writes the same values, until somebody resumes it; 0 if not.',
    labels: ['environment'],
  },
  setpoint_target_heal_failures: {
    type: 'gauge',
    help: 'Heals in a row that failed, until now.',
    labels: ['environment'],
  },
  setpoint_leader: {
    type: 'gauge',
    help: 'Whether no other controller holds the lock of the environment: 1 or 0.',
    labels: ['environment'],
  },
} as const satisfies Readonly<Record<string, Metric>>;

/** What is said of the whole of them: by a controller, or by a run that writes a file. */
export const TOTAL_METRICS = {
  setpoint_build_info: {
    type: 'gauge',
    help: 'The version of setpoint. Always 1.',
    labels: ['version'],
  },
  setpoint_targets: {
    type: 'gauge',
    help: 'Environments by status.',
    labels: ['status'],
  },
  setpoint_oldest_look_timestamp_seconds: {
    type: 'gauge',
    help: 'When the environment that was read least recently was last read.',
    labels: [],
  },
} as const satisfies Readonly<Record<string, Metric>>;

/** What only a controller says. */
export const WATCH_METRICS = {
  setpoint_reconcile_total: {
    type: 'counter',
    help: 'Reads that ended: done, or the code of the error.',
    labels: ['environment', 'result'],
  },
  setpoint_reconcile_duration_seconds: {
    type: 'histogram',
    help: 'How long a read took.',
    labels: [],
  },
  setpoint_writes_total: {
    type: 'counter',
    help: 'Applies that wrote or may have written, by their outcome.',
    labels: ['environment', 'result'],
  },
  setpoint_requests_total: {
    type: 'counter',
    help: 'Requests to services by method and status of the answer; error if none came.',
    labels: ['method', 'code'],
  },
  setpoint_notices_total: {
    type: 'counter',
    help: 'Notices by receiver: sent, or failed, which counts those that may have been taken, too.',
    labels: ['receiver', 'result'],
  },
  setpoint_queue_depth: {
    type: 'gauge',
    help: 'Environments that are due and wait for their turn.',
    labels: [],
  },
  setpoint_shard_info: {
    type: 'gauge',
    help: 'The part of the environments that this controller has; absent if it has all. Always 1.',
    labels: ['index', 'count'],
  },
  setpoint_loop_turned_timestamp_seconds: {
    type: 'gauge',
    help: 'When the loop last turned.',
    labels: [],
  },
  setpoint_files_problem: {
    type: 'gauge',
    help: '1 if the settings files cannot be used and the last good ones stay in force, 0 if they can.',
    labels: [],
  },
  setpoint_controller_problem: {
    type: 'gauge',
    help: 'Whether something is wrong with the controller itself, by kind, and for receivers by name: 1 while it is, 0 while not.',
    labels: ['kind', 'receiver'],
  },
  process_cpu_seconds_total: {
    type: 'counter',
    help: 'Processor time of the process.',
    labels: [],
  },
  process_resident_memory_bytes: {
    type: 'gauge',
    help: 'Memory of the process.',
    labels: [],
  },
  process_start_time_seconds: {
    type: 'gauge',
    help: 'When the process started.',
    labels: [],
  },
} as const satisfies Readonly<Record<string, Metric>>;

export type TargetMetric = keyof typeof TARGET_METRICS;

/** One line of a metric. */
export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** What the metrics need of an environment: its state, of which a run knows less than a controller and keeps no plan. */
export interface Measured
  extends
    Pick<WatchState, 'name' | 'status' | 'dialect' | 'release' | 'lastRead' | 'lastInSync'>,
    Partial<
      Pick<WatchState, 'failures' | 'lastApply' | 'nextRead' | 'stopped' | 'healFailed' | 'heldBy'>
    > {
  readonly settings: Pick<WatchSettings, 'mode'>;
  readonly differences: Differences;
}

/** How many changes and unknown values a read found; `unknown` is null if nothing was compared. */
export interface Differences {
  readonly changes: Readonly<Partial<ActionCounts>>;
  readonly unknown: number | null;
}

/** Those that the last read of a state found. */
export function differencesOf({ plan, found }: Pick<WatchState, 'plan' | 'found'>): Differences {
  if (plan !== null) return { changes: countActions(plan.changes), unknown: plan.unknown.length };
  return { changes: {}, unknown: found === 'in-sync' ? 0 : null };
}

/** The lines of one metric about one environment. */
export function targetSamples(metric: TargetMetric, measured: Measured): readonly Sample[] {
  const environment = measured.name;
  switch (metric) {
    case 'setpoint_target_info': {
      const { dialect, release, settings } = measured;
      const labels = { dialect: dialect ?? '', server_version: release ?? '', mode: settings.mode };
      return [{ labels: { environment, ...labels }, value: 1 }];
    }
    case 'setpoint_target_status':
      return WATCH_STATUSES.map((status) => ({
        labels: { environment, status: statusLabel(status) },
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
      return single(environment, seconds(measured.lastRead));
    case 'setpoint_target_last_in_sync_timestamp_seconds':
      return single(environment, seconds(measured.lastInSync));
    case 'setpoint_target_last_apply_timestamp_seconds':
      return single(environment, seconds(measured.lastApply));
    case 'setpoint_target_next_look_timestamp_seconds':
      return single(environment, seconds(measured.nextRead));
    case 'setpoint_target_healing_stopped':
      return single(environment, flag(measured.stopped));
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
  return WATCH_STATUSES.map((status) => ({
    labels: { status: statusLabel(status) },
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

/** A status as a label has it: `in_sync`. */
function statusLabel(status: WatchStatus): string {
  return status.replaceAll('-', '_');
}

function single(environment: string, value: number | null | undefined): readonly Sample[] {
  return value === null || value === undefined ? [] : [{ labels: { environment }, value }];
}

/** Whether something is there, or is not if `there` is false; undefined if that is not known. */
function flag(value: object | string | null | undefined, there = true): number | undefined {
  return value === undefined ? undefined : Number((value !== null) === there);
}

function seconds(at: string | null | undefined): number | null {
  return at === null || at === undefined ? null : Date.parse(at) / 1000;
}
