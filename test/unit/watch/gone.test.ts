import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { GoneEnvironments } from '../../../src/controller/watch/upkeep.ts';
import { Journal } from '../../../src/controller/watch/journal/journal.ts';
import { SetpointError } from '../../../src/reconciler/model/error.ts';
import type { JournalEvent } from '../../../src/reconciler/model/watch.ts';

const MINUTE = 60_000;

const suspended = (environment: string): JournalEvent => ({
  kind: 'healing-stopped',
  environment,
  path: 'settings.language',
  reason: 'a test stopped it',
});
const notice = (environment: string, event: 'opened' | 'resolved'): JournalEvent => ({
  kind: 'notice',
  environment,
  receiver: 'team',
  event,
  digest: 'd1',
  result: 'sent',
});

/** A journal in a folder, and what a later process reads in it. */
function openJournal(bytes?: number) {
  const folder = mkdtempSync(join(tmpdir(), 'setpoint-gone-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const limits = bytes === undefined ? null : { bytes, age: Number.POSITIVE_INFINITY, files: 1 };
  const journal = new Journal(folder, Date.now, limits);
  const names = async () => {
    const { memory, damaged } = await new Journal(folder, Date.now).remember();
    expect(damaged).toBe(0);
    return [...memory.environments.keys()];
  };
  const open = async () =>
    (await new Journal(folder, Date.now).remember()).memory.notified.listOpen('team');
  return { journal, names, open };
}

describe('a journal', () => {
  it('has no state of environments that are forgotten, until there is a new one', async () => {
    const { journal, names } = openJournal();
    for (const name of ['one', 'two']) await journal.append(suspended(name));
    await journal.forget(['one']);
    expect(await names()).toEqual(['two']);
    await journal.append(suspended('one'));
    expect(await names()).toEqual(['two', 'one']);
  });

  it('begins new files without those that are forgotten', async () => {
    const { journal, names } = openJournal(1);
    for (const name of ['one', 'two']) await journal.append(suspended(name));
    await journal.forget(['one']);
    for (let index = 0; index < 4; index += 1)
      await journal.append({ kind: 'started', version: '1' });
    expect(await names()).toEqual(['two']);
  });

  it('keeps what a receiver was told until its end is told', async () => {
    const { journal, open } = openJournal();
    for (const name of ['one', 'two']) await journal.append(notice(name, 'opened'));
    await journal.append(notice('two', 'resolved'));
    await journal.forget(['one', 'two']);
    expect(await open()).toEqual(['one']);
    await journal.append(notice('one', 'resolved'));
    expect(await open()).toEqual([]);
  });
});

/** A source of which a test says what is gone, and a fleet that remembers three environments. Files say only what they declare. */
function world(source: 'cluster' | 'files' = 'cluster') {
  const remembered = new Set(['gone', 'there', 'unknown']);
  const made = {
    now: 0,
    remembered,
    gone: new Set(['gone']),
    watched: new Set(['there']),
    isFull: false,
    areTaken: true,
    locks: 0,
    removed: [] as string[],
    suspended: new Set<string>(),
    problems: [] as string[],
    isLockProblem: false,
  };
  const environments = new GoneEnvironments({
    clock: { monotonic: () => made.now, now: () => made.now, sleep: async () => {} },
    files: {
      get areTaken() {
        return made.areTaken;
      },
      isUndeclared: (name) => made.gone.has(name),
    },
    source: source === 'files' ? {} : { isGone: (name) => made.gone.has(name) },
    locks: {
      removeGone: async (_, known) => {
        made.locks += 1;
        made.removed.push(...known);
        if (made.isLockProblem)
          throw new SetpointError('lock-failed', 'The API server does not answer.');
      },
    },
    fleet: {
      isWatched: (name) => made.watched.has(name),
      isSuspended: (name) => made.suspended.has(name),
      get remembered() {
        return [...remembered];
      },
      forget: (names) => {
        for (const name of names) remembered.delete(name);
      },
    },
    recorder: {
      forget: async () => {
        if (made.isFull) throw new Error('The disk is full.');
      },
      warn: (message) => void made.problems.push(message),
    },
  });
  const at = async (minutes: number): Promise<readonly string[]> => {
    made.now = minutes * MINUTE;
    await environments.remove();
    return [...remembered];
  };
  return { made, at };
}

describe('the state of an environment', () => {
  it('is removed ten minutes after it is gone, and no other', async () => {
    const { at } = world();
    expect(await at(0)).toContain('gone');
    expect(await at(9)).toContain('gone');
    expect(await at(11)).toEqual(['there', 'unknown']);
  });

  it('stays if it is there again in between, or is watched', async () => {
    const { made, at } = world();
    await at(0);
    made.gone.delete('gone');
    await at(9);
    made.gone.add('gone').add('there');
    expect(await at(11)).toEqual(['gone', 'there', 'unknown']);
    expect(await at(22)).toEqual(['there', 'unknown']);
  });

  it('stays until it is known what there is, and until the journal can be written', async () => {
    const { made, at } = world();
    made.areTaken = false;
    await at(0);
    made.areTaken = true;
    expect(await at(20)).toContain('gone');
    made.isFull = true;
    expect(await at(31)).toContain('gone');
    made.isFull = false;
    expect(await at(32)).not.toContain('gone');
  });
});

describe('the state of an environment of a file', () => {
  it('is removed with its lock a day after it left', async () => {
    const { made, at } = world('files');
    expect(await at(0)).toContain('gone');
    expect(await at(23 * 60)).toContain('gone');
    expect(made.removed).toEqual([]);
    expect(await at(24 * 60)).toEqual(['there', 'unknown']);
    expect(made.removed).toEqual(['gone']);
  });

  it('stays if it is declared again, or is suspended: a new name at its server is suspended, too', async () => {
    const { made, at } = world('files');
    made.gone.add('unknown');
    made.suspended.add('gone');
    await at(0);
    made.gone.delete('unknown');
    expect(await at(25 * 60)).toEqual(['gone', 'there', 'unknown']);
    made.suspended.delete('gone');
    await at(26 * 60);
    expect(await at(50 * 60)).toEqual(['there', 'unknown']);
  });
});

it('locks of environments that are gone are removed every ten minutes; one problem is reported once', async () => {
  const { made, at } = world();
  for (const minutes of [0, 5, 9]) await at(minutes);
  expect(made.locks).toBe(1);
  made.isLockProblem = true;
  for (const minutes of [10, 20, 30]) await at(minutes);
  // With that of the state, whose lock is removed first.
  expect(made.locks).toBe(5);
  expect(made.problems).toEqual([
    expect.stringMatching(/^Locks of removed environments cannot be deleted\. .*answer/),
  ]);
});
