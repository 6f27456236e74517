import { describe, expect, it, onTestFinished } from 'vitest';
import { until } from '../../fixture/until.ts';
import { administer, kubeApiserver, type KubeApiserver } from '../../fixture/kube-apiserver.ts';
import { LONG } from '../../fixture/long.ts';
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
import type { TargetResource } from '../../../src/controller/cluster/target-resource.ts';
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

  test('a second one writes no status, and takes over when the first ends', LONG, async () => {
    const { world, names } = await inSync(20);
    await world.start();
    for (const name of names)
      await world.until(name, (status) => reasonOf(status, 'Ready') === 'InSync');
    // On a usual clock, no times are due to be written.
    const other = new ClusterWorld(world.admin, world.service, fastClock(1));
    const second = await other.start();
    await until(() => readsOf(second) >= names.length);
    expect(second.statusWrites).toBe(0);
    await world.stop();
    await world.admin.patch(world.pathOf('target-7'), { spec: { settings: { language: 'de' } } });
    const taken = await other.until('target-7', (status) => status.observedGeneration === 2);
    expect(taken.sync).toBe('OutOfSync');
  });

  test(
    'a start without what the one before has kept writes nothing that is so already',
    LONG,
    async () => {
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
    },
  );

  test('writes times alone once a minute at most', LONG, async () => {
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

const HOUR = 60 * MINUTE;

/** With 10,000 it takes 13 minutes on two cores that other work shares. */
describe.each([
  ['1,000', 1_000, {}],
  ['10,000', 10_000, LONG],
] as const)(
  'a controller of %s objects on a real API server (SETPOINT_KUBE_APISERVER)',
  (_, count, options) => {
    it.skipIf(real === null)(
      'settles, is quiet then, and starts again without a stampede',
      { ...options, timeout: HOUR },
      async () => {
        const server = real as KubeApiserver;
        const world = await clusterWorld(await openReal(server), 1);
        const list = world.pathOf('').slice(0, -1);
        onTestFinished(async () => {
          await administer(server, 'DELETE', list);
        });
        await store(world.service.url, { language: 'en' });
        const names = Array.from({ length: count }, (__, index) => `target-${index}`);
        const left = names.values();
        const creating = Array.from({ length: 16 }, async () => {
          for (const name of left) await world.target(name, { ...SPEC, interval: '30m' });
        });
        await Promise.all(creating);

        const first = await world.start();
        const versions = async (): Promise<ReadonlyMap<string, TargetResource>> => {
          const items = (await world.admin.list(list)) as readonly TargetResource[];
          return new Map(items.map((one) => [one.metadata.name, one]));
        };
        const isReady = ({ status }: TargetResource) =>
          reasonOf(status ?? {}, 'Ready') === 'InSync';
        await until(() => first.controller.health.ready);
        await until(async () => [...(await versions()).values()].every(isReady));
        // Two each at the most: before its server was read, and after. Some are written by a controller of all namespaces that another test has.
        expect(first.statusWrites).toBeGreaterThan(count / 2);
        expect(first.statusWrites).toBeLessThanOrEqual(2.1 * count);

        const [settled, began] = [await versions(), performance.now()];
        expect(settled.size).toBe(count);
        const before = readIn(first);
        for (const name of names.slice(0, 200))
          await first.controller.readNow(`${world.namespace}/${name}`);
        await until(() => readIn(first) >= before + 200);
        await new Promise((resolve) => setTimeout(resolve, 10_000));
        const quiet = await versions();
        const isOther = (name: string) =>
          quiet.get(name)?.metadata.resourceVersion !== settled.get(name)?.metadata.resourceVersion;
        expect(names.filter(isOther).length).toBeLessThan((performance.now() - began) / 1000);

        await world.stop();
        const next = new ClusterWorld(world.admin, world.service, fastClock(1));
        const again = await next.start();
        let [read, at, most] = [0, performance.now(), 0];
        while (read < Math.min(count, 2_000)) {
          await new Promise((resolve) => setTimeout(resolve, 2_000));
          const [now, found] = [performance.now(), readIn(again)];
          most = Math.max(most, ((found - read) * 1000) / (now - at));
          [read, at] = [found, now];
        }
        expect(most).toBeLessThan(100);
        expect(again.statusWrites).toBe(0);
      },
    );
  },
);

/** How often a controller has read its objects since it began. */
function readIn({ controller }: ClusterController): number {
  return controller.states().reduce((sum, { reads }) => sum + [...reads].length, 0);
}

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
