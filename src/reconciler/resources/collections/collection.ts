import type { DesiredItem, Listing } from '../../model/collection.ts';
import { SetpointError } from '../../model/error.ts';
import type { PartPlan } from '../../model/plan.ts';
import type { Quick } from '../../model/resource.ts';
import { declaredItems, type DesiredState } from '../../model/state.ts';
import { formOf } from '../../plan/declared-form.ts';
import { planCollection, type CollectionNames } from './plan.ts';
import type { ManagedResource, PlanInput } from '../../reconcile/contract.ts';
import { itemOf } from './send.ts';
import { itemWriter, listReader, type CollectionKind, type Wires } from './wire.ts';
import { writeCollection } from './write.ts';

/**
 * A keyed list that a service keeps beside its settings, as a resource: what the file names is stored, described or removed by its name, and
 * nothing else is touched. Which requests do that is a table for each dialect.
 */
export function collection({
  wires,
  ...names
}: CollectionNames & Pick<CollectionKind, 'noun'> & { readonly wires: Wires }): ManagedResource {
  const { resource: name, block } = names;
  const kind = { ...names, reader: listReader(block, wires), writer: itemWriter(block, wires) };
  const declaredIn = (desired: DesiredState) =>
    declaredItems(desired, block) as readonly DesiredItem[];
  const declared = (desired: DesiredState, quick: Quick) =>
    new Map(declaredIn(desired).map((item) => [item.name, itemForm(item, quick)]));
  const resource: ManagedResource = {
    name,
    block,
    items: { declared, of: itemOf },
    terms: ({ changes }, desired, quick) => {
      const forms = declared(desired, quick);
      return changes.map((change) => forms.get(itemOf(change)) ?? null);
    },
    read: async (input, settings) => {
      const desired = declaredIn(input.desired);
      if (desired.length === 0 || settings === null) return null;
      const listing = await input.reader(kind.reader).list(settings, input.signal);
      if (listing === null) throw lacking(kind, input.desired);
      return () => partOf(resource, kind, desired, listing, input);
    },
    lists: {
      [block]: {
        read: async (reader, settings, signal) =>
          settings === null
            ? null
            : ((await reader(kind.reader).list(settings, signal))?.items ?? null),
        bySettings: true,
        isOptional: true,
      },
    },
    write: (input, part, settings) => {
      const desired = declaredIn(input.desired);
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
  const [first] = declaredItems(desired, block);
  const at = first === undefined ? '' : ` (${first.source.file}:${first.source.line})`;
  return new SetpointError(
    'unfit-for-service',
    `This service has no ${noun}, and nothing was sent to it. The file declares ${block}${at}.`,
    { hint: `Remove ${block} for this environment, or use a release of the server that has them.` },
  );
}
