import {
  waitingFor,
  type CollectionForm,
  type ListedItem,
  type Listing,
} from '../model/collection.ts';
import type { LeftAlone } from '../model/documents.gen.ts';
import type { PartPlan } from '../model/plan.ts';
import type { DesiredState } from '../model/state.ts';

/** A collection of a service, as it was read. */
export interface ReadCollection {
  readonly form: CollectionForm;
  readonly listing: Listing;
  /** What a plan would make of what a file declares. */
  readonly plan: (desired: DesiredState) => Pick<PartPlan, 'changes' | 'unknown' | 'unmanaged'>;
}

/** What a service keeps by name, as far as it was asked for, and what of it could not be read. */
export interface ReadCollections {
  readonly read: readonly ReadCollection[];
  readonly unread: readonly LeftAlone[];
}

export const NO_COLLECTIONS: ReadCollections = { read: [], unread: [] };

/** Whether an item is one of the two of an interrupted rotation: a plan of either would finish it. */
export function isRotating({ name }: ListedItem, listing: Listing): boolean {
  return listing.items.some((one) => {
    const waiting = waitingFor(one.name, listing);
    return waiting !== undefined && (one.name === name || waiting.name === name);
  });
}
