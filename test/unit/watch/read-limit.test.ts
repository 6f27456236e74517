import { describe, expect, it } from 'vitest';
import { ReadLimit } from '../../../src/controller/watch/read-limit.ts';

const MINUTE = 60_000;
const LEAST = 5 * MINUTE;

function made() {
  const clock = { now: 0, monotonic: () => clock.now };
  return { clock, limit: new ReadLimit(clock) };
}

describe('a read that is asked for', () => {
  it('is made at once if there was none, and after that when the limit is over', () => {
    const { clock, limit } = made();
    expect(limit.computeRequestTime(LEAST)).toBeLessThanOrEqual(0);
    limit.begin(LEAST);
    clock.now = MINUTE;
    expect(limit.computeRequestTime(LEAST)).toBe(LEAST);
    expect(limit.isOver(LEAST)).toBe(false);
    clock.now = LEAST;
    expect(limit.isOver(LEAST)).toBe(true);
  });

  it('is a second after the one before without a limit', () => {
    const { limit } = made();
    limit.begin(0);
    expect(limit.computeRequestTime(0)).toBe(1_000);
  });
});

describe('a read before its time', () => {
  it('is allowed without a limit, and after the time of one', () => {
    const { clock, limit } = made();
    limit.begin(LEAST);
    for (let count = 0; count < 100; count += 1) expect(limit.allow('changed', 0, 7)).toBe(7);
    clock.now = LEAST;
    for (let count = 0; count < 100; count += 1) expect(limit.allow('changed', LEAST, 7)).toBe(7);
  });

  it('is allowed four times, and then once more in each time of the limit, however often it is called for', () => {
    const { clock, limit } = made();
    limit.begin(LEAST);
    let early = 0;
    for (; clock.now < 60 * MINUTE; clock.now += 1_000) {
      if (limit.allow('changed', LEAST, clock.now) > clock.now) continue;
      limit.begin(LEAST);
      early += 1;
    }
    expect(early).toBeGreaterThanOrEqual(4 + 10);
    // Each time of the limit has a read that is due besides.
    expect(early).toBeLessThanOrEqual(4 + 2 * 12);
  });

  it('counts once it begins, not when it is asked about', () => {
    const { clock, limit } = made();
    limit.begin(LEAST);
    clock.now = 1_000;
    for (let count = 0; count < 100; count += 1) expect(limit.mayBeEarly(LEAST)).toBe(true);
    for (let count = 0; count < 100; count += 1)
      expect(limit.allow('changed', LEAST, 2_000)).toBe(2_000);
  });

  it('waits for the time of the limit otherwise', () => {
    const { limit } = made();
    limit.begin(0);
    for (let count = 0; count < 4; count += 1) {
      expect(limit.mayBeEarly(LEAST)).toBe(true);
      limit.begin(LEAST);
    }
    expect(limit.mayBeEarly(LEAST)).toBe(false);
    expect(limit.allow('changed', LEAST, 2_000)).toBe(LEAST);
    expect(limit.allow('changed', LEAST, 2 * LEAST)).toBe(2 * LEAST);
  });
});
