import { describe, expect, it } from 'vitest';
import { clusterWorld, reasonOf, SERVERS, type Admin } from '../../fixture/cluster-world.ts';
import { LONG } from '../../fixture/long.ts';

describe.each(SERVERS)(
  'two objects that declare one setting of a server, on an API server %s',
  (_, open) => {
    const test = it.skipIf(open === null);

    test(
      'end their dispute, name each other, and go on once one of them is changed',
      LONG,
      async () => {
        const one = await clusterWorld(await (open as () => Promise<Admin>)(), 60);
        await one.target('first', { mode: 'Apply', settings: { language: 'en' } });
        await one.target('second', { mode: 'Apply', settings: { language: 'de' } });
        await one.start();
        const stopped = async (): Promise<readonly string[]> => {
          const names = ['first', 'second'];
          const all = await Promise.all(names.map((name) => one.status(name)));
          return names.filter(
            (_name, index) => reasonOf(all[index] ?? {}, 'Stalled') === 'Stopped',
          );
        };
        await expect.poll(stopped).toHaveLength(1);
        const [loser = ''] = await stopped();
        const winner = loser === 'first' ? 'second' : 'first';
        const { conditions } = await one.status(loser);
        const message = conditions?.find(({ type }) => type === 'Stalled')?.message;
        expect(message).toContain(`Also of this server: ${winner}.`);
        expect(message).toContain('A change of the object lets it be healed again.');

        await one.admin.remove(one.pathOf(winner));
        await one.admin.patch(one.pathOf(loser), { spec: { settings: { language: 'fr' } } });
        await one.until(loser, (now) => now.sync === 'Synced');
        expect(reasonOf(await one.status(loser), 'Stalled')).toBeNull();
      },
    );
  },
);
