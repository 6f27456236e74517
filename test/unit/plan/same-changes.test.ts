import { expect, it } from 'vitest';
import { Secret } from '../../../src/reconciler/model/secret.ts';
import { sameChanges } from '../../../src/reconciler/plan/settings-part.ts';
import { change, settingsPlan } from './hand-made.ts';

const ONE = change(['language'], { before: 'en', after: 'fr' });
const KEY = change(['llm_api_key'], { action: 'rotate', after: new Secret('one') });

it('two plans make the same changes if paths, actions and values are the same', () => {
  const again = [{ ...ONE }, { ...KEY, after: new Secret('one') }];
  expect(sameChanges(settingsPlan([ONE, KEY]), settingsPlan(again))).toBe(true);
  expect(sameChanges(settingsPlan([]), settingsPlan([]))).toBe(true);
});

it.each([
  ['one more', [ONE, KEY, change(['agent'])]],
  ['one less', [ONE]],
  ['none', []],
  ['another order', [KEY, ONE]],
  ['another path', [{ ...ONE, path: ['agent'] }, KEY]],
  ['another action', [{ ...ONE, action: 'set' as const }, KEY]],
  ['another value before', [{ ...ONE, before: 'de' }, KEY]],
  ['another value after', [{ ...ONE, after: 'de' }, KEY]],
  ['another secret', [ONE, { ...KEY, after: new Secret('two') }]],
])('they do not with %s', (_, changes) => {
  expect(sameChanges(settingsPlan([ONE, KEY]), settingsPlan(changes))).toBe(false);
});
