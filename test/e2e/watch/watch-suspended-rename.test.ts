import { describe, expect, it } from 'vitest';
import { SuspensionFile } from '../../../src/controller/watch/suspension-file.ts';
import { startStore, type StoreServer } from '../../fixture/store-server.ts';
import {
  MINUTE,
  recordsOf,
  SECOND,
  settingsFile,
  startWatching,
  watchFolder,
  type World,
} from '../../fixture/watch-world.ts';
import { itEach } from '../../fixture/long.ts';

const DRIFTED = { language: 'fr' };

function files(environments: Readonly<Record<string, string>>): string {
  const each = Object.entries(environments).map(
    ([name, url]) => `  ${name}: { server: { url: "${url}" } }\n`,
  );
  return `version: 1
settings: { language: en }
watch: { mode: heal, interval: 30s }
environments:
${each.join('')}`;
}

interface Scene {
  readonly store: StoreServer;
  readonly other: StoreServer;
  readonly watch: World;
}

/** One environment that is suspended and differs, and one of another server. */
async function suspended(): Promise<Scene> {
  const store = await startStore({}, { language: 'en' });
  const other = await startStore({}, { language: 'en' });
  const folder = watchFolder();
  settingsFile(folder, files({ prod: store.url, other: other.url }));
  const watch = startWatching({ folder });
  await watch.pass(5 * SECOND);
  await watch.controller.suspend(['prod'], { reason: 'an incident', until: null, by: 'Ada' });
  store.stored = { ...DRIFTED };
  await watch.pass(MINUTE);
  expect(store.posts()).toBe(0);
  return { store, other, watch };
}

async function ending({ store, other }: Scene, watch: World): Promise<void> {
  await watch.stop();
  await store.close();
  await other.close();
}

describe('the server of a suspended environment', () => {
  itEach(['while it is watched', 'while no controller runs'], (_, index) => index === 0)(
    'stays suspended if another environment is given it: %s',
    async (when) => {
      const scene = await suspended();
      const { store, other, watch } = scene;
      let now = watch;
      if (when === 'while no controller runs') await watch.stop();
      settingsFile(watch.folder, files({ prod: other.url, other: store.url }));
      if (when === 'while no controller runs')
        now = startWatching({ folder: watch.folder, clock: watch.clock });
      await now.pass(10 * MINUTE);
      expect(store.posts()).toBe(0);
      expect(now.state('prod').suspended).toMatchObject({ reason: 'an incident' });
      expect(now.state('other').suspended).toMatchObject({ reason: 'an incident', by: 'Ada' });
      const notes = now.notes.filter(({ message }) => message.includes('it is suspended, too'));
      expect(notes).toMatchObject([{ environment: 'other' }]);
      await now.controller.resume(['other']);
      // A later edit of the files does not suspend it again.
      settingsFile(now.folder, `${files({ prod: other.url, other: store.url })}# edited\n`);
      await now.pass(10 * MINUTE);
      expect(store.stored).toMatchObject({ language: 'en' });
      await ending(scene, now);
    },
  );

  it('is not taken for that of one that shares it already', async () => {
    const scene = await suspended();
    const { store, other, watch } = scene;
    settingsFile(watch.folder, files({ prod: store.url, other: other.url, third: store.url }));
    await watch.pass(5 * MINUTE);
    settingsFile(watch.folder, files({ prod: other.url, other: other.url, third: store.url }));
    await watch.pass(5 * MINUTE);
    expect(watch.state('third').suspended).toBeNull();
    await ending(scene, watch);
  });
});

