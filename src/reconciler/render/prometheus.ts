import {
  statusSamples,
  targetSamples,
  type EnvironmentMetrics,
  type Sample,
} from '../model/metric-samples.ts';
import { TARGET_METRICS, TOTAL_METRICS, type Metric, type TargetMetric } from '../model/metrics.ts';
import type { EnvironmentPlan, PlanHead } from '../model/plan.ts';
import { changeCount, planAttention } from '../model/summary.ts';
import { toWatchStatus, type WatchStatus } from '../model/verdict.ts';

/** Takes the plans of a run one after another, and stores only the content for the metrics: some words and numbers. */
export interface MetricsOfPlans {
  add(environment: EnvironmentPlan): void;
  /** The lines in parts, the metrics one after another as the format wants it. */
  text(head: Pick<PlanHead, 'tool' | 'created_at' | 'strict'>): Iterable<string>;
}

/**
 * Plans as metrics in the text format of Prometheus, for the textfile collector of node_exporter: without times of samples, which
 * it refuses. They have the names and the labels that a controller gives them.
 */
export function metricsOfPlans(): MetricsOfPlans {
  const plans: KeptRead[] = [];
  return {
    add: (environment) => plans.push(toStoredRead(environment)),
    *text({ tool: { version }, created_at: at, strict = false }) {
      const statusOf = (plan: KeptRead): WatchStatus => (strict ? plan.strictly : plan.status);
      const total = TOTAL_METRICS;
      const build = { labels: { version }, value: 1 };
      yield metricText('setpoint_build_info', total.setpoint_build_info, [build]);
      for (const [name, metric] of Object.entries(TARGET_METRICS)) {
        let isFirst = true;
        for (const plan of plans) {
          const samples = targetSamples(
            name as TargetMetric,
            toMeasurement({ ...plan, status: statusOf(plan) }, at),
          );
          if (samples.length === 0) continue;
          yield isFirst ? metricText(name, metric, samples) : sampleLines(name, samples);
          isFirst = false;
        }
      }
      const counts = statusSamples(plans.map(statusOf));
      yield metricText('setpoint_targets', total.setpoint_targets, counts);
    },
  };
}

interface KeptRead extends Omit<EnvironmentMetrics, 'lastRead' | 'lastInSync'> {
  /** Its status if what could not be compared counts. */
  readonly strictly: WatchStatus;
}

function toStoredRead(environment: EnvironmentPlan): KeptRead {
  const { name, status, dialect, release } = environment;
  const attention = planAttention(environment);
  const changes = changeCount(attention) > 0 ? attention.changes : {};
  return {
    name,
    status: toWatchStatus(environment),
    strictly: toWatchStatus(environment, true),
    settings: { mode: 'detect' },
    dialect,
    release,
    differences: { changes, unknown: status === 'error' ? null : attention.unknown },
  };
}

function toMeasurement(plan: KeptRead, at: string): EnvironmentMetrics {
  const { status } = plan;
  return {
    ...plan,
    lastRead: status === 'not-read' ? null : at,
    lastInSync: status === 'in-sync' ? at : null,
  };
}

/** A metric with its lines, in the text format of Prometheus, which OpenMetrics shares for gauges. */
export function metricText(
  name: string,
  { help, type }: Metric,
  samples: readonly Sample[],
): string {
  return `# HELP ${name} ${escapeHelpText(help)}\n# TYPE ${name} ${type}\n${sampleLines(name, samples)}`;
}

/** Lines of a metric that was begun. */
export function sampleLines(name: string, samples: readonly Sample[]): string {
  let text = '';
  for (const { labels, value } of samples) text += `${name}${labelText(labels)} ${value}\n`;
  return text;
}

function labelText(labels: Sample['labels']): string {
  let text = '';
  for (const [key, value] of Object.entries(labels))
    text += `${text === '' ? '{' : ','}${key}="${escapeLabelValue(value)}"`;
  return text === '' ? '' : `${text}}`;
}

function escapeLabelValue(text: string): string {
  return /["\\\n]/.test(text) ? escapeHelpText(text).replaceAll('"', '\\"') : text;
}

function escapeHelpText(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}
