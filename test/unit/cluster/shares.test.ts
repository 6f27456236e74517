import { describe, expect, it } from 'vitest';
import { Shares } from '../../../src/controller/cluster/shares.ts';

const entry = (created: number, size = 10) => ({ size, created: String(created).padStart(4, '0') });

describe('memory of namespaces', () => {
  it('is not taken by the newest of one that has its share', () => {
    const shares = new Shares({ namespace: 30, cluster: 1_000 });
    for (const index of [1, 2, 4]) expect(shares.add('a', `a/${index}`, entry(index))).toEqual([]);
    expect(shares.add('a', 'a/3', entry(3))).toEqual([{ key: 'a/4', by: 'namespace' }]);
    expect(shares.add('a', 'a/5', entry(5))).toEqual([{ key: 'a/5', by: 'namespace' }]);
    expect(shares.add('b', 'b/1', entry(9))).toEqual([]);
  });

  it('is the same whatever the order is in which objects come', () => {
    const refusedBy = (order: readonly number[]): readonly string[] => {
      const shares = new Shares({ namespace: 50, cluster: 1_000 });
      return order.flatMap((one) => shares.add('a', `a/${one}`, entry(one))).map(({ key }) => key);
    };
    const refused = ['a/5', 'a/6', 'a/7', 'a/8'];
    expect(refusedBy([0, 1, 2, 3, 4, 5, 6, 7, 8]).toSorted()).toEqual(refused);
    expect(refusedBy([8, 3, 6, 0, 7, 1, 5, 2, 4]).toSorted()).toEqual(refused);
  });

  it('is given up by the namespace that has the most', () => {
    const shares = new Shares({ namespace: 100, cluster: 100 });
    for (let index = 0; index < 9; index += 1) shares.add('a', `a/${index}`, entry(index));
    shares.add('b', 'b/0', entry(100));
    expect(shares.add('b', 'b/1', entry(101))).toEqual([{ key: 'a/8', by: 'cluster' }]);
  });

  it('is free again once objects are gone', () => {
    const shares = new Shares({ namespace: 20, cluster: 1_000 });
    shares.add('a', 'a/1', entry(1, 20));
    shares.remove('a', 'a/1');
    expect(shares.add('a', 'a/2', entry(2, 20))).toEqual([]);
    expect(shares.add('a', 'a/2', entry(2, 21))).toEqual([{ key: 'a/2', by: 'namespace' }]);
  });
});
