import type { ObservedState } from '../model/state.ts';

/**
 * Whether nobody has stored anything yet. A service that answers a record all the same counts as empty if nothing in the record
 * differs from what the service makes of an empty store.
 */
export function isEmptyStore({ stored, untouched = false }: ObservedState): boolean {
  return !stored || untouched;
}
