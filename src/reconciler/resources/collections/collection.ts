import {
  itemsDeclared,
  type CollectionForm,
  type DesiredItem,
  type ListedItem,
  type Listing,
} from '../../model/collection.ts';
import type { Reason } from '../../model/reasons.ts';
import type { DialectName } from '../../model/dialect.ts';
import { SetpointError, type Warning } from '../../model/error.ts';
import type { Path, Source } from '../../model/path.ts';
import type { Change, PartPlan, Unknown, Quick } from '../../model/plan.ts';
import type { DesiredState, ObservedState } from '../../model/state.ts';
import { toDigestForm } from '../../plan/declared.ts';
import { maskSecrets, type Json } from '../../model/value.ts';
import { listSkippedNames } from '../../model/uncompared.ts';
import { NOTHING_KNOWN } from '../../plan/plan-settings.ts';
import { extractSettingsPlan } from '../../plan/settings-part.ts';
import { findDeclaredItemName, listWrites, OTHERS, withApproved, withOthers } from './whole.ts';
import { planCollection, readWholeValue } from './plan.ts';
import type { ManagedResource, PlanInput, Reading } from '../../reconcile/contract.ts';
import { LackingError } from '../../reconcile/observe-and-plan.ts';
import { afterEarlierRenames, afterRenames, throwIfNotRenamed, mayBeRenamed } from './renames.ts';
import { listPlannedRequests, throwIfUnfit, toStoredItems } from './room.ts';
import { readChangedItemName } from './send.ts';
import {
  concealItems,
  itemWriter,
  createListing,
  listReader,
  type CollectionKind,
} from './port.ts';
import type { CollectionState, Wires } from './wire.ts';
import { writeCollection } from './write.ts';

/** Its work is the paths of what is written again although it is as declared. */
type CollectionPart = PartPlan<readonly Path[]>;

/** The texts and rules of a single collection. */
interface CollectionTexts {
  /** Names the alternative declaration for servers that lack the collection. */
  readonly instead?: (desired: readonly DesiredItem[]) => string;
  /** Returns the warnings of a plan. */
  readonly warned?: (
    part: PartPlan,
    desired: readonly DesiredItem[],
    listing: Listing,
  ) => Warning[];
}

/**
 * A keyed list that a service stores next to its settings, as a resource: named items are stored, described or removed by their names, and
 * nothing else is touched. A table for each dialect defines the requests.
 */
