import { describe, expect, it } from 'vitest';

import { Secret } from '../../../src/reconciler/model/secret.ts';
import {
  isRecord,
  createRecord,
  WireNumber,
  type ValueRecord,
} from '../../../src/reconciler/model/value.ts';
import { decode, encode } from '../../../src/reconciler/service/json.ts';
import { concealV0Record } from '../../../src/reconciler/service/settings-v0/read.ts';

function decoded(text: string): ValueRecord {
  const decoding = decode(Buffer.from(text));
  if (decoding.kind !== 'value' || !isRecord(decoding.value)) throw new Error('no record');
  return decoding.value;
}

describe('decode', () => {
  it.each([
    '{"a":12345678901234567890,"b":1.10,"c":-0,"d":1e999,"e":9007199254740993}',
    '{"__proto__":{"polluted":1},"constructor":{"prototype":2}}',
    '{"z":1,"a":[],"m":{}}',
  ])('keeps %s to the letter', (json) => {
    expect(encode(decoded(json))).toBe(json);
  });

  it('makes numbers of what numbers can hold, and keeps the digits of the rest', () => {
    expect(decoded('{"a":4,"b":4.0,"c":9007199254740993}')).toEqual(
      createRecord([
        ['a', 4],
        ['b', new WireNumber('4.0')],
        ['c', new WireNumber('9007199254740993')],
      ]),
    );
  });

  it.each([
    ['', 'not-json'],
    ['sk-canary', 'not-json'],
    ['{"a":1', 'not-json'],
    ['{"a":01}', 'not-json'],
    ['{"a":NaN}', 'not-json'],
    ['{"a":1} x', 'not-json'],
    ['{"a\n":1}', 'not-json'],
    ['{"\\x":1,"\\x":2}', 'not-json'],
    ['"\\', 'not-json'],
    ['{"a":1,"a":1}', 'duplicate-key'],
    ['{"a":1,"\\u0061":2}', 'duplicate-key'],
    ['[{"b":{"a":[],"a":[]}}]', 'duplicate-key'],
    ['{"__proto__":1,"__proto__":1}', 'duplicate-key'],
    ['['.repeat(65), 'too-deep'],
  ])('refuses %s: %s', (json, problem) => {
    expect(decode(Buffer.from(json))).toEqual({ kind: 'problem', problem });
  });

  it.each([
    '{"a":{"a":1},"b":{"a":1}}',
    '[{"a":1},{"a":1}]',
    '{"a":"a","b":"\\"a\\":1,[[["}',
    '{"a":["a","a",{"a":"a"}]}',
    `{"a":${'['.repeat(63)}${']'.repeat(63)}}`,
  ])('takes %s', (json) => {
    expect(decode(Buffer.from(json)).kind).toBe('value');
  });

  it('refuses bytes that are no UTF-8', () => {
    expect(decode(Buffer.from([0x22, 0xff, 0x22]))).toMatchObject({ problem: 'not-json' });
  });

  it('M13: refuses five million levels without recursion', () => {
    const deep = Buffer.alloc(10_000_000, '[').fill(']', 5_000_000);
    expect(decode(deep)).toEqual({ kind: 'problem', problem: 'too-deep' });
    expect(decode(Buffer.alloc(5_000_000, '{"a":'))).toMatchObject({ problem: 'too-deep' });
  });
});

describe('encode', () => {
  it('reveals secrets, numbers with their digits', () => {
    const record = concealV0Record(
      decoded('{"token":12345678901234567890,"n":{"key":7,"secret":"s"}}'),
    );
    expect(JSON.stringify(record)).toBe(
      '{"token":"(sensitive)","n":{"key":"(sensitive)","secret":"(sensitive)"}}',
    );
    expect(encode(record)).toBe('{"token":12345678901234567890,"n":{"key":7,"secret":"s"}}');
  });

  it('has no text for a number without an end', () => {
    expect(() => encode({ a: new Secret(Number.NaN) })).toThrow('without an end');
  });
});
