import { describe, expect, it } from 'vitest';
import type { ErrorCode } from '../../../src/reconciler/model/error.ts';
import { ReadSchedule, Outages } from '../../../src/controller/watch/schedule.ts';

interface One {
  due: number;
}

const found = (origin: string | null, code: ErrorCode | null = null) => ({
  origin,
  error: code === null ? null : { code, message: '', hint: '', exit_code: 1 as const },
});
const [A, B] = ['https://a.example.com', 'https://b.example.com'];

/** Some that wait, and what they share. */
function made(count: number) {
  const outages = new Outages<One>();
  const all = Array.from({ length: count }, (): One => ({ due: 0 }));
  return { outages, all };
}

describe('an origin that is down', () => {
  it.each<ErrorCode>(['unreachable', 'timed-out', 'server-error'])(
    'is checked by one of its environments: %s',
    (code) => {
      const { outages, all } = made(3);
      for (const one of all) outages.after(one, found(`${A}/path`, code));
      expect(all.map((one) => outages.checks(one))).toEqual([true, false, false]);
    },
  );

  it.each<ErrorCode>(['unauthorized', 'rate-limited', 'bad-response', 'tls'])(
    'is not one that answers otherwise: %s',
    (code) => {
      const { outages, all } = made(1);
      for (const one of all) outages.after(one, found(A, code));
      expect(all.map((one) => outages.checks(one))).toEqual([false]);
    },
  );

  it('that answers one has all others read, once', () => {
    const { outages, all } = made(4);
    const [first = { due: 0 }, second, ...rest] = all;
    for (const one of all) outages.after(one, found(A, 'unreachable'));
    const other = { due: 0 };
    outages.after(other, found(B, 'unreachable'));
    expect(outages.after(first, found(A))).toEqual([second, ...rest]);
    expect(outages.after(first, found(A))).toEqual([]);
    expect(all.some((one) => outages.checks(one))).toBe(false);
    expect(outages.checks(other)).toBe(true);
  });

  it('is checked by the next one if the first is watched no more, or has another address', () => {
    const { outages, all } = made(3);
    const [first = { due: 0 }, second = { due: 0 }, third = { due: 0 }] = all;
    for (const one of all) outages.after(one, found(A, 'unreachable'));
    outages.leave(first);
    expect(all.map((one) => outages.checks(one))).toEqual([false, true, false]);
    outages.after(second, found(B, 'unreachable'));
    expect(all.map((one) => outages.checks(one))).toEqual([false, true, true]);
    outages.after(third, found(null, 'unreachable'));
    expect(all.map((one) => outages.checks(one))).toEqual([false, true, false]);
  });

  it('is one of 32 at most that are checked', () => {
    const { outages, all } = made(100);
    for (const [index, one] of all.entries())
      outages.after(one, found(`https://${index}.example.com`, 'unreachable'));
    expect(all.filter((one) => outages.checks(one))).toEqual(all.slice(0, 32));
  });

  it('that answers has the first of four that are not checked read, and then of others', () => {
    const { outages, all } = made(100);
    const at = (index: number) => `https://${index}.example.com`;
    for (const [index, one] of all.entries()) outages.after(one, found(at(index), 'unreachable'));
    const answers = (index: number) =>
      outages.after(all[index] ?? { due: 0 }, found(at(index))).map((one) => all.indexOf(one));
    expect(answers(0)).toEqual([32, 33, 34, 35]);
    expect(answers(1)).toEqual([36, 37, 38, 39]);
    expect(answers(1)).toEqual([]);
  });

  it('with a network of two hundred is over soon after the first answer', () => {
    const { outages, all } = made(200);
    const at = (index: number) => `https://${index}.example.com`;
    for (const [index, one] of all.entries()) outages.after(one, found(at(index), 'unreachable'));
    let reads = all.filter((one) => outages.checks(one));
    let rounds = 0;
    const back = new Set<One>();
    for (; reads.length > 0; rounds += 1) {
      for (const one of reads) back.add(one);
      const read = reads;
      reads = read.flatMap((one) => outages.after(one, found(at(all.indexOf(one)))));
    }
    expect([back.size, rounds]).toEqual([200, 4]);
  });
});

it('checks come after seconds, and less and less often until a minute; the read stays when it was', () => {
  let now = 0;
  const clock = { now: () => now, monotonic: () => now, sleep: async () => {} };
  const of = { readAt: () => {} };
  const outages = new Outages<typeof of>();
  const next = new ReadSchedule(of, 0, { outages, clock, random: () => 0.5 });
  const turns: string[] = [];
  for (; now <= 600_000; now = next.due) {
    const isCheck = next.kind === 'check';
    turns.push(`${isCheck ? 'check' : 'read'} ${now / 1000}`);
    if (!isCheck) next.recordRead(found(A, 'unreachable'));
    next.after(isCheck ? null : 300_000);
  }
  expect(turns).toEqual([
    'read 0',
    'check 5',
    'check 15',
    'check 35',
    'check 75',
    'check 135',
    'check 195',
    'check 255',
    'read 300',
    'check 360',
    'check 420',
    'check 480',
    'check 540',
    'read 600',
  ]);
  next.recordRead(found(A));
  next.after(300_000);
  expect(next.kind).toBe('read');
  expect(next.due).toBe(now + 300_000);
});
