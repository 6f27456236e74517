import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createMetrics } from '../../../src/controller/watch/telemetry/metrics.ts';
import { change, environment } from '../../fixture/documents.ts';
import { folderWith } from '../../fixture/command.ts';
import { onLoopback } from '../../fixture/on-loopback.ts';
import { freePort } from '../../fixture/free-port.ts';
import { hasProgram } from '../../fixture/program.ts';
import { MadeUpWatching, watchState } from '../../fixture/watching.ts';
import { LONG } from '../../fixture/long.ts';
import { until } from '../../fixture/until.ts';

/** A Prometheus that scrapes an address each second, until the test has finished. Resolves to its own address. */
async function prometheusOn(target: string): Promise<string> {
  const config = {
    global: { scrape_interval: '1s' },
    scrape_configs: [
      { job_name: 'setpoint', static_configs: [{ targets: [new URL(target).host] }] },
    ],
  };
  const folder = folderWith({ 'prometheus.yml': JSON.stringify(config) });
  onTestFinished(() => folder.remove());
  const port = await freePort();
  const args = [
    `--config.file=${join(folder.path, 'prometheus.yml')}`,
    `--storage.tsdb.path=${join(folder.path, 'data')}`,
    `--web.listen-address=127.0.0.1:${port}`,
  ];
  const child = spawn('prometheus', args, { stdio: 'ignore' });
  const ended = new Promise((resolve) => {
    child.on('close', resolve);
  });
  onTestFinished(async () => {
    child.kill();
    await ended;
  });
  return `http://127.0.0.1:${port}`;
}

interface Series {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [number, string];
}

/** The series of a query, once there are any. */
async function queried(prometheus: string, query: string): Promise<readonly Series[]> {
  const url = `${prometheus}/api/v1/query?query=${encodeURIComponent(query)}`;
  let found: readonly Series[] = [];
  const look = async (): Promise<boolean> => {
    const answer = await fetch(url).catch(() => null);
    if (answer?.ok !== true) return false;
    const { data } = (await answer.json()) as { data: { result: readonly Series[] } };
    found = data.result;
    return found.length > 0;
  };
  await until(look, { show: () => query });
  return found;
}

describe.runIf(hasProgram('prometheus'))('a Prometheus (skipped if it is not installed)', () => {
  it('scrapes the metrics of a controller, and answers queries of them', LONG, async () => {
    const changes = [change(), change({ action: 'clear' })];
    const plan = environment({ name: 'eu', changes });
    const watching = new MadeUpWatching(
      watchState({ name: 'eu', status: 'drift', plan }),
      watchState({ name: 'us' }),
    );
    const metrics = createMetrics(watching);
    watching.put(watchState({ name: 'us' }), {
      kind: 'read',
      seconds: 0.2,
      result: 'done',
    });
    const scraped: string[] = [];
    const server = await onLoopback(async (request, response) => {
      scraped.push(request.headers.accept ?? '');
      const { type, text } = await metrics.text();
      response.writeHead(200, { 'content-type': type }).end(text);
    });
    onTestFinished(() => server.close());
    const prometheus = await prometheusOn(server.url);
    const values = async (query: string) =>
      (await queried(prometheus, query))
        .map(({ metric, value }) => [
          metric['environment'] ?? metric['le'] ?? metric['status'] ?? '',
          Number(value[1]),
        ])
        .toSorted(([one], [other]) => String(one).localeCompare(String(other)));
    expect(await values('setpoint_target_status{status="drift"} == 1')).toEqual([['eu', 1]]);
    expect(await values('sum by (environment) (setpoint_target_changes)')).toEqual([['eu', 2]]);
    expect(await values('sum by (status) (setpoint_targets) > 0')).toEqual([
      ['drift', 1],
      ['in_sync', 1],
    ]);
    expect(await values('setpoint_reconcile_total{result="done"}')).toEqual([['us', 1]]);
    expect(await values('setpoint_reconcile_duration_seconds_bucket{le="0.25"}')).toEqual([
      ['0.25', 1],
    ]);
    expect(await values('up')).toEqual([['', 1]]);
    expect(scraped[0]).toContain('application/openmetrics-text');
    const described = await fetch(`${prometheus}/api/v1/metadata?metric=setpoint_reconcile`);
    expect(await described.json()).toMatchObject({
      data: { setpoint_reconcile: [{ type: 'counter' }] },
    });
  });
});
