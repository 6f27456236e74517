import type { Secret } from './secret.ts';
import type { DeclaredItem } from './state.ts';

/**
 * An item that a settings file declares by its name in a collection, such as a secret. `value` is null if it is to be removed;
 * `description` is undefined if the file says nothing of it.
 */
export interface DesiredItem extends DeclaredItem {
  readonly name: string;
  readonly value: Secret | null;
  readonly description: string | undefined;
}

/** An item as a service lists it; no value is in it. `description` is "" if there is none. */
export interface ListedItem {
  readonly name: string;
  readonly description: string;
}

/** What a service has of a collection. */
export interface Listing {
  readonly items: readonly ListedItem[];
  /**
   * How a value that is stored is replaced. `in-place`: by one request. `by-second-name`: nothing replaces it, so that the new value is
   * stored under a second name, the old one removed, and the second renamed.
   */
  readonly replaces: 'in-place' | 'by-second-name';
  /** Whether a description changes without the value being sent. */
  readonly describes: boolean;
}

/** The name under which a value waits that takes the place of another. */
export function secondName(name: string): string {
  return `${name}__next`;
}

/** What of a list is such a value: none where a request replaces one, whatever an item is called. */
export function waitingFor(
  name: string,
  { items, replaces }: Pick<Listing, 'items' | 'replaces'>,
): ListedItem | undefined {
  if (replaces === 'in-place') return undefined;
  const waiting = secondName(name);
  return items.find((item) => item.name === waiting);
}

/** The names in a list that are the file's own: those that it declares, and those under which values of them may wait. */
export function ownNames(
  desired: readonly DesiredItem[],
  { replaces }: Pick<Listing, 'replaces'>,
): ReadonlySet<string> {
  const names = desired.map(({ name }) => name);
  return new Set(replaces === 'in-place' ? names : [...names, ...names.map(secondName)]);
}

/** One request that changes a collection. `store` creates an item, or replaces one where that is possible. */
export type ItemRequest =
  | {
      readonly kind: 'store';
      readonly name: string;
      readonly value: Secret;
      readonly description: string;
    }
  | { readonly kind: 'describe'; readonly name: string; readonly description: string }
  | {
      readonly kind: 'rename';
      readonly name: string;
      readonly to: string;
      readonly description: string;
    }
  | { readonly kind: 'remove'; readonly name: string };
