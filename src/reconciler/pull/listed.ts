import {
  waitingFor,
  type CollectionForm,
  type ListedItem,
  type Listing,
} from '../model/collection.ts';
import type { LeftAlone } from '../model/documents.gen.ts';
import { type PartPlan } from '../model/plan.ts';
import { isRename } from '../model/action.ts';
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
  /** Plans the declarations of a file. */
  readonly plan: (desired: DesiredState) => Pick<PartPlan, 'changes' | 'unknown' | 'unmanaged'>;
}

/** The requested items that a service stores by name, and those that could not be read. */
export interface ReadCollections {
  readonly read: readonly ReadCollection[];
  readonly unread: readonly LeftAlone[];
}

export const NO_COLLECTIONS: ReadCollections = { read: [], unread: [] };

/** Reports whether an item belongs to an interrupted rotation. A plan of either of its two would finish it. */
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

/** Reports whether a value of a block names an item by its former name. In the file it would name nothing after an apply. */
export function namesFormer(value: Value, block: string, formerNames: FormerNames): boolean {
  if (formerNames.size === 0 || !REFERRING.has(block)) return false;
  const isIn = (some: Value): boolean =>
    formerNames.has(some) ||
    (isList(some) && some.some(isIn)) ||
    (isRecord(some) && Object.values(some).some(isIn));
  return isIn(value);
}
