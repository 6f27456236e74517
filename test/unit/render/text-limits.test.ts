import { expect, it } from 'vitest';
import { nestedDiff } from '../../../src/reconciler/render/change.ts';
import { visible } from '../../../src/reconciler/render/visible.ts';

const WHOLE = { color: false, width: null, verbose: true };

it('values with nothing in common are shown one after the other, without a search for what they share', () => {
  const before = Array.from({ length: 20_000 }, (_, index) => `before ${index}`);
  const after = before.map((line) => line.replace('before', 'after'));
  const lines = nestedDiff(before, after, WHOLE);
  expect(lines.length).toBe(40_000);
  expect(lines[0]).toBe('- - before 0');
  expect(lines[20_000]).toBe('+ - after 0');
});

it.each([
  [' '.repeat(1_000_000), 1_000_000],
  [':'.repeat(1_000_000), 1_000_000 + 5],
  ['  ::'.repeat(250_000), 1_000_000 + 5],
])('a long run of the same is made visible in one pass', (text, length) => {
  expect(visible(text).length).toBe(length);
});
