import { describe, expect, it } from 'vitest';
import { adminOf, clusterWorld, store } from '../../fixture/cluster-world.ts';
import { kubeServer } from '../../fixture/kube-server.ts';
import { LONG } from '../../fixture/long.ts';

async function world() {
  const kube = await kubeServer();
  return { kube, one: await clusterWorld(adminOf(kube)) };
}

describe('what cannot be written into the cluster', () => {
  it('is told once, whatever else is written meanwhile, and once it can be', LONG, async () => {
    const { kube, one } = await world();
    kube.fault = (method, path) => (method === 'PATCH' && path.includes('/bad/') ? 422 : null);
    await one.target('bad', { settings: { language: 'en' } });
    await one.target('good', { settings: { language: 'en' } });
    await one.start();
    for (const [language, sync] of [
      ['en', 'Synced'],
      ['de', 'OutOfSync'],
      ['en', 'Synced'],
    ] as const) {
      await store(one.service.url, { language });
      await one.until('good', (now) => now.sync === sync);
    }
    const told =
      'The API server cannot write the status of SettingsTargets (422). What is found is not shown there until it can.';
    expect(one.said).toBe(told);
    kube.fault = () => null;
    await one.until('bad', (now) => now.sync === 'Synced');
    await expect
      .poll(() => one.said)
      .toBe(`${told}\nThe status of SettingsTargets can be written again.`);
  });
});
