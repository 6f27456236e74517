import {
  waitingFor,
  type CollectionForm,
  type ListedItem,
  type Listing,
} from '../model/collection.ts';
import type { LeftAlone } from '../model/documents.gen.ts';
import { type PartPlan, isRename } from '../model/plan.ts';
import type { DesiredState } from '../model/state.ts';
import {
  ACTIVE_FORM,
  AGENT_PROFILES_FORM,
  LLM_PROFILES_FORM,
  META_PROFILES_FORM,
} from '../model/collection-forms.ts';
import { isList, isRecord, type Value } from '../model/value.ts';

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

/** Names of the service that are others in the file, which is not applied yet. */
export type FormerNames = ReadonlySet<Value>;

export function collectFormerNames(
  read: readonly ReadCollection[],
  desired: DesiredState,
): FormerNames {
  const planned = read.flatMap((one) => one.plan(desired).changes);
  return new Set(planned.filter(isRename).map(({ before }) => before));
}

/** Blocks whose items name items of others. */
const REFERRING: ReadonlySet<string> = new Set(
  [LLM_PROFILES_FORM, META_PROFILES_FORM, AGENT_PROFILES_FORM, ACTIVE_FORM].map(
    ({ block }) => block,
  ),
);

/** Whether a value of a block names an item by its former name: in the file it would name nothing once that is applied. */
export function namesFormer(value: Value, block: string, formerNames: FormerNames): boolean {
  if (formerNames.size === 0 || !REFERRING.has(block)) return false;
  const isIn = (some: Value): boolean =>
    formerNames.has(some) ||
    (isList(some) && some.some(isIn)) ||
    (isRecord(some) && Object.values(some).some(isIn));
  return isIn(value);
}