describe('a suspended environment that is renamed', () => {
  itEach(
    ['while it is watched', 'while no controller runs', 'first added, then removed'],
    (_, index) => index === 0,
  )('stays suspended by its new name, and is resumed by it: %s', async (when) => {
    const scene = await suspended();
    const { store, other, watch } = scene;
    let now = watch;
    if (when === 'while no controller runs') await watch.stop();
    if (when === 'first added, then removed') {
      settingsFile(watch.folder, files({ prod: store.url, main: store.url, other: other.url }));
      await watch.pass(6 * SECOND);
    }
    settingsFile(watch.folder, files({ main: store.url, other: other.url }));
    if (when === 'while no controller runs')
      now = startWatching({ folder: watch.folder, clock: watch.clock });
    await now.pass(10 * MINUTE);
    expect(now.state('main')).toMatchObject({
      status: 'suspended',
      found: 'drift',
      suspended: { reason: 'an incident', by: 'Ada' },
    });
    expect([store.posts(), now.state('other').suspended]).toEqual([0, null]);
    expect(recordsOf(watch.data, 'suspended').map(({ environment }) => environment)).toEqual([
      'prod',
      'main',
    ]);
    expect(now.notes.filter(({ message }) => message.includes('stays suspended'))).toMatchObject([
      { environment: 'main' },
    ]);
    await now.controller.resume(['main']);
    await now.pass(MINUTE);
    expect([store.posts(), now.state('main').status]).toEqual([1, 'in-sync']);
    // What was taken over is not taken over again.
    settingsFile(watch.folder, files({ main: store.url, third: store.url, other: other.url }));
    await now.pass(MINUTE);
    expect(now.state('third').suspended).toBeNull();
    await ending(scene, now);
  });

  it('stays suspended if it was in sync when the controller stopped', async () => {
    const store = await startStore({}, { language: 'en' });
    const folder = watchFolder();
    settingsFile(folder, files({ prod: store.url }));
    const watch = startWatching({ folder });
    await watch.pass(MINUTE);
    await watch.controller.suspend(['prod'], { reason: 'an incident', until: null, by: 'Ada' });
    await watch.stop();
    settingsFile(folder, files({ main: store.url }));
    store.stored = { ...DRIFTED };
    const now = startWatching({ folder, clock: watch.clock });
    await now.pass(10 * MINUTE);
    expect(now.state('main').suspended).toMatchObject({ reason: 'an incident', by: 'Ada' });
    expect(store.posts()).toBe(0);
    await now.stop();
    await store.close();
  });

  it('stays suspended if a command has suspended it right before', async () => {
    const store = await startStore({}, { language: 'en' });
    const folder = watchFolder();
    settingsFile(folder, files({ prod: store.url }));
    const watch = startWatching({ folder });
    await watch.pass(MINUTE);
    settingsFile(folder, files({ main: store.url }));
    await watch.pass(SECOND);
    const suspension = { at: new Date(watch.clock.now()).toISOString(), reason: 'r', until: null };
    await new SuspensionFile(watch.data).change(['prod'], suspension, watch.clock.now());
    store.stored = { ...DRIFTED };
    await watch.pass(10 * MINUTE);
    expect(watch.state('main').suspended).toMatchObject({ reason: 'r' });
    expect(store.posts()).toBe(0);
    await watch.stop();
    await store.close();
  });

  it('keeps all that follow it suspended if it is not known which of them it is', async () => {
    const scene = await suspended();
    const { store, watch } = scene;
    settingsFile(watch.folder, files({ eu: store.url, us: store.url }));
    await watch.pass(5 * MINUTE);
    expect([watch.state('eu').status, watch.state('us').status]).toEqual([
      'suspended',
      'suspended',
    ]);
    expect(store.posts()).toBe(0);
    await ending(scene, watch);
  });

  it('is suspended by its former name again if the rename is taken back', async () => {
    const scene = await suspended();
    const { store, other, watch } = scene;
    for (const name of ['main', 'prod']) {
      settingsFile(watch.folder, files({ [name]: store.url, other: other.url }));
      await watch.pass(5 * MINUTE);
      expect(watch.state(name).status).toBe('suspended');
    }
    expect(store.posts()).toBe(0);
    await ending(scene, watch);
  });

  it('says that its suspension applies to nothing if nothing follows it', async () => {
    const scene = await suspended();
    const { other, watch } = scene;
    settingsFile(watch.folder, files({ other: other.url }));
    await watch.pass(5 * MINUTE);
    expect(watch.notes.filter(({ environment }) => environment === 'prod')).toMatchObject([
      { message: expect.stringContaining('The suspension has no effect') },
    ]);
    await ending(scene, watch);
  });
});
