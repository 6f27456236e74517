import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { JournalEvent } from '../../../src/reconciler/model/watch.ts';
import { Journal } from '../../../src/controller/watch/journal/journal.ts';
import { MOST_RECORDS, Memory } from '../../../src/controller/watch/journal/journal-reader.ts';
import {
  createRecordFilter,
  type JournalLine,
} from '../../../src/controller/watch/journal/journal-lines.ts';
import { change, environment as plan, outcome } from '../../fixture/documents.ts';
import { LONG, itEach } from '../../fixture/long.ts';
import { checkpointOf } from '../../fixture/watching.ts';

const T0 = Date.UTC(2026, 2, 1, 12);
const MINUTE = 60_000;
const iso = (at: number): string => new Date(at).toISOString();

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'setpoint-journal-'));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

function state(name: string, status: 'drift' | 'in-sync', digest: string = status): JournalEvent {
  const found = status === 'drift' ? plan({ name, changes: [change()] }) : null;
  return {
    kind: 'state',
    environment: name,
    status,
    before: 'not-read',
    digest,
    after: null,
    commit: 'c1',
    plan: found,
  };
}

const writing = (environment: string, ...paths: string[]) => ({
  kind: 'writing' as const,
  environment,
  paths,
  commit: 'c1',
});

const wrote = (environment: string, post = 1, by: 'watch' | 'apply' = 'watch'): JournalEvent => ({
  kind: 'write',
  environment,
  by,
  commit: 'c1',
  actor: null,
  url: null,
  outcome: outcome({ name: environment, requests: { get: 3, post } }),
});

/** A journal with these events, a minute apart. */
async function journalOf(
  events: readonly JournalEvent[],
  limits: ConstructorParameters<typeof Journal>[2] = null,
) {
  const path = folder();
  let at = T0 - MINUTE;
  const journal = new Journal(path, () => at, limits);
  for (const event of events) {
    at += MINUTE;
    await journal.append(event);
  }
  return { path, journal };
}

async function restoredOf(...events: JournalEvent[]) {
  const { journal } = await journalOf(events);
  const { memory } = await journal.remember();
  return { of: (name: string) => memory.environments.get(name), memory };
}

