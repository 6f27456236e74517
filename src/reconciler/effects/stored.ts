import type { Path } from '../model/path.ts';
import { UnseenSecret } from '../model/secret.ts';
import {
  isEmpty,
  isRecord,
  createRecord,
  sameValue,
  type Value,
  type ValueRecord,
} from '../model/value.ts';

/**
 * What a server has stored, as records by name: `settings` and each of its collections. A secret is its value (Secret), a token of the
 * place where it is stored (one UnseenSecret, which equals itself alone and travels when a server copies it), or null for none.
 */
export type Stored = ValueRecord;

/** A request as far as it has an effect. */
export interface Request {
  readonly method: string;
  readonly path: string;
  readonly body: ValueRecord;
}

export const NONE: ValueRecord = createRecord([]);

/** The record at a path, or an empty one. */
export function readRecord(record: Value | undefined, ...path: readonly string[]): ValueRecord {
  let value = record;
  for (const key of path)
    value = isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  return isRecord(value) ? value : NONE;
}

/** A record with other members, each in its place or at the end. */
export function withMembers(
  record: ValueRecord,
  members: Readonly<Record<string, Value>>,
): ValueRecord {
  return createRecord([...Object.entries(record), ...Object.entries(members)]);
}

/** A record whose part at a path has other members. */
export function withPart(
  record: ValueRecord,
  [key = '', ...inner]: readonly string[],
  members: Readonly<Record<string, Value>>,
): ValueRecord {
  const part = readRecord(record, key);
  const made = inner.length === 0 ? withMembers(part, members) : withPart(part, inner, members);
  return withMembers(record, { [key]: made });
}

export function withoutMember(record: ValueRecord, name: string): ValueRecord {
  return createRecord(Object.entries(record).filter(([other]) => other !== name));
}

/** A member under another name, in its place. */
export function renameMember(record: ValueRecord, from: string, to: string): ValueRecord {
  const others = Object.entries(record).filter(([name]) => name === from || name !== to);
  return createRecord(others.map(([name, value]) => [name === from ? to : name, value]));
}

/**
 * A diff merged into a record: null removes a member, and a record that meets no record is stored as it was sent, its nulls too.
 * `isWhole`: what a name has is replaced and not merged.
 */
export function mergeStored(
  record: ValueRecord,
  diff: ValueRecord,
  isWhole: (name: string) => boolean = () => false,
): ValueRecord {
  const merged = new Map(Object.entries(record));
  for (const [name, value] of Object.entries(diff)) {
    const before = merged.get(name);
    if (value === null) merged.delete(name);
    else if (isRecord(value) && isRecord(before) && !isWhole(name))
      merged.set(name, mergeStored(before, value));
    else merged.set(name, value);
  }
  return createRecord(merged);
}

/** A value that becomes another: its place, and both values; null for none. */
export type Difference = readonly [place: Path, before: Value, after: Value];

/** The members of two records that are not the same, inside records too. A token of a place is the same as itself alone. */
export function listDifferences(before: ValueRecord, after: ValueRecord): readonly Difference[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].flatMap((name): readonly Difference[] => {
    const [was, is] = [before[name] ?? null, after[name] ?? null];
    if (isSame(was, is) || (isEmpty(was) && isEmpty(is))) return [];
    if (!isRecord(was) || !isRecord(is)) return [[[name], was, is]];
    return listDifferences(was, is).map(([place, from, to]) => [[name, ...place], from, to]);
  });
}

/** A record with what is otherwise of another one after a request. */
export function applyDifferences(
  record: ValueRecord,
  before: ValueRecord,
  after: ValueRecord,
): ValueRecord {
  const names = new Set([...Object.keys(record), ...Object.keys(after)]);
  const made = [...names].flatMap((name): [string, Value][] => {
    const [own, was, is] = [record[name], before[name], after[name]];
    if (own === undefined && was !== undefined) return [];
    if (own !== undefined && isSame(was ?? null, is ?? null)) return [[name, own]];
    if (is === undefined) return [];
    const isInside = isRecord(own) && isRecord(was) && isRecord(is);
    return [[name, isInside ? applyDifferences(own, was, is) : is]];
  });
  return createRecord(made);
}

function isSame(one: Value, other: Value): boolean {
  if (one === other) return true;
  if (one instanceof UnseenSecret || other instanceof UnseenSecret) return false;
  return sameValue(one, other);
}
