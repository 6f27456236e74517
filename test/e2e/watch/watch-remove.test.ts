/** A controller and what a service keeps by name: it removes none of it unless the file says so. */
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { plan } from '../../../src/reconciler/operations/plan.ts';
import { startFronted, type Fronted } from '../../fixture/before-service.ts';
import { folderWith } from '../../fixture/command.ts';
import { MINUTE, settingsFile, startWatching, watchFolder } from '../../fixture/watch-world.ts';

const SECRETS = '/api/secrets';
const GUARD_OFF = 'guards: { remove_others: false }';

async function names(front: Fronted): Promise<string[]> {
  const { body } = await front.ask('GET', SECRETS);
  const { custom_secrets: secrets } = body as { custom_secrets: readonly { name: string }[] };
  return secrets.map(({ name }) => name);
}

/** Watches a service on which somebody stores a secret, and gives its state and its secrets after some time. */
async function watched(watch: string, blocks: string) {
  const kept = folderWith({});
  const front = await startFronted({
    dialect: 'settings-v0',
    apiKey: 'a-key',
    data: join(kept.path, 'store.json'),
  });
  const folder = watchFolder();
  const text = `version: 1\nserver: { url: "${front.url}" }\nwatch: ${watch}\n${blocks}\n`;
  settingsFile(folder, text);
  const world = startWatching({ folder });
  try {
    await world.pass(10 * MINUTE);
    await front.ask('POST', SECRETS, { name: 'THEIRS', value: 'canary-theirs' });
    await world.pass(30 * MINUTE);
    expect(JSON.stringify(world.state())).not.toContain('canary');
    const { status, plan } = world.state();
    const removed = plan?.changes.flatMap(({ action, path }) => (action === 'remove' ? path : []));
    return { status, removed, names: await names(front), writes: front.writes().length };
  } finally {
    await world.stop();
    await front.close();
    kept.remove();
  }
}

const OTHERS = 'collections: { secrets: { others: remove } }';
const NULL = 'secrets: { THEIRS: null }';

it.each([
  ['others', `${OTHERS}\n${GUARD_OFF}`],
  ['null in the file', NULL],
])('%s: told as drift, and not removed without watch.remove', async (_, blocks) => {
  expect(await watched('{ mode: heal, interval: 5m }', blocks)).toEqual({
    status: 'drift',
    removed: ['secrets', 'THEIRS'],
    names: ['THEIRS'],
    writes: 0,
  });
});

it.each([
  ['others', `${OTHERS}\n${GUARD_OFF}`],
  ['null in the file', NULL],
])('%s: removed with watch.remove', async (_, blocks) => {
  const watch = '{ mode: heal, interval: 5m, remove: true }';
  expect(await watched(watch, blocks)).toMatchObject({ status: 'in-sync', names: [], writes: 1 });
});

it('others: an approved plan that names one lifts the guard for it, and for none that came later', async () => {
  const kept = folderWith({});
  const data = join(kept.path, 'store.json');
  const front = await startFronted({ dialect: 'settings-v0', apiKey: 'a-key', data });
  await front.ask('POST', SECRETS, { name: 'THEIRS', value: 'canary-theirs' });
  const folder = watchFolder();
  const watch = 'watch: { mode: heal, interval: 5m, remove: true }';
  const text = `version: 1\nserver: { url: "${front.url}" }\n${watch}\n${OTHERS}\n`;
  const file = settingsFile(folder, text);
  const approved = await plan({ file, env: { SETPOINT_API_KEY: 'a-session-key' } });
  const world = startWatching({ folder, approved });
  try {
    await world.pass(20 * MINUTE);
    expect([world.state().status, await names(front)]).toEqual(['in-sync', []]);
    await front.ask('POST', SECRETS, { name: 'LATER', value: 'canary-later' });
    await world.pass(20 * MINUTE);
    expect(await names(front)).toEqual(['LATER']);
    expect(world.state().status).not.toBe('in-sync');
    expect(JSON.stringify([world.state(), world.notes])).not.toContain('canary');
  } finally {
    await world.stop();
    await front.close();
    kept.remove();
  }
});

it('others: the guard that is on refuses, whatever watch says', async () => {
  const watch = '{ mode: heal, interval: 5m, remove: true }';
  const refused = { status: 'refused', names: ['THEIRS'], writes: 0 };
  expect(await watched(watch, OTHERS)).toMatchObject(refused);
});
