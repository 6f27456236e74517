import { isData } from '../desired/references.ts';
import { isList, isRecord, type Value } from '../model/value.ts';

/** The paths of texts and keys in an object that contain references, or what looks like one. */
export function findTextReferences(
  value: Value,
  path: readonly string[],
): readonly (readonly string[])[] {
  if (typeof value === 'string') return isData(value) ? [] : [path];
  const members = isList(value) ? value.entries() : isRecord(value) ? Object.entries(value) : [];
  const found: (readonly string[])[] = [];
  for (const [key, inner] of members) {
    const at = [...path, String(key)];
    if (typeof key === 'string' && !isData(key)) found.push(at);
    found.push(...findTextReferences(inner, at));
  }
  return found;
}
