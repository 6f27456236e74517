import { expect, it } from 'vitest';
import { isLockRefused, scopeLocks } from '../../../src/controller/watch/locks/locks.ts';
import { tableLocks } from '../../fixture/watch-world.ts';

it('locks of another scope, or of none, are others; those of the same scope are the same', async () => {
  const table = new Map<string, object>();
  const takes = async (scope: string | null): Promise<boolean> => {
    const locks = tableLocks(table);
    const scoped = scope === null ? locks : scopeLocks(locks, scope);
    return !isLockRefused(await scoped.take('default'));
  };
  expect([await takes(null), await takes('team-a'), await takes('team-b')]).toEqual([
    true,
    true,
    true,
  ]);
  expect([await takes(null), await takes('team-a')]).toEqual([false, false]);
});

it.each(['', 'Team', 'a/b', '-a', 'a'.repeat(41)])('%j names no scope', (scope) => {
  expect(() => scopeLocks(tableLocks(new Map()), scope)).toThrow('takes a scope');
});