describe('what a journal restores', () => {
  it('is the last state of each environment', async () => {
    const { of } = await restoredOf(
      state('a', 'in-sync'),
      state('b', 'drift'),
      state('a', 'drift'),
    );
    expect(of('a')).toMatchObject({
      found: 'drift',
      digest: 'drift',
      since: iso(T0 + 2 * MINUTE),
      lastInSync: iso(T0),
      plan: { name: 'a' },
    });
    expect(of('b')).toMatchObject({ found: 'drift', since: iso(T0 + MINUTE), lastInSync: null });
    expect(of('c')).toBeUndefined();
  });

  it('is when the first of what differs began, also from the first line of a new file', async () => {
    const [began, more] = [state('a', 'drift'), state('a', 'drift', 'more')];
    const { memory } = await restoredOf(state('a', 'in-sync'), began, more);
    const again = new Memory();
    again.take(checkpointOf(memory, iso(T0)));
    again.take({ v: 1, at: iso(T0 + 9 * MINUTE), ...state('a', 'drift', 'less') });
    for (const one of [memory, again]) expect(one.of('a').since).toBe(iso(T0 + MINUTE));
  });

  it('is it from the journal of a version that kept one time for all that differs', async () => {
    const { memory } = await restoredOf(state('a', 'in-sync'), state('a', 'drift'));
    const text = JSON.stringify(checkpointOf(memory, iso(T0)));
    const former = JSON.parse(text, (key, value: unknown) =>
      key === 'began' ? undefined : value,
    ) as JournalLine;
    const again = new Memory();
    again.take(former);
    again.take({ v: 1, at: iso(T0 + 9 * MINUTE), ...state('a', 'drift', 'more') });
    expect(again.of('a').since).toBe(iso(T0 + MINUTE));
  });

  it('are heals, of the last hour before the latest', async () => {
    const rest = Array.from({ length: 58 }, () => state('b', 'drift'));
    const { of } = await restoredOf(writing('a', 'language'), ...rest, writing('a', 'agent'));
    expect(of('a')?.heals.map(({ paths }) => paths)).toEqual([['language'], ['agent']]);
    const { of: later } = await restoredOf(writing('a', 'x'), ...rest, ...rest, writing('a', 'y'));
    expect(later('a')?.heals.map(({ paths }) => paths)).toEqual([['y']]);
  });

  it('is what was put right last, and how it differed', async () => {
    const { of } = await restoredOf(state('a', 'drift'), writing('a', 'x'), wrote('a'));
    expect(of('a')?.putBack).toEqual({
      at: iso(T0 + 2 * MINUTE),
      found: 'drift',
      digest: 'drift',
      paths: ['x'],
    });
    const { of: other } = await restoredOf(state('a', 'drift'), writing('a', 'x'), wrote('a', 0));
    expect(other('a')?.putBack).toBeNull();
  });

  it('is all of an environment whose heals fail, also from the first line of a new file', async () => {
    const failed = wrote('a');
    const error = { code: 'settings-refused', message: 'Refused.', hint: '' };
    Object.assign((failed as { outcome: object }).outcome, { status: 'failed', error });
    const { memory } = await restoredOf(state('a', 'drift'), writing('a', 'x'), failed);
    expect(memory.of('a').healFailed).toMatchObject({ count: 1, code: 'settings-refused' });
    const again = new Memory();
    again.take(checkpointOf(memory, iso(T0 + 9 * MINUTE)));
    expect(again.of('a')).toEqual(memory.of('a'));
  });

  it('is no heal of what was not sent after all', async () => {
    const { of } = await restoredOf(
      writing('a', 'x'),
      wrote('a'),
      writing('a', 'y'),
      wrote('a', 0),
    );
    expect(of('a')?.heals.map(({ paths }) => paths)).toEqual([['x']]);
  });

  it('is a write that did not end, until a start has said so', async () => {
    const { memory } = await restoredOf(writing('a', 'x'), writing('b', 'x'), wrote('b'));
    expect(memory.inFlight).toEqual(['a']);
    const { memory: later } = await restoredOf(writing('a', 'x'), {
      kind: 'started',
      version: '1',
    });
    expect(later.inFlight).toEqual([]);
  });

  it('is not the end of a write by another apply', async () => {
    const { memory, of } = await restoredOf(writing('a', 'x'), wrote('a', 1, 'apply'));
    expect(memory.inFlight).toEqual(['a']);
    expect(of('a')?.lastApply).toBe(iso(T0 + MINUTE));
  });

  it('is that healing has stopped, until it is resumed', async () => {
    const stopped: JournalEvent = {
      kind: 'healing-stopped',
      environment: 'a',
      path: 'x',
      reason: 'y',
    };
    const { of } = await restoredOf(writing('a', 'x'), stopped);
    expect(of('a')).toMatchObject({ stopped: { path: 'x', reason: 'y' }, heals: [{}] });
    const { of: later } = await restoredOf(writing('a', 'x'), stopped, {
      kind: 'resumed',
      environment: 'a',
    });
    expect(later('a')).toMatchObject({ stopped: null, heals: [] });
  });

  it('moves heals with the clock', async () => {
    const by = 48 * 60 * MINUTE;
    const { of } = await restoredOf(writing('a', 'x'), { kind: 'clock-set', environment: 'a', by });
    expect(of('a')?.heals).toEqual([{ at: iso(T0 + by), paths: ['x'] }]);
  });

  it('are heals of the last hour, as the machine counts it', async () => {
    const up = (minutes: number) => ({ up: { boot: 'one', ms: minutes * MINUTE } });
    let at = T0;
    const journal = new Journal(folder(), () => at);
    for (const minute of [0, 1, 2, 61]) {
      await journal.append({ ...writing('a', `${minute}`), ...up(minute) });
      at += 120 * MINUTE;
    }
    const { memory } = await journal.remember();
    const paths = memory.environments.get('a')?.heals.flatMap((heal) => heal.paths);
    expect(paths).toEqual(['2', '61']);
  });

  it('is not changed by what is about the controller, or kept elsewhere', async () => {
    const { memory } = await restoredOf(
      { kind: 'stopped', version: '1', reason: 'SIGTERM' },
      { kind: 'files', commit: null, environments: 1, problem: null },
      { kind: 'suspended', environment: 'a', reason: 'x', until: null },
    );
    expect([memory.environments.size, memory.notices, memory.inFlight]).toEqual([0, [], []]);
  });

  it('are notices, as few as tell the same', async () => {
    const notice: JournalEvent = {
      kind: 'notice',
      environment: 'a',
      event: 'opened',
      receiver: 'team',
      digest: 'd',
      result: 'sent',
    };
    const { memory } = await restoredOf({ ...notice, result: 'begun' }, notice);
    expect(memory.notices).toMatchObject([{ event: 'opened', digest: 'd', result: 'sent' }]);
    const { memory: later } = await restoredOf(notice, { ...notice, event: 'resolved' });
    expect(later.notices).toEqual([]);
  });
});

