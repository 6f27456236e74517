import { describe, expect, it } from 'vitest';
import { ReadQueue, waitText } from '../../../src/controller/watch/read-queue.ts';

interface One {
  readonly name: string;
  readonly group: string;
  readonly origin: string;
  readonly isNew: boolean;
  due: number;
  busy: boolean;
}

function one(name: string, about: Partial<One> = {}): One {
  return { name, group: '', origin: name, isNew: false, due: 0, busy: false, ...about };
}

/** Some that are due one right after the other. */
function some(...names: readonly string[]): readonly One[] {
  return names.map((name, index) => one(name, { due: index / 1_000 - 1 }));
}

/** A queue of two places for prompt services, four for slow ones and eight for those that hang, on a clock that the test sets. */
function made(
  all: readonly One[],
  {
    isHeldUp = (_origin: string): boolean => false,
    mostOf = (_group: string): number => Number.POSITIVE_INFINITY,
  } = {},
) {
  const world = { now: 0, isBusy: false };
  const queue = new ReadQueue<One>({
    clock: { monotonic: () => world.now },
    parallel: 2,
    groupOf: ({ group }) => group,
    mostOf,
    originOf: ({ origin }) => origin,
    isNew: ({ isNew }) => isNew,
    isHeldUp,
    isBusy: () => world.isBusy,
  });
  queue.reset(all);
  const begin = (): readonly string[] => {
    const begun: string[] = [];
    for (let next = queue.next(); next !== undefined; next = queue.next()) {
      next.busy = true;
      begun.push(next.name);
    }
    return begun;
  };
  const end = (...ended: readonly One[]): void => {
    for (const it of ended) {
      it.busy = false;
      it.due = world.now + 10_000;
      queue.add(it);
      queue.endRead(it);
    }
  };
  const at = (now: number): readonly string[] => {
    world.now = now;
    return begin();
  };
  return { world, queue, at, end };
}

describe('who is read next', () => {
  it('is the one that waits longest, of as many as may be read at a time', () => {
    const [a, b, c] = [one('a', { due: 3 }), one('b', { due: 1 }), one('c', { due: 2 })];
    const { at, end, queue } = made([a, b, c]);
    expect(at(0)).toEqual([]);
    expect(queue.untilNext(5_000)).toBe(1);
    expect(at(10)).toEqual(['b', 'c']);
    expect(queue.queued).toBe(1);
    end(b);
    expect(at(10)).toEqual(['a']);
  });

  it('takes turns by group, and in a group by origin', () => {
    const all = [
      one('a1', { group: 'a', origin: 'x' }),
      one('a2', { group: 'a', origin: 'x' }),
      one('a3', { group: 'a', origin: 'y' }),
      one('b1', { group: 'b', due: 5 }),
      one('b2', { group: 'b', due: 5 }),
    ];
    const { at, end } = made(all);
    const order: string[] = [];
    for (let begun = at(5); begun.length > 0; begun = at(5)) {
      order.push(...begun);
      end(...all.filter(({ name }) => begun.includes(name)));
    }
    expect(order).toEqual(['a1', 'b1', 'a3', 'b2', 'a2']);
  });

  it('is first the one of its address that was asked for', () => {
    const all = some('a', 'b', 'c', 'd').map((each) => ({ ...each, origin: 'x' }));
    const { at, end, queue } = made(all);
    expect(at(0)).toEqual(['a', 'b']);
    const [a, , , d] = all as [One, One, One, One];
    d.due = Number.NEGATIVE_INFINITY;
    queue.add(d);
    end(a);
    expect(at(0)).toEqual(['d']);
  });

  it('is none that is due later by then, that is busy, or that is watched no more', () => {
    const all = some('a', 'b', 'c', 'd', 'e', 'f');
    const { at, end, queue } = made(all);
    expect(at(0)).toEqual(['a', 'b']);
    const [a, b, c, d, e, f] = all as [One, One, One, One, One, One];
    c.due = 1_000;
    d.busy = true;
    queue.reset([a, b, c, d, f]);
    end(a, b);
    expect(at(0)).toEqual(['f']);
    end(f);
    expect(at(1_000)).toEqual(['c']);
    expect(queue.whyWaiting(e)).toBeNull();
  });
});

