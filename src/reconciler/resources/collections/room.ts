import {
  isSecretItemMember,
  type CollectionForm,
  type DesiredItem,
  type ListedItem,
} from '../../model/collection.ts';
import { SetpointError } from '../../model/error.ts';
import { formatPath, type Path } from '../../model/path.ts';
import { itemWords } from '../../model/collection-forms.ts';
import { serversWith } from '../../model/native-schema.ts';
import { holdersLeft } from '../holders.ts';
import type { CollectionState, UnsupportedItem, CollectionCodec } from './wire.ts';

/* What a server would refuse of a plan, and what makes room on one that takes no more items. */

/** Nothing is sent of a plan if the server would refuse a part of it. */
export function throwIfUnfit(
  form: CollectionForm,
  wire: CollectionCodec | undefined,
  judged: CollectionState,
): void {
  const [one] = [
    ...unkept(form, judged),
    ...ofOtherReleases(wire, judged),
    ...(wire?.unfit?.(judged) ?? []),
    ...heldBack(form, wire, judged),
  ];
  if (one !== undefined) throw createRoomError(form, one.item, one.why, one.hint);
}

/** Removals that the server would refuse because something that stays names the item. */
function heldBack(
  { block }: CollectionForm,
  wire: CollectionCodec | undefined,
  { items, listing, desired }: CollectionState,
): readonly UnsupportedItem[] {
  const { refusesHeldBy = [] } = wire ?? {};
  return items.flatMap((item): UnsupportedItem[] => {
    const { name } = item;
    const there = listing.items.find((one) => one.name === name);
    const holders = (there?.heldBy ?? []).filter((one) => refusesHeldBy.includes(one.block));
    const left = item.members === null ? holdersLeft({ block, name, holders }, desired) : [];
    if (left.length === 0) return [];
    const why = `cannot be removed: ${left.map(itemWords).join(', ')} would still name it.`;
    return [{ item, why, hint: 'Declare what names it without it, or as null to remove it.' }];
  });
}

/** Members that this release of a service does not have: it drops them without a word, or refuses the item after others were written. */
function ofOtherReleases(
  wire: CollectionCodec | undefined,
  { items, listing, settings }: CollectionState,
): readonly UnsupportedItem[] {
  return items.flatMap((item): UnsupportedItem[] => {
    const there = listing.items.find((one) => one.name === item.name);
    const shown = (there ?? listing.items.find(({ shows }) => shows !== undefined))?.shows;
    const known =
      (wire?.membersHere === undefined ? shown : wire.membersHere(item, there, settings)) ?? null;
    if (known === null || settings.saved === true) return [];
    const declared = Object.entries(item.members ?? {}).filter(([, value]) => value !== null);
    const lacking = declared.map(([name]) => name).filter((name) => !known.includes(name));
    const [first] = lacking;
    if (first === undefined) return [];
    const servers = wire?.placeOf === undefined ? '' : serversWith(wire.placeOf(first));
    const others = servers === '' ? 'Later releases have it' : `It is in ${servers}`;
    const why = `declares ${lacking.join(', ')}, which the release of this server does not have. ${others}.`;
    return [{ item, why, hint: 'Remove it for this environment, or use such a release.' }];
  });
}

/** Lists the members that a run skips and that a write would not preserve. */
function unkept(
  form: CollectionForm,
  { items, listing }: CollectionState,
): readonly UnsupportedItem[] {
  return items.flatMap((item): UnsupportedItem[] => {
    const { name, left = [] } = item;
    if (left.length === 0) return [];
    const members = left.join(', ');
    const hint = `--without ${formatPath([form.block, name])} leaves all of it unchanged.`;
    if (listing.items.every((one) => one.name !== name))
      return [
        { item, why: `is not on this service, and cannot be created without ${members}.`, hint },
      ];
    if (left.some((member) => isSecretItemMember(form, [member])) && !listing.describes)
      return [
        { item, why: `is only written as a whole by this service, including ${members}.`, hint },
      ];
    return [];
  });
}

/**
 * The removals without which a server has no room for what is new: they come first, and all others last. Only what nothing on the server
 * names can come first. Throws a SetpointError if that is not enough.
 */
export function roomMade(
  form: CollectionForm,
  wire: CollectionCodec | undefined,
  { items, listing }: CollectionState,
): readonly Path[] {
  const { limit = Infinity } = wire ?? {};
  const there = new Map(listing.items.map((item) => [item.name, item]));
  const created = items.filter(({ name, members }) => members !== null && !there.has(name));
  const lacking = there.size + created.length - limit;
  if (created.length === 0 || lacking <= 0) return [];
  const removed = items.filter(({ name, members }) => members === null && there.has(name));
  const free = removed.filter(({ name }) => isRemovableItem(there.get(name)));
  if (free.length >= lacking) return free.slice(0, lacking).map(({ name }) => [form.block, name]);
  const [first] = created.slice(free.length - lacking);
  if (first === undefined) return [];
  const named = removed.find((item) => !free.includes(item));
  const hint =
    named === undefined
      ? `Remove some: declare ${form.block}.NAME as null.`
      : `${formatPath([form.block, named.name])} is removed last, because ${formatHolder(there.get(named.name))} still names it. Remove it in a separate run, or remove another one.`;
  const why = `exceeds the limit: this service takes ${limit} ${form.noun} and has ${there.size}${removed.length === 0 ? '' : `, of which ${free.length} can be removed before`}.`;
  throw createRoomError(form, first, why, hint);
}

function isRemovableItem(item: ListedItem | undefined): boolean {
  return item?.isActive !== true && (item?.heldBy ?? []).length === 0;
}

function formatHolder(item: ListedItem | undefined): string {
  const [holder] = item?.heldBy ?? [];
  return holder === undefined ? 'what is active' : itemWords(holder);
}

function createRoomError(
  { block }: CollectionForm,
  { name, source: { file, line } }: DesiredItem,
  message: string,
  hint: string,
): SetpointError {
  const at = `${formatPath([block, name])} (${file}:${line})`;
  return new SetpointError('unfit-for-service', `${at} ${message} Nothing was sent.`, { hint });
}
