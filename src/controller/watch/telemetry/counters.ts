import { Counter, Histogram, type OpenMetricsContentType, type Registry } from 'prom-client';
import { WATCH_METRICS, type Metric } from '../../../reconciler/model/metrics.ts';
import type { Watching, RequestCount } from '../watching.ts';

/** Seconds. */
const BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120];

/** Counts what happens, until what it returns is called. */
export function count(
  watching: Watching,
  registry: Registry<OpenMetricsContentType>,
  perEnvironment: boolean,
): () => void {
  const counted = (name: CounterName): EnvironmentCounter =>
    new EnvironmentCounter(registry, name, perEnvironment ? watching : null);
  const reads = counted('setpoint_reconcile_total');
  const writes = counted('setpoint_writes_total');
  const name = 'setpoint_reconcile_duration_seconds';
  const durations = new Histogram({
    name,
    help: WATCH_METRICS[name].help,
    buckets: BUCKETS,
    registers: [registry],
  });
  return watching.subscribe(({ name: environment }, event) => {
    switch (event.kind) {
      case 'read':
        reads.add({ environment, result: event.result });
        durations.observe(event.seconds);
        break;
      case 'write':
        writes.add({ environment, result: event.outcome.status });
        break;
      default:
    }
  });
}

type CounterName = {
  [N in keyof typeof WATCH_METRICS]: (typeof WATCH_METRICS)[N]['type'] extends 'counter'
    ? N
    : never;
}[keyof typeof WATCH_METRICS];

/** A counter that forgets environments that are no longer watched, and all of them without `watching`. */
class EnvironmentCounter {
  readonly #counter: Counter;
  readonly #labels: ReadonlySet<string>;
  readonly #seen = new Map<string, Map<string, Record<string, string>>>();

  constructor(
    registry: Registry<OpenMetricsContentType>,
    name: CounterName,
    watching: Pick<Watching, 'states'> | null,
  ) {
    const metric: Metric = WATCH_METRICS[name];
    const labels = watching === null ? withoutEnvironment(metric.labels) : metric.labels;
    this.#labels = new Set(labels);
    this.#counter = new Counter({
      name,
      help: metric.help,
      labelNames: [...labels],
      registers: [registry],
      collect: () => {
        if (watching !== null) this.#forget(new Set(watching.states().map(({ name: one }) => one)));
      },
    });
  }

  add(all: Readonly<Record<string, string>>, value = 1): void {
    const labels = Object.fromEntries(Object.entries(all).filter(([key]) => this.#labels.has(key)));
    this.#counter.inc(labels, value);
    const { environment } = labels;
    if (environment === undefined) return;
    const lines = this.#seen.get(environment) ?? new Map<string, Record<string, string>>();
    lines.set(JSON.stringify(labels), labels);
    this.#seen.set(environment, lines);
  }

  #forget(known: ReadonlySet<string>): void {
    for (const [environment, lines] of this.#seen) {
      if (known.has(environment)) continue;
      for (const labels of lines.values()) this.#counter.remove(labels);
      this.#seen.delete(environment);
    }
  }
}

function withoutEnvironment(labels: readonly string[]): readonly string[] {
  return labels.filter((label) => label !== 'environment');
}

/** Counts requests by their method and the status of the answer. */
export class RequestCounts {
  readonly #counts = new Map<string, RequestCount>();

  add(method: string, status: number | null): void {
    const key = `${method} ${status}`;
    const count = (this.#counts.get(key)?.count ?? 0) + 1;
    this.#counts.set(key, { method, status, count });
  }

  list(): readonly RequestCount[] {
    return [...this.#counts.values()];
  }
}

export interface NoticeCount {
  readonly receiver: string;
  readonly result: 'sent' | 'failed';
  readonly count: number;
}

/** Counts the notices that each receiver has got, and those that it has not, or may not have. */
export class NoticeCounts {
  readonly #counts: Map<string, { sent: number; failed: number }>;

  constructor(receivers: readonly string[]) {
    this.#counts = new Map(receivers.map((name) => [name, { sent: 0, failed: 0 }]));
  }

  add(receiver: string, result: NoticeCount['result'], count: number): void {
    const counts = this.#counts.get(receiver);
    if (counts !== undefined) counts[result] += count;
  }

  /** Both results of every receiver, also those that have not come about. */
  list(): readonly NoticeCount[] {
    return [...this.#counts].flatMap(([receiver, { sent, failed }]) => [
      { receiver, result: 'sent' as const, count: sent },
      { receiver, result: 'failed' as const, count: failed },
    ]);
  }
}