describe('a journal that was cut', () => {
  itEach([5, 1], (step) => step === 5)(
    'at any byte (each %ith) says what its whole lines say, and takes more',
    async (step) => {
      const { path } = await journalOf([state('a', 'in-sync'), writing('a', 'ü', '\u2028')]);
      const bytes = readFileSync(join(path, 'journal.jsonl'));
      const ends = [...bytes.entries()].filter(([, byte]) => byte === 10).map(([place]) => place);
      const cut = folder();
      for (let length = 0; length <= bytes.length; length += step) {
        writeFileSync(join(cut, 'journal.jsonl'), bytes.subarray(0, length));
        const journal = new Journal(cut, () => T0);
        // The last line is whole with its last byte, also without the end of the line.
        const whole = ends.filter((end) => end <= length).length;
        const isTorn = length > 0 && !ends.includes(length) && !ends.includes(length - 1);
        const before = await journal.remember();
        expect([length, before.damaged]).toEqual([length, isTorn ? 1 : 0]);
        await journal.append(state('b', 'in-sync'));
        const { memory, damaged } = await journal.remember();
        expect([length, damaged]).toEqual([length, isTorn ? 1 : 0]);
        expect(memory.environments.get('a')?.found).toBe(whole > 0 ? 'in-sync' : undefined);
        expect(memory.inFlight).toEqual(whole === 2 ? ['a'] : []);
        expect(memory.environments.get('b')?.found).toBe('in-sync');
      }
    },
  );

  it('by another process at any moment loses nothing that was appended', async () => {
    const path = folder();
    const journal = new Journal(path, () => T0);
    for (let index = 0; index < 100; index += 1) {
      const appended = journal.append(writing(`e${index}`, 'x'));
      for (let turn = 0; turn < index % 20; turn += 1)
        await new Promise((resolve) => setImmediate(resolve));
      appendFileSync(join(path, 'journal.jsonl'), '{"v":1,"at":"');
      await appended;
    }
    expect((await journal.remember()).memory.environments.size).toBe(100);
  });

  it('or overwritten, is read all the same', async () => {
    const { path, journal } = await journalOf([state('a', 'drift')]);
    appendFileSync(join(path, 'journal.jsonl'), Buffer.from([0, 255, 10, 123, 10]));
    appendFileSync(join(path, 'journal.jsonl'), '{"v":2,"at":"x","kind":"state"}\n[]\nnull\n');
    const { memory, damaged } = await journal.remember();
    expect([memory.environments.get('a')?.found, damaged]).toEqual(['drift', 5]);
  });
});

/** Does work of others after the next record was written, before the disk has it. */
async function whileSynced(work: () => Promise<void>): Promise<void> {
  const file = await open('/dev/null');
  const handle = Object.getPrototypeOf(file) as typeof file;
  await file.close();
  const sync: (this: object) => Promise<void> = Reflect.get(handle, 'sync');
  const spied = vi.spyOn(handle, 'sync').mockImplementationOnce(async function synced(
    this: object,
  ) {
    await work();
    return sync.call(this);
  });
  onTestFinished(() => spied.mockRestore());
}

const SMALL = { bytes: 4_000, age: 60 * 60 * MINUTE, files: 2 };

