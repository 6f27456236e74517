import { EventEmitter, once } from 'node:events';
import { expect, it } from 'vitest';
import { processInOrder, inParallel } from '../../../src/reconciler/reconcile/in-order.ts';

/** Work that ends when it is told to. */
function held<T>() {
  const ends = new Map<T, () => void>();
  const begun: T[] = [];
  const work = (item: T): Promise<T> => {
    begun.push(item);
    return new Promise((resolve) => ends.set(item, () => resolve(item)));
  };
  const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  const end = async (item: T): Promise<void> => {
    ends.get(item)?.();
    await settle();
  };
  return { work, begun, end, settle };
}

const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

it('results are taken in the order of the items, whatever ends first', async () => {
  const { work, begun, end, settle } = held<number>();
  const taken: number[] = [];
  const all = processInOrder(numbers(5), 3, work, async (item) => {
    taken.push(item);
  });
  await settle();
  expect(begun).toEqual([0, 1, 2]);
  await end(2);
  await end(1);
  expect([begun, taken]).toEqual([[0, 1, 2, 3, 4], []]);
  await end(4);
  await end(0);
  expect(taken).toEqual([0, 1, 2]);
  await end(3);
  await all;
  expect(taken).toEqual([0, 1, 2, 3, 4]);
});

it('an item that takes long holds up others only once 1,024 results wait for it', async () => {
  const begun: number[] = [];
  let endFirst = (): void => {};
  const first = new Promise<void>((resolve) => (endFirst = resolve));
  const taken: number[] = [];
  const all = processInOrder(
    numbers(3000),
    4,
    async (item) => {
      begun.push(item);
      if (item === 0) await first;
      return item;
    },
    async (item) => {
      taken.push(item);
    },
  );
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  expect([begun.length, taken]).toEqual([1024, []]);
  endFirst();
  await all;
  expect(taken).toEqual(numbers(3000));
});

it('results are taken one at a time', async () => {
  let taking = 0;
  let most = 0;
  await processInOrder(
    numbers(50),
    8,
    async (item) => item,
    async () => {
      taking += 1;
      most = Math.max(most, taking);
      await new Promise((resolve) => setImmediate(resolve));
      taking -= 1;
    },
  );
  expect(most).toBe(1);
});

it.each(['work', 'take'] as const)(
  'the first error of %s ends it, and no item is begun after it',
  async (from) => {
    const begun: number[] = [];
    const failing = processInOrder(
      numbers(5000),
      2,
      async (item) => {
        begun.push(item);
        if (from === 'work' && item === 3) throw new Error('broken');
        return item;
      },
      async (item) => {
        if (from === 'take' && item === 3) throw new Error('broken');
      },
    );
    await expect(failing).rejects.toThrow('broken');
    expect(begun.length).toBeLessThan(10);
  },
);

it('inParallel gives the results in order, of no items as well', async () => {
  expect(await inParallel(numbers(9), 4, async (item) => item * 2)).toEqual(
    numbers(9).map((one) => one * 2),
  );
  expect(await inParallel([], 4, async () => 1)).toEqual([]);
});

it('waits for what is under way, and throws the error of the earliest item', async () => {
  const ended: number[] = [];
  const release = new EventEmitter();
  const released = once(release, 'open');
  const failing = inParallel(numbers(5), 3, async (item) => {
    if (item === 2) release.emit('open');
    else await released;
    ended.push(item);
    if (item > 0) throw new Error(`item ${item}`);
  });
  await expect(failing).rejects.toThrow('item 1');
  expect(ended.toSorted((one, other) => one - other)).toEqual([0, 1, 2]);
});
