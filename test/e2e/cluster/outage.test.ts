import { describe, expect, it } from 'vitest';
import { kubeApiserver, type KubeApiserver } from '../../fixture/kube-apiserver.ts';
import { kubeDoor, type KubeDoor } from '../../fixture/kube-door.ts';
import {
  clusterWorld,
  languageOf,
  settingOf,
  openReal,
  reasonOf,
  store,
} from '../../fixture/cluster-world.ts';
import { until } from '../../fixture/until.ts';

const server = kubeApiserver();
const APPLY = { mode: 'Apply', settings: { language: 'en' } };
const MINUTE = 60_000;

/** A cluster behind a door, with time that passes so many times as fast. */
async function behindDoor(times: number) {
  const real = server as KubeApiserver;
  const admin = await openReal(real);
  const door = await kubeDoor(real, admin.cluster);
  return { door, world: await clusterWorld({ ...admin, cluster: door.cluster }, times) };
}

describe.skipIf(server === null)(
  'a controller whose real API server goes away (SETPOINT_KUBE_APISERVER)',
  () => {
    it('writes nothing for ten minutes, and then goes on by the objects of now', async () => {
      const times = 30;
      const { door, world } = await behindDoor(times);
      await world.target('production', APPLY);
      await world.target('staging', APPLY);
      await world.target('steady', { mode: 'Apply', settings: { max_iterations: 50 } });
      const { controller } = await world.start();
      await world.until('production', (now) => now.sync === 'Synced');
      await world.until('staging', (now) => now.sync === 'Synced');
      await world.until('steady', (now) => now.sync === 'Synced');

      door.isShut = true;
      door.cut();
      // After as long as a Lease lasts, in the time of this machine.
      await pause(15_000);
      await store(world.service.url, { language: 'fr', max_iterations: 3 });
      await world.admin.patch(world.pathOf('production'), {
        spec: { settings: { language: 'de' } },
      });
      await world.admin.remove(world.pathOf('staging'));
      await pause((10 * MINUTE) / times - 15_000);
      expect(await languageOf(world.service.url)).toBe('fr');
      expect(world.said).toContain('The API server cannot be reached.');

      const before = listsAt(door);
      door.isShut = false;
      await until(() => controller.states().length === 2);
      await world.until(
        'production',
        (now) => now.sync === 'Synced' && now.observedGeneration === 2,
      );
      expect(await languageOf(world.service.url)).toBe('de');
      // What nobody has changed meanwhile is not left for later either.
      await until(async () => (await settingOf(world.service.url, 'max_iterations')) === 50);
      await world.until('steady', (now) => now.sync === 'Synced');
      expect(controller.conditions.list()).toEqual([]);
      // It goes on from where it was, or lists once.
      expect(listsAt(door) - before).toBeLessThanOrEqual(1);
    });

    it('lists the objects anew if what it watches from is too old', async () => {
      const { door, world } = await behindDoor(20);
      await world.target('production', APPLY);
      await world.start();
      await world.until('production', (now) => now.sync === 'Synced');
      const before = listsAt(door);
      door.rewrite = (path) =>
        path.includes('settingstargets?watch=1')
          ? path.replace(/resourceVersion=\d+/, 'resourceVersion=1')
          : path;
      door.cut();
      await until(() => door.watched.some(({ text }) => text.includes('"code":410')));
      door.rewrite = (path) => path;
      await world.target('staging', { ...APPLY, settings: { language: 'de' } });
      await world.until('staging', (now) => reasonOf(now, 'Ready') !== null);
      expect(listsAt(door)).toBeGreaterThan(before);
    });
  },
);

function listsAt({ requests }: KubeDoor): number {
  return requests.filter((one) => one.includes('settingstargets?limit=')).length;
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
