import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Secret } from '../../../src/reconciler/model/secret.ts';
import { Notices } from '../../../src/controller/watch/notices/notices.ts';
import { NotifiedStates } from '../../../src/controller/watch/notices/notified-states.ts';
import { httpSender } from '../../../src/controller/watch/notices/send.ts';
import { change, environment } from '../../fixture/documents.ts';
import { folderWith } from '../../fixture/command.ts';
import { freePort } from '../../fixture/free-port.ts';
import { hasProgram } from '../../fixture/program.ts';
import { receiver } from '../../fixture/receivers.ts';
import { ago, MadeUpWatching, watchState } from '../../fixture/watching.ts';
import { until } from '../../fixture/until.ts';

const PROGRAM = 'prometheus-alertmanager';

/** An Alertmanager until the test has finished. Resolves to its address once it answers. */
async function alertmanager(): Promise<string> {
  const config = { route: { receiver: 'nobody' }, receivers: [{ name: 'nobody' }] };
  const folder = folderWith({ 'alertmanager.yml': JSON.stringify(config) });
  onTestFinished(() => folder.remove());
  const url = `http://127.0.0.1:${await freePort()}`;
  const args = [
    `--config.file=${join(folder.path, 'alertmanager.yml')}`,
    `--storage.path=${join(folder.path, 'data')}`,
    `--web.listen-address=${new URL(url).host}`,
    '--cluster.listen-address=',
  ];
  const child = spawn(PROGRAM, args, { stdio: 'ignore' });
  const ended = new Promise((resolve) => {
    child.on('close', resolve);
  });
  onTestFinished(async () => {
    child.kill();
    await ended;
  });
  await until(async () => (await fetch(`${url}/-/ready`).catch(() => null))?.ok === true);
  return url;
}

/** What amtool lists: alerts that fire. */
function alertsAt(
  url: string,
): { labels: Record<string, string>; annotations: Record<string, string> }[] {
  const args = [`--alertmanager.url=${url}`, 'alert', 'query', '-o', 'json'];
  const { status, stdout, stderr } = spawnSync('amtool', args, { encoding: 'utf8' });
  expect(`${status} ${stderr}`).toBe('0 ');
  return JSON.parse(stdout) as ReturnType<typeof alertsAt>;
}

const INSTALLED = hasProgram(PROGRAM) && hasProgram('amtool');

describe.runIf(INSTALLED)('an Alertmanager (skipped if it or amtool is not installed)', () => {
  it('fires what differs, and no more once it is resolved', async () => {
    const url = await alertmanager();
    const plan = environment({ changes: [change()] });
    const watching = new MadeUpWatching(
      watchState({ found: 'drift', digest: 'd', plan, labels: { 'example.com/tier': 'prod' } }),
      watchState({ name: 'down', found: 'error', digest: 'e', failures: 4, since: ago(15) }),
      watchState({ name: 'fine' }),
    );
    let passed = 0;
    const clock = {
      now: () => Date.now(),
      monotonic: () => passed,
      sleep: async () => {},
    };
    const to = { form: 'alertmanager' as const, url: new Secret(`${url}/`), headers: new Map() };
    const problems: string[] = [];
    const notified = new NotifiedStates();
    const sender = httpSender({}, clock);
    onTestFinished(() => sender.close());
    const notices = new Notices({
      watching,
      settings: { page: 'https://page.example', receivers: [receiver({ to })], heartbeat: null },
      journal: {
        notified,
        isRecorded: () => true,
        findDeparted: () => null,
        record: async (event) => {
          const record = { v: 1, at: new Date(clock.now()).toISOString(), ...event } as const;
          notified.take(record);
          return record;
        },
      },
      sender,
      issues: async () => ({ kind: 'sent' }),
      clock,
      report: ({ message }) => problems.push(message),
    });
    const look = async (): Promise<void> => {
      passed += 11_000;
      notices.tick();
      await notices.idle();
    };
    await look();
    await look();
    const firing = alertsAt(url).map(
      ({ labels }) => `${labels['alertname']} ${labels['environment']}`,
    );
    expect(firing.toSorted((one, other) => one.localeCompare(other))).toEqual([
      'SetpointDrift production',
      'SetpointFailing down',
    ]);
    const drift = alertsAt(url).find(({ labels }) => labels['environment'] === 'production');
    expect(drift).toMatchObject({
      labels: { label_example_com_tier: 'prod', severity: 'warning' },
      annotations: {
        summary: 'production has drift: it was changed on the service',
        description: 'language: differs',
      },
    });
    watching.put(watchState());
    passed += 60_000;
    await look();
    await look();
    expect(problems).toEqual([]);
    const names = () => alertsAt(url).map(({ labels }) => labels['environment']);
    await until(() => !names().includes('production'), { show: names });
    expect(names()).toEqual(['down']);
  });
});
