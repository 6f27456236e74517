import type { Json } from '../model/value.ts';
import { plainOf, type EditItem } from './edit-node.ts';
import { isObject, own, sameJson } from './json-value.ts';

/**
 * The items of a list that stay, each with its place among the wanted ones; the others go, and what is wanted behind those
 * that stay is added. Items are alike where they are equal, or are known by the same name or url.
 */
export function keptItems(
  items: readonly EditItem[],
  wanted: readonly Json[],
): Map<EditItem, number> {
  const kept = new Map<EditItem, number>();
  for (const item of items) {
    const next = wanted[kept.size];
    if (next !== undefined && isAlike(plainOf(item.node), next)) kept.set(item, kept.size);
  }
  return kept;
}

function isAlike(one: Json, other: Json): boolean {
  if (sameJson(one, other)) return true;
  return ['name', 'url'].some((key) => {
    const known = knownBy(one, key);
    return known !== null && known === knownBy(other, key);
  });
}

function knownBy(value: Json, key: string): string | null {
  if (typeof value === 'string') return key === 'url' ? value : null;
  const known = isObject(value) ? own(value, key) : undefined;
  return typeof known === 'string' ? known : null;
}
