import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { isInShard, placeOfName } from '../../../src/reconciler/model/shard.ts';
import { itEach } from '../../fixture/long.ts';

/** The shards of a number that hold a name: one, if all is well. */
const shardsOf = (name: string, count: number) =>
  Array.from({ length: count }, (_, index) => index).filter((index) =>
    isInShard(name, { index, count }),
  );

/** Names as fleets have them: alike, and different in a few characters. */
const NAMES: readonly (readonly [kind: string, of: (at: number) => string])[] = [
  ['numbered', (at) => `customer-${at}`],
  ['padded', (at) => `env${String(at).padStart(5, '0')}`],
  ['numbers', String],
  ['numbered in front', (at) => `${at}.agents.example.com`],
  ['in regions', (at) => `tenant-${at >> 2}-${['eu', 'us', 'ap', 'sa'][at & 3]}`],
  ['random', (at) => createHash('sha256').update(String(at)).digest('hex').slice(0, 16)],
];

const namesOf = (of: (at: number) => string, count: number) =>
  Array.from({ length: count }, (_, at) => of(at));

describe('shards', () => {
  it('of every number from 1 to 64 hold every environment exactly once', () => {
    const names = namesOf((at) => `customer-${at}`, 100);
    for (let count = 1; count <= 64; count += 1)
      expect(names.filter((name) => shardsOf(name, count).length !== 1)).toEqual([]);
    expect(shardsOf('customer-1', 1000)).toHaveLength(1);
  });

  itEach(NAMES, (_, index) => index === 0 || index === 5)(
    'are as equal as shares by chance are: names that are %s',
    (_, of) => {
      for (const count of [2, 7, 32]) {
        const sizes = Array.from({ length: count }, () => 0);
        const names = namesOf(of, 1500);
        for (const name of names) {
          const [own = -1] = shardsOf(name, count);
          sizes[own] = (sizes[own] ?? 0) + 1;
        }
        const expected = names.length / count;
        const chiSquare = sizes.reduce((sum, size) => sum + (size - expected) ** 2 / expected, 0);
        // Five deviations above the mean of a chi-square distribution.
        expect(chiSquare).toBeLessThan(count - 1 + 5 * Math.sqrt(2 * (count - 1)));
      }
    },
  );

  itEach(NAMES, (_, index) => index === 0 || index === 4)(
    'one more takes its share of all others, and moves nothing between them: names that are %s',
    (_, of) => {
      for (const count of [1, 2, 4, 10]) {
        const names = namesOf(of, 2000);
        const added = { index: count, count: count + 1 };
        const moved = names.filter((name) => isInShard(name, added));
        const others = names.filter((name) => !isInShard(name, added));
        const isWhereItWas = (name: string) =>
          shardsOf(name, count + 1)[0] === shardsOf(name, count)[0];
        expect(others.every(isWhereItWas)).toBe(true);
        const share = moved.length / names.length;
        expect(share).toBeGreaterThan(0.7 / (count + 1));
        expect(share).toBeLessThan(1.3 / (count + 1));
      }
    },
  );

  it('are those of the specification, which other tools follow', () => {
    const own = (name: string) => [2, 3, 10, 64, 1000].map((count) => shardsOf(name, count)[0]);
    expect({
      production: own('production'),
      staging: own('staging'),
      'customer-17': own('customer-17'),
      'Zürich 1': own('Zürich 1'),
    }).toEqual({
      production: [0, 2, 8, 28, 553],
      staging: [0, 0, 5, 43, 395],
      'customer-17': [0, 0, 8, 10, 10],
      'Zürich 1': [1, 2, 3, 56, 460],
    });
  });
});

describe('the place of a name', () => {
  it('spreads names that are alike, and is the same each time', () => {
    const names = Array.from({ length: 6_000 }, (_, index) => `agents/target-${index}`);
    const seconds = new Map<number, number>();
    for (const name of names) {
      const second = Math.floor(placeOfName(name) * 60);
      seconds.set(second, (seconds.get(second) ?? 0) + 1);
    }
    expect(seconds.size).toBe(60);
    expect(Math.max(...seconds.values())).toBeLessThan(150);
    expect(names.map(placeOfName)).toEqual(names.map(placeOfName));
  });
});
