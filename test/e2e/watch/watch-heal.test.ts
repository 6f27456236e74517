import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { plan } from '../../../src/reconciler/operations/plan.ts';
import { SuspensionFile } from '../../../src/controller/watch/suspension-file.ts';
import { startStore, type JsonRecord, type StoreServer } from '../../fixture/store-server.ts';
import {
  HOUR,
  MINUTE,
  NOON,
  recordsOf,
  SECOND,
  settingsFile,
  startWatching,
  tableLocks,
  watchFolder,
  type World,
  type WorldOptions,
} from '../../fixture/watch-world.ts';
import { LONG } from '../../fixture/long.ts';

const DECLARED = { language: 'en', llm_model: 'gpt-4o' };
const DRIFTED = { ...DECLARED, language: 'fr' };

function settings(url: string, watch: string, more = ''): string {
  return `version: 1
server:
  url: ${url}
  api_key: \${env:SETPOINT_API_KEY}
settings:
  language: en
  llm_model: gpt-4o
watch: ${watch}
${more}`;
}

interface Scene {
  readonly store: StoreServer;
  readonly watch: World;
}

async function scene(
  watch: string,
  {
    stored = DECLARED,
    more = '',
    ...options
  }: WorldOptions & { stored?: JsonRecord; more?: string } = {},
): Promise<Scene> {
  const store = await startStore({}, stored);
  const folder = watchFolder();
  settingsFile(folder, settings(store.url, watch, more));
  return { store, watch: startWatching({ folder, ...options }) };
}

async function ending({ store, watch }: Scene): Promise<void> {
  await watch.stop();
  await store.close();
}

/** Somebody else sets the value again, every few minutes, for a time. */
async function fighting({ store, watch }: Scene, minutes: number, every = 2): Promise<void> {
  for (let minute = 0; minute < minutes; minute += every) {
    store.stored = { ...DRIFTED };
    await watch.pass(every * MINUTE);
  }
}

describe('an environment in mode detect', () => {
  it('is read again and again, and never written', async () => {
    const { store, watch } = await scene('{ mode: detect }');
    await watch.pass(30 * MINUTE);
    expect(watch.state()).toMatchObject({ status: 'in-sync', failures: 0 });
    store.stored = { ...DRIFTED };
    await watch.pass(30 * MINUTE);
    expect(watch.state()).toMatchObject({ status: 'drift' });
    expect(store.posts()).toBe(0);
    expect(watch.reads.length).toBeGreaterThan(10);
    expect(recordsOf(watch.data, 'state').map(({ before, status }) => [before, status])).toEqual([
      ['not-read', 'in-sync'],
      ['in-sync', 'drift'],
    ]);
    await ending({ store, watch });
  });
});

