import { describe, expect, it } from 'vitest';

import { readJson, writeJson } from '../../../src/emulator/json.ts';

describe('readJson and writeJson', () => {
  it.each([
    'null',
    '"a\\"b\\\\c\\u0001é😀"',
    '12345678901234567890123',
    '-7',
    '2.0',
    '-0.0',
    '-0.5',
    '1e+21',
    '[1,1.5,[],{}]',
    '{"b":1,"a":{"":null},"__proto__":2}',
  ])('keep %s as it is', (text) => {
    const reading = readJson(text);
    expect(reading.kind === 'json' && writeJson(reading.value)).toBe(text);
  });

  it('reads the last of two members alike, and escapes', () => {
    expect(readJson(' { "a" : 1 , "a" : [ "\\u00e9\\n" ] } ')).toEqual({
      kind: 'json',
      value: { a: ['é\n'] },
    });
  });

  it('writes a number too large for JSON as null', () => {
    expect(writeJson([Number('1e999')])).toBe('[null]');
  });
});

describe('readJson', () => {
  it.each([
    ['', 0],
    ['{', 1],
    ['{"a" 1}', 5],
    ['{"a":}', 5],
    ['{"a":1', 6],
    ['{"a":1,}', 7],
    ['[1,]', 3],
    ['[1 2]', 3],
    [' "abc', 5],
    ['"a\\x"', 2],
    ['"a\\', 2],
    ['"\\u12"', 1],
    ['"a\nb"', 2],
    ['tru', 0],
    ['-', 1],
    ['01', 1],
    ['1.', 2],
    ['{} x', 3],
    ['"😀" x', 4],
  ])('tells where %j goes wrong', (text, position) => {
    expect(readJson(text)).toMatchObject({ kind: 'malformed', position });
  });

  it('refuses what is nested too deep, brackets in texts aside', () => {
    expect(readJson('['.repeat(500) + ']'.repeat(500)).kind).toBe('json');
    expect(readJson('['.repeat(501)).kind).toBe('too-deep');
    expect(readJson(JSON.stringify(`\\"${'['.repeat(501)}`)).kind).toBe('json');
  });
});
