import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { SetpointError } from '../../../src/reconciler/model/error.ts';
import { apply } from '../../../src/reconciler/operations/apply.ts';
import { get } from '../../../src/reconciler/operations/get.ts';
import { plan } from '../../../src/reconciler/operations/plan.ts';
import { listPlanChanges } from '../../../src/reconciler/model/plan.ts';
import { observeAndPlan } from '../../../src/reconciler/reconcile/observe-and-plan.ts';
import type { ManagedResource } from '../../../src/reconciler/reconcile/contract.ts';
import { RESOURCES } from '../../../src/reconciler/resources/resources.ts';
import { SETTINGS_RESOURCE } from '../../../src/reconciler/resources/settings/resource.ts';
import { declared } from '../../unit/plan/declared.ts';
import { scripted } from '../../unit/reconcile/scripted.ts';
import { LAMPS, world } from '../../fixture/lamps.ts';
import { startStore } from '../../fixture/store-server.ts';
import { MINUTE, settingsFile, startWatching, watchFolder } from '../../fixture/watch-world.ts';

/* Lamps are a resource that nothing but the list of resources knows here: they go through the commands and a controller as these are. */

beforeEach(() => {
  const list = RESOURCES as ManagedResource[];
  const before = [...list];
  list.splice(0, list.length, SETTINGS_RESOURCE, LAMPS);
  onTestFinished(() => void list.splice(0, list.length, ...before));
  world.lamps = new Map([['hall', 'off']]);
  world.wanted = { hall: 'on' };
  world.sent.length = 0;
});

/** A service that has the settings of a file, and the file's folder. */
async function scene(mode: 'detect' | 'heal' = 'detect') {
  const store = await startStore({}, { language: 'en' });
  onTestFinished(() => store.close());
  const folder = watchFolder();
  const file = settingsFile(
    folder,
    `version: 1
server: { url: "${store.url}", api_key: "\${env:SETPOINT_API_KEY}" }
settings: { language: en }
watch: { mode: ${mode}, interval: 1m }
environments: { prod: {} }
`,
  );
  const request = { file, env: { SETPOINT_API_KEY: 'test-key' } };
  return { folder, request };
}

it('a resource that nothing else knows is shown, planned and applied by the commands', async () => {
  const { request } = await scene();
  const shown = await get({ ...request, resources: ['lamps' as never] });
  expect(shown.environments).toMatchObject([{ lamps: { hall: 'off' }, error: null }]);
  const planned = await plan(request);
  expect(planned.environments[0]?.changes).toMatchObject([
    { resource: 'lamp', path: ['lamps', 'hall'], before: 'off', after: 'on' },
  ]);
  const outcome = await apply({ ...request, approved: planned });
  expect(outcome.environments).toMatchObject([
    { status: 'applied', changes: [{ action: 'change' }] },
  ]);
  expect(world.sent).toEqual(['hall on']);
  expect((await plan(request)).environments).toMatchObject([{ status: 'in-sync' }]);
});

it('and nothing of it is sent that may not be sent any more', async () => {
  const { request } = await scene();
  const stopped = new SetpointError('interrupted', 'Not any more.');
  await apply({ ...request, beforeWrite: async () => stopped });
  expect(world.sent).toEqual([]);
});

it('is planned against what was saved of it, without the service', async () => {
  const { request } = await scene();
  const saved = await get({ ...request, resources: ['settings', 'lamps' as never] });
  const [environment] = saved.environments;
  if (environment === undefined) throw new Error('There is one.');
  world.lamps.clear();
  const { input } = scripted(declared('language: en'), { shows: [{ language: 'en' }] });
  const planned = await observeAndPlan({
    ...input,
    resources: RESOURCES,
    reader: ({ saved: ofSaved }) => ofSaved({ environment, at: saved.observed_at }),
  });
  expect(listPlanChanges(planned.plan)).toMatchObject([{ path: ['lamps', 'hall'], before: 'off' }]);
});

it('is watched: what somebody did to it is drift, and is put back', async () => {
  const { folder } = await scene('heal');
  world.lamps.set('hall', 'on');
  const watch = startWatching({ folder });
  await watch.pass(2 * MINUTE);
  expect(watch.state()).toMatchObject({ status: 'in-sync' });
  world.lamps.set('hall', 'off');
  await watch.pass(5 * MINUTE);
  expect(watch.state()).toMatchObject({ status: 'in-sync' });
  expect(world.sent).toEqual(['hall on']);
  await watch.stop();
});
