import {
  type ListedItem,
  listReferencedNames,
  ownNames,
  type CollectionForm,
  type DesiredItem,
} from '../../model/collection.ts';
import {
  isList,
  isRecord,
  createRecord,
  sameValue,
  type Value,
  type ValueRecord,
} from '../../model/value.ts';
import {
  LACKING,
  createRemovals,
  type Asking,
  type Call,
  type ItemRequest,
  type ItemWork,
  type CollectionState,
  type CollectionCodec,
} from './wire.ts';
import { holdsMask } from '../../model/secret-words.ts';
import { listSkippedNames } from '../../model/uncompared.ts';
import type { Source } from '../../model/path.ts';
import { type Change, type PartPlan } from '../../model/plan.ts';
import { type Warning } from '../../model/error.ts';
import type { DesiredState } from '../../model/state.ts';
import { holdersLeft } from '../holders.ts';
import { inParallel } from '../../reconcile/in-order.ts';
import { READS_AT_ONCE } from '../../service/connect.ts';
import { readChangedItemName } from './send.ts';

/* Items that have a path each, by their names, and that one request stores whole: what it leaves out is the server's default. */

/**
 * Reads items, each by a request of its own; what has gone in between is left out. Null if the server has no such path. `atOnce` is how
 * many are begun before the first is answered: 1 for a server that may write when it is asked.
 */
export async function itemsByName(
  { get, unlike }: Asking,
  path: string,
  names: readonly string[],
  itemIn: (json: Value) => Omit<ListedItem, 'name'> | null,
  atOnce = READS_AT_ONCE,
): Promise<readonly ListedItem[] | null> {
  const read = await inParallel(names, atOnce, async (name) => {
    const place = toItemPath(path, name);
    const json = await get(place);
    if (typeof json === 'symbol') return json;
    const item = itemIn(json);
    if (item === null) throw unlike(place);
    return { ...item, name };
  });
  if (read.includes(LACKING)) return null;
  return read.filter((item) => typeof item !== 'symbol');
}

/**
 * The items of a list that contains only their names: requested ones are read one by one, for the others only the names are reported.
 * `list` is the answer of the path, `key` the place of the list in it.
 */
export async function itemsListed(
  asking: Asking,
  path: string,
  { list, key }: { readonly list: Value; readonly key: string },
  itemIn: (json: Value) => Omit<ListedItem, 'name'> | null,
): Promise<readonly ListedItem[]> {
  const entries = isRecord(list) ? list[key] : undefined;
  if (!isList(entries)) throw asking.unlike(path);
  const listed = entries.map((entry) => (isRecord(entry) ? entry['name'] : null));
  const names = listed.filter((name) => typeof name === 'string');
  if (names.length < listed.length) throw asking.unlike(path);
  const isAsked = (name: string): boolean => asking.names === 'all' || asking.names.includes(name);
  const read = await itemsByName(asking, path, names.filter(isAsked), itemIn);
  const others = names.filter((name) => !isAsked(name));
  return [...(read ?? []), ...others.map((name) => ({ name, members: {} }))];
}

/**
 * What of an item goes along with what is declared: members that the file has no place for. A mask cannot be sent back, so that what is
 * masked is lost.
 */
export function selectCarriedMembers({
  item,
  there,
}: Pick<ItemWork, 'item' | 'there'>): ValueRecord {
  const kinds = [item.members, there?.members].map((members) => members?.[KIND] ?? USUAL_KIND);
  if (!sameValue(kinds[0], kinds[1])) return createRecord({});
  return createRecord(Object.entries(there?.stored ?? {}).filter(([, value]) => !holdsMask(value)));
}

/** Another kind of agent has other members. */
const KIND = 'agent_kind';
const USUAL_KIND = 'openhands';

/** The one request that stores an item, or removes it. */
export function wholeRequests(
  { item, there }: ItemWork,
  base: string,
  bodyOf: (members: ValueRecord) => ValueRecord,
): readonly ItemRequest[] {
  const { name, members } = item;
  const path = toItemPath(base, name);
  if (members === null) return createRemovals({ item, there }, () => path, HELD);
  return [
    {
      kind: 'store',
      name,
      shows: members,
      call: {
        method: 'POST',
        path,
        body: createRecord({ ...selectCarriedMembers({ item, there }), ...bodyOf(members) }),
        refusals: FULL,
      },
    },
  ];
}

/** The request of a service that knows items by their names, to give one another. */
export function renameOverPath(path: string, { name }: ListedItem, to: string): Call {
  return {
    method: 'POST',
    path: `${toItemPath(path, name)}/rename`,
    body: createRecord({ new_name: to }),
    refusals: { 409: `it has one named ${to} already` },
  };
}

const HELD = { 409: 'something else on the service still names it' };
const FULL = { 409: 'the service accepts no more of them' };

function toItemPath(path: string, name: string): string {
  return `${path}/${encodeURIComponent(name)}`;
}

/* What a service has and the file does not name, where the file says that others go. */

/** The removals of others, as one declaration: no declared item has this name. */
export const OTHERS = '';

/** The item that a change follows from, as the file declares it. */
export function findDeclaredItemName(
  change: Pick<Change, 'path'> & Partial<Pick<Change, 'action' | 'code'>>,
): string {
  return isOther(change) ? OTHERS : readChangedItemName(change);
}

function isOther({ action, code }: Partial<Pick<Change, 'action' | 'code'>>): boolean {
  return action === 'remove' && code === 'undeclared';
}

/**
 * Returns the declared items, and removals of the service's other items. Its own items and those that a declared item names stay. `source`
 * is the line that removes others; undefined: they stay.
 */
export function withOthers(
  { block, ofService = [] }: CollectionForm,
  judged: CollectionState,
  wire: CollectionCodec | undefined,
  source: Source | undefined,
): readonly DesiredItem[] {
  const { items, listing, desired } = judged;
  if (source === undefined) return items;
  const left = listSkippedNames(desired, block);
  const own = new Set([...ownNames(items, listing), ...listReferencedNames(desired, block)]);
  const others = listing.items
    .filter(({ name }) => !own.has(name) && !left.has(name) && !ofService.includes(name))
    .filter((item) => wire?.keeps?.(item, judged) !== true && isFreed(block, item, desired));
  return [...items, ...others.map(({ name }) => declareRemoval(name, source))];
}

/** Reports whether an item is not named by anything that stays on the service. */
function isFreed(block: string, { name, heldBy = [] }: ListedItem, desired: DesiredState): boolean {
  return holdersLeft({ block, name, holders: heldBy }, desired).length === 0;
}

/** Returns the declared items, and the approved removals of others. Items that appeared after the approval stay. */
export function withApproved(
  items: readonly DesiredItem[],
  { changes }: PartPlan,
  source: Source | undefined,
): readonly DesiredItem[] {
  if (source === undefined) return items;
  return [
    ...items,
    ...changes.filter(isOther).map((change) => declareRemoval(readChangedItemName(change), source)),
  ];
}

function declareRemoval(name: string, source: Source): DesiredItem {
  return { name, members: null, source, isOther: true };
}

/** States that listing all items of a server changes something on it. */
export function listWrites(
  { block }: CollectionForm,
  wire: CollectionCodec | undefined,
): readonly Warning[] {
  const message = wire?.listWrites;
  return message === undefined ? [] : [{ code: 'list-writes', message, path: [block] }];
}
