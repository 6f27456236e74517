import {
  chmodSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Lock, Locks } from '../../../src/controller/watch/locks/locks.ts';
import { keepsWatch } from '../../../src/controller/watch/notices/notices.ts';
import { fileLocks } from '../../../src/controller/watch/locks/file-locks.ts';
import { SYSTEM_CLOCK } from '../../../src/reconciler/host/this-process.ts';
import { Secret } from '../../../src/reconciler/model/secret.ts';
import { onLoopback } from '../../fixture/on-loopback.ts';
import { receiver } from '../../fixture/receivers.ts';
import { startStore, type StoreServer } from '../../fixture/store-server.ts';
import {
  HandClock,
  HOUR,
  MINUTE,
  recordsOf,
  SECOND,
  settingsFile,
  startWatching,
  tableLocks,
  watchFolder,
} from '../../fixture/watch-world.ts';
import { LONG } from '../../fixture/long.ts';

const DECLARED = { language: 'en', llm_model: 'gpt-4o' };
const DRIFTED = { ...DECLARED, language: 'fr' };

function settings(url: string, mode = 'heal', names: readonly string[] = []): string {
  const environments = names.map((name) => `  ${name}: {}\n`).join('');
  return `version: 1
server:
  url: ${url}
  api_key: \${env:SETPOINT_API_KEY}
settings:
  language: en
  llm_model: gpt-4o
watch: { mode: ${mode}, interval: 1m }
${names.length === 0 ? '' : `environments:\n${environments}`}`;
}

async function place(stored: object = DECLARED, mode = 'heal', names: readonly string[] = []) {
  const store = await startStore({}, stored as StoreServer['stored']);
  const folder = watchFolder();
  const file = settingsFile(folder, settings(store.url, mode, names));
  return { store, folder, file };
}

it('a step of the clock is not death: watch is kept, the heartbeat goes on and the next read moves with it', async () => {
  const { store, folder, file } = await place(DECLARED, 'detect');
  writeFileSync(file, settings(store.url, 'detect').replace('interval: 1m', 'interval: 1h'));
  let beats = 0;
  const pulse = await onLoopback((_, response) => {
    beats += 1;
    response.end();
  });
  const notify = {
    page: null,
    receivers: [],
    heartbeat: { url: new Secret(pulse.url), every: 10 * SECOND },
  };
  const watch = startWatching({ folder, notify });
  await watch.pass(2 * MINUTE);
  for (const step of [2 * HOUR, -4 * HOUR]) {
    watch.clock.set += step;
    const now = watch.clock.now();
    const { nextRead } = watch.state();
    expect(keepsWatch(watch.controller, now)).toBe(true);
    expect(Date.parse(nextRead ?? '') - now).toBeGreaterThan(0);
    expect(Date.parse(nextRead ?? '') - now).toBeLessThanOrEqual(2 * HOUR);
    const before = beats;
    await watch.pass(MINUTE);
    expect(beats - before).toBeGreaterThanOrEqual(3);
  }
  await watch.stop();
  await store.close();
  await pulse.close();
});

