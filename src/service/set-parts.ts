import { isList, isRecord, recordOf, sameValue, type Value } from '../model/value.ts';

/**
 * What is different in a part of a record from what it is if nobody has set it, without the members that the server keeps by
 * itself; null if nothing is. Nothing, an empty text and an empty list are not set.
 */
export function differing(
  name: string,
  value: Value,
  otherwise: Value | undefined,
  ofTheServer: ReadonlySet<string>,
): Value {
  if (ofTheServer.has(name)) return null;
  if (isRecord(value)) {
    const defaults = isRecord(otherwise) ? otherwise : {};
    const members = Object.entries(value).flatMap(([key, member]) => {
      const set = differing(key, member, defaults[key], ofTheServer);
      return set === null ? [] : [[key, set] as const];
    });
    return members.length === 0 ? null : recordOf(members);
  }
  if (isList(value) && value.length === 0) return null;
  return value === '' || sameValue(value, otherwise) ? null : value;
}
