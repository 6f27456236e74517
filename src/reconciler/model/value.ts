import { Secret } from './secret.ts';

/** A number that a JavaScript number would change, in the form that the service wrote. */
export class WireNumber {
  readonly token: string;

  constructor(token: string) {
    this.token = token;
  }

  /** The number, or its text if a JavaScript number cannot hold it. */
  toJSON(): number | string {
    const number = exactly(this.token);
    return Number.isNaN(number) ? this.token : number;
  }
}

/** A JSON value as setpoint holds it: sensitive scalars are wrapped, and numbers keep their digits. */
export type Value =
  | null
  | boolean
  | number
  | string
  | WireNumber
  | Secret
  | readonly Value[]
  | ValueRecord;

export interface ValueRecord {
  readonly [key: string]: Value;
}

/** Plain JSON, as documents carry it. */
export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json };

export function isRecord(value: Value | undefined): value is ValueRecord {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof Secret) &&
    !(value instanceof WireNumber)
  );
}

export function isList(value: Value | undefined): value is readonly Value[] {
  return Array.isArray(value);
}

/** A record without a prototype, so that a key such as `__proto__` is a key like any other. */
export function createRecord(entries: Iterable<readonly [string, Value]>): ValueRecord;
export function createRecord(members: Readonly<Record<string, Value>>): ValueRecord;
export function createRecord(
  from: Iterable<readonly [string, Value]> | Readonly<Record<string, Value>>,
): ValueRecord {
  const record: Record<string, Value> = {};
  const entries = isIterable(from) ? from : Object.entries(from);
  for (const [key, value] of entries) setOwnMember(record, key, value);
  return withoutPrototype(record);
}

function isIterable<T>(from: Iterable<T> | object): from is Iterable<T> {
  return Symbol.iterator in from;
}

/** The members of a record that stay. */
export function filterMembers(
  record: ValueRecord,
  isKept: (name: string, value: Value) => boolean,
): ValueRecord {
  const kept: Record<string, Value> = {};
  for (const name of Object.keys(record)) {
    const value = record[name] ?? null;
    if (isKept(name, value)) setOwnMember(kept, name, value);
  }
  return withoutPrototype(kept);
}

/** A record with other values under the same names; the record itself if none is another. */
export function mapRecord(
  record: ValueRecord,
  map: (value: Value, name: string) => Value,
): ValueRecord {
  let mapped: Record<string, Value> | null = null;
  for (const name of Object.keys(record)) {
    const value = record[name] ?? null;
    const other = map(value, name);
    if (other !== value) (mapped ??= copyRecord(record))[name] = other;
  }
  return mapped ?? record;
}

/**
 * Takes the prototype from an object that was just made. An object that begins without one is a hash table to V8: several times slower to
 * fill and to read.
 */
export function withoutPrototype(made: object): ValueRecord {
  return Object.setPrototypeOf(made, null) as ValueRecord;
}

function copyRecord(record: ValueRecord): Record<string, Value> {
  return withoutPrototype({ ...record });
}

function setOwnMember(record: Record<string, Value>, key: string, value: Value): void {
  if (key !== '__proto__') record[key] = value;
  else Object.defineProperty(record, key, { value, ...PLAIN });
}

const PLAIN = { writable: true, enumerable: true, configurable: true };

/** The value at a path of a record; undefined if there is none. */
export function readPath(record: Value | undefined, path: readonly string[]): Value | undefined {
  return path.reduce<Value | undefined>(
    (inner, key) => (isRecord(inner) && Object.hasOwn(inner, key) ? inner[key] : undefined),
    record,
  );
}

/** A record with a value at a path; the records around it are made if they are not there. */
export function assignPath(
  record: ValueRecord,
  [key = '', ...inner]: readonly string[],
  value: Value,
): ValueRecord {
  const before = record[key];
  const member =
    inner.length === 0
      ? value
      : assignPath(isRecord(before) ? before : createRecord({}), inner, value);
  return createRecord([...Object.entries(record).filter(([name]) => name !== key), [key, member]]);
}

/** Equality by meaning: the order of keys does not count, 4 is 4.0, and a secret is compared by its value. */
export function sameValue(a: Value | undefined, b: Value | undefined): boolean {
  if (a === b) return true;
  if (a === undefined || b === undefined) return false;
  if (a instanceof Secret) return a.sameAs(b instanceof WireNumber ? Number(b.token) : b);
  if (b instanceof Secret) return sameValue(b, a);
  if (a instanceof WireNumber) return sameNumber(a, b);
  if (b instanceof WireNumber) return sameNumber(b, a);
  if (isList(a))
    return isList(b) && a.length === b.length && a.every((item, i) => sameValue(item, b[i]));
  if (!isRecord(a) || !isRecord(b)) return false;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => sameValue(a[key], b[key]));
}

function sameNumber(a: WireNumber, b: Value): boolean {
  if (b instanceof WireNumber) return a.token === b.token || exactly(a.token) === exactly(b.token);
  return typeof b === 'number' && exactly(a.token) === b;
}

/** The number a token writes, or NaN if a JavaScript number cannot hold it. */
function exactly(token: string): number {
  const number = Number(token);
  return Number.isInteger(number) && !Number.isSafeInteger(number) ? Number.NaN : number;
}

/** Reports whether a value is absent, null or an empty text. */
export function isEmpty(value: Value | undefined): boolean {
  return (
    value === undefined ||
    value === null ||
    value === '' ||
    (value instanceof Secret && value.isEmpty())
  );
}

/** Reports whether a value is empty, or a list or record without members. */
export function holdsNothing(value: Value): boolean {
  if (isList(value)) return value.length === 0;
  return isRecord(value) ? Object.keys(value).length === 0 : isEmpty(value);
}

/** Reports whether a text, or the text of a secret, matches. Other values do not match. */
export function textFits(value: Value | undefined, isFit: (text: string) => boolean): boolean {
  return value instanceof Secret ? value.fits(isFit) : typeof value === 'string' && isFit(value);
}

/** Every secret inside a value, in order. */
export function collectSecrets(value: Value | undefined): Secret[] {
  if (value instanceof Secret) return [value];
  if (isList(value)) return value.flatMap(collectSecrets);
  if (isRecord(value)) return Object.values(value).flatMap(collectSecrets);
  return [];
}

/** The value as documents show it: every secret is the mask. */
export function maskSecrets(value: Value): Json {
  if (value instanceof Secret || value instanceof WireNumber) return value.toJSON();
  if (isList(value)) return value.map(maskSecrets);
  if (isRecord(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [key, maskSecrets(member)]),
    );
  }
  return value;
}