export function collection(
  form: CollectionForm,
  wires: Wires,
  said: CollectionTexts = {},
): ManagedResource {
  const { resource: name, block } = form;
  const kind: CollectionKind = {
    form,
    wires,
    reader: listReader(form, wires),
    writer: itemWriter(block, wires),
  };
  const declaredIn = (desired: DesiredState) => itemsDeclared(desired, form);
  const declared = (desired: DesiredState, quick: Quick) =>
    new Map([
      ...declaredIn(desired).map((item) => [item.name, itemForm(item, quick)] as const),
      ...(desired.exhaustive?.has(block) === true ? [[OTHERS, 'remove'] as const] : []),
    ]);
  const formerIn = (desired: DesiredState) =>
    new Map(
      declaredIn(desired).flatMap(({ name: own, former }) =>
        former === undefined ? [] : [[own, former.name] as const],
      ),
    );
  const planOf = (
    listing: Listing,
    { rotation, fingerprints }: Pick<PlanInput, 'rotation' | 'fingerprints'>,
    desired: readonly DesiredItem[],
  ): CollectionPart => {
    const plan = planCollection(form, desired, listing, { rotation, fingerprints });
    const part = { resource, ...plan, warnings: [], unmet: [], unpreservable: [], work: [] };
    return { ...part, warnings: said.warned?.(part, desired, listing) ?? [] };
  };
  const readDeclared = async (
    input: PlanInput<ObservedState | null>,
    settings: ObservedState,
    named: readonly DesiredItem[],
    exhaustive: Source | undefined,
  ): Promise<Reading> => {
    const shown = readSettingsListing(form, wires, settings);
    if (shown === 'untold' && named.length === 0) return null;
    if (shown === 'untold')
      return (earlier) => {
        if (extractSettingsPlan(earlier).changes.length === 0) throw untold(form, named);
        return withUntold(planOf(NO_ITEMS, input, named), named);
      };
    const asked = {
      declared: named,
      desired: input.desired,
      isExhaustive: exhaustive !== undefined,
    };
    const reader = input.reader(kind.reader);
    const listing = shown ?? (await reader.list(settings, asked, input.signal));
    // A service without the collection has nothing of it that the file could remove.
    if (listing === null && named.every(({ members }) => members === null)) return null;
    if (listing === null) throw createBlockError(form, named, said);
    return (earlier) => {
      const wire = wires[settings.dialect.name];
      throwIfNotRenamed(form, wire, named, listing);
      const followed = afterEarlierRenames(wire ?? {}, listing, earlier);
      const renamed = { listing: afterRenames(named, followed), desired: input.desired, settings };
      const known = { ...renamed, items: named };
      const items = withOthers(form, known, wire, exhaustive);
      const judged = { ...known, items };
      throwIfUnfit(form, wire, judged);
      const part = planOf(followed, input, items);
      const warnings = exhaustive === undefined ? [] : listWrites(form, wire);
      const own = wire?.warned?.(part.changes, judged, earlier) ?? [];
      const renamable =
        wire?.rename === undefined ? [] : mayBeRenamed(form, part.unmanaged, judged, input.base);
      const left = listSkippedNames(input.desired, block);
      const told = {
        ...part,
        unmanaged: part.unmanaged.filter(([, one = '']) => !left.has(one)),
        warnings: [...part.warnings, ...own, ...warnings, ...renamable],
      };
      const again = withAgain(form, told, judged, (item) => {
        const why = wire?.again?.(item, earlier, judged) ?? null;
        const outdated = wire?.outdated?.(item, input.desired, input.fingerprints) ?? null;
        return why === null ? { reason: outdated } : { reason: why, consequence: true };
      });
      const planned = [...earlier, again];
      const along = (cause: Change) => [cause, ...(wire?.along?.(cause, judged, planned) ?? [])];
      const effective = again.changes.flatMap(
        (cause) => wire?.effective?.(cause, judged, earlier) ?? [],
      );
      const before = { ...judged, listing: followed };
      const requests = listPlannedRequests(wire, before, again.changes);
      const stored = toStoredItems(form, wire ?? {}, listing);
      return { ...again, changes: again.changes.flatMap(along), effective, requests, stored };
    };
  };
  const resource: ManagedResource = {
    name,
    block,
    items: { declared, former: formerIn, of: findDeclaredItemName },
    terms: ({ changes }, desired, quick) => {
      const forms = declared(desired, quick);
      return changes.map((change) => forms.get(findDeclaredItemName(change)) ?? null);
    },
    read: (input, settings) => {
      const named = declaredIn(input.desired);
      const exhaustive = input.desired.exhaustive?.get(block);
      if (settings === null || (named.length === 0 && exhaustive === undefined)) return null;
      return readDeclared(input, settings, named, exhaustive);
    },
    lists: {
      [block]: {
        read: async (reader, settings, signal, desired) => {
          const asked = { declared: declaredIn(desired), desired, all: true } as const;
          const shown = settings === null ? 'untold' : readSettingsListing(form, wires, settings);
          if (settings === null || shown === 'untold') return null;
          const listing = shown ?? (await reader(kind.reader).list(settings, asked, signal));
          return listing?.items.map(toShownItem) ?? null;
        },
        bySettings: true,
        isOptional: true,
      },
    },
    named: {
      form,
      dialects: Object.keys(wires) as DialectName[],
      listWrites: (dialect) => wires[dialect]?.listWrites !== undefined,
      list: async (reader, settings, asked, signal) =>
        readSettingsListing(form, wires, settings) ??
        (await reader(kind.reader).list(settings, asked, signal)),
      plan: (desired, listing, settings) => {
        const known = { items: declaredIn(desired), listing, desired, settings };
        const source = desired.exhaustive?.get(block);
        const items = withOthers(form, known, wires[settings.dialect.name], source);
        return planCollection(form, items, listing, NOTHING_KNOWN);
      },
    },
    removesLast: true,
    write: (input, part, settings) => {
      const exhaustive = input.desired.exhaustive?.get(block);
      const desired = withApproved(declaredIn(input.desired), part, exhaustive);
      const plan = (listing: Listing) => planOf(listing, input, desired);
      return writeCollection({ kind, input, settings, desired, part, plan });
    },
  };
  return resource;
}

