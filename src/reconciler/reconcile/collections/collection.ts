import type { DesiredItem, Listing } from '../../model/collection.ts';
import { SetpointError } from '../../model/error.ts';
import type { PartPlan } from '../../model/plan.ts';
import type { Quick } from '../../model/resource.ts';
import type { DesiredState } from '../../model/state.ts';
import { formOf } from '../../plan/declared-form.ts';
import { planCollection, type CollectionNames } from '../../plan/plan-collection.ts';
import type { ManagedResource, PlanInput } from '../contract.ts';
import { itemOf } from './send.ts';
import { writeCollection } from './write.ts';

/** A collection of the service, and what messages call its items. */
export interface CollectionKind extends CollectionNames {
  /** `custom secrets` */
  readonly noun: string;
}

/**
 * A keyed list that a service keeps beside its settings, as a resource: what the file names is stored, described or removed by its name, and
 * nothing else is touched. Which requests do that is a table for each dialect (`service/collections`).
 */
export function collection(kind: CollectionKind): ManagedResource {
  const { resource: name, block } = kind;
  const itemsIn = ({ items }: DesiredState): readonly DesiredItem[] => items.get(block) ?? [];
  const declared = (desired: DesiredState, quick: Quick) =>
    new Map(itemsIn(desired).map((item) => [item.name, itemForm(item, quick)]));
  const resource: ManagedResource = {
    name,
    block,
    items: { declared, of: itemOf },
    terms: ({ changes }, desired, quick) => {
      const forms = declared(desired, quick);
      return changes.map((change) => forms.get(itemOf(change)) ?? null);
    },
    read: async (input, settings) => {
      const desired = itemsIn(input.desired);
      if (desired.length === 0 || settings === null) return null;
      const listing = await input.observers.collections.list(block, settings, input.signal);
      if (listing === null) throw lacking(kind, input.desired);
      return () => partOf(resource, kind, desired, listing, input);
    },
    write: (input, part, settings) => {
      const desired = itemsIn(input.desired);
      const plan = (listing: Listing) => partOf(resource, kind, desired, listing, input);
      return writeCollection({ kind, input, settings, desired, part, plan });
    },
  };
  return resource;
}

function partOf(
  resource: ManagedResource,
  kind: CollectionKind,
  desired: readonly DesiredItem[],
  listing: Listing,
  { rotation, fingerprints }: Pick<PlanInput, 'rotation' | 'fingerprints'>,
): PartPlan<null> {
  const plan = planCollection(kind, desired, listing, { rotation, fingerprints });
  return { resource, ...plan, warnings: [], unmet: [], unpreservable: [], work: null };
}

/** What is declared of an item, references as they are written. */
function itemForm({ value, description }: DesiredItem, quick: Quick): unknown {
  return [formOf(value, quick), description ?? null];
}

function lacking({ noun, block }: CollectionKind, desired: DesiredState): SetpointError {
  const [first] = desired.items.get(block) ?? [];
  const at = first === undefined ? '' : ` (${first.source.file}:${first.source.line})`;
  return new SetpointError(
    'unfit-for-service',
    `This service has no ${noun}, and nothing was sent to it. The file declares ${block}${at}.`,
    { hint: `Remove ${block} for this environment, or use a release of the server that has them.` },
  );
}
