import { describe, expect, it } from 'vitest';
import { FailureLimit } from '../../../src/operations/failure-limit.ts';

const FAILED = { error: { code: 'unreachable', message: 'x', hint: 'y' } } as const;

/** How many environments fail one after another before no more are started. */
function startsUntil(allowed: number | string, chosen: number): number {
  const limit = new FailureLimit(allowed, chosen);
  let started = 0;
  for (; started < chosen && limit.reached === null; started += 1) limit.ended(FAILED);
  return started;
}

describe('how many environments may fail', () => {
  it.each([
    [0, 5, 1],
    [2, 5, 3],
    ['2', 5, 3],
    [5, 5, 5],
    [99, 5, 5],
    ['0%', 7, 1],
    ['10%', 7, 1],
    ['14%', 7, 1],
    ['15%', 7, 2],
    ['10%', 10, 2],
    ['10%', 1000, 101],
    ['29%', 100, 30],
    ['100%', 7, 7],
    [0, 1, 1],
  ])('%s of %i: %i are started if all fail', (allowed, chosen, started) => {
    expect(startsUntil(allowed, chosen)).toBe(started);
  });

  it('counts only what ended with an error, and says how many did', () => {
    const limit = new FailureLimit(1, 10);
    for (const part of [FAILED, { error: null }, FAILED, { error: null }]) limit.ended(part);
    expect(limit.reached).toMatchObject({
      code: 'skipped',
      message: 'Not started, because 2 environments did not end well and --max-failures allows 1.',
    });
  });

  it.each([
    -1,
    1.5,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    '',
    '%',
    'x',
    '-1',
    '1.5%',
    '101%',
    '10 %',
    '5%%',
    '1e3',
    '0x10',
  ])('%s is a usage error', (allowed) => {
    expect(() => new FailureLimit(allowed, 3)).toThrow('--max-failures takes a number');
  });
});
