import { setImmediate } from 'node:timers/promises';
import { Counter, Gauge, Registry, type OpenMetricsContentType } from 'prom-client';
import {
  countStateDifferences,
  problemSamples,
  statusSamples,
  targetSamples,
  type EnvironmentMetrics,
  type Sample,
} from '../../../reconciler/model/metric-samples.ts';
import {
  TARGET_METRICS,
  TOTAL_METRICS,
  WATCH_METRICS,
  type Metric,
  type TargetMetric,
} from '../../../reconciler/model/metrics.ts';
import { metricText, sampleLines } from '../../../reconciler/render/prometheus.ts';
import { VERSION } from '../../../reconciler/model/version.ts';
import type { WatchState } from '../../../reconciler/model/watch.ts';
import { isFlapping } from '../flapping.ts';
import { findProtectedItem } from '../healing.ts';
import { count, type NoticeCounts } from './counters.ts';
import type { Watching } from '../watching.ts';

export interface MetricsForm {
  /** False for the older text format of Prometheus. Default: true. */
  readonly inOpenMetrics?: boolean;
  /** True if each environment has metrics of its own, some twenty lines each; otherwise only the totals are left. Default: true. */
  readonly perEnvironment?: boolean;
}

export interface Metrics {
  /** All of them as they are now, with the content type. */
  readonly text: (form?: MetricsForm) => Promise<{ readonly type: string; readonly text: string }>;
  /** Stops counting. */
  readonly close: () => void;
}

/**
 * The metrics of a running controller, with the counts of notices; null without receivers. Their samples of environments are read on
 * request, and not stored.
 */
export function createMetrics(watching: Watching, notices: NoticeCounts | null = null): Metrics {
  const [full, totals] = [true, false].map((perEnvironment) =>
    createRegistry(watching, notices, perEnvironment),
  ) as [CountingRegistry, CountingRegistry];
  return {
    text: async ({ inOpenMetrics = true, perEnvironment = true } = {}) => {
      const { registry } = perEnvironment ? full : totals;
      const targets = perEnvironment ? await targetTexts(watching) : [];
      const others = await registry.metrics();
      if (inOpenMetrics) return { type: registry.contentType, text: [...targets, others].join('') };
      const text = [...targets, olderText(others)].join('');
      return { type: Registry.PROMETHEUS_CONTENT_TYPE, text };
    },
    close: () => {
      full.end();
      totals.end();
    },
  };
}

interface CountingRegistry {
  readonly registry: Registry<OpenMetricsContentType>;
  readonly end: () => void;
}

function createRegistry(
  watching: Watching,
  notices: NoticeCounts | null,
  perEnvironment: boolean,
): CountingRegistry {
  const registry: Registry<OpenMetricsContentType> = new Registry();
  registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE);
  for (const [name, metric, samples] of createGauges(watching))
    registry.registerMetric(new ComputedGauge(name, metric, samples));
  registry.registerMetric(processorTime());
  registry.registerMetric(createRequestCounter(watching));
  registry.registerMetric(createNoticeCounter(notices));
  return { registry, end: count(watching, registry, perEnvironment) };
}

