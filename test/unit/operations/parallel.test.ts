import { expect, it } from 'vitest';
import { parallelReads, parallelWrites } from '../../../src/reconciler/operations/parallel.ts';

it.each([
  [1, 8],
  [99, 8],
  [100, 32],
  [10_000, 32],
])('%i environments are read %i at a time', (environments, parallel) => {
  expect(parallelReads({}, environments)).toBe(parallel);
  expect(parallelReads({ parallel: 3 }, environments)).toBe(3);
});

it('an apply writes to one at a time, and also if it asks', () => {
  expect(parallelWrites({}, false)).toBe(1);
  expect(parallelWrites({ parallel: 5 }, false)).toBe(5);
  expect(parallelWrites({ parallel: 5 }, true)).toBe(1);
});

it.each([0, -1, 1.5, 1000, Number.NaN, Number.POSITIVE_INFINITY])(
  'a number of %s environments is a usage error',
  (parallel) => {
    expect(() => parallelReads({ parallel }, 1)).toThrow('--parallel takes a whole number');
    expect(() => parallelWrites({ parallel }, true)).toThrow('--parallel takes a whole number');
  },
);
