import { describe, expect, it } from 'vitest';
import { Conditions } from '../../../src/controller/watch/conditions.ts';
import { LateReads, mayWait } from '../../../src/controller/watch/late-reads.ts';
import type { Lateness } from '../../../src/controller/watch/read-queue.ts';

const SECOND = 1_000;
const nothing = { count: 0, longest: 0, groups: new Map<string, number>() };

function made(groupName: string | null = null) {
  const world = { now: 0, found: { prompt: nothing, slow: nothing, hanging: 0 } as Lateness };
  const logged: string[] = [];
  const conditions = new Conditions(
    () => world.now,
    ({ message }) => logged.push(message),
  );
  const late = new LateReads({
    clock: { monotonic: () => world.now },
    conditions,
    lateness: () => world.found,
    groupName,
  });
  const look = (now: number, found: Partial<Lateness> = {}): readonly string[] => {
    world.now = now;
    world.found = { prompt: nothing, slow: nothing, hanging: 0, ...found };
    late.look();
    return conditions.list().map(({ message }) => message);
  };
  return { look, logged, conditions, late };
}

const waiting = (count: number, groups: Readonly<Record<string, number>> = {}) => ({
  count,
  longest: 45 * SECOND,
  groups: new Map(Object.entries(groups)),
});

describe('environments that are read late', () => {
  it('are a condition that counts those that hang and those that wait, and stops the heartbeat', () => {
    const { look, conditions, late } = made();
    expect(look(0, { prompt: waiting(60), hanging: 40 })).toEqual([
      '40 environments hang, 60 wait for a turn, one for 45 s. What changes on a service is found late, and healed late.',
    ]);
    expect(conditions.areSilencing).toBe(true);
    expect(late.counts).toEqual({ late: 60, hanging: 40 });
  });

  it('are named by their namespaces, the worst first', () => {
    const { look } = made('namespace');
    expect(look(0, { prompt: waiting(3, { a: 1, b: 2 }), hanging: 1 })).toEqual([
      '1 environment hangs, 3 wait for a turn, one for 45 s, by namespace: b (2), a (1). What changes on a service is found late, and healed late.',
    ]);
  });

  it('come with advice if no service hangs', () => {
    const { look } = made();
    expect(look(0, { prompt: waiting(1) })).toEqual([
      'No environment hangs, 1 waits for a turn, one for 45 s. Give the controller more processor time, or raise --parallel. What changes on a service is found late, and healed late.',
    ]);
  });

  it('whose services are slow are a condition of their own, which stops no heartbeat', () => {
    const { look, conditions } = made();
    expect(look(0, { slow: waiting(24), hanging: 32 })).toEqual([
      '32 environments hang, 24 of slow services wait for a turn, one for 45 s. Environments of other services are read on time.',
    ]);
    expect(conditions.areSilencing).toBe(false);
  });

  it('are two conditions that do not contradict each other', () => {
    const { look } = made();
    expect(look(0, { prompt: waiting(37), slow: waiting(15), hanging: 32 })).toEqual([
      '32 environments hang, 37 wait for a turn, one for 45 s. What changes on a service is found late, and healed late.',
      '32 environments hang, 15 of slow services wait for a turn, one for 45 s.',
    ]);
  });

  it('are logged once a minute, and over once none was late for half a minute', () => {
    const { look, logged } = made();
    for (let at = 0; at < 120; at += 5) look(at * SECOND, { prompt: waiting(at + 1), hanging: 1 });
    expect(logged).toHaveLength(2);
    expect(look(120 * SECOND)).toHaveLength(1);
    expect(look(140 * SECOND)).toHaveLength(1);
    expect(look(145 * SECOND)).toEqual([]);
    expect(logged.at(-1)).toBe('Environments are read on time again.');
  });
});

it('an environment may wait for half of its interval, within 15 seconds and two minutes', () => {
  expect([10, 60, 300, 3_600].map((every) => mayWait(every * SECOND) / SECOND)).toEqual([
    15, 30, 120, 120,
  ]);
});
