import fc from 'fast-check';
import { expect, it } from 'vitest';
import { propertyRuns } from '../../fixture/property-runs.ts';
import { ReadQueue } from '../../../src/controller/watch/read-queue.ts';

const SECOND = 1_000;
const INTERVAL = 10 * SECOND;
const HOUR = 3_600 * SECOND;

/** How long a service takes to answer, in milliseconds: by the number of the read, so that it may begin or cease to hang. */
type Service = (read: number) => number;

interface Environment {
  readonly name: string;
  readonly group: string;
  readonly origin: string;
  readonly service: Service;
  /** Whether nobody may hold it up. */
  readonly isHealthy: boolean;
  due: number;
  busy: boolean;
  reads: number;
  readonly began: number[];
}

/** A fleet on a clock that jumps from one event to the next. Returns the longest time between two reads of each healthy one, and how many ran at most. */
function simulated(
  all: readonly Environment[],
  { parallel, until }: { readonly parallel: number; readonly until: number },
) {
  let now = 0;
  let most = 0;
  const queue = new ReadQueue<Environment>({
    clock: { monotonic: () => now },
    parallel,
    groupOf: ({ group }) => group,
    originOf: ({ origin }) => origin,
    isNew: ({ reads }) => reads === 0,
    isHeldUp: () => false,
    isBusy: () => false,
  });
  queue.reset(all);
  const ends = new Map<Environment, number>();
  while (now < until) {
    for (let one = queue.next(); one !== undefined; one = queue.next()) {
      one.busy = true;
      one.began.push(now);
      ends.set(one, now + Math.max(1, one.service(one.reads)));
    }
    most = Math.max(most, ends.size);
    const next = Math.min(now + Math.max(1, queue.untilNext(5 * SECOND)), ...ends.values());
    now = next;
    for (const [one, end] of ends) {
      if (end > now) continue;
      ends.delete(one);
      one.busy = false;
      one.reads += 1;
      one.due = now + INTERVAL;
      queue.add(one);
      queue.endRead(one);
    }
  }
  const longest = all
    .filter(({ isHealthy }) => isHealthy)
    .map(({ began }) => {
      const times = [0, ...began, until];
      return Math.max(...times.map((time, index) => time - (times[index - 1] ?? 0)));
    });
  return { longest: Math.max(0, ...longest), most };
}

/** Services that are not well: each kind that was seen to starve others. */
const unwell = fc.oneof(
  fc.record({ kind: fc.constant('hangs'), takes: fc.integer({ min: 10_000, max: 120_000 }) }),
  fc.record({ kind: fc.constant('is slow'), takes: fc.integer({ min: 1_000, max: 9_900 }) }),
  fc.record({ kind: fc.constant('now and then'), takes: fc.integer({ min: 5_000, max: 60_000 }) }),
);

function serviceOf({ kind, takes }: { kind: string; takes: number }): Service {
  return kind === 'now and then' ? (read) => (read % 3 === 2 ? takes : 20) : () => takes;
}

function environment(index: number, about: Partial<Environment>): Environment {
  return {
    name: `e${index}`,
    group: '',
    origin: `https://e${index}.example.com`,
    service: () => 20,
    isHealthy: false,
    due: index * 97,
    busy: false,
    reads: 0,
    began: [],
    ...about,
  };
}

it('no healthy environment waits for others, whatever their services do', () => {
  const fleet = fc.record({
    healthy: fc.integer({ min: 1, max: 60 }),
    unwell: fc.array(fc.record({ of: unwell, group: fc.nat(4), origin: fc.nat(9) }), {
      maxLength: 60,
    }),
  });
  fc.assert(
    fc.property(fleet, (of) => {
      const sick = of.unwell.map((one, index) =>
        environment(index, {
          group: `g${one.group}`,
          origin: `https://of-${one.group}-${one.origin}-${index % 2 === 0 ? index : 0}.example.com`,
          service: serviceOf(one.of),
        }),
      );
      const well = Array.from({ length: of.healthy }, (_, index) =>
        environment(index, { group: `g${index % 5}`, isHealthy: true, due: index * 61 }),
      );
      const { longest } = simulated([...sick, ...well], { parallel: 8, until: HOUR / 6 });
      expect(longest).toBeLessThan(1.5 * INTERVAL);
    }),
    { numRuns: propertyRuns(60) },
  );
});

it('every environment is read in the end, the slow and the hanging ones too', () => {
  const services = fc.array(fc.record({ of: unwell, group: fc.nat(30) }), {
    minLength: 1,
    maxLength: 80,
  });
  fc.assert(
    fc.property(services, fc.integer({ min: 1, max: 8 }), (of, parallel) => {
      const all = of.map((one, index) =>
        environment(index, { group: `g${one.group}`, service: serviceOf(one.of) }),
      );
      const { most } = simulated(all, { parallel, until: HOUR });
      expect(all.filter(({ began }) => began.length < 3)).toEqual([]);
      expect(most).toBeLessThanOrEqual(16 * parallel);
    }),
    { numRuns: propertyRuns(40) },
  );
});

it('forty newcomers that hang hold up sixty healthy newcomers for seconds', () => {
  const all = Array.from({ length: 100 }, (_, index) =>
    environment(index, {
      due: index,
      isHealthy: index >= 40,
      service: index < 40 ? () => 44_000 : () => 20,
    }),
  );
  const { longest } = simulated(all, { parallel: 8, until: 60 * SECOND });
  expect(longest).toBeLessThan(1.5 * INTERVAL);
});

it('a namespace that hangs has its share of the places for those, and others of such services theirs', () => {
  const many = Array.from({ length: 500 }, (_, index) =>
    environment(index, { group: 'many', service: () => 44_000, due: 0 }),
  );
  const one = environment(1_000, {
    group: 'one',
    service: () => 8_000,
    due: 30 * SECOND,
    isHealthy: true,
  });
  simulated([...many, one], { parallel: 8, until: 300 * SECOND });
  expect(one.began.length).toBeGreaterThan(10);
});