describe('a journal to which nobody else has appended', () => {
  it('is known, whatever this process appends meanwhile', async () => {
    const journal = new Journal(folder(), () => T0);
    await journal.append(state('a', 'drift'));
    expect(await journal.isOwn()).toBe(false);
    await journal.mark();
    const asked = Array.from({ length: 50 }, async (_, index) => {
      await journal.append(state(`e${index}`, 'drift'));
      return journal.isOwn();
    });
    expect(new Set(await Promise.all(asked))).toEqual(new Set([true]));
  });

  it('is still known when this process begins new files', async () => {
    const data = folder();
    const journal = new Journal(data, () => T0, SMALL);
    await journal.append(state('a', 'drift'));
    await journal.mark();
    for (let index = 0; index < 40; index += 1) {
      await journal.append(state(`e${index % 3}`, 'drift'));
      expect([index, await journal.isOwn()]).toEqual([index, true]);
    }
    expect(readdirSync(data).length).toBeGreaterThan(2);
    await new Journal(data, () => T0).append(state('a', 'in-sync'));
    for (let index = 0; index < 40; index += 1) await journal.append(state('b', 'drift'));
    expect(await journal.isOwn()).toBe(false);
  });

  it('is never taken for known if another appends while this process begins new files', async () => {
    const data = folder();
    const journal = new Journal(data, () => T0, SMALL);
    const other = new Journal(data, () => T0);
    await journal.append(state('a', 'drift'));
    await journal.mark();
    const both = Array.from({ length: 60 }, (_, index) => [
      journal.append(state(`own-${index % 3}`, 'drift')),
      ...(index % 20 === 7 ? [other.append(state('a', 'in-sync'))] : []),
    ]);
    await Promise.all(both.flat());
    for (let index = 0; index < 40; index += 1) await journal.append(state('b', 'drift'));
    expect(await journal.isOwn()).toBe(false);
  });

  it('is not any more once somebody has, before, between or after what this process appends', async () => {
    const data = folder();
    const other = new Journal(data, () => T0);
    for (const when of ['before', 'between', 'after']) {
      const journal = new Journal(data, () => T0);
      await journal.append(state('a', 'drift'));
      await journal.mark();
      if (when === 'between') await journal.append(state('b', 'drift'));
      if (when === 'after') {
        await journal.append(state('b', 'drift'));
        await journal.append(state('c', 'drift'));
      }
      await other.append(state('a', 'in-sync'));
      if (when !== 'after') await journal.append(state('d', 'drift'));
      expect([when, await journal.isOwn()]).toEqual([when, false]);
    }
  });

  it('is never taken for known if another appends at the same time', async () => {
    const data = folder();
    const [journal, other] = [new Journal(data, () => T0), new Journal(data, () => T0)];
    await journal.append(state('a', 'drift'));
    await journal.mark();
    const both = Array.from({ length: 30 }, (_, index) => [
      journal.append(state(`own-${index}`, 'drift')),
      other.append(state(`other-${index}`, 'drift')),
    ]);
    await Promise.all(both.flat());
    expect(await journal.isOwn()).toBe(false);
  });
});

