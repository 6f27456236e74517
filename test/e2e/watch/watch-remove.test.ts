/** A controller and what a service keeps by name: it removes none of it unless the file says so. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { DialectName } from '../../../src/reconciler/model/dialect.ts';
import { apply } from '../../../src/reconciler/operations/apply.ts';
import { plan } from '../../../src/reconciler/operations/plan.ts';
import { formatPath } from '../../../src/reconciler/model/path.ts';
import type { WatchState } from '../../../src/reconciler/model/watch.ts';
import { createWatchedReport } from '../../../src/controller/page/api.ts';
import type { Controller } from '../../../src/controller/watch/controller.ts';
import { createContent } from '../../../src/controller/watch/notices/message.ts';
import { whyNotHealed } from '../../../src/controller/watch/healing.ts';
import { createMetrics } from '../../../src/controller/watch/telemetry/metrics.ts';
import { startFronted, type Fronted } from '../../fixture/before-service.ts';
import { folderWith } from '../../fixture/command.ts';
import {
  GIT_HOSTS,
  ITEM_ENV,
  SAMPLES_HERE,
  type SampleItem,
} from '../../fixture/every-collection.ts';
import { itEach } from '../../fixture/long.ts';
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
    await world.pass(3 * MINUTE);
    await front.ask('POST', SECRETS, { name: 'THEIRS', value: 'canary-theirs' });
    await world.pass(6 * MINUTE);
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
  expect(await watched('{ mode: heal, interval: 1m }', blocks)).toEqual({
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
  const watch = '{ mode: heal, interval: 1m, remove: true }';
  expect(await watched(watch, blocks)).toMatchObject({ status: 'in-sync', names: [], writes: 1 });
});

it('others: an approved plan that names one lifts the guard for it, and for none that came later', async () => {
  const kept = folderWith({});
  const data = join(kept.path, 'store.json');
  const front = await startFronted({ dialect: 'settings-v0', apiKey: 'a-key', data });
  await front.ask('POST', SECRETS, { name: 'THEIRS', value: 'canary-theirs' });
  const folder = watchFolder();
  const watch = 'watch: { mode: heal, interval: 1m, remove: true }';
  const text = `version: 1\nserver: { url: "${front.url}" }\n${watch}\n${OTHERS}\n`;
  const file = settingsFile(folder, text);
  const approved = await plan({ file, env: { SETPOINT_API_KEY: 'a-session-key' } });
  const world = startWatching({ folder, approved });
  try {
    await world.pass(5 * MINUTE);
    expect([world.state().status, await names(front)]).toEqual(['in-sync', []]);
    await front.ask('POST', SECRETS, { name: 'LATER', value: 'canary-later' });
    await world.pass(5 * MINUTE);
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
  const watch = '{ mode: heal, interval: 1m, remove: true }';
  const refused = { status: 'refused', names: ['THEIRS'], writes: 0 };
  expect(await watched(watch, OTHERS)).toMatchObject(refused);
});

/** Has a service store an item, then watches it with a file that removes the item. Gives the state, why it is not healed, and what was written. */
async function removing(dialect: DialectName, { declared, removed }: SampleItem, watch: string) {
  const kept = folderWith({});
  const front = await startFronted({
    dialect,
    apiKey: 'a-key',
    data: join(kept.path, 'store.json'),
    ...(GIT_HOSTS === undefined ? {} : { gitProviders: GIT_HOSTS }),
  });
  const head = `version: 1\nserver: { url: "${front.url}" }\nsettings: { language: en }\n`;
  const file = join(kept.path, 'before.yaml');
  const before = { text: head + declared(kept.path), file, env: ITEM_ENV, allow: ['empty-store'] };
  expect((await apply(before)).environments[0]).toMatchObject({ error: null });
  const writes = front.writes().length;
  const folder = watchFolder();
  settingsFile(folder, `${head}watch: ${watch}\n${removed}\n`);
  const world = startWatching({ folder });
  try {
    await world.pass(6 * MINUTE);
    const state = world.state();
    const now = world.clock.now();
    const said = {
      status: state.status,
      why: whyNotHealed(state, [], now),
      reported: createWatchedReport(state, [], now).not_healed,
      told: toldOf(state),
      measured: await measured(world.controller),
    };
    return { ...said, writes: front.writes().length - writes };
  } finally {
    await world.stop();
    await front.close();
    kept.remove();
  }
}

/** What a receiver is told of its healing, as JSON and in words. */
function toldOf(state: WatchState) {
  const due = {
    state,
    event: 'opened',
    digest: state.digest,
    track: 'difference',
    end: null,
  } as const;
  const { message, notices } = createContent([due], null);
  const [notice] = notices() as readonly {
    readonly healing: { readonly message: string } | null;
  }[];
  return { healing: notice?.healing?.message ?? null, details: message().items[0]?.details ?? [] };
}

async function measured(controller: Controller): Promise<string | undefined> {
  const metrics = createMetrics(controller);
  const { text } = await metrics.text();
  metrics.close();
  return /^setpoint_target_heal_would_remove\{.*\} (\d)$/m.exec(text)?.[1];
}

describe('what a file removes of each collection', () => {
  const cases = SAMPLES_HERE;
  const isShort = ([, dialect, { block }]: (typeof cases)[number]) =>
    dialect === 'agent-server' && block === 'secrets';

  itEach(cases, isShort)(
    '%s: not removed without watch.remove, and the state says so',
    async (_, dialect, sample) => {
      const item = sample.planned?.[dialect] ?? formatPath([sample.block, sample.name]);
      const why = `it would remove ${item}, which watch.remove does not allow`;
      const { told, ...found } = await removing(dialect, sample, '{ mode: heal, interval: 1m }');
      expect(found).toEqual({ status: 'drift', why, reported: why, measured: '1', writes: 0 });
      expect(told).toMatchObject({ healing: why });
      expect(told.details[0]).toBe(`not healed: ${why}`);
    },
  );

  itEach(cases, isShort)('%s: removed with watch.remove', async (_, dialect, sample) => {
    const watch = '{ mode: heal, interval: 1m, remove: true }';
    const found = await removing(dialect, sample, watch);
    expect(found).toMatchObject({ status: 'in-sync', why: null, measured: '0' });
    expect(found.writes).toBeGreaterThan(0);
  });
});
