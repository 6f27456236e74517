import * as fc from 'fast-check';
import { isLosslessNumber, parse } from 'lossless-json';
import { describe, expect, it } from 'vitest';

import { isRecord, type ValueRecord } from '../../../src/reconciler/model/value.ts';
import { decode, encode } from '../../../src/reconciler/service/json.ts';
import { concealV0Record } from '../../../src/reconciler/service/settings-v0/read.ts';
import { propertyRuns } from '../../fixture/property-runs.ts';

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

describe('the codec', () => {
  it('carries any object back as it came, wrapped in between', () => {
    fc.assert(
      fc.property(object, (json) => {
        const record = decoded(json);
        expect(tree(encode(record))).toEqual(tree(json));
        expect(tree(encode(concealV0Record(record)))).toEqual(tree(json));
      }),
      { numRuns: propertyRuns(300) },
    );
    expect(Object.prototype).not.toHaveProperty('polluted');
  });
});