describe('the records about an environment', () => {
  it(
    'are those of the history, whoever appends, and however many files are begun',
    LONG,
    async () => {
      const path = folder();
      const journal = new Journal(path, () => T0, { bytes: 3_000, age: 60 * MINUTE, files: 3 });
      const other = new Journal(path, () => T0);
      const names = ['a', 'quiet', '"', 'ü\u2028', 'kind', '__proto__'];
      const same = async (): Promise<void> => {
        for (const name of names) {
          const asked = await journal.history(createRecordFilter(name), MOST_RECORDS);
          expect(await journal.about(name)).toEqual(asked);
        }
      };
      await same();
      for (let index = 0; index < 60; index += 1) {
        const name = index % 9 === 0 ? (names[(index / 9) % names.length] ?? '') : 'a';
        await (index % 4 === 0 ? other : journal).append(state(name, 'drift', `d${index}`));
        if (index % 10 === 0) appendFileSync(join(path, 'journal.jsonl'), '{"v":1,"at":"');
        if (index % 7 === 0) await same();
      }
      await same();
      expect(await journal.about('nobody')).toEqual([]);
    },
  );

  it('are the latest ones, and kept until there are others', async () => {
    const { journal, path } = await journalOf(
      Array.from({ length: 3 }, () => state('b', 'drift')),
      null,
    );
    const lines = Array.from({ length: MOST_RECORDS + 50 }, (_, index) =>
      JSON.stringify({ v: 1, at: iso(T0 + index), ...writing('a', `${index}`) }),
    );
    appendFileSync(join(path, 'journal.jsonl'), `${lines.join('\n')}\n`);
    const first = await journal.about('a');
    expect([first.length, first[0]?.at]).toEqual([MOST_RECORDS, iso(T0 + MOST_RECORDS + 49)]);
    await journal.append(state('b', 'in-sync'));
    expect(await journal.about('a')).toBe(first);
    await journal.append(state('a', 'drift', 'latest'));
    expect((await journal.about('a'))[0]).toMatchObject({ digest: 'latest' });
  });

  it.runIf(process.platform === 'linux')(
    'cost what was appended since, not the journal',
    async () => {
      const { journal, path } = await journalOf([state('a', 'drift')]);
      const line = `${JSON.stringify({ v: 1, at: iso(T0), ...state('noisy', 'drift') })}\n`;
      const size = 2 * 1024 * 1024;
      appendFileSync(join(path, 'journal.jsonl'), line.repeat(size / line.length));
      const bytesRead = (): number =>
        Number(/rchar: (\d+)/.exec(readFileSync('/proc/self/io', 'utf8'))?.[1]);
      expect(await journal.about('a')).toHaveLength(1);
      const before = bytesRead();
      for (let index = 0; index < 10; index += 1) {
        await journal.append(state(index % 2 === 0 ? 'noisy' : 'a', 'drift', `d${index}`));
        await journal.about('a');
      }
      expect(bytesRead() - before).toBeLessThan(size / 4);
      expect(await journal.about('a')).toHaveLength(6);
    },
  );
});