describe('files that change', () => {
  it('are read again: by an editor that replaces them, and one that is broken leaves the last good one', async () => {
    const { store, folder, file } = await place(DECLARED, 'detect');
    const watch = startWatching({ folder });
    await watch.pass(2 * MINUTE);
    writeFileSync(`${file}.new`, settings(store.url, 'detect').replace('gpt-4o', 'gpt-5'));
    renameSync(`${file}.new`, file);
    await watch.pass(11 * SECOND);
    expect(watch.state()).toMatchObject({ status: 'pending' });
    writeFileSync(file, 'version: 1\nsettings: [');
    await watch.pass(2 * MINUTE);
    expect(watch.state()).toMatchObject({ status: 'pending' });
    expect(watch.controller.health.filesProblem).toMatch(/settings\.yaml:2:\d+: \S/);
    expect(watch.notes).toMatchObject([
      {
        severity: 'warning',
        message: expect.stringContaining('the last good ones remain in effect'),
      },
    ]);
    writeFileSync(file, settings(store.url, 'detect'));
    await watch.pass(11 * SECOND);
    expect(watch.state()).toMatchObject({ status: 'in-sync' });
    expect(watch.notes).toHaveLength(2);
    expect(recordsOf(watch.data, 'files').map(({ problem }) => problem === null)).toEqual([
      true,
      false,
      true,
    ]);
    await watch.stop();
    await store.close();
  });

  it('are followed through links that are swapped, as volumes of Kubernetes do, also back', async () => {
    const { store, folder } = await place(DECLARED, 'detect');
    for (const [name, model] of [
      ['one', 'gpt-4o'],
      ['two', 'gpt-5'],
      ['bad', ': ['],
    ] as const)
      settingsFile(join(folder, name), settings(store.url, 'detect').replace('gpt-4o', model));
    const to = (name: string): void => {
      symlinkSync(name, join(folder, '..tmp'));
      renameSync(join(folder, '..tmp'), join(folder, '..data'));
    };
    to('one');
    rmSync(join(folder, 'settings.yaml'));
    symlinkSync('..data/settings.yaml', join(folder, 'settings.yaml'));
    const watch = startWatching({ folder });
    await watch.pass(2 * MINUTE);
    for (const [name, status] of [
      ['two', 'pending'],
      ['bad', 'pending'],
      ['two', 'pending'],
      ['one', 'in-sync'],
    ] as const) {
      to(name);
      await watch.pass(11 * SECOND);
      expect([name, watch.state().status]).toEqual([name, status]);
      expect(watch.controller.health.filesProblem === null).toBe(name !== 'bad');
    }
    await watch.stop();
    await store.close();
  });

  it('may add, remove and rename environments; one that comes back is known', LONG, async () => {
    const { store, folder, file } = await place(DRIFTED, 'detect', ['a', 'b']);
    const watch = startWatching({ folder });
    const names = (): string[] => watch.controller.states().map(({ name }) => name);
    const become = async (...next: string[]): Promise<void> => {
      writeFileSync(file, settings(store.url, 'detect', next));
      await watch.pass(2 * MINUTE);
    };
    await watch.pass(2 * MINUTE);
    await become('a', 'c');
    expect(names()).toEqual(['a', 'c']);
    const { since } = watch.state('a');
    await become('c');
    await become('a', 'b', 'c');
    expect(watch.state('a')).toMatchObject({ status: 'drift', since });
    expect(
      recordsOf(watch.data, 'state')
        .map(({ environment }) => environment)
        .toSorted(),
    ).toEqual(['a', 'b', 'c']);
    await watch.stop();
    await store.close();
  });
});

