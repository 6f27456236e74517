import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  clusterWorld,
  SERVERS,
  store,
  ClusterWorld,
  fastClock,
  type Admin,
} from '../../fixture/cluster-world.ts';
import { until } from '../../fixture/until.ts';
import { readRememberedStates } from '../../../src/controller/watch/data-folder.ts';
import { Journal } from '../../../src/controller/watch/journal/journal.ts';
import type { JournalEvent } from '../../../src/reconciler/model/watch.ts';
import { LONG } from '../../fixture/long.ts';

const SPEC = { settings: { language: 'en' } };
const LEASES = (namespace: string): string =>
  `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;

function found(environment: string): JournalEvent {
  return {
    kind: 'state',
    environment,
    status: 'in-sync',
    before: 'not-read',
    digest: '',
    after: null,
    commit: null,
    plan: null,
  };
}

interface LeaseObject {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
}

describe.each(SERVERS)(
  'the state of objects in the data folder, on an API server %s',
  (_, open) => {
    it.skipIf(open === null)(
      'is removed when they are deleted, also while no controller runs, and none of another namespace',
      LONG,
      async () => {
        const world = await clusterWorld(await (open as () => Promise<Admin>)(), 300);
        await store(world.service.url, { language: 'en' });
        const data = mkdtempSync(join(tmpdir(), 'setpoint-gone-'));
        onTestFinished(() => rmSync(data, { recursive: true, force: true }));
        const remembered = async () => {
          const states = await readRememberedStates(data, Date.now());
          return states.map(({ name }) => name.replace(`${world.namespace}/`, '')).toSorted();
        };
        for (const name of ['one', 'three', 'two']) await world.target(name, SPEC);
        await world.start({}, { data });
        await until(async () => (await remembered()).length === 3);
        await world.admin.remove(world.pathOf('three'));
        await until(async () => (await remembered()).length === 2);
        await world.stop();

        await world.admin.remove(world.pathOf('one'));
        await new Journal(data, Date.now).append(found('elsewhere/production'));
        await world.successor().start({}, { data });
        await until(async () => !(await remembered()).includes('one'));
        expect(await remembered()).toEqual(['elsewhere/production', 'two']);
      },
    );
  },
);

describe.each(SERVERS)('Leases, on an API server %s', (_, open) => {
  const test = it.skipIf(open === null);
  const begin = async () => {
    const world = await clusterWorld(await (open as () => Promise<Admin>)());
    await store(world.service.url, { language: 'en' });
    const locks = async (): Promise<readonly string[]> => {
      const leases = (await world.admin.list(LEASES(world.namespace))) as readonly LeaseObject[];
      const names = leases.map(({ metadata }) => metadata.annotations?.['setpoint-environment']);
      return names.flatMap((name) => name?.replace(`${world.namespace}/`, '') ?? []).toSorted();
    };
    const foreign = async (name: string, labels: object) => {
      await world.admin.put(`${LEASES(world.namespace)}/${name}`, {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: {
          name,
          namespace: world.namespace,
          labels: { 'app.kubernetes.io/managed-by': 'setpoint', ...labels },
          annotations: { 'setpoint-environment': name },
        },
        spec: {},
      });
    };
    return { world, locks, foreign };
  };

  test('of objects that are deleted are removed, and no others', async () => {
    const { world, locks } = await begin();
    for (const name of ['one', 'two', 'three']) await world.target(name, SPEC);
    await world.start();
    await until(async () => (await locks()).length === 3);
    await world.admin.remove(world.pathOf('one'));
    await world.admin.remove(world.pathOf('three'));
    await until(async () => (await locks()).length === 1);
    expect(await locks()).toEqual(['two']);
  });

  test('of objects that were deleted while no controller ran are removed, and none of another controller', async () => {
    const { world, locks, foreign } = await begin();
    for (const name of ['one', 'two']) await world.target(name, SPEC);
    await world.start();
    await until(async () => (await locks()).length === 2);
    await world.stop();
    await world.admin.remove(world.pathOf('one'));
    await foreign('production', {});
    await foreign('elsewhere', { 'setpoint.dev/lock-of': 'SettingsTarget' });
    const next = new ClusterWorld(world.admin, world.service, fastClock(20));
    await next.start();
    await until(async () => !(await locks()).includes('one'));
    expect(await locks()).toEqual(['elsewhere', 'production', 'two']);
  });
});
