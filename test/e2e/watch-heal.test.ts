import { describe, expect, it } from 'vitest';
import { startStore, type JsonRecord } from '../fixture/store-server.ts';
import {
  HOUR,
  MINUTE,
  recordsOf,
  SECOND,
  settingsFile,
  startWatching,
  watchFolder,
  type World,
  type WorldOptions,
} from '../fixture/watch-world.ts';

const DECLARED = { language: 'en', llm_model: 'gpt-4o' };

function settings(url: string, watch: string): string {
  return `version: 1
server:
  url: ${url}
  api_key: \${env:SETPOINT_API_KEY}
settings:
  language: en
  llm_model: gpt-4o
watch: ${watch}
`;
}

async function world(
  watch: string,
  stored: JsonRecord | null = DECLARED,
  options: WorldOptions = {},
) {
  const store = await startStore({}, stored);
  const folder = watchFolder();
  settingsFile(folder, settings(store.url, watch));
  const controller = (more: WorldOptions = {}): World =>
    startWatching({ folder, ...options, ...more });
  return { store, folder, controller };
}

describe('an environment in mode detect', () => {
  it('is read again and again, and never written', async () => {
    const { store, controller } = await world('{ mode: detect }');
    const watch = controller();
    await watch.pass(HOUR);
    expect(watch.state()).toMatchObject({ status: 'in-sync', failures: 0 });
    store.stored = { ...DECLARED, language: 'fr' };
    await watch.pass(HOUR);
    expect(watch.state()).toMatchObject({ status: 'drift' });
    expect(store.posts()).toBe(0);
    expect(watch.reads.length).toBeGreaterThan(20);
    expect(recordsOf(watch.data, 'state').map(({ before, status }) => [before, status])).toEqual([
      ['not-read', 'in-sync'],
      ['in-sync', 'drift'],
    ]);
    await watch.stop();
    await store.close();
  });
});

describe('an environment in mode heal', () => {
  it('is healed once two reads apart have found the same', async () => {
    const { store, controller } = await world('{ mode: heal }');
    const watch = controller();
    await watch.pass(MINUTE);
    store.stored = { ...DECLARED, language: 'fr' };
    await watch.pass(4 * MINUTE + 31 * SECOND);
    expect([watch.state().status, store.posts()]).toEqual(['drift', 0]);
    await watch.pass(16 * SECOND);
    expect(store.stored).toMatchObject(DECLARED);
    expect([watch.state().status, store.posts()]).toEqual(['in-sync', 1]);
    const kinds = recordsOf(watch.data, 'write');
    expect(kinds).toMatchObject([{ by: 'watch', outcome: { status: 'applied' } }]);
    await watch.stop();
    await store.close();
  });
});
