import { describe, expect, it } from 'vitest';
import { until } from '../../fixture/until.ts';
import {
  clusterWorld,
  languageOf,
  reasonOf,
  SERVERS,
  store,
  type Admin,
} from '../../fixture/cluster-world.ts';
import { LONG } from '../../fixture/long.ts';

const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'] as const;

/** A window that is closed for some days yet. */
const closed = (): string => `${DAYS[(new Date().getUTCDay() + 3) % 7]} 08:00-09:00`;

describe.each(SERVERS)('an approval, on an API server %s', (_, open) => {
  const test = it.skipIf(open === null);
  const world = async () => clusterWorld(await (open as () => Promise<Admin>)());

  test('is written within the windows alone, and the status says when they open', async () => {
    const one = await world();
    const watch = { windows: [closed()] };
    await one.target('production', { settings: { language: 'en' }, watch });
    await one.start();
    const { plan } = await one.until('production', (now) => now.plan !== undefined);
    const approval = { planDigest: plan?.digest };
    await one.admin.patch(one.pathOf('production'), { spec: { mode: 'Apply', approval } });
    const status = await one.until('production', (now) => now.observedGeneration === 2);
    expect(status.conditions?.find(({ type }) => type === 'Ready')?.message).toMatch(
      /^drift: 1 change\. Not written: window closed until \w+ 08:00 UTC\.$/,
    );
    expect(await languageOf(one.service.url)).toBeNull();
    await one.admin.patch(one.pathOf('production'), { spec: { watch: { windows: null } } });
    await one.until('production', (now) => now.sync === 'Synced');
    expect(await languageOf(one.service.url)).toBe('en');
  });

  test('ends once somebody else has undone it as often as a path is healed', LONG, async () => {
    const one = await world();
    await store(one.service.url, { language: 'fr' });
    await one.target('production', { settings: { language: 'en' } });
    await one.start();
    const { plan } = await one.until('production', (now) => now.plan !== undefined);
    const approval = { planDigest: plan?.digest };
    await one.admin.patch(one.pathOf('production'), { spec: { mode: 'Apply', approval } });
    let undone = 0;
    await until(async () => {
      const status = await one.status('production');
      // Undone before the read that verifies a write, it would look as if the service did not store it.
      if ((status.history?.length ?? 0) > undone) {
        expect(await languageOf(one.service.url)).toBe('en');
        undone += 1;
        await store(one.service.url, { language: 'fr' });
      }
      return reasonOf(status, 'Stalled') === 'Stopped';
    });
    expect(undone).toBe(3);
    const { conditions, history } = await one.status('production');
    expect(history?.map(({ result }) => result)).toEqual(['applied', 'applied', 'applied']);
    expect(conditions?.find(({ type }) => type === 'Stalled')?.message).toContain(
      'It was healed 3 times within an hour',
    );
  });
});