/** OpenMetrics without exemplars in the older format, which describes a counter by its whole name and has no mark at its end. */
function olderText(openMetrics: string): string {
  const counters = new Set(
    [...openMetrics.matchAll(/^# TYPE (\S+) counter$/gm)].map(([, name]) => name),
  );
  return openMetrics
    .replaceAll(/^(# (?:HELP|TYPE) (\S+))/gm, (line, _, name: string) =>
      counters.has(name) ? `${line}_total` : line,
    )
    .replace(/^# EOF\n$/m, '');
}

/** Environments after which others have their turn. */
const AT_ONCE = 250;

/**
 * Formats the metrics of each environment at the time of the request. Thousands have some twenty lines each: others wait for a few at a
 * time.
 */
async function targetTexts(watching: Pick<Watching, 'states'>): Promise<readonly string[]> {
  const metrics = Object.entries(TARGET_METRICS).map(([name, metric]) => ({
    name: name as TargetMetric,
    parts: [metricText(name, metric, [])],
  }));
  const all = watching.states();
  for (let from = 0; from < all.length; from += AT_ONCE) {
    const some = all.slice(from, from + AT_ONCE).map(measureState);
    for (const { name, parts } of metrics)
      parts.push(some.map((one) => sampleLines(name, targetSamples(name, one))).join(''));
    if (all.length > AT_ONCE) await setImmediate();
  }
  return metrics.flatMap(({ parts }) => parts);
}

function measureState(state: WatchState): EnvironmentMetrics {
  const lastRead = state.lastRead === null ? 0 : Date.parse(state.lastRead);
  return {
    ...state,
    differences: countStateDifferences(state),
    keptItem: findProtectedItem(state),
    flapping: isFlapping(state, lastRead),
  };
}

/** A gauge whose lines are made each time that they are written. */
class ComputedGauge extends Gauge {
  readonly #samples: () => readonly Sample[];

  constructor(name: string, { help, labels }: Metric, samples: () => readonly Sample[]) {
    super({ name, help, labelNames: [...labels], registers: [] });
    this.#samples = samples;
  }

  override async get(): ReturnType<Gauge['get']> {
    const described = await super.get();
    return { ...described, values: this.#samples().map((sample) => ({ ...sample })) };
  }
}

type Computable = readonly [name: string, metric: Metric, samples: () => readonly Sample[]];

function createGauges(watching: Watching): readonly Computable[] {
  const started = Date.now() / 1000 - process.uptime();
  const value = (name: keyof typeof ALONE, of: () => number | null): Computable => [
    name,
    ALONE[name],
    () => {
      const found = of();
      return found === null ? [] : [{ labels: {}, value: found }];
    },
  ];
  return [
    createInfoGauge('setpoint_build_info', TOTAL_METRICS.setpoint_build_info, () => ({
      version: VERSION,
    })),
    [
      'setpoint_targets',
      TOTAL_METRICS.setpoint_targets,
      () => statusSamples(watching.states().map(({ status }) => status)),
    ],
    value('setpoint_oldest_look_timestamp_seconds', () => oldestLook(watching.states())),
    value('setpoint_queue_depth', () => watching.health.queued),
    value('setpoint_late_targets', () => watching.health.late),
    value('setpoint_hanging_targets', () => watching.health.hanging),
    createInfoGauge('setpoint_shard_info', WATCH_METRICS.setpoint_shard_info, () => {
      const { shard } = watching.health;
      return shard === null ? null : { index: String(shard.index), count: String(shard.count) };
    }),
    [
      'setpoint_unwatched_objects',
      WATCH_METRICS.setpoint_unwatched_objects,
      () =>
        [...(watching.health.unwatched ?? [])].map(([reason, many]) => ({
          labels: { reason },
          value: many,
        })),
    ],
    value('setpoint_loop_turned_timestamp_seconds', () => watching.health.turnedAt / 1000),
    value('setpoint_files_problem', () => Number(watching.health.filesProblem !== null)),
    [
      'setpoint_controller_problem',
      WATCH_METRICS.setpoint_controller_problem,
      () => problemSamples(watching.conditions.list(), watching.conditions.receivers),
    ],
    value('process_resident_memory_bytes', () => process.memoryUsage.rss()),
    value('process_start_time_seconds', () => started),
  ];
}

/** Requests as the controller counts them. */
function createRequestCounter(watching: Pick<Watching, 'requests'>): Counter {
  return createScrapeCounter('setpoint_requests_total', (counter) => {
    for (const { method, status, count: requests } of watching.requests)
      counter.inc({ method, code: status === null ? 'error' : String(status) }, requests);
  });
}

/** Notices as they are counted where they are sent: each receiver has both results from the start, so that the first failure is an increase. */
function createNoticeCounter(counts: NoticeCounts | null): Counter {
  return createScrapeCounter('setpoint_notices_total', (counter) => {
    for (const { receiver, result, count: notices } of counts?.list() ?? [])
      counter.inc({ receiver, result }, notices);
  });
}

/** A counter that takes its numbers from where they are counted, at each scrape. */
function createScrapeCounter(
  name: 'setpoint_requests_total' | 'setpoint_notices_total',
  count: (counter: Counter) => void,
): Counter {
  const { help, labels } = WATCH_METRICS[name];
  return new Counter({
    name,
    help,
    labelNames: [...labels],
    registers: [],
    collect(this: Counter) {
      this.reset();
      count(this);
    },
  });
}

/** Processor time as the system counts it. */
function processorTime(): Counter {
  const name = 'process_cpu_seconds_total';
  return new Counter({
    name,
    help: WATCH_METRICS[name].help,
    registers: [],
    collect(this: Counter) {
      const { user, system } = process.cpuUsage();
      this.reset();
      this.inc((user + system) / 1e6);
    },
  });
}

const ALONE = { ...TOTAL_METRICS, ...WATCH_METRICS };

function createInfoGauge(
  name: string,
  metric: Metric,
  labels: () => Readonly<Record<string, string>> | null,
): Computable {
  return [
    name,
    metric,
    () => {
      const found = labels();
      return found === null ? [] : [{ labels: found, value: 1 }];
    },
  ];
}

/** In seconds since 1970; null if none was read yet. */
function oldestLook(states: readonly WatchState[]): number | null {
  const looks = states.flatMap(({ lastRead }) => (lastRead === null ? [] : [Date.parse(lastRead)]));
  return looks.length === 0 ? null : looks.reduce((one, other) => Math.min(one, other)) / 1000;
}