describe('a journal that is long', () => {
  it('begins a new file with one environment after the other, never with all in one text', async () => {
    const long = 'é\u2028'.repeat(60_000);
    const names = ['a', 'b', 'c', 'd', 'e'];
    const { path, journal } = await journalOf(names.map((name) => state(name, 'drift', long)));
    const { memory } = await journal.remember();
    const parts = [...memory.checkpoint(iso(T0), [])].map(({ length }) => length);
    expect(Math.max(...parts)).toBeLessThan((2 * parts.reduce((a, b) => a + b, 0)) / names.length);
    const short = new Journal(path, () => T0, { bytes: 1, age: Infinity, files: 1 });
    await short.mark();
    await short.append({ kind: 'started', version: '1' });
    expect(await short.isOwn()).toBe(true);
    expect(readdirSync(path)).toHaveLength(2);
    const again = (await short.remember()).memory;
    expect([...again.environments]).toEqual([...memory.environments]);
  });

  it('begins new files, removes the oldest, and forgets no state', async () => {
    const events = Array.from({ length: 60 }, (_, index) =>
      state(`e${index % 7}`, index % 2 === 0 ? 'drift' : 'in-sync', `d${index}`),
    );
    const { path, journal } = await journalOf(
      [state('early', 'drift'), writing('early', 'x'), ...events],
      SMALL,
    );
    expect(readdirSync(path)).toHaveLength(3);
    const { memory, damaged } = await journal.remember();
    expect([memory.environments.size, damaged, memory.inFlight]).toEqual([8, 0, ['early']]);
    expect(memory.environments.get('early')).toMatchObject({ found: 'drift', heals: [{}] });
    expect(memory.environments.get('e3')?.digest).toBe('d59');
    const latest = await journal.history((record) => record.kind === 'state', 3);
    expect(latest).toMatchObject([{ digest: 'd59' }, { digest: 'd58' }, { digest: 'd57' }]);
  });

  it('keeps the order of its files when the clock is set back', async () => {
    const path = folder();
    let at = T0;
    const journal = new Journal(path, () => at, { ...SMALL, bytes: 100, files: 50 });
    for (let index = 0; index < 12; index += 1) {
      at -= 24 * 60 * MINUTE;
      await journal.append(state('a', 'drift', `d${index}`));
    }
    const { memory } = await journal.remember();
    expect(memory.environments.get('a')?.digest).toBe('d11');
    expect(readdirSync(path)).toHaveLength(12);
  });

  it('forgets nothing of another process that appends to the same', async () => {
    const path = folder();
    const one = new Journal(path, () => T0, SMALL);
    const other = new Journal(path, () => T0, SMALL);
    for (let index = 0; index < 20; index += 1)
      await Promise.all([
        one.append(state('a', 'drift', `a${index}`)),
        other.append(state('b', 'drift', `b${index}`)),
      ]);
    const { memory, damaged } = await one.remember();
    expect(damaged).toBe(0);
    expect(memory.environments.get('a')?.digest).toBe('a19');
    expect(memory.environments.get('b')?.digest).toBe('b19');
  });

  it('has each record once, also if a process appends to a file that another one puts away', async () => {
    const path = folder();
    await Promise.all(
      [0, 1, 2].map(async (process) => {
        const journal = new Journal(path, () => T0, { bytes: 2_000, age: 60 * MINUTE, files: 500 });
        for (let index = 0; index < 40; index += 1)
          await journal.append(writing(`${index} ${process}`, 'x'));
      }),
    );
    const records = await new Journal(path, () => T0).history(() => true, 1_000);
    const names = records.map((record) => ('environment' in record ? record.environment : ''));
    expect([names.length, new Set(names).size]).toEqual([120, 120]);
    const { memory, damaged } = await new Journal(path, () => T0).remember();
    expect([memory.environments.size, damaged]).toEqual([120, 0]);
    expect([...memory.environments.values()].filter(({ heals }) => heals.length !== 1)).toEqual([]);
  });

  it('has each record once, however many files are begun while it is synced', async () => {
    for (const rotations of [0, 1, 2, 3, 7]) {
      const path = folder();
      const limits = { bytes: 1, age: 60 * MINUTE, files: 500 };
      const [one, other] = [new Journal(path, () => T0), new Journal(path, () => T0, limits)];
      await one.append(state('first', 'drift'));
      await whileSynced(async () => {
        for (let index = 0; index < rotations; index += 1)
          await other.append(state(`other ${index}`, 'drift'));
      });
      await one.append(writing('a', 'x'));
      expect(readdirSync(path)).toHaveLength(1 + rotations);
      const records = await one.history((record) => record.kind === 'writing', 99);
      const { memory, damaged } = await one.remember();
      expect([rotations, records.length, damaged]).toEqual([rotations, 1, 0]);
      expect(memory.of('a').heals).toHaveLength(1);
      // Also for those who read what later files begin with.
      for (let index = 0; index < 3; index += 1) await other.append(state('last', 'drift'));
      expect((await other.remember()).memory.of('a').heals).toHaveLength(1);
    }
  });

  it('forgets nothing that is appended to a file after others were begun', async () => {
    const path = folder();
    const other = new Journal(path, () => T0, { bytes: 1, age: 60 * MINUTE, files: 500 });
    for (let index = 0; index < 3; index += 1) await other.append(state('a', 'drift'));
    const [first = ''] = readdirSync(path).toSorted();
    for (const [index, name] of ['b', 'c', 'd'].entries()) {
      // As a process does that was stopped after it had opened the file.
      const line = { v: 1, at: iso(T0), ...writing(name, 'x') };
      appendFileSync(join(path, first), `${JSON.stringify(line)}\n`);
      for (let turn = 0; turn < index; turn += 1) await other.append(state('a', 'drift'));
      const { memory } = await other.remember();
      expect([name, memory.of(name).heals.length]).toEqual([name, 1]);
    }
    expect((await other.remember()).memory.inFlight.toSorted()).toEqual(['b', 'c', 'd']);
  });

  it('begins a new file after its age', async () => {
    const path = folder();
    let at = Date.now();
    const journal = new Journal(path, () => at, { bytes: 1e9, age: 10 * MINUTE, files: 9 });
    await journal.append(state('a', 'drift'));
    at += 9 * MINUTE;
    await journal.append(state('a', 'in-sync'));
    expect(readdirSync(path)).toHaveLength(1);
    at += 2 * MINUTE;
    await journal.append(state('a', 'drift'));
    expect(readdirSync(path)).toHaveLength(2);
  });
});