/** An item as documents carry it. */
function toShownItem({ name, members, foreign }: ListedItem): Json {
  const shown = maskSecrets(members) as Readonly<Record<string, Json>>;
  return { name, ...(foreign === undefined ? {} : { not_managed: foreign }), ...shown };
}

/** Returns the listing that the settings show without a request; undefined if they show nothing, or that there is no such collection. */
function readSettingsListing(
  form: CollectionForm,
  wires: Wires,
  settings: ObservedState,
): Listing | 'untold' | undefined {
  const wire = wires[settings.dialect.name];
  const items = wire?.inSettings?.(settings);
  if (wire === undefined || items === undefined || items === null) return undefined;
  return items === 'untold'
    ? items
    : createListing(wire, settings.release, concealItems(form, items));
}

/** A service that has nothing stored, and reports a collection once it has. */
const NO_ITEMS: Listing = { items: [], replaces: 'in-place', describes: true };
const LATER = 'the service lists them only after settings are stored';

/** Marks removals as unknown: whether the item exists shows only after the settings are stored. */
function withUntold(part: CollectionPart, desired: readonly DesiredItem[]): CollectionPart {
  const unknown = desired.flatMap(({ name, members }): Unknown[] =>
    members === null ? [{ path: [part.resource.block, name], reason: LATER, ref: null }] : [],
  );
  return { ...part, unknown: [...part.unknown, ...unknown] };
}

/** The part with what is written again although it is as declared. Its work is the changes that no list shows the need for. */
function withAgain(
  form: CollectionForm,
  part: CollectionPart,
  { items }: CollectionState,
  why: (item: DesiredItem) => { readonly reason: Reason | null; readonly consequence?: true },
): CollectionPart {
  const changed = new Set(part.changes.map(readChangedItemName));
  const again = items.flatMap((item): Change[] => {
    const { name, members, source } = item;
    if (members === null || changed.has(name)) return [];
    const { reason, ...marked } = why(item);
    if (reason === null) return [];
    const value = readWholeValue(form, members);
    const path = [form.block, name];
    const same = { before: value, after: value, sensitive: false, ref: null };
    return [
      { resource: form.resource, path, action: 'change', ...same, ...reason, source, ...marked },
    ];
  });
  return { ...part, changes: [...part.changes, ...again], work: again.map(({ path }) => path) };
}

/** Returns the declaration of an item, with references as text. */
function itemForm({ members }: DesiredItem, quick: Quick): unknown {
  return members === null ? null : toDigestForm(members, quick);
}

function placeOfFirst([first]: readonly DesiredItem[]): string {
  return first === undefined ? '' : ` (${first.source.file}:${first.source.line})`;
}

function createBlockError(
  { noun, block, releases }: CollectionForm,
  desired: readonly DesiredItem[],
  { instead }: CollectionTexts,
): SetpointError {
  const otherwise =
    releases === undefined
      ? `Remove ${block} for this environment, or use a release of the server that has them.`
      : `${releases} Remove ${block} for this environment, or use such a server.`;
  return new LackingError(
    `${block}${placeOfFirst(desired)}`,
    `This service has no ${noun}. The file declares ${block}${placeOfFirst(desired)}.`,
    instead?.(desired) ?? otherwise,
  );
}

function untold({ noun, block }: CollectionForm, desired: readonly DesiredItem[]): SetpointError {
  return new SetpointError(
    'unfit-for-service',
    `This service has no settings stored. It lists its ${noun} only after settings are stored, so a write could remove hidden ones. Nothing was sent. The file declares ${block}${placeOfFirst(desired)}.`,
    { hint: 'Also declare a setting, such as language. It is stored first.' },
  );
}
