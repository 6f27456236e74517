import { describe, expect, it } from 'vitest';
import type { JournalRecord, NoticeEvent } from '../../../src/reconciler/model/watch.ts';
import { DepartedEnvironments } from '../../../src/controller/watch/fleet.ts';
import { notReadState } from '../../../src/controller/watch/environment-state.ts';
import type { Lock, LockRefusal } from '../../../src/controller/watch/locks/locks.ts';
import { NotifiedStates } from '../../../src/controller/watch/notices/notified-states.ts';
import { ago } from '../../fixture/watching.ts';

const NAME = 'production';
const OPENED = noticed('opened', 'sent');
const RESOLVED = noticed('resolved', 'begun');

function noticed(event: NoticeEvent['event'], result: NoticeEvent['result']): NoticeEvent {
  return { kind: 'notice', environment: NAME, receiver: 'team', event, digest: 'd1', result };
}

function recorded(event: NoticeEvent): JournalRecord {
  return { v: 1, at: ago(0), ...event };
}

/** A controller that watches nothing: a test says what is declared, who holds the lock, and what others have told. */
function made(others: readonly NoticeEvent[] = [OPENED]) {
  const left = notReadState(NAME, ago(9));
  const world = {
    now: 0,
    watched: new Set<string>(),
    areFilesRead: true,
    declared: new Set<string>(),
    heldBy: null as string | null,
    steps: [] as string[],
  };
  const notified = new NotifiedStates([recorded(OPENED)]);
  const lock: Lock = {
    name: NAME,
    lost: new AbortController().signal,
    isLost: false,
    stillHeld: async () => true,
    isHeld: () => true,
    release: async () => void world.steps.push('release'),
  };
  const departed = new DepartedEnvironments({
    locks: {
      take: async (name): Promise<Lock | LockRefusal> => {
        world.steps.push(`take ${name}`);
        return world.heldBy === null ? lock : { heldBy: world.heldBy, retryIn: 1 };
      },
    },
    clock: { monotonic: () => world.now },
    fleet: {
      find: (name) => (world.watched.has(name) ? left : undefined),
      describeUnwatched: () => left,
    },
    declared: () => (world.areFilesRead ? world.declared : null),
    recall: { now: async () => ({ notified: new NotifiedStates(others.map(recorded)) }) },
    notified,
  });
  const append = async (event: NoticeEvent): Promise<JournalRecord> => {
    world.steps.push(`append ${event.event} ${event.result}`);
    return recorded(event);
  };
  return { world, notified, left, departed, append };
}

describe('an environment that is not watched any more', () => {
  it('has left the files at once, with what was known of it', () => {
    const { departed, left } = made();
    expect(departed.of(NAME)).toEqual({ state: left, end: 'left-files' });
    expect(departed.of(NAME)?.state).toBe(left);
  });

  it('and is declared has twenty seconds to be taken by another controller', () => {
    const { departed, world } = made();
    world.declared.add(NAME);
    const ends = [0, 19_999, 20_000, 90_000].map((now) => {
      world.now = now;
      return departed.of(NAME)?.end;
    });
    expect(ends).toEqual([undefined, undefined, 'not-watched', 'not-watched']);
  });

  it('has that time again if it was watched in between', () => {
    const { departed, world } = made();
    world.declared.add(NAME);
    departed.of(NAME);
    world.now = 30_000;
    world.watched.add(NAME);
    expect(departed.of(NAME)).toBeNull();
    world.watched.clear();
    expect(departed.of(NAME)).toBeNull();
    world.now = 49_999;
    expect(departed.of(NAME)).toBeNull();
    world.now = 50_000;
    expect(departed.of(NAME)?.end).toBe('not-watched');
  });

  it('is none as long as no files could be read, and its time begins after that', () => {
    const { departed, world } = made();
    world.declared.add(NAME);
    world.areFilesRead = false;
    expect(departed.of(NAME)).toBeNull();
    world.now = 30_000;
    world.areFilesRead = true;
    expect(departed.of(NAME)).toBeNull();
    world.now = 50_000;
    expect(departed.of(NAME)?.end).toBe('not-watched');
  });

  it('is none as long as it is watched here, declared or not', () => {
    const { departed, world } = made();
    world.watched.add(NAME);
    world.now = 90_000;
    expect(departed.of(NAME)).toBeNull();
  });
});

describe('a notice of an end', () => {
  it('is begun under the lock, which is given up at once', async () => {
    const { departed, world, append } = made();
    expect(await departed.keep(RESOLVED, append)).toEqual(recorded(RESOLVED));
    expect(world.steps).toEqual([`take ${NAME}`, 'append resolved begun', 'release']);
  });

  it('that has begun is kept as it ends, whoever has the lock', async () => {
    const { departed, world, append } = made();
    world.heldBy = 'another';
    await departed.keep(noticed('resolved', 'sent'), append);
    expect(world.steps).toEqual(['append resolved sent']);
  });

  it('is not begun if somebody watches it, who is left alone for a minute', async () => {
    const { departed, world, append } = made();
    world.now = 5000;
    world.heldBy = 'controller-2 on host b';
    await expect(departed.keep(RESOLVED, append)).rejects.toMatchObject({
      code: 'lock-lost',
      message: 'production is watched by controller-2 on host b.',
    });
    expect(world.steps).toEqual([`take ${NAME}`]);
    world.now = 64_999;
    expect(departed.of(NAME)).toBeNull();
    world.now = 65_000;
    expect(departed.of(NAME)?.end).toBe('left-files');
  });

  it('is not begun if another controller has told it, which is then known here', async () => {
    const { departed, world, notified, append } = made([OPENED, noticed('resolved', 'sent')]);
    await expect(departed.keep(RESOLVED, append)).rejects.toMatchObject({
      code: 'lock-lost',
      message: 'The end of production was reported elsewhere.',
    });
    expect(world.steps).toEqual([`take ${NAME}`, 'release']);
    expect(notified.listOpen('team')).toEqual([]);
  });

  it('gives the lock up if it cannot be kept, and does not stop the next one', async () => {
    const { departed, world, append } = made();
    const full = () => Promise.reject(new Error('the disk is full'));
    const both = [departed.keep(RESOLVED, full), departed.keep(RESOLVED, append)];
    const [first, second] = await Promise.allSettled(both);
    expect([first?.status, second?.status]).toEqual(['rejected', 'fulfilled']);
    expect(world.steps).toEqual([
      `take ${NAME}`,
      'release',
      `take ${NAME}`,
      'append resolved begun',
      'release',
    ]);
  });
});
