import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import {
  TARGET_METRICS,
  TOTAL_METRICS,
  WATCH_METRICS,
  type Metric,
} from '../../src/reconciler/model/metrics.ts';
import { createMetrics } from '../../src/controller/watch/telemetry/metrics.ts';
import { folderWith } from '../fixture/command.ts';
import { hasProgram } from '../fixture/program.ts';
import { MadeUpWatching, watchState } from '../fixture/watching.ts';
import { readText } from './read-text.ts';

const FOLDER = join(import.meta.dirname, '../../examples/prometheus');
/** Those of setpoint, what the rules record of them, and what Prometheus itself says of a job. */
const METRICS: Readonly<Record<string, Pick<Metric, 'labels'>>> = {
  ...TARGET_METRICS,
  ...TOTAL_METRICS,
  ...WATCH_METRICS,
  'setpoint:target_status:lasting': { labels: ['environment', 'status'] },
  up: { labels: ['job', 'instance'] },
};

interface Rules {
  readonly groups: readonly {
    readonly rules: readonly { alert?: string; record?: string; expr: string }[];
  }[];
}
const RULES = (parse(readText('examples/prometheus/rules.yml')) as Rules).groups.flatMap(
  ({ rules }) => rules,
);

interface Dashboard {
  readonly templating: { readonly list: readonly { name: string; query: unknown }[] };
  readonly panels: readonly {
    readonly id: number;
    readonly title: string;
    readonly gridPos: {
      readonly x: number;
      readonly y: number;
      readonly w: number;
      readonly h: number;
    };
    readonly targets: readonly { readonly expr: string }[];
  }[];
}
const DASHBOARD = JSON.parse(readText('examples/prometheus/dashboard.json')) as Dashboard;
const QUERIES = DASHBOARD.panels.flatMap(({ title, targets }) =>
  targets.map(({ expr }) => ({ title, expr })),
);

/** The metrics that an expression or a text names, a histogram without the ending of its lines. */
function namesIn(text: string): string[] {
  return [...text.matchAll(/\b(?:(?:setpoint|process)_\w+|setpoint(?::\w+)+|up(?=\{))/g)].map(
    ([name]) => name.replace(/(?<=_seconds)_(bucket|sum|count)$/, ''),
  );
}

function promtool(...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync('promtool', args, { cwd: FOLDER, encoding: 'utf8' });
  return status === 0 ? '' : `${stdout}${stderr}`;
}

describe('the rules and the dashboard', () => {
  it.each([
    ...RULES.map(({ alert, record, expr }) => ({ title: alert ?? record, expr })),
    ...QUERIES,
  ])('name only metrics that there are, by labels that they have: $title', ({ expr }) => {
    const names = namesIn(expr);
    expect(names.length).toBeGreaterThan(0);
    expect(names.filter((name) => !Object.hasOwn(METRICS, name))).toEqual([]);
    const known = new Set(['le', 'job', 'instance', 'pod', 'container', 'environment']);
    for (const name of names) for (const label of METRICS[name]?.labels ?? []) known.add(label);
    const grouped = [...expr.matchAll(/\b(?:by|on|without) \(([^)]*)\)/g)];
    const matched = [...expr.matchAll(/[{,]\s*(\w+)\s*(?:=|!=|=~|!~)/g)];
    const labels = [...grouped, ...matched].flatMap(([, found = '']) => found.split(/,\s*/));
    expect(labels.filter((label) => !known.has(label))).toEqual([]);
  });

  it('lie beside each other on the dashboard, and choose by names that there are', () => {
    const { panels, templating } = DASHBOARD;
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, at) => `${x + (at % w)}:${y + Math.floor(at / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    expect(panels.every(({ gridPos: { x, w } }) => x + w <= 24)).toBe(true);
    const variables = new Set(templating.list.map(({ name }) => `$${name}`));
    const used = QUERIES.flatMap(({ expr }) => expr.match(/\$(?!__)\w+/g) ?? []);
    expect(used.length).toBeGreaterThan(0);
    expect(used.filter((name) => !variables.has(name))).toEqual([]);
    const queried = namesIn(JSON.stringify(templating));
    expect(queried.filter((name) => !Object.hasOwn(METRICS, name))).toEqual([]);
  });
});

describe.runIf(hasProgram('promtool'))('promtool (skipped if it is not installed)', () => {
  it('finds that each rule alerts when it should', () => {
    expect(promtool('test', 'rules', 'rules_test.yml')).toBe('');
  });

  it('has a test for each rule', () => {
    const tests = readText('examples/prometheus/rules_test.yml');
    const alerting = [...tests.matchAll(/- alertname: (\w+)\n/g)].map(([, name = '']) => name);
    expect([...new Set(alerting)].toSorted()).toEqual(
      RULES.flatMap(({ alert }) => alert ?? []).toSorted(),
    );
  });

  it('accepts the rules and the configuration', () => {
    expect(promtool('check', 'config', 'prometheus.yml')).toBe('');
    expect(promtool('check', 'rules', 'rules.yml')).toBe('');
  });

  it('finds nothing wrong with the metrics of a controller, in the older text format', async () => {
    const watching = new MadeUpWatching(watchState());
    const metrics = createMetrics(watching);
    onTestFinished(() => metrics.close());
    watching.put(watchState(), { kind: 'read', seconds: 0.2, result: 'done' });
    const { type, text } = await metrics.text({ inOpenMetrics: false });
    expect(type).toContain('version=0.0.4');
    expect(text).toMatch(
      /^# HELP setpoint_reconcile_total .+\n# TYPE setpoint_reconcile_total counter\nsetpoint_reconcile_total\{/m,
    );
    const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], {
      input: text,
      encoding: 'utf8',
    });
    expect([status, `${stdout}${stderr}`]).toEqual([0, '']);
  });

  it('can read every expression of the dashboard', () => {
    const rules = QUERIES.map(({ expr }, index) => ({
      record: `query:${index}`,
      expr: expr.replaceAll('$__rate_interval', '5m').replaceAll('$environment', '.*'),
    }));
    const text = JSON.stringify({ groups: [{ name: 'dashboard', rules }] });
    const folder = folderWith({
      'dashboard.yml': text,
      'wrong.yml': text.replaceAll('sum', 'sun'),
    });
    onTestFinished(() => folder.remove());
    expect(promtool('check', 'rules', join(folder.path, 'dashboard.yml'))).toBe('');
    expect(promtool('check', 'rules', join(folder.path, 'wrong.yml'))).toContain('sun');
  });
});
