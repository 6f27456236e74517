import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startStore, type StoreServer } from '../../fixture/store-server.ts';
import {
  HOUR,
  journalLines,
  MINUTE,
  SECOND,
  settingsFile,
  startWatching,
  watchFolder,
  type World,
  type WorldOptions,
} from '../../fixture/watch-world.ts';
import { LONG } from '../../fixture/long.ts';

const DECLARED = { language: 'en', llm_model: 'gpt-4o', git_user_name: 'a-hidden-name' };

function settings(url: string, { language = 'en', more = '' } = {}): string {
  return `version: 1
server:
  url: ${url}
  api_key: \${env:SETPOINT_API_KEY}
settings:
  language: ${language}
  llm_model: gpt-4o
  git_user_name: \${env:GIT_NAME}
watch: { interval: 1m }
${more}`;
}

interface Place {
  readonly store: StoreServer;
  readonly folder: string;
  readonly file: string;
}

async function place(): Promise<Place> {
  const store = await startStore({}, { ...DECLARED });
  const folder = watchFolder();
  return { store, folder, file: settingsFile(folder, settings(store.url)) };
}

const request = { env: { SETPOINT_API_KEY: 'a-session-key', GIT_NAME: 'a-hidden-name' } };

/** A controller that was in sync once, and has ended. */
async function watchedOnce({ folder }: Place, options: WorldOptions = {}): Promise<World> {
  const watch = startWatching({ folder, request, ...options });
  await watch.pass(2 * MINUTE);
  expect(watch.state().status).toBe('in-sync');
  await watch.stop();
  return watch;
}

describe('a controller that is started again', () => {
  it.each([
    ['the file was edited meanwhile', 'fr', 'en', 'pending'],
    ['the service was changed meanwhile', 'en', 'de', 'drift'],
    ['both were', 'fr', 'de', 'conflict'],
  ])('%s', async (_, declared, stored, status) => {
    const scene = await place();
    const { clock } = await watchedOnce(scene);
    writeFileSync(scene.file, settings(scene.store.url, { language: declared }));
    scene.store.stored = { ...DECLARED, language: stored };
    const again = startWatching({ folder: scene.folder, request, clock });
    await again.pass(2 * MINUTE);
    expect(again.state()).toMatchObject({
      status,
      plan: { changes: [{ path: ['language'], class: status }] },
    });
    await again.stop();
    const third = startWatching({ folder: scene.folder, request, clock });
    await third.pass(2 * MINUTE);
    expect(third.state().status).toBe(status);
    await third.stop();
    await scene.store.close();
  });

  it('knows it from a journal that has begun new files since', LONG, async () => {
    const scene = await place();
    const limits = { bytes: 400, age: MINUTE * 60 * 24, files: 1 };
    const { clock } = await watchedOnce(scene, { limits });
    for (const language of ['de', 'en', 'de', 'en']) {
      const watch = startWatching({ folder: scene.folder, request, clock, limits });
      scene.store.stored = { ...DECLARED, language };
      await watch.pass(3 * MINUTE);
      await watch.stop();
    }
    const [first] = journalLines(join(scene.folder, 'data'));
    expect(first?.kind).toBe('checkpoint');
    writeFileSync(scene.file, settings(scene.store.url, { language: 'fr' }));
    const again = startWatching({ folder: scene.folder, request, clock, limits });
    await again.pass(2 * MINUTE);
    expect(again.state().status).toBe('pending');
    await again.stop();
    await scene.store.close();
  });

  it('does not know it before it was in sync once: everything is drift', async () => {
    const scene = await place();
    scene.store.stored = { ...DECLARED, language: 'de' };
    const first = startWatching({ folder: scene.folder, request });
    await first.pass(2 * MINUTE);
    await first.stop();
    writeFileSync(scene.file, settings(scene.store.url, { language: 'fr' }));
    const again = startWatching({ folder: scene.folder, request, clock: first.clock });
    await again.pass(2 * MINUTE);
    expect(again.state().status).toBe('drift');
    await again.stop();
    await scene.store.close();
  });

  it('an edit that the service already has is nothing, and is what later ones are compared with', async () => {
    const scene = await place();
    const { clock } = await watchedOnce(scene);
    const watch = startWatching({ folder: scene.folder, request, clock });
    scene.store.stored = { ...DECLARED, language: 'fr' };
    writeFileSync(scene.file, settings(scene.store.url, { language: 'fr' }));
    await watch.pass(2 * MINUTE);
    expect(watch.state().status).toBe('in-sync');
    await watch.stop();
    scene.store.stored = { ...DECLARED, language: 'en' };
    const again = startWatching({ folder: scene.folder, request, clock });
    await again.pass(2 * MINUTE);
    expect(again.state().status).toBe('drift');
    await again.stop();
    await scene.store.close();
  });

  it('writes it once, and no value of it', async () => {
    const scene = await place();
    const { clock, data } = await watchedOnce(scene);
    const watch = startWatching({ folder: scene.folder, request, clock });
    await watch.pass(10 * MINUTE + SECOND);
    await watch.stop();
    const lines = journalLines(data).filter((line) => line?.kind === 'agreed');
    expect(lines).toHaveLength(1);
    const text = readFileSync(join(data, 'journal.jsonl'), 'utf8');
    for (const value of ['gpt-4o', 'a-hidden-name', 'GIT_NAME', 'llm_model'])
      expect(JSON.stringify(lines)).not.toContain(value);
    expect(text).not.toContain('a-hidden-name');
    await scene.store.close();
  });
});

it(
  'removes state and lock of an environment that left the file while none ran, a day later',
  LONG,
  async () => {
    const store = await startStore({}, { language: 'en' });
    const folder = watchFolder();
    const declare = (...names: readonly string[]): string =>
      `version: 1
server: { url: "${store.url}", api_key: "\${env:SETPOINT_API_KEY}" }
settings: { language: en }
watch: { interval: 6h }
environments:
${names.map((name) => `  ${name}: {}\n`).join('')}`;
    settingsFile(folder, declare('eu', 'us'));
    const before = startWatching({ folder });
    await before.pass(MINUTE);
    await before.stop();
    const locks = () => readdirSync(join(before.data, 'locks', 'claims')).toSorted();
    const left = () => journalLines(before.data).filter((line) => line?.kind === 'forgotten');
    expect(locks()).toEqual(['lock-eu', 'lock-us']);
    settingsFile(folder, declare('eu'));
    const watch = startWatching({ folder, clock: before.clock });
    await watch.pass(23 * HOUR);
    expect([left(), locks()]).toEqual([[], ['lock-eu', 'lock-us']]);
    await watch.pass(2 * HOUR);
    expect(left()).toMatchObject([{ environments: ['us'] }]);
    expect(locks()).toEqual(['lock-eu']);
    await watch.stop();
    await store.close();
  },
);
