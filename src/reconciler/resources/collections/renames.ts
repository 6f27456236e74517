import {
  isSecretHolder,
  itemsDeclared,
  type CollectionForm,
  type DesiredItem,
  type ListedItem,
  type Listing,
  secondName,
  waitingFor,
  type FormerName,
} from '../../model/collection.ts';
import { type Warning, SetpointError } from '../../model/error.ts';
import { formatPath, type Path } from '../../model/path.ts';
import { sameValue, createRecord, type ValueRecord } from '../../model/value.ts';
import type { PlanInput } from '../../reconcile/contract.ts';
import type { CollectionState, CollectionCodec } from './wire.ts';
import { type Change, type Plan } from '../../model/plan.ts';
import { isRename } from '../../model/action.ts';
import { renamedFrom } from '../../model/reasons.ts';

/* Items that get another name. What is planned of them is planned on the list as it is once they have it. */

/** A declared item that a list has under its former name. */
export interface Renaming {
  readonly item: DesiredItem;
  readonly former: FormerName;
}

/** Lists the items to rename: those listed under a former name, and not under the current one. */
export function listRenamings(
  items: readonly DesiredItem[],
  listing: Listing,
): readonly Renaming[] {
  const isThere = createNameTest(listing);
  return items.flatMap((item) => {
    const { name, former } = item;
    if (former === undefined || isThere(name)) return [];
    const isNeeded = isThere(former.name) || waitingFor(former.name, listing) !== undefined;
    return isNeeded ? [{ item, former }] : [];
  });
}

function createNameTest({ items }: Listing): (name: string) => boolean {
  const names = new Set(items.map(({ name }) => name));
  return (name) => names.has(name);
}

/** Lists the names that one renaming changes: the item, and before it a value that waits to replace it. */
export function namesRenamed(
  { item, former }: Renaming,
  listing: Listing,
): readonly (readonly [from: string, to: string])[] {
  const isThere = createNameTest(listing);
  const waiting = secondName(item.name);
  return [
    ...(waitingFor(former.name, listing) === undefined || isThere(waiting)
      ? []
      : [[secondName(former.name), waiting] as const]),
    ...(isThere(former.name) ? [[former.name, item.name] as const] : []),
  ];
}

/** A list once all of that is renamed. */
export function afterRenames(items: readonly DesiredItem[], listing: Listing): Listing {
  const renamings = listRenamings(items, listing);
  if (renamings.length === 0) return listing;
  const names = new Map(renamings.flatMap((one) => namesRenamed(one, listing)));
  return {
    ...listing,
    items: listing.items.map((item) => ({ ...item, name: names.get(item.name) ?? item.name })),
  };
}

/** The change that gives an item another name. */
export function createRename(
  { resource, block }: CollectionForm,
  { item, former }: Renaming,
): Change {
  return {
    resource,
    path: [block, item.name],
    action: 'rename',
    before: former.name,
    after: item.name,
    sensitive: false,
    ref: null,
    ...renamedFrom(former.name),
    source: former.source,
  };
}

/** A list once the service has followed earlier renames: some members name items of other collections. */
export function afterEarlierRenames(
  { follows }: Pick<CollectionCodec, 'follows'>,
  listing: Listing,
  earlier: Plan,
): Listing {
  if (follows === undefined) return listing;
  const names = new Map(
    earlier.flatMap(({ changes }) =>
      changes
        .filter(isRename)
        .map(({ path: [block = ''], before, after }) => [JSON.stringify([block, before]), after]),
    ),
  );
  if (names.size === 0) return listing;
  const followed = (item: string, members: ValueRecord): ValueRecord =>
    createRecord(
      Object.entries(members).map(([member, value]) => {
        const block = follows(item, member);
        return [member, names.get(JSON.stringify([block, value])) ?? value];
      }),
    );
  return {
    ...listing,
    items: listing.items.map((item) => ({ ...item, members: followed(item.name, item.members) })),
  };
}

/** No item of a collection is written where a server cannot rename what it should: it has both names, or no request for it. */
export function throwIfNotRenamed(
  { block, noun }: CollectionForm,
  wire: Pick<CollectionCodec, 'rename'> | undefined,
  items: readonly DesiredItem[],
  listing: Listing,
): void {
  const isThere = createNameTest(listing);
  const unfit = ({ item, former }: Renaming, why: string, hint: string): SetpointError => {
    const { file, line } = former.source;
    const names = `${formatPath([block, former.name])} to ${formatPath([block, item.name])}`;
    return new SetpointError(
      'unfit-for-service',
      `moved names ${names} (${file}:${line}), ${why} No changes were made to ${block}.`,
      { hint },
    );
  };
  for (const item of items) {
    const { former } = item;
    if (former === undefined || !isThere(former.name)) continue;
    const own = formatPath([block, item.name]);
    if (isThere(item.name))
      throw unfit(
        { item, former },
        'but this service has both.',
        `Remove one of them on the service; or remove the entry from moved, so that ${formatPath([block, former.name])} is left alone.`,
      );
    if (wire?.rename === undefined)
      throw unfit(
        { item, former },
        `but this service cannot rename ${noun}.`,
        `Remove the entry from moved and declare ${formatPath([block, former.name])} as null to remove it; ${own} is created with every secret declared.`,
      );
  }
}

/**
 * That an item is new and another one left the file, or is like it and not named: its key may have been edited, and then the plan makes a second one.
 * Secrets are not compared, and an item of which only the name is known is like none.
 */
export function mayBeRenamed(
  form: CollectionForm,
  unmanaged: readonly Path[],
  { items, listing }: CollectionState,
  base: PlanInput['base'],
): Warning[] {
  const there = new Map(listing.items.map((one) => [one.name, one]));
  const unnamed = unmanaged.flatMap(([, name = '']) => there.get(name) ?? []);
  const created = items.filter(({ name, members }) => members !== null && !there.has(name));
  const before = base === null || 'classify' in base ? [] : itemsDeclared(base, form);
  const hasLeft = ({ name }: ListedItem): boolean =>
    before.some((one) => one.name === name && one.members !== null);
  const isCandidate = (item: DesiredItem, other: ListedItem): boolean =>
    hasLeft(other) || isLike(form, listing, item, other);
  return created.flatMap((item): Warning[] => {
    const [former, ...others] = unnamed.filter((one) => isCandidate(item, one));
    if (former === undefined || others.length > 0) return [];
    if (created.filter((one) => isCandidate(one, former)).length > 1) return [];
    const [from = '', to = ''] = [former.name, item.name].map((name) =>
      formatPath([form.block, name]),
    );
    const message = `${to} is new, and ${from} stays on the service. If you renamed it, declare that, and its keys go along: moved: [{ from: ${from}, to: ${to} }].`;
    return [{ code: 'may-be-renamed', message, path: [form.block, item.name] }];
  });
}

function isLike(
  form: CollectionForm,
  { whole = (_, value) => value }: Listing,
  { members }: DesiredItem,
  other: ListedItem,
): boolean {
  const names = Object.keys(members ?? {}).filter(
    (name) => !isSecretHolder(form, name, members?.[name] ?? null),
  );
  return (
    names.length > 0 &&
    Object.keys(other.members).length > 0 &&
    names.every((name) =>
      sameValue(whole(name, members?.[name] ?? null), whole(name, other.members[name] ?? null)),
    )
  );
}