describe('a journal that cannot be written', () => {
  it(
    'stops healing and not reading; what was found meanwhile is kept once it can, with its time',
    LONG,
    async () => {
      const { store, folder } = await place();
      const watch = startWatching({ folder });
      await watch.pass(2 * MINUTE);
      const journal = join(watch.data, 'journal.jsonl');
      renameSync(journal, `${journal}.away`);
      mkdirSync(journal);
      store.stored = { ...DRIFTED };
      const before = watch.reads.length;
      const at = watch.clock.now();
      await watch.pass(10 * MINUTE);
      expect([store.posts(), watch.state().status]).toEqual([0, 'drift']);
      expect(watch.reads.length - before).toBeGreaterThan(5);
      expect(watch.notes).toMatchObject([
        { message: expect.stringContaining('cannot be written') },
      ]);
      rmSync(journal, { recursive: true });
      renameSync(`${journal}.away`, journal);
      await watch.pass(2 * MINUTE);
      expect([store.posts(), watch.state().status]).toEqual([1, 'in-sync']);
      const states = recordsOf(watch.data, 'state');
      expect(states.map(({ status }) => status)).toEqual(['in-sync', 'drift', 'in-sync']);
      expect(Date.parse(states[1]?.at ?? '') - at).toBeLessThanOrEqual(MINUTE);
      expect(watch.notes).toHaveLength(2);
      await watch.stop();
      await store.close();
    },
  );

  it('tells no Alertmanager of a state that is not kept; what fires goes on', LONG, async () => {
    const { store, folder } = await place(DECLARED, 'detect');
    const sent: string[] = [];
    const manager = await onLoopback((_, response, body) => {
      const alerts = JSON.parse(body) as { labels: { alertname: string } }[];
      sent.push(...alerts.map(({ labels }) => labels.alertname));
      response.end();
    });
    const to = { form: 'alertmanager', url: new Secret(manager.url), headers: new Map() } as const;
    const notify = { page: null, heartbeat: null, receivers: [receiver({ to })] };
    const watch = startWatching({ folder, notify });
    await watch.pass(2 * MINUTE);
    const journal = join(watch.data, 'journal.jsonl');
    const setFull = (full: boolean): void => {
      if (full) renameSync(journal, `${journal}.away`);
      else rmSync(journal, { recursive: true });
      if (full) mkdirSync(journal);
      else renameSync(`${journal}.away`, journal);
    };
    setFull(true);
    store.stored = { ...DRIFTED };
    await watch.pass(20 * MINUTE);
    expect([watch.state().status, sent]).toEqual(['drift', []]);
    setFull(false);
    await watch.pass(20 * MINUTE);
    expect(new Set(sent)).toEqual(new Set(['SetpointDrift']));
    setFull(true);
    store.stored = { ...DECLARED };
    sent.length = 0;
    await watch.pass(20 * MINUTE);
    expect([watch.state().status, new Set(sent)]).toEqual(['in-sync', new Set(['SetpointDrift'])]);
    setFull(false);
    await watch.pass(20 * MINUTE);
    sent.length = 0;
    await watch.pass(20 * MINUTE);
    expect(sent).toEqual([]);
    await watch.stop();
    await manager.close();
    await store.close();
  });

  it('during a write loses nothing of what became of it', async () => {
    const { store, folder } = await place(DRIFTED);
    const watch = startWatching({ folder });
    const journal = join(watch.data, 'journal.jsonl');
    store.intercept = (request) => {
      if (request.method !== 'POST') return false;
      renameSync(journal, `${journal}.away`);
      mkdirSync(journal);
      return false;
    };
    await watch.pass(2 * MINUTE);
    expect(store.posts()).toBe(1);
    store.intercept = null;
    rmSync(journal, { recursive: true });
    renameSync(`${journal}.away`, journal);
    await watch.pass(3 * MINUTE);
    expect(recordsOf(watch.data, 'write')).toMatchObject([{ outcome: { status: 'applied' } }]);
    await watch.stop();
    await store.close();
  });
});

