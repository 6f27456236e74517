import { describe, expect, it } from 'vitest';
import { until } from '../../fixture/until.ts';
import { clusterWorld, SERVERS, type Admin } from '../../fixture/cluster-world.ts';

describe.each(SERVERS)('an object that follows one of its name, on an API server %s', (_, open) => {
  const test = it.skipIf(open === null);

  test.each(['later'])('is not in sync because that was, %s', async (when) => {
    const one = await clusterWorld(await (open as () => Promise<Admin>)());
    const path = one.pathOf('production');
    await one.target('production', { mode: 'Apply', settings: { language: 'en' } });
    const { controller } = await one.start();
    await one.until('production', (now) => now.sync === 'Synced');
    await one.admin.remove(path);
    if (when === 'later') await until(() => controller.states().length === 0);
    await one.target('production', { settings: { language: 'de' } });
    const seen = new Set<string>();
    await one.until('production', (now) => {
      if (now.sync !== undefined) seen.add(`${now.sync} ${now.lastInSync === undefined}`);
      return now.plan !== undefined;
    });
    expect([...seen].filter((one) => one.startsWith('Synced'))).toEqual([]);
  });
});
