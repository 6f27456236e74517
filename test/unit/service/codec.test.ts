import * as fc from 'fast-check';
import { isLosslessNumber, parse } from 'lossless-json';
import { describe, expect, it } from 'vitest';

import { Secret } from '../../../src/model/secret.ts';
import { isRecord, recordOf, WireNumber, type ValueRecord } from '../../../src/model/value.ts';
import { decode, encode } from '../../../src/service/json.ts';
import { conceal } from '../../../src/service/settings-v0/conceal.ts';

function decoded(text: string): ValueRecord {
  const decoding = decode(Buffer.from(text));
  if (decoding.kind !== 'value' || !isRecord(decoding.value)) throw new Error('no record');
  return decoding.value;
}

const numberToken = fc.oneof(
  fc.integer().map(String),
  fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }).map(String),
  fc
    .tuple(fc.integer(), fc.nat(), fc.constantFrom('e', 'E', 'e+', 'e-'), fc.nat(999))
    .map(([whole, fraction, exponent, power]) => `${whole}.${fraction}0${exponent}${power}`),
  fc.constantFrom('-0', '1.0', '1e999', '9007199254740993', '0.1', '1E5'),
);

const key = fc.oneof(
  { weight: 4, arbitrary: fc.string({ unit: 'binary' }) },
  fc.constantFrom('__proto__', 'constructor', 'toString', 'api_key', 'secrets_store', 'token', ''),
);

const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('\ud800', '"\\', 'https://u:p@x.example/?q#f', '\u2028'),
);

/** A JSON text, object by object, so that keys and numbers are written in every way JSON allows. */
const { object } = fc.letrec<{ object: string; value: string }>((tie) => ({
  object: fc
    .uniqueArray(fc.tuple(key, tie('value')), { maxLength: 6, selector: ([name]) => name })
    .map(
      (members) =>
        `{ ${members.map(([name, value]) => `${JSON.stringify(name)} :${value}`).join(' ,\n')} }`,
    ),
  value: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    fc.oneof(
      numberToken,
      text.map((value) => JSON.stringify(value)),
      fc.constantFrom('null', 'true', 'false'),
    ),
    fc.array(tie('value'), { maxLength: 4 }).map((items) => `[${items.join(',')}]`),
    tie('object'),
  ),
}));

/** JSON as a tree in which objects are sorted lists and numbers are their tokens. */
function tree(json: string): unknown {
  return plain(parse(json));
}

function plain(value: unknown): unknown {
  if (isLosslessNumber(value)) return { number: value.value };
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([name, member]) => [name, plain(member)] as const);
  return { members: members.toSorted(([a], [b]) => (a < b ? -1 : 1)) };
}

const seed = Number(process.env['FAST_CHECK_SEED'] ?? Date.now() % 2_147_483_647);

describe(`the codec (seed ${seed})`, () => {
  it('carries any object back as it came, wrapped in between', () => {
    fc.assert(
      fc.property(object, (json) => {
        const record = decoded(json);
        expect(tree(encode(record))).toEqual(tree(json));
        expect(tree(encode(conceal(record)))).toEqual(tree(json));
      }),
      { seed, numRuns: 1_000 },
    );
    expect(Object.prototype).not.toHaveProperty('polluted');
  });
});

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
      recordOf([
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
    const record = conceal(decoded('{"token":12345678901234567890,"n":{"key":7,"secret":"s"}}'));
    expect(JSON.stringify(record)).toBe(
      '{"token":"(sensitive)","n":{"key":"(sensitive)","secret":"(sensitive)"}}',
    );
    expect(encode(record)).toBe('{"token":12345678901234567890,"n":{"key":7,"secret":"s"}}');
  });

  it('has no text for a number without an end', () => {
    expect(() => encode({ a: new Secret(Number.NaN) })).toThrow('without an end');
  });
});
