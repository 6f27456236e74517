/** A documented metric. No label contains an origin, a path or a value. */
export interface Metric {
  readonly type: 'gauge' | 'counter' | 'histogram';
  readonly help: string;
  readonly labels: readonly string[];
}

/** The metrics of each environment, in the order in which they are written. */
export const TARGET_METRICS = {
  setpoint_target_info: {
    type: 'gauge',
    help: 'Facts about an environment: the dialect and the release of its service, and its mode. Always 1.',
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
    help: '1 if healing has stopped because what it writes does not stay; 0 if not.',
    labels: ['environment'],
  },
  setpoint_target_flapping: {
    type: 'gauge',
    help: '1 if other clients changed it three times within ten minutes; 0 if not.',
    labels: ['environment'],
  },
  setpoint_target_heal_would_remove: {
    type: 'gauge',
    help: '1 if it is not healed because that would remove something by name, which watch.remove does not allow; 0 if not.',
    labels: ['environment'],
  },
  setpoint_target_heal_failures: {
    type: 'gauge',
    help: 'Heals in a row that failed, until now.',
    labels: ['environment'],
  },
  setpoint_leader: {
    type: 'gauge',
    help: '1 if no other controller has the lock of the environment, 0 if one has it.',
    labels: ['environment'],
  },
} as const satisfies Readonly<Record<string, Metric>>;

/** The metrics of all environments together: of a controller, or of a run that writes a file. */
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

/** The metrics that only a controller has. */
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
    help: 'Notices by receiver: sent, or failed. Failed includes notices that may have been delivered.',
    labels: ['receiver', 'result'],
  },
  setpoint_queue_depth: {
    type: 'gauge',
    help: 'Environments that are due and wait for their turn.',
    labels: [],
  },
  setpoint_late_targets: {
    type: 'gauge',
    help: 'Environments that wait for their turn longer than half of their interval, within 15 seconds and two minutes.',
    labels: [],
  },
  setpoint_hanging_targets: {
    type: 'gauge',
    help: 'Environments whose service did not answer within four seconds when it was read last, or does not now.',
    labels: [],
  },
  setpoint_shard_info: {
    type: 'gauge',
    help: 'The part of the environments that this controller has; absent if it has all. Always 1.',
    labels: ['index', 'count'],
  },
  setpoint_unwatched_objects: {
    type: 'gauge',
    help: 'SettingsTargets that are not watched, by reason; absent for files.',
    labels: ['reason'],
  },
  setpoint_loop_turned_timestamp_seconds: {
    type: 'gauge',
    help: 'When the loop last turned.',
    labels: [],
  },
  setpoint_files_problem: {
    type: 'gauge',
    help: '1 if the settings files cannot be used and the last good ones remain in effect, 0 if they can.',
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
