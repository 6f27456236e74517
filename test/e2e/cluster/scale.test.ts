import { describe, expect, it } from 'vitest';
import { until } from '../../fixture/watch-command.ts';
import { kubeApiserver, type KubeApiserver } from '../../fixture/kube-apiserver.ts';
import {
  ClusterWorld,
  clusterWorld,
  fastClock,
  openReal,
  SERVERS,
  reasonOf,
  store,
  type Admin,
} from '../../fixture/cluster-world.ts';
import type { TargetResource } from '../../../src/controller/cluster/source.ts';
import type { ClusterController } from '../../../src/controller/cluster/open.ts';

const real = kubeApiserver();
const SPEC = { settings: { language: 'en' } };
const MINUTE = 60_000;

describe.each(SERVERS)('controllers of many objects, on an API server %s', (_, open) => {
  const test = it.skipIf(open === null);
  const inSync = async (count: number, times?: number, spec: object = SPEC) => {
    const world = await clusterWorld(await (open as () => Promise<Admin>)(), times);
    await store(world.service.url, { language: 'en' });
    const names = Array.from({ length: count }, (__, index) => `target-${index}`);
    const left = names.values();
    const creating = Array.from({ length: 16 }, async () => {
      for (const name of left) await world.target(name, spec);
    });
    await Promise.all(creating);
    return { world, names };
  };

  test('a second one writes no status, and takes over when the first ends', async () => {
    const { world, names } = await inSync(20);
    await world.start();
    for (const name of names)
      await world.until(name, (status) => reasonOf(status, 'Ready') === 'InSync');
    const other = new ClusterWorld(world.admin, world.service, fastClock(20));
    const second = await other.start();
    await until(() => readsOf(second) >= 2 * names.length);
    expect(second.statusWrites).toBe(0);
    await world.stop();
    await world.admin.patch(world.pathOf('target-7'), { spec: { settings: { language: 'de' } } });
    const taken = await other.until('target-7', (status) => status.observedGeneration === 2);
    expect(taken.sync).toBe('OutOfSync');
  });

  test('a start without what the one before has kept writes nothing that is so already', async () => {
    const { world, names } = await inSync(20);
    await world.start();
    for (const name of names)
      await world.until(name, (status) => reasonOf(status, 'Ready') === 'InSync');
    await world.stop();
    const versions = await versionsOf(world, names);
    // On a usual clock, no times are due to be written.
    const next = new ClusterWorld(world.admin, world.service, fastClock(1));
    const again = await next.start();
    await until(() => again.controller.health.ready && readsOf(again) >= names.length);
    expect(again.statusWrites).toBe(0);
    expect(await versionsOf(world, names)).toEqual(versions);
  });

  test('writes times alone once a minute at most', async () => {
    const { world, names } = await inSync(5, 100, { ...SPEC, interval: '10s' });
    const began = performance.now();
    const controller = await world.start();
    await until(() => readsOf(controller) >= 60 * names.length);
    const minutes = ((performance.now() - began) * 100) / MINUTE;
    // Each has a first status besides, and one before it was read.
    expect(controller.statusWrites).toBeLessThanOrEqual(names.length * (minutes + 2));
    expect(controller.statusWrites).toBeGreaterThan(names.length * 3);
  });
});

describe('a controller of 1,000 objects', () => {
  it.skipIf(real === null)(
    'settles on a real API server, and is quiet then',
    async () => {
      const world = await clusterWorld(await openReal(real as KubeApiserver), 1);
      await store(world.service.url, { language: 'en' });
      const left = Array.from({ length: 1000 }, (_, index) => `target-${index}`).values();
      const creating = Array.from({ length: 16 }, async () => {
        for (const name of left) await world.target(name, { ...SPEC, interval: '5m' });
      });
      await Promise.all(creating);
      const controller = await world.start();
      await until(() => controller.controller.health.ready);
      const { items } = (await world.admin.get(world.pathOf('').slice(0, -1))) as {
        readonly items: readonly { readonly status: object }[];
      };
      expect(items).toHaveLength(1000);
      await until(() => controller.statusWrites >= 1000);
      const before = controller.statusWrites;
      await new Promise((resolve) => setTimeout(resolve, 10_000));
      expect(controller.statusWrites - before).toBeLessThan(10);
      // Two each: before its server was read, and after. Some are told of in between, and none again and again.
      expect(before).toBeLessThan(3000);
    },
    240_000,
  );
});

/** How many services it has read. */
function readsOf({ controller }: ClusterController): number {
  const reads = controller.requests.filter(({ method }) => method === 'GET');
  return reads.reduce((sum, { count }) => sum + count, 0);
}

async function versionsOf(world: ClusterWorld, names: readonly string[]): Promise<unknown> {
  return Promise.all(
    names.map(async (name) => {
      const { metadata } = (await world.admin.get(world.pathOf(name))) as unknown as TargetResource;
      return metadata.resourceVersion;
    }),
  );
}
