import { expect, it } from 'vitest';
import { KeyCheck } from '../../../src/controller/watch/key-check.ts';

it('notices a key that was changed as long as a read is refused', async () => {
  let key: string | null = 'one';
  const check = new KeyCheck(async () => key);
  expect(await check.after(null, null)).toBeNull();
  expect(await check.after('unauthorized', null)).toBe(5_000);
  expect(await check.isSame()).toBe(true);
  key = 'two';
  expect(await check.isSame()).toBe(false);
  expect(await check.isSame()).toBe(true);
  expect(await check.after('unauthorized', 300_000)).toBe(300_000);
});

it.each(['unreachable', 'rate-limited'])('is not asked about a key during %s', async (code) => {
  const check = new KeyCheck(async () => 'one');
  expect(await check.after('unauthorized', null)).toBe(5_000);
  expect(await check.after(code, null)).toBeNull();
});

it('looks at no key that cannot change, or cannot be looked at', async () => {
  expect(await new KeyCheck(async () => null).after('unauthorized', null)).toBeNull();
  const failing = new KeyCheck(() => Promise.reject(new Error('no answer')));
  expect(await failing.after('unauthorized', null)).toBeNull();
});