describe('a service that fails', () => {
  it('is asked less and less, and again as usual once it answers', LONG, async () => {
    const { store, folder } = await place(DECLARED, 'detect');
    const watch = startWatching({ folder });
    let down = true;
    store.intercept = (_, response) => {
      if (down) response.writeHead(401).end('{}');
      return down;
    };
    // A read every five minutes would be sixteen.
    await watch.pass(80 * MINUTE);
    expect(watch.state()).toMatchObject({ status: 'error' });
    expect(watch.reads.length).toBeLessThan(8);
    expect(recordsOf(watch.data, 'state')).toHaveLength(1);
    down = false;
    await watch.pass(70 * MINUTE);
    expect(watch.state()).toMatchObject({ status: 'in-sync', failures: 0 });
    await watch.stop();
    await store.close();
  });

  it('is seen within a minute once it is back, by one cheap request at a time, and nobody is told earlier', async () => {
    const { store, folder } = await place(DECLARED, 'detect');
    const watch = startWatching({ folder });
    await watch.pass(10 * MINUTE);
    let down = true;
    const asked: number[] = [];
    store.intercept = (_, response) => {
      asked.push(watch.clock.passed);
      if (down) response.writeHead(500).end('{}');
      return down;
    };
    await watch.pass(30 * MINUTE);
    const { failures, since } = watch.state();
    const reads = watch.reads.filter((one) => one.endsWith('server-error')).length;
    expect(failures).toBe(reads);
    expect(reads).toBeGreaterThan(3);
    expect(reads).toBeLessThan(10);
    expect(watch.clock.now() - Date.parse(since)).toBeGreaterThan(20 * MINUTE);
    // Four tries of each read, and one of each check: one a minute, and some more at the begin.
    expect(asked.length).toBeLessThan(reads * 4 + 40);
    expect(asked.length).toBeGreaterThan(reads * 4 + 15);
    down = false;
    await watch.pass(95 * SECOND);
    expect(watch.state()).toMatchObject({ status: 'in-sync', failures: 0 });
    expect(recordsOf(watch.data, 'state').map(({ status }) => status)).toEqual([
      'in-sync',
      'error',
      'in-sync',
    ]);
    await watch.stop();
    await store.close();
  });

  it(
    'is asked by one of the environments behind it, and all are read soon once it is back',
    LONG,
    async () => {
      const { store, folder } = await place(DECLARED, 'detect');
      const names = Array.from({ length: 20 }, (_, index) => `e${index}`);
      const text = readFileSync(join(folder, 'settings.yaml'), 'utf8');
      settingsFile(
        folder,
        `${text}environments:\n${names.map((one) => `  ${one}: {}\n`).join('')}`,
      );
      const watch = startWatching({ folder });
      let down = true;
      store.intercept = (_, response) => {
        if (down) response.writeHead(502).end('{}');
        return down;
      };
      await watch.pass(20 * MINUTE);
      const states = () => watch.controller.states().map(({ status }) => status);
      expect(new Set(states())).toEqual(new Set(['error']));
      const before = store.requests.length;
      await watch.pass(10 * MINUTE);
      // Two reads of each, of four tries; and checks of one alone.
      expect(store.requests.length - before).toBeLessThan(names.length * 3 * 4 + 25);
      down = false;
      await watch.pass(105 * SECOND);
      expect(new Set(states())).toEqual(new Set(['in-sync']));
      await watch.stop();
      await store.close();
    },
  );

  it('is not asked before the time that it named, also by the next turns', LONG, async () => {
    const { store, folder } = await place(DECLARED, 'detect');
    const watch = startWatching({ folder });
    await watch.pass(2 * MINUTE);
    store.intercept = (_, response) => {
      response.writeHead(429, { 'retry-after': '1800' }).end('{}');
      return true;
    };
    await watch.pass(2 * MINUTE);
    store.intercept = null;
    const before = store.requests.length;
    await watch.pass(26 * MINUTE);
    expect(store.requests.length).toBe(before);
    await watch.pass(40 * MINUTE);
    expect(watch.state()).toMatchObject({ status: 'in-sync' });
    await watch.stop();
    await store.close();
  });

  it('is asked again after a day if it asked for years', LONG, async () => {
    const { store, folder } = await place(DECLARED, 'detect');
    const watch = startWatching({ folder });
    await watch.pass(2 * MINUTE);
    let isLimited = true;
    store.intercept = (_, response) => {
      if (isLimited) response.writeHead(429, { 'retry-after': '999999999' }).end('{}');
      return isLimited;
    };
    await watch.pass(HOUR);
    expect(watch.state()).toMatchObject({ status: 'error' });
    isLimited = false;
    const before = store.requests.length;
    await watch.pass(22 * HOUR);
    expect(store.requests.length).toBe(before);
    await watch.pass(3 * HOUR);
    expect(watch.state()).toMatchObject({ status: 'in-sync' });
    await watch.stop();
    await store.close();
  });

  it('is never asked by more at a time than was said', async () => {
    const names = Array.from({ length: 40 }, (_, index) => `e${index}`);
    const { store, folder } = await place(DECLARED, 'detect', names);
    let [open, most] = [0, 0];
    store.intercept = (_, response, proceed) => {
      open += 1;
      most = Math.max(most, open);
      response.on('close', () => (open -= 1));
      setTimeout(proceed, 2);
      return true;
    };
    const watch = startWatching({ folder, parallel: 3, random: () => 0 });
    await watch.pass(SECOND * 10);
    expect(watch.reads.length).toBe(40);
    for (const name of names) await watch.controller.readNow(name);
    await watch.pass(SECOND);
    expect([most, watch.reads.length]).toEqual([3, 40 * 2]);
    await watch.stop();
    await store.close();
  });
});