describe('an environment in mode heal', () => {
  it('is healed once two reads apart have found the same', async () => {
    const { store, watch } = await scene('{ mode: heal }');
    await watch.pass(MINUTE);
    store.stored = { ...DRIFTED };
    await watch.pass(4 * MINUTE + SECOND);
    expect([watch.state().status, store.posts()]).toEqual(['drift', 0]);
    await watch.pass(16 * SECOND);
    expect(store.stored).toMatchObject(DECLARED);
    expect([watch.state().status, store.posts()]).toEqual(['in-sync', 1]);
    expect(recordsOf(watch.data, 'writing')).toMatchObject([{ paths: ['language'] }]);
    expect(recordsOf(watch.data, 'write')).toMatchObject([
      { by: 'watch', outcome: { status: 'applied', changes: [{ before: 'fr', after: 'en' }] } },
    ]);
    await ending({ store, watch });
  });

  it('says which reference has no value, and is healed once it has one', async () => {
    const store = await startStore({}, DRIFTED);
    const folder = watchFolder();
    const declared = settings(store.url, '{ mode: heal }').replace(
      '  language: en\n',
      `  language: en\n  llm_api_key: \${file:${join(folder, 'key.txt')}}\n`,
    );
    settingsFile(folder, declared);
    const env = { SETPOINT_API_KEY: 'a-session-key', SETPOINT_ALLOWED_FILES: folder };
    const watch = startWatching({ folder, request: { env } });
    await watch.pass(10 * MINUTE);
    expect(store.posts()).toBe(0);
    expect(watch.state().healFailed).toMatchObject({
      code: 'reference-missing',
      message: expect.stringContaining('llm_api_key'),
    });
    writeFileSync(join(folder, 'key.txt'), 'sk-1234567890');
    await watch.pass(10 * MINUTE);
    expect(store.stored).toMatchObject(DECLARED);
    expect(watch.state().healFailed).toBeNull();
    await ending({ store, watch });
  });

  it('is not healed because two reads came one right after the other', async () => {
    const { store, watch } = await scene('{ mode: heal }', { stored: DRIFTED });
    await watch.pass(2 * SECOND);
    for (let turn = 0; turn < 4; turn += 1) {
      await watch.controller.readNow('default');
      await watch.pass(SECOND);
    }
    expect([watch.reads.length, store.posts()]).toEqual([5, 0]);
    await ending({ store, watch });
  });

  it('is healed in its windows alone', async () => {
    const scenery = await scene('{ mode: heal, windows: ["12:30-13:00"] }', { stored: DRIFTED });
    const { store, watch } = scenery;
    await watch.pass(29 * MINUTE);
    expect([watch.state().status, store.posts()]).toEqual(['drift', 0]);
    await watch.pass(8 * MINUTE);
    expect(store.posts()).toBe(1);
    await watch.pass(24 * MINUTE);
    store.stored = { ...DRIFTED };
    await watch.pass(20 * MINUTE);
    expect([watch.state().status, store.posts()]).toEqual(['drift', 1]);
    await ending(scenery);
  });

  it('is not healed against a guard', async () => {
    const scenery = await scene('{ mode: heal }', {
      stored: { ...DRIFTED, llm_model: 'other' },
      more: 'guards: { max_changes: 1 }\n',
    });
    await scenery.watch.pass(20 * MINUTE);
    expect([scenery.watch.state().status, scenery.store.posts()]).toEqual(['refused', 0]);
    await ending(scenery);
  });

  it('is healed no further than an approved plan goes, and says so once', async () => {
    const store = await startStore({}, { ...DRIFTED });
    const folder = watchFolder();
    const file = settingsFile(folder, settings(store.url, '{ mode: heal }'));
    const approved = await plan({ file, env: { SETPOINT_API_KEY: 'a-session-key' } });
    const watch = startWatching({ folder, approved });
    await watch.pass(6 * MINUTE);
    expect([watch.state().status, store.posts()]).toEqual(['in-sync', 1]);
    store.stored = { ...DECLARED, llm_model: 'other' };
    await watch.pass(20 * MINUTE);
    expect([watch.state().status, store.posts()]).toEqual(['drift', 1]);
    expect(watch.notes.map(({ message }) => message)).toEqual([expect.stringContaining('plan')]);
    await ending({ store, watch });
  });

  it('follows a conflict and an edit of the file', async () => {
    const { store, watch } = await scene('{ mode: heal }');
    await watch.pass(MINUTE);
    writeFileSync(watch.file, settings(store.url, '{ mode: heal }').replace('gpt-4o', 'gpt-5'));
    await watch.pass(11 * SECOND);
    expect([watch.state().status, store.posts()]).toEqual(['pending', 0]);
    await watch.pass(16 * SECOND);
    expect([watch.state().status, store.posts()]).toEqual(['in-sync', 1]);
    expect(store.stored).toMatchObject({ llm_model: 'gpt-5' });
    await ending({ store, watch });
  });
});

describe('somebody who writes the same path again and again', () => {
  it(
    'stops healing after as many heals in an hour as are allowed, until it is resumed',
    LONG,
    async () => {
      const scenery = await scene('{ mode: heal, interval: 40s }');
      const { store, watch } = scenery;
      await fighting(scenery, 12);
      expect([store.posts(), watch.state().status]).toEqual([3, 'drift']);
      expect(recordsOf(watch.data, 'healing-stopped')).toMatchObject([
        { path: 'language', reason: expect.stringContaining('"fr"') },
      ]);
      await fighting(scenery, 12);
      expect(store.posts()).toBe(3);
      await new SuspensionFile(watch.data).change(['default'], null, watch.clock.now());
      await fighting(scenery, 12);
      expect([store.posts(), recordsOf(watch.data, 'healing-stopped').length]).toEqual([6, 2]);
      await watch.controller.resume(['default']);
      await fighting(scenery, 4);
      expect(store.posts()).toBe(8);
      await ending(scenery);
    },
  );

  it('is not healed more often across restarts and clocks that are set', LONG, async () => {
    const { store, watch } = await scene('{ mode: heal, interval: 10s }');
    const { folder, clock } = watch;
    let now = watch;
    for (const hours of [5, -48, 1, 48, -1, 0]) {
      await fighting({ store, watch: now }, 2);
      clock.set += hours * HOUR;
      await fighting({ store, watch: now }, 2);
      await now.stop();
      now = startWatching({ folder, clock });
    }
    await fighting({ store, watch: now }, 4);
    expect(store.posts()).toBe(3);
    await ending({ store, watch: now });
  });

  it.each([2, 10])(
    'is healed for ever if it is not more often than allowed: for %i hours',
    LONG,
    async (hours) => {
      const scenery = await scene('{ mode: heal, interval: 2m }');
      await fighting(scenery, hours * 60, 21);
      expect(scenery.store.posts()).toBe(Math.ceil((hours * 60) / 21));
      await ending(scenery);
    },
  );
});

