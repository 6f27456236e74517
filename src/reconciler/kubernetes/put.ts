import type { Path } from '../model/path.ts';
import { isList, isRecord, createRecord, type Value, type ValueRecord } from '../model/value.ts';
import { listKey, memberSchema, specSchema, type Structural } from './crd.ts';

/**
 * Blocks with a value at a place, in the form that placeText writes; null if there is no such place. Maps on the way are created. `own` are
 * maps that nothing else uses: for thousands of values, each is copied once.
 */
export function setBlockValue(
  blocks: ValueRecord,
  path: Path,
  value: Value,
  own: WeakSet<object>,
): ValueRecord | null {
  const made = putMember(blocks, path, value, specSchema(), own);
  return isRecord(made ?? undefined) ? (made as ValueRecord) : null;
}

function putMember(
  at: Value | undefined,
  path: Path,
  value: Value,
  schema: Structural | 'open',
  own: WeakSet<object>,
): Value | null {
  const [segment, ...rest] = path;
  if (segment === undefined) return value;
  if (isList(at)) return putInList(at, path, value, schema, own);
  if (at !== undefined && !isRecord(at)) return null;
  const before: ValueRecord = at ?? createRecord({});
  const inner = schema === 'open' ? 'open' : (memberSchema(schema, segment) ?? 'open');
  const there = Object.hasOwn(before, segment) ? before[segment] : undefined;
  const made = putMember(rest.length === 0 ? undefined : there, rest, value, inner, own);
  if (made === null && rest.length > 0) return null;
  const copy = own.has(before) ? before : createRecord(before);
  own.add(copy);
  return Object.assign(copy, createRecord({ [segment]: made }));
}

function putInList(
  list: readonly Value[],
  [segment = '', ...rest]: Path,
  value: Value,
  schema: Structural | 'open',
  own: WeakSet<object>,
): Value | null {
  const key = listKey(schema);
  const index =
    key === null
      ? Number(/^\d+$/.test(segment) ? segment : -1)
      : list.findIndex((item) => isRecord(item) && item[key] === segment);
  const item = list[index];
  if (item === undefined) return null;
  const inner = schema === 'open' ? 'open' : (schema.items ?? 'open');
  const made = putMember(rest.length === 0 ? undefined : item, rest, value, inner, own);
  return made === null ? null : list.with(index, made);
}