describe('a stop', () => {
  it('during a write finishes and records it; the next controller goes on without telling again', async () => {
    const { store, folder } = await place(DRIFTED);
    const watch = startWatching({ folder });
    store.intercept = (request) => {
      if (request.method === 'POST') void watch.stop();
      return false;
    };
    await watch.pass(2 * MINUTE);
    await watch.ended;
    expect(store.stored).toMatchObject(DECLARED);
    expect(recordsOf(watch.data, 'write')).toMatchObject([{ outcome: { status: 'applied' } }]);
    expect(recordsOf(watch.data, 'stopped')).toMatchObject([{ reason: 'SIGTERM' }]);
    store.intercept = null;
    const next = startWatching({ folder, clock: watch.clock });
    await next.pass(5 * MINUTE);
    await next.stop();
    const again = startWatching({ folder, clock: watch.clock });
    await again.pass(5 * MINUTE);
    expect(recordsOf(watch.data, 'state').map(({ status }) => status)).toEqual([
      'drift',
      'in-sync',
    ]);
    expect([store.posts(), next.notes, again.notes]).toEqual([1, [], []]);
    await again.stop();
    await store.close();
  });

  it('that is asked for twice abandons the write, and records that it is not known', async () => {
    const { store, folder } = await place(DRIFTED);
    const watch = startWatching({ folder });
    store.intercept = (request) => {
      if (request.method !== 'POST') return false;
      void watch.stop();
      watch.abandon();
      return true;
    };
    await watch.pass(2 * MINUTE);
    await watch.ended;
    expect(recordsOf(watch.data, 'write')).toMatchObject([
      { outcome: { status: 'failed', changes: [{ result: 'unknown' }] } },
    ]);
    await store.close();
  });
});