describe('a read that waits for its service', () => {
  it('gives its place to the next one that waits for a place', () => {
    const all = some('a', 'b', 'c', 'd');
    const { at, queue } = made(all);
    expect(at(0)).toEqual(['a', 'b']);
    expect(queue.untilNext(5_000)).toBe(250);
    expect(at(249)).toEqual([]);
    expect(at(250)).toEqual(['c', 'd']);
  });

  it('gives none away while this process itself is what it waits for, for some seconds', () => {
    const { at, world } = made(some('a', 'b', 'c'));
    world.isBusy = true;
    at(0);
    expect(at(3_999)).toEqual([]);
    expect(at(4_000)).toEqual(['c']);
  });

  it('is read among those that are as slow from then on, until it is answered promptly', () => {
    const [slow, a, b] = some('s', 'a', 'b') as [One, One, One];
    const { at, end } = made([slow, a, b]);
    expect(at(0)).toEqual(['s', 'a']);
    end(a);
    expect(at(0)).toEqual(['b']);
    end(b);
    at(2_000);
    end(slow);
    expect(at(12_000)).toEqual(['a', 'b', 's']);
    end(slow, a, b);
    expect(at(22_000)).toHaveLength(2);
  });

  it('of an origin that limits requests is not begun', () => {
    const all = [one('a', { origin: 'x' }), one('b', { origin: 'y' })];
    const { at, queue } = made(all, { isHeldUp: (origin) => origin === 'x' });
    expect(at(0)).toEqual(['b']);
    expect(queue.whyWaiting(all[0] as One)).toEqual({ reason: 'origin-limits', waits: 0 });
  });
});

describe('the places for services that hang', () => {
  /** Ten of one group and one of another, whose services hang since they were read once. */
  function hanging() {
    const many = Array.from({ length: 10 }, (_, index) => one(`m${index}`, { group: 'many' }));
    const other = one('other', { group: 'other' });
    const all = [...many, other];
    const { at, end, queue } = made(all);
    for (let begun = at(0), time = 0; begun.length > 0;) begun = at((time += 300));
    at(10_000);
    end(...all.filter(({ busy }) => busy));
    return { many, other, all, at, end, queue };
  }

  it('are not all taken by one group, and the others say why they wait', () => {
    const { many, other, at, queue } = hanging();
    other.due = 25_000;
    queue.add(other);
    const begun = at(20_000);
    expect(begun.length).toBeGreaterThan(0);
    expect(begun.length).toBeLessThan(8);
    const waits = many.find(({ name }) => !begun.includes(name)) as One;
    expect(queue.whyWaiting(waits)).toEqual({ reason: 'group-share', waits: 0 });
    expect(waitText('group-share', 'namespace')).toBe(
      'It waits for its turn: other reads of its namespace wait for slow services and use its share of the places.',
    );
    expect(at(25_000)).toContain('other');
  });

  it('are counted, with those that wait', () => {
    const { many, queue, at } = hanging();
    at(20_000);
    const waiting = many.filter((it) => queue.whyWaiting(it) !== null);
    expect(queue.lateness(() => 5_000).slow.count).toBe(0);
    at(23_000);
    const { prompt, slow, hanging: hung } = queue.lateness(() => 2_000);
    const { length } = waiting;
    expect(slow).toEqual({ count: length, longest: 3_000, groups: new Map([['many', length]]) });
    expect(prompt.count).toBe(0);
    expect(hung).toBe(11);
  });
});

it('a group has no more reads at a time than its limit, however its services answer', () => {
  const [a, b, c] = some('a', 'b', 'c').map((each) => ({ ...each, group: 'limited' }));
  const z = one('z', { group: 'other' });
  const all = [a, b, c, z].filter((each) => each !== undefined);
  const mostOf = (group: string) => (group === 'limited' ? 1 : Number.POSITIVE_INFINITY);
  const { queue, at, end } = made(all, { mostOf });
  expect(at(0)).toEqual(['a', 'z']);
  end(z);
  expect(at(9_000)).toEqual([]);
  expect(b && queue.whyWaiting(b)?.reason).toBe('group-limit');
  end(...all.slice(0, 1));
  expect(at(9_001)).toEqual(['b']);
});
