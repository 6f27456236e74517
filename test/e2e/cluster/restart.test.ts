import type { TargetStatus } from '../../../src/controller/cluster/status.ts';
import type { TargetResource } from '../../../src/controller/cluster/target-resource.ts';
import { describe, expect, it, onTestFinished } from 'vitest';
import { until } from '../../fixture/until.ts';
import { startFronted } from '../../fixture/before-service.ts';
import {
  ClusterWorld,
  clusterWorld,
  fastClock,
  KEY,
  SERVERS,
  reasonOf,
  store,
  type Admin,
} from '../../fixture/cluster-world.ts';

/** Objects in each state, with what they specify, and what their condition Ready has as its reason. */
const STATES: Readonly<Record<string, readonly [spec: object, reason: string]>> = {
  same: [{ settings: { language: 'en' } }, 'InSync'],
  other: [{ settings: { language: 'de' } }, 'Observed'],
  changed: [{ settings: { user_consents_to_analytics: true } }, 'Observed'],
  written: [{ mode: 'Apply', settings: { max_iterations: 50 } }, 'InSync'],
  unapproved: [
    {
      mode: 'Apply',
      settings: { language: 'de' },
      approval: { planDigest: `sha256:${'0'.repeat(64)}` },
    },
    'NotCovered',
  ],
  forbidden: [{ server: { url: 'http://192.0.2.1' }, settings: { language: 'en' } }, 'Forbidden'],
  suspended: [{ suspend: true, settings: { language: 'en' } }, 'Suspended'],
  unreachable: [
    { server: { url: 'http://127.0.0.1:1' }, settings: { language: 'en' } },
    'Unreachable',
  ],
};

describe.each(SERVERS)('a restart without the records, on an API server %s', (_, open) => {
  const test = it.skipIf(open === null);
  const world = async (times: number) =>
    clusterWorld(await (open as () => Promise<Admin>)(), times);

  test('writes no status anew, whatever the state of its object', async () => {
    const one = await world(5);
    await store(one.service.url, { language: 'en', user_consents_to_analytics: true });
    const names = Object.keys(STATES);
    for (const name of names) await one.target(name, { interval: '30m', ...STATES[name]?.[0] });
    const first = await one.start();
    await one.until('changed', (status) => reasonOf(status, 'Ready') === 'InSync');
    // While it applies, lastApplied is there before the server has the write.
    await one.until(
      'written',
      (status) => reasonOf(status, 'Ready') === 'InSync' && status.lastApplied !== undefined,
    );
    // The server replaces its whole record.
    const stored = { language: 'en', max_iterations: 50, user_consents_to_analytics: false };
    await store(one.service.url, stored);
    const objects = async () => Promise.all(names.map((name) => one.admin.get(one.pathOf(name))));
    await first.controller.readNow(`${one.namespace}/changed`);
    for (const [name, [, reason]] of Object.entries(STATES))
      await one.until(name, (status) => reasonOf(status, 'Ready') === reason);
    await one.stop();

    const before = await objects();
    const next = new ClusterWorld(one.admin, one.service, fastClock(1));
    const again = await next.start();
    // A suspended object is not watched.
    await until(() => {
      const read = again.controller.states().filter(({ found }) => found !== 'not-read');
      return read.length === names.length - 1;
    });
    const same = `${one.namespace}/same`;
    const earlier = again.controller.state(same)?.lastRead;
    await again.controller.readNow(same);
    await until(() => again.controller.state(same)?.lastRead !== earlier);
    expect(await objects()).toEqual(before);
    expect(again.statusWrites).toBe(0);
  });

  test('writes no status while its reads wait for their turn, late as they are', async () => {
    const one = await world(5);
    const service = await startFronted({ port: 0, apiKey: KEY });
    onTestFinished(() => service.close());
    await store(service.url, { language: 'en' });
    const names = Array.from({ length: 40 }, (__, index) => `target-${index}`);
    const { url } = service;
    const server = { url, apiKeySecretRef: { name: 'agents', key: 'api-key' } };
    // A read of such an interval is late after 15 seconds.
    const spec = { server, interval: '30s', settings: { language: 'en' } };
    for (const name of names) await one.target(name, spec);
    await one.start();
    for (const name of names)
      await one.until(name, (status) => reasonOf(status, 'Ready') === 'InSync');
    await one.stop();

    let free = (): void => {};
    const held = new Promise<void>((resolve) => {
      free = resolve;
    });
    service.before = async () => held;
    onTestFinished(() => free());
    const again = await one.successor().start();
    await until(() => again.controller.health.late >= 10);
    // Each look at those that are late has come to all of them.
    const list = one.pathOf('').slice(0, -1);
    const objects = (await one.admin.list(list)) as readonly TargetResource[];
    const statuses = objects.map(({ status }) => status as Partial<TargetStatus>);
    expect(statuses.length).toBe(names.length);
    expect(again.statusWrites).toBe(0);
    expect(new Set(statuses.map((status) => reasonOf(status, 'Ready')))).toEqual(
      new Set(['InSync']),
    );
    free();
    await until(() => again.controller.states().every(({ found }) => found === 'in-sync'));
  });
});
