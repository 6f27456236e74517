import { expect, it } from 'vitest';
import {
  parseIntervalFlag,
  parseRolloutFlags,
  parseUntilFlag,
} from '../../../src/command/cli/flags.ts';
import { parseDuration } from '../../../src/reconciler/desired/blocks/watch.ts';
import { parseAge } from '../../../src/reconciler/operations/flag-values.ts';

it.each([
  ['500ms', 500],
  ['1.5s', 1500],
  ['030m', 1_800_000],
  ['24h', 86_400_000],
  ['999999d', 999_999 * 86_400_000],
  ['0s', 0],
])('%s is a time', (text, milliseconds) => {
  expect(parseDuration(text)).toBe(milliseconds);
});

it.each([
  '',
  '30',
  's',
  '-1s',
  '1 s',
  '1.s',
  '.5s',
  '1e3s',
  '1S',
  '1w',
  '30s\n',
  '9'.repeat(400) + 's',
])('%j is no time', (text) => {
  expect(parseDuration(text)).toBeNull();
});

it('a number without a unit has the one that is given', () => {
  expect([parseDuration('30', 's'), parseDuration('30ms', 's')]).toEqual([30_000, 30]);
});

it('flags take the same times, each in its own limits', () => {
  expect(['10s', '0.5h', '1d', '00030s'].map(parseIntervalFlag)).toEqual([
    10_000, 1_800_000, 86_400_000, 30_000,
  ]);
  for (const text of ['9999ms', '25h', '30'])
    expect(() => parseIntervalFlag(text)).toThrow('--interval takes a time');
  expect(['0', '0s', '90s', '24h'].map((soak) => parseRolloutFlags({ soak }).soak)).toEqual([
    0, 0, 90_000, 86_400_000,
  ]);
  for (const soak of ['25h', '30', '-1s', ''])
    expect(() => parseRolloutFlags({ soak })).toThrow('--soak takes a time');
  for (const maxFailures of ['0', '5', '20%'])
    expect(parseRolloutFlags({ maxFailures })).toBeDefined();
  for (const maxFailures of ['101%', 'x', ''])
    expect(() => parseRolloutFlags({ maxFailures })).toThrow('--max-failures takes a number');
  expect([parseAge('--max-age', '90m'), parseAge('--max-age', '1.5h')]).toEqual([
    5_400_000, 5_400_000,
  ]);
  for (const text of ['0s', '7']) expect(() => parseAge('--max-age', text)).toThrow('takes an age');
  expect(parseUntilFlag('99999d', 0)).toBe('2243-10-16T00:00:00.000Z');
  expect(parseUntilFlag('1.5h', 0)).toBe('1970-01-01T01:30:00.000Z');
  for (const text of ['99999999d', '30', '2026-13-01T00:00:00Z'])
    expect(() => parseUntilFlag(text, 0)).toThrow('--until takes a time');
  expect(() => parseUntilFlag('0s', 0)).toThrow('has passed');
});
