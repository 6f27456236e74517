import { describe, expect, it } from 'vitest';
import { errorReport, type ErrorReport } from '../../../src/reconciler/model/error.ts';
import { FailureLimit } from '../../../src/reconciler/operations/parallel.ts';

const FAILED = { error: { code: 'unreachable', message: 'x', hint: 'y' } } as const;

/** What environments end with that are started one after another. */
async function ends(limit: FailureLimit, work: readonly { error: ErrorReport | null }[]) {
  const all: (ErrorReport | null)[] = [];
  for (const one of work) {
    const ended = await limit.start(
      undefined,
      async () => one,
      (why) => ({ error: errorReport(why) }),
    );
    all.push(ended.error);
  }
  return all;
}

/** How many environments fail one after another before no more are started. */
async function startsUntil(allowed: number | string, chosen: number): Promise<number> {
  const work = Array.from({ length: chosen }, () => FAILED);
  const all = await ends(new FailureLimit(allowed, chosen), work);
  return all.filter((error) => error?.code === FAILED.error.code).length;
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
  ])('%s of %i: %i are started if all fail', async (allowed, chosen, started) => {
    expect(await startsUntil(allowed, chosen)).toBe(started);
  });

  it('counts only what ended with an error, and says how many did', async () => {
    const limit = new FailureLimit(1, 10);
    const fine = { error: null };
    const all = await ends(limit, [FAILED, fine, FAILED, fine]);
    expect(all.at(-1)).toMatchObject({
      code: 'skipped',
      message: 'Not started, because 2 environments failed and --max-failures allows 1.',
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
