import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Chore, endsWithin } from '../../../src/controller/watch/upkeep.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const EVERY = 5_000;

/** A chore whose work a test ends, on a clock that a test moves. */
function made() {
  const world = { now: 0, begun: 0, late: [] as boolean[], end: (): void => {} };
  const chore = new Chore({
    clock: { now: () => world.now, monotonic: () => world.now, sleep: async () => {} },
    every: EVERY,
    work: () => {
      world.begun += 1;
      return new Promise((resolve) => {
        world.end = resolve;
      });
    },
    late: (isLate) => world.late.push(isLate),
  });
  /** Looks, and lets the work end at once. */
  const done = async (): Promise<void> => {
    const looked = chore.look();
    world.end();
    await looked;
  };
  return { world, chore, done };
}

describe('a chore', () => {
  it('is done at the first look, and again so long after its end', async () => {
    const { world, done } = made();
    await done();
    expect(world.begun).toBe(1);
    world.now = EVERY - 1;
    await done();
    expect(world.begun).toBe(1);
    world.now = EVERY;
    await done();
    expect(world.begun).toBe(2);
  });

  it('that goes on is waited for a moment only, and not begun a second time', async () => {
    const { world, chore } = made();
    const looked = chore.look();
    let isOver = false;
    void looked.then(() => {
      isOver = true;
    });
    await vi.advanceTimersByTimeAsync(499);
    expect(isOver).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect([isOver, chore.isRunning]).toEqual([true, true]);
    world.now = 10 * EVERY;
    await chore.look();
    void chore.begin();
    expect(world.begun).toBe(1);
    world.end();
    await chore.begin();
    expect(chore.isRunning).toBe(false);
  });

  it('is late after 15 seconds, while it goes on, and whenever it has ended it is not', async () => {
    const { world, chore } = made();
    const begun = chore.begin();
    await vi.advanceTimersByTimeAsync(14_999);
    expect(world.late).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(world.late).toEqual([true]);
    world.end();
    await begun;
    expect(world.late).toEqual([true, false]);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(world.late).toEqual([true, false]);
  });

  it('that is wanted soon is done at the next look, also if it was wanted while it went on', async () => {
    const { world, chore, done } = made();
    await done();
    chore.soon();
    await done();
    expect(world.begun).toBe(2);
    world.now = EVERY;
    void chore.begin();
    chore.soon();
    world.end();
    await chore.begin();
    await done();
    expect(world.begun).toBe(4);
  });
});

describe('waiting for work', () => {
  it('tells whether it ended in time, and leaves no timer', async () => {
    expect(await endsWithin(1_000, Promise.resolve())).toBe(true);
    expect(vi.getTimerCount()).toBe(0);
    const never = endsWithin(1_000, new Promise(() => {}));
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await never).toBe(false);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('fails as the work does if that ends in time; what fails later is left alone', async () => {
    await expect(endsWithin(1_000, Promise.reject(new Error('full')))).rejects.toThrow('full');
    let fail: (reason: Error) => void = () => {};
    const late = endsWithin(1_000, new Promise((_, reject) => (fail = reject)));
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await late).toBe(false);
    fail(new Error('full'));
    await new Promise((resolve) => setImmediate(resolve));
  });
});
