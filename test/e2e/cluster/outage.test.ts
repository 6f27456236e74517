import { describe, expect, it } from 'vitest';
import { kubeApiserver, type KubeApiserver } from '../../fixture/kube-apiserver.ts';
import { kubeDoor } from '../../fixture/kube-door.ts';
import {
  clusterWorld,
  languageOf,
  openReal,
  reasonOf,
  store,
} from '../../fixture/cluster-world.ts';
import { until } from '../../fixture/watch-command.ts';

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
      const { controller } = await world.start();
      await world.until('production', (now) => now.sync === 'Synced');
      await world.until('staging', (now) => now.sync === 'Synced');

      door.isShut = true;
      door.cut();
      // After as long as a Lease lasts, in the time of this machine.
      await pause(15_000);
      await store(world.service.url, { language: 'fr' });
      await world.admin.patch(world.pathOf('production'), {
        spec: { settings: { language: 'de' } },
      });
      await world.admin.remove(world.pathOf('staging'));
      await pause((10 * MINUTE) / times - 15_000);
      expect(await languageOf(world.service.url)).toBe('fr');
      expect(world.said).toContain('The API server cannot be reached.');

      const knocks = door.requests.length;
      door.isShut = false;
      await until(() => controller.states().length === 1);
      await world.until(
        'production',
        (now) => now.sync === 'Synced' && now.observedGeneration === 2,
      );
      expect(await languageOf(world.service.url)).toBe('de');
      expect(controller.conditions.list()).toEqual([]);
      // It does not storm the API server that has just come back.
      expect(door.requests.length - knocks).toBeLessThan(60);
    }, 120_000);

    it('lists the objects anew if what it watches from is too old', async () => {
      const { door, world } = await behindDoor(20);
      await world.target('production', APPLY);
      await world.start();
      await world.until('production', (now) => now.sync === 'Synced');
      const lists = (): number =>
        door.requests.filter((one) => one.includes('settingstargets?limit=')).length;
      const before = lists();
      door.rewrite = (path) =>
        path.includes('settingstargets?watch=1')
          ? path.replace(/resourceVersion=\d+/, 'resourceVersion=1')
          : path;
      door.cut();
      await until(() => door.watched.some(({ text }) => text.includes('"code":410')));
      door.rewrite = (path) => path;
      await world.target('staging', { ...APPLY, settings: { language: 'de' } });
      await world.until('staging', (now) => reasonOf(now, 'Ready') !== null);
      expect(lists()).toBeGreaterThan(before);
    }, 60_000);
  },
);

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