describe('two controllers', () => {
  it('on one folder: one writes and records, the other takes over with what is known', async () => {
    const { store, folder } = await place(DRIFTED);
    const clock = new HandClock();
    const both = (): Promise<void>[] => [one.settle(), other.settle()];
    const table = new Map<string, object>();
    const locks = (): Locks => tableLocks(table);
    const one = startWatching({ folder, clock, locks });
    await one.settle();
    const other = startWatching({ folder, clock, locks });
    for (let half = 0; half < 12; half += 1) {
      await one.pass(15 * SECOND);
      await Promise.all(both());
    }
    expect([store.posts(), recordsOf(one.data, 'state').length]).toEqual([1, 2]);
    const standby = [one, other].filter((watch) => watch.state().heldBy !== null);
    expect(standby).toHaveLength(1);
    for (const round of [2, 3]) {
      store.stored = { ...DRIFTED };
      for (let half = 0; half < 12; half += 1) {
        await one.pass(15 * SECOND);
        await Promise.all(both());
      }
      expect(store.posts()).toBe(round);
    }
    const [waiting] = standby;
    await (waiting === one ? other : one).stop();
    for (let half = 0; half < 12; half += 1) {
      if (half === 6) store.stored = { ...DRIFTED };
      await waiting?.pass(15 * SECOND);
    }
    // Three times within an hour, whoever did it.
    expect([store.posts(), waiting?.state()]).toMatchObject([3, { heldBy: null, status: 'drift' }]);
    expect(recordsOf(one.data, 'healing-stopped')).toHaveLength(1);
    await waiting?.stop();
    await store.close();
  });

  it('the one that takes over records what it had seen before, if nobody has', async () => {
    const { store, folder } = await place(DRIFTED);
    const table = new Map<string, object>([['default', {}]]);
    const watch = startWatching({ folder, locks: () => tableLocks(table) });
    await watch.pass(6 * MINUTE);
    expect([watch.state().heldBy, watch.state().found]).toEqual(['the other', 'drift']);
    expect(recordsOf(watch.data, 'state')).toEqual([]);
    table.clear();
    await watch.pass(6 * MINUTE);
    const [first] = recordsOf(watch.data, 'state');
    expect(first).toMatchObject({ status: 'drift', before: 'not-read' });
    await watch.stop();
    await store.close();
  });

  it('on folders of their own and one place of locks never write both', async () => {
    const { store, folder } = await place(DRIFTED);
    const shared = join(folder, 'locks');
    const locks = (): Locks => fileLocks(shared, SYSTEM_CLOCK);
    const clock = new HandClock();
    const all = ['x', 'y'].map((name) =>
      startWatching({ folder, clock, locks, data: join(folder, name) }),
    );
    for (let half = 0; half < 16; half += 1) {
      await all[0]?.pass(15 * SECOND);
      await Promise.all(all.map((watch) => watch.settle()));
    }
    expect(store.posts()).toBe(1);
    expect(all.filter((watch) => watch.state().heldBy === null)).toHaveLength(1);
    for (const watch of all) await watch.stop();
    await store.close();
  });

  it('that lost its lock sends nothing, whenever it loses it', async () => {
    for (const losing of [1, 2, 3]) {
      const { store, folder } = await place(DRIFTED);
      const watch = startWatching({ folder, locks: () => losingLocks(losing, store) });
      await watch.pass(5 * MINUTE);
      expect([losing, store.posts()]).toEqual([losing, 0]);
      expect(watch.notes.length).toBeLessThan(3);
      await watch.stop();
      await store.close();
    }
  });

  it('read on while it cannot be told who holds a lock, and write nothing', async () => {
    const { store, folder } = await place(DRIFTED);
    const data = join(folder, 'data');
    mkdirSync(data);
    writeFileSync(join(data, 'locks'), 'not a folder');
    const watch = startWatching({ folder });
    await watch.pass(5 * MINUTE);
    expect([watch.state().status, store.posts()]).toEqual(['drift', 0]);
    expect(watch.notes).toMatchObject([{ message: expect.stringContaining('locks') }]);
    expect(readFileSync(join(data, 'locks'), 'utf8')).toBe('not a folder');
    chmodSync(join(data, 'locks'), 0o600);
    await watch.stop();
    await store.close();
  });
});

/** A lock that is lost: before it is asked for right before a write, while that is asked, or with the read before. */
function losingLocks(when: number, store: StoreServer): Locks {
  const lost = new AbortController();
  const lose = (): void => lost.abort(new Error('lost'));
  if (when === 3) {
    store.intercept = () => {
      if (store.requests.length > 3) lose();
      return false;
    };
  }
  const lock: Lock = {
    name: 'default',
    lost: lost.signal,
    get isLost() {
      return lost.signal.aborted;
    },
    stillHeld: async () => {
      if (when === 1) lose();
      return when === 3 && !lost.signal.aborted;
    },
    isHeld: () => !lost.signal.aborted,
    release: async () => {},
  };
  return {
    take: async () => (lost.signal.aborted ? { heldBy: 'another', retryIn: 1 } : lock),
    close: async () => {},
  };
}

it('a controller that starts while another one ends goes on with what that one recorded last', async () => {
  const { store, folder } = await place(DECLARED);
  const clock = new HandClock();
  const table = new Map<string, object>();
  const locks = (): Locks => tableLocks(table);
  const one = startWatching({ folder, clock, locks });
  await one.pass(MINUTE);
  const other = startWatching({ folder, clock, locks });
  while (recordsOf(one.data, 'started').length < 2) await other.settle();
  store.stored = { ...DRIFTED };
  await one.controller.readNow('default');
  while (recordsOf(one.data, 'state').length < 2) await one.settle();
  await one.stop();
  await other.pass(2 * MINUTE);
  expect(recordsOf(one.data, 'state').map(({ status }) => status)).toEqual([
    'in-sync',
    'drift',
    'in-sync',
  ]);
  expect(store.posts()).toBe(1);
  await other.stop();
  await store.close();
});
