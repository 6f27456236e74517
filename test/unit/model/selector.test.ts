import { describe, expect, it } from 'vitest';
import {
  isLabelKey,
  isLabelValue,
  parseSelector,
  selects,
} from '../../../src/reconciler/model/selector.ts';
import { problems, SERVER } from '../desired/reading.ts';

const LABELS = new Map([
  ['ring', '0'],
  ['region', 'eu'],
  ['empty', ''],
  ['example.com/tier', 'gold'],
  ['in', 'out'],
]);

describe('a selector', () => {
  it.each([
    ['ring=0', true],
    ['ring==0', true],
    ['ring=1', false],
    ['tier=0', false],
    ['ring!=0', false],
    ['ring!=1', true],
    ['tier!=gold', true],
    ['ring in (0,1)', true],
    ['ring in (1)', false],
    ['tier in (gold)', false],
    ['ring notin (0,1)', false],
    ['ring notin (1)', true],
    ['tier notin (gold)', true],
    ['ring', true],
    ['tier', false],
    ['!ring', false],
    ['!tier', true],
    ['ring=0,region=eu', true],
    ['ring=0,region=us', false],
    ['ring in (0,1),!legacy,region!=us', true],
    ['  ring  =  0 , region in( eu , us ) , ! legacy ', true],
    ['ring\tin\n(0)', true],
    ['example.com/tier=gold', true],
    // As in kubectl, a value that is left out is the empty one.
    ['empty=', true],
    ['ring=', false],
    ['empty=,ring=0', true],
    ['ring!=', true],
    ['empty in ()', true],
    ['ring in ()', false],
    ['ring notin ()', true],
    ['empty in (a,)', true],
    ['empty in (,a)', true],
    ['empty in (a,,b)', true],
    // Words that are operators elsewhere.
    ['in=out', true],
    ['in in (out,in)', true],
    ['in', true],
    ['notin', false],
    ['!in', false],
  ])('%s: %s', (text, expected) => {
    expect(selects(parseSelector(text), LABELS)).toBe(expected);
  });

  it.each([
    ['', 'it is empty'],
    ['  ', 'it is empty'],
    [',', 'a key is missing before ","'],
    ['ring=0,', 'a key is missing before the end'],
    [',ring=0', 'a key is missing before ","'],
    ['ring=0,,region=eu', 'a key is missing before ","'],
    ['=0', 'a key is missing before "="'],
    ['!', 'a key is missing before the end'],
    ['!ring=0', 'a comma is missing before "="'],
    ['!!ring', 'a key is missing before "!"'],
    ['ring 0', '=, !=, in, notin or a comma is missing before "0"'],
    ['ring=0 region=eu', 'a comma is missing before "region"'],
    ['ring===0', 'a comma is missing before "="'],
    ['ring=(0)', 'a comma is missing before "("'],
    ['ring in 0', '( is missing before "0"'],
    ['ring in', '( is missing before the end'],
    ['ring in (0', 'a comma or ) is missing before the end'],
    ['ring in (0 1)', 'a comma or ) is missing before "1"'],
    ['ring in (0))', 'a comma is missing before ")"'],
    ['(ring=0)', 'a key is missing before "("'],
    ['ring>0', 'values are text, and > compares numbers'],
    ['ring<1', 'values are text, and < compares numbers'],
    ['ring=-0', '"-0" is not a value'],
    ['ring in (a,_)', '"_" is not a value'],
    [`ring=${'x'.repeat(64)}`, 'is not a value'],
    [`ring=${'x'.repeat(300)}`, 'The selector is not valid: a long word is not a value'],
    ['-ring', '"-ring" is not a key'],
    ['Example.com/ring', '"Example.com/ring" is not a key'],
    ['a/b/c', '"a/b/c" is not a key'],
    ['ring=\u001b[31m', '"\\u001b[31m" is not a value'],
  ])('%j is refused', (text, message) => {
    expect(() => parseSelector(text)).toThrow(
      expect.objectContaining({ code: 'usage', message: expect.stringContaining(message) }),
    );
  });
});

describe('a file and a selector agree on what a key and a value may be', () => {
  const x = (count: number) => 'x'.repeat(count);
  const declared = (label: string) =>
    problems(`version: 1\n${SERVER}\nlabels: { ${label} }\n`).length === 0;

  it.each([
    'a',
    'A0',
    'a-b_c.d',
    '0',
    '-a',
    'a-',
    '.a',
    '_',
    'a b',
    'a/b',
    'a.b/c',
    'A.b/c',
    'a..b/c',
    '/a',
    'a/',
    'a/b/c',
    'a-/b',
    x(63),
    x(64),
    `${x(253)}/${x(63)}`,
    `${x(254)}/${x(63)}`,
    'é',
    'a\u200b',
  ])('%s', (text) => {
    expect(declared(`${JSON.stringify(text)}: v`)).toBe(isLabelKey(text));
    expect(declared(`k: ${JSON.stringify(text)}`)).toBe(isLabelValue(text));
  });

  it('a value may be empty, and a key may not', () => {
    expect([declared('k: ""'), isLabelValue('')]).toEqual([true, true]);
    expect([declared('"": v'), isLabelKey('')]).toEqual([false, false]);
  });
});
