import { isJsonObject, type JsonObject } from '../json.ts';

/**
 * A record after a merge patch: objects merge, at any depth, null removes a member, everything else replaces. A map that was not
 * there is taken as it is, with its nulls. Members named in `whole` are never merged.
 */
export function mergePatch(
  before: JsonObject,
  patch: JsonObject,
  whole: ReadonlySet<string> = new Set(),
): JsonObject {
  const after = new Map(Object.entries(before));
  for (const [name, value] of Object.entries(patch)) {
    const was = after.get(name);
    if (value === null) after.delete(name);
    else if (whole.has(name) || !isJsonObject(value)) after.set(name, value);
    else after.set(name, was !== undefined && isJsonObject(was) ? mergePatch(was, value) : value);
  }
  return Object.fromEntries(after);
}