it('a journal that cannot be written says so, and takes records again once it can', async () => {
  const path = folder();
  writeFileSync(join(path, 'file'), '');
  const journal = new Journal(join(path, 'file'), () => T0);
  await expect(journal.append(state('a', 'drift'))).rejects.toMatchObject({
    code: 'output-failed',
  });
  rmSync(join(path, 'file'));
  await journal.append(state('a', 'drift'));
  expect((await journal.remember()).memory.environments.size).toBe(1);
});

describe('a journal that somebody else has written into', () => {
  const at = iso(T0);
  const hostile: readonly unknown[] = [
    { kind: 'write', environment: 'a' },
    { kind: 'write', environment: 'a', outcome: { changes: [{}], requests: { post: 1 } } },
    { kind: 'state', environment: 'a', status: 'drift', plan: {} },
    { kind: 'state', environment: { toString: 1 }, status: 'drift', plan: null },
    { kind: 'state', plan: null },
    { kind: 'writing', environment: 'a', paths: 'x' },
    { kind: 'writing', environment: 'a', paths: [1] },
    { kind: 'healing-stopped', environment: 'a' },
    { kind: 'suspended', environment: 'a', reason: null },
    { kind: 'clock-set', environment: 'a', by: 'x' },
    { kind: 'notice', environment: 'a' },
    { kind: 'checkpoint', environments: [null], notices: [], inFlight: [] },
    { kind: 'started' },
    { kind: 'files' },
    { kind: '__proto__' },
  ];

  it('lines of another form are counted, and hide nothing', async () => {
    const { path, journal } = await journalOf([state('a', 'drift')]);
    const lines = hostile.map((line) => JSON.stringify({ v: 1, at, ...(line as object) }));
    appendFileSync(join(path, 'journal.jsonl'), `${lines.join('\n')}\n[]\nnull\n"x"\n`);
    await journal.append(state('b', 'drift'));
    const { memory, damaged } = await journal.remember();
    expect(damaged).toBe(hostile.length + 3);
    expect([...memory.environments.keys()]).toEqual(['a', 'b']);
    const records = await journal.history(() => true, 100);
    expect(records.map(({ kind }) => kind)).toEqual(['state', 'state']);
  });

  it('names of environments that objects have are names', async () => {
    const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty'];
    const { journal } = await journalOf(
      names.map((name) => state(name, 'drift')),
      {
        bytes: 1,
        age: Number.POSITIVE_INFINITY,
        files: 20,
      },
    );
    const { memory } = await journal.remember();
    expect([...memory.environments.keys()]).toEqual(names);
    expect([...memory.environments.values()].map(({ found }) => found)).toEqual(
      names.map(() => 'drift'),
    );
    expect(({} as Record<string, unknown>)['found']).toBeUndefined();
  });

  it('a link or a folder in its place is an error, and nothing is written through it', async () => {
    const path = folder();
    const [victim, current] = [join(path, 'victim'), join(path, 'data', 'journal.jsonl')];
    mkdirSync(join(path, 'data'));
    writeFileSync(victim, 'as it was\n');
    symlinkSync(victim, current);
    const journal = new Journal(join(path, 'data'), () => T0);
    await expect(journal.append(state('a', 'drift'))).rejects.toMatchObject({
      code: 'output-failed',
    });
    await expect(journal.history(() => true, 9)).rejects.toMatchObject({ code: 'file-unreadable' });
    expect(readFileSync(victim, 'utf8')).toBe('as it was\n');
    rmSync(current);
    mkdirSync(current);
    await expect(journal.append(state('a', 'drift'))).rejects.toMatchObject({
      code: 'output-failed',
    });
    // Who reads less than there is would record, and tell, what is known already.
    await expect(journal.remember()).rejects.toMatchObject({ code: 'file-unreadable' });
    rmSync(current, { recursive: true });
    await journal.append(state('a', 'drift'));
    expect(statSync(current).mode & 0o777).toBe(0o600);
  });
});
