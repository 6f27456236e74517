import { expect, it } from 'vitest';
import { Conditions } from '../../../src/controller/watch/conditions.ts';
import { lockProblems } from '../../../src/controller/watch/locks/locks.ts';

it('a problem of the locks is reported once for all environments until it is another one, and its end once', () => {
  const told: string[] = [];
  const conditions = new Conditions(
    () => 0,
    ({ message }) => told.push(message),
  );
  const note = lockProblems(conditions);
  note('one', null);
  for (let turn = 0; turn < 3; turn += 1)
    for (const name of ['one', 'two', 'three']) note(name, 'The disk is full.');
  note('two', 'It is read-only.');
  note('two', 'The disk is full.');
  expect(told).toEqual([
    'The disk is full. Nothing is healed without a lock.',
    'It is read-only. Nothing is healed without a lock.',
  ]);
  note('one', null);
  note('two', null);
  note('two', null);
  expect(told).toHaveLength(2);
  expect(conditions.list()).toMatchObject([{ kind: 'locks', receiver: null }]);
  note('three', null);
  note('three', null);
  expect(conditions.list()).toEqual([]);
  note('one', 'The disk is full.');
  expect(told.slice(2)).toEqual([
    'The locks can be used again.',
    'The disk is full. Nothing is healed without a lock.',
  ]);
});