describe('a suspended environment', () => {
  it('is read and not healed, until it is resumed', async () => {
    const scenery = await scene('{ mode: heal }', { stored: DRIFTED });
    const { store, watch } = scenery;
    const at = new Date(NOON).toISOString();
    const suspension = { at, reason: 'an incident', until: null };
    await new SuspensionFile(watch.data).change(['default'], suspension, NOON);
    await watch.pass(30 * MINUTE);
    expect(watch.state()).toMatchObject({ status: 'suspended', found: 'drift' });
    expect([store.posts(), watch.reads.length > 5]).toEqual([0, true]);
    await new SuspensionFile(watch.data).change(['default'], null, watch.clock.now());
    await watch.pass(6 * MINUTE);
    expect([watch.state().status, store.posts()]).toEqual(['in-sync', 1]);
    await ending(scenery);
  });

  it('goes on by itself when its time is over', LONG, async () => {
    const scenery = await scene('{ mode: heal }', { stored: DRIFTED });
    const { store, watch } = scenery;
    await watch.settle();
    await watch.controller.suspend(['default'], {
      reason: 'x',
      until: new Date(NOON + 30 * MINUTE).toISOString(),
    });
    await watch.pass(29 * MINUTE);
    expect([watch.state().status, store.posts()]).toEqual(['suspended', 0]);
    await watch.pass(7 * MINUTE);
    expect([watch.state().status, store.posts()]).toEqual(['in-sync', 1]);
    await ending(scenery);
  });

  it('is not written if it was suspended while the write was prepared', async () => {
    const scenery = await scene('{ mode: heal }', { stored: DRIFTED });
    const { store, watch } = scenery;
    const suspension = { at: new Date(NOON).toISOString(), reason: 'x', until: null };
    store.intercept = (request, _, proceed) => {
      // The second read, and the one right before the write.
      if (request.method !== 'GET' || store.requests.length < 4) return false;
      void new SuspensionFile(watch.data).change(['default'], suspension, NOON).then(proceed);
      return true;
    };
    await watch.pass(20 * MINUTE);
    expect([store.posts(), recordsOf(watch.data, 'writing')]).toEqual([0, []]);
    await ending(scenery);
  });

  it(
    'stays suspended while its file is damaged, and so is all in a controller that starts with that',
    LONG,
    async () => {
      const scenery = await scene('{ mode: heal }', { stored: DRIFTED });
      const { store, watch } = scenery;
      await watch.settle();
      await watch.controller.suspend(['default'], { reason: 'x', until: null });
      writeFileSync(join(watch.data, 'suspensions/1.json'), '{');
      await watch.pass(11 * MINUTE);
      expect([watch.state().status, store.posts(), watch.notes.length]).toEqual([
        'suspended',
        0,
        1,
      ]);
      await watch.stop();
      const next = startWatching({ folder: watch.folder });
      await next.pass(11 * MINUTE);
      expect([next.state().status, store.posts()]).toEqual(['suspended', 0]);
      await expect(next.controller.resume(['default'])).rejects.toThrow('does not list');
      expect(recordsOf(watch.data, 'resumed')).toEqual([]);
      await next.stop();
      await store.close();
    },
  );
});

describe('what somebody applies', () => {
  it.each([
    [undefined, 'a user on the page'],
    ['Ada', 'Ada'],
  ])('is recorded as theirs, and not as a heal: %s', async (by, actor) => {
    const scenery = await scene('{ mode: detect }', { stored: DRIFTED });
    const { store, watch } = scenery;
    await watch.pass(6 * MINUTE);
    const said = await watch.controller.applyNow('default', watch.state().digest, by);
    expect([said, store.posts()]).toEqual(['default: applied.', 1]);
    expect(recordsOf(watch.data, 'write')).toMatchObject([
      { by: 'watch', actor, outcome: { status: 'applied' } },
    ]);
    await ending(scenery);
  });
});

describe('a controller that does not hold the lock', () => {
  it('says once who does', async () => {
    const table = new Map<string, object>([['default', {}]]);
    const scenery = await scene('{ mode: detect }', {
      stored: DRIFTED,
      locks: () => tableLocks(table),
    });
    const { watch } = scenery;
    await watch.pass(20 * MINUTE);
    expect(watch.state().heldBy).not.toBeNull();
    expect(watch.notes).toMatchObject([
      { severity: 'info', message: expect.stringMatching(/^Another controller has locks: /) },
    ]);
    await ending(scenery);
  });
});
