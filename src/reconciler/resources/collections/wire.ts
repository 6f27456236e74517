import type { DesiredItem, ListedItem, Listing } from '../../model/collection.ts';
import type { Reason } from '../../model/reasons.ts';
import type { DialectName } from '../../model/dialect.ts';
import type { Change, Plan } from '../../model/plan.ts';
import type { Warning } from '../../model/error.ts';
import type { Path } from '../../model/path.ts';
import type { Fingerprints, WrittenSecret } from '../../model/ports.ts';
import type { DesiredState, ObservedState } from '../../model/state.ts';
import type { Secret } from '../../model/secret.ts';
import { createRecord, type Value, type ValueRecord } from '../../model/value.ts';
import type { Stored } from '../../effects/stored.ts';
import type { Signing } from '../../service/signed-event.ts';
import type { ServiceError } from '../../service/service-error.ts';

/**
 * The requests of a collection for servers of one dialect.
 *
 * 1. Must `list` with GET alone, and return null if the server has no such collection.
 * 2. Must state in `replaces` what a server does if an item is written again.
 * 3. Must return from `requests` each request of one item, in order; each is sent once.
 * 4. May read the items `inSettings`; then a plan asks nothing more.
 * 5. May set `isOneMap`, `hasIds`, `theirs` and `listWrites` as the server works.
 * 6. May `rename` an item, and say what `follows` it.
 * 7. May refuse items that are `unfit`, and know the `membersHere` and their place in the settings (`placeOf`).
 * 8. May return what was `warned`, and what it `keeps`.
 * 9. May write an unchanged item `again`, or if it is `outdated`.
 * 10. May show side effects: what is `stored`, what changes `along`, what becomes `effective`, what an item `takesAlong`.
 *
 * @example
 * const wire: CollectionCodec = {
 *   list: async ({ get }) => readItems(await get('/api/webhooks')),
 *   replaces: () => 'item',
 *   requests: ({ item }) => [createPutRequest(`/api/webhooks/${item.name}`, item)],
 * };
 */
export interface CollectionCodec extends Pick<
  Listing,
  'describes' | 'whole' | 'fills' | 'leaves' | 'resends'
> {
  /** Lists the items of the server; null if it has no such collection. If a list is incomplete, only `names` must be included. */
  readonly list: (asking: Asking) => Promise<readonly ListedItem[] | null>;
  /** Reads the listing from observed settings, without a further request of a plan; `untold` if an empty store shows nothing of it. */
  readonly inSettings?: (settings: ObservedState) => readonly ListedItem[] | null | 'untold';
  /**
   * True if the items are one map that each request replaces. Then it is read right before each, existing items are sent again, and no
   * request is repeated.
   */
  readonly isOneMap?: true;
  readonly replaces: (release: string | null) => Listing['replaces'];
  /** The requests that make one item as declared, in their order. */
  readonly requests: (work: ItemWork) => readonly ItemRequest[];
  /** The request that gives an item another name. Absent if the server has none. */
  readonly rename?: (item: ListedItem, to: string) => ItemRequest['call'];
  /** The block whose item a member names, if the server changes that name when the item is renamed. */
  readonly follows?: (item: string, member: string) => string | undefined;
  /** The members of the file by the server's names, where these differ. */
  readonly theirs?: ReadonlyMap<string, string>;
  /** True if a server stores the items by the ids that it makes. */
  readonly hasIds?: true;
  /** Lists the parts of a plan that the server would refuse, if that shows before the first request. */
  readonly unfit?: (judged: CollectionState) => readonly UnsupportedItem[];
  /** The members that this release of a service has of an item, by the names of the file; null if that does not show. */
  readonly membersHere?: (
    item: DesiredItem,
    there: ListedItem | undefined,
    settings: ObservedState,
  ) => readonly string[] | null;
  /** Where the settings have a member of an item, if they do: which releases have it is known by that. */
  readonly placeOf?: (name: string) => Path;
  /** Returns the warnings of a plan with these changes. */
  readonly warned?: (
    changes: readonly Change[],
    judged: CollectionState,
    earlier: Plan,
  ) => readonly Warning[];
  /** Reports whether an unnamed item stays although the file names all permitted ones. */
  readonly keeps?: (item: ListedItem, judged: CollectionState) => boolean;
  /** The effect on the server of listing all items, as a sentence; absent if it has no effect. */
  readonly listWrites?: string;
  /** Explains why an unchanged item is written again after earlier changes of the plan; null if it is not. */
  readonly again?: (item: DesiredItem, earlier: Plan, judged: CollectionState) => Reason | null;
  /** Explains why an unchanged item is written again, judged by what was last written; null if it is not. */
  readonly outdated?: (
    item: DesiredItem,
    desired: DesiredState,
    fingerprints: Fingerprints,
  ) => Reason | null;
  /** What else of the service is stored that `along` is made of: of what an item names. */
  readonly stored?: (asking: Asking) => Promise<Stored>;
  /** What the request of an item changes elsewhere on the service, besides the change itself. `planned` ends with the part of the collection. */
  readonly along?: (cause: Change, judged: CollectionState, planned: Plan) => readonly Change[];
  /** What comes into effect with the request of an item although it is stored already, for guards to judge. */
  readonly effective?: (cause: Change, judged: CollectionState, earlier: Plan) => readonly Change[];
  /** Secrets that an item took along when it was written, although they are not part of it: fingerprints of them are stored. */
  readonly takesAlong?: (item: DesiredItem, desired: DesiredState) => readonly WrittenSecret[];
}

/** The declaration, and the listing of the service. */
export interface CollectionState {
  readonly items: readonly DesiredItem[];
  readonly listing: Listing;
  readonly desired: DesiredState;
  readonly settings: ObservedState;
}

/** A declared item that a server would refuse, and the reason. */
export interface UnsupportedItem {
  readonly item: DesiredItem;
  readonly why: string;
  readonly hint: string;
}

/** The requests of a collection by dialect. Servers of an absent dialect have no such collection. */
export type Wires = Partial<Readonly<Record<DialectName, CollectionCodec>>>;

/** The input of reading a list. */
export interface Asking {
  readonly names: readonly string[] | 'all';
  /** True if undeclared items are to be removed. Then everything that prevents a removal must be known. */
  readonly isExhaustive: boolean;
  readonly declared: readonly DesiredItem[];
  /** True if only the names are requested: several of one name are then not an error. */
  readonly isReferred: boolean;
  /** The declarations of other collections. */
  readonly desired: Pick<DesiredState, 'items'>;
  /** The service's answer to the request for its settings. */
  readonly answer: ValueRecord;
  readonly get: Get;
  /** True if secrets that the service shows on request are requested. */
  readonly reveals: boolean;
  /** GETs a secret that a path answers as bare text. */
  readonly getSecret: (path: string) => Promise<Secret | typeof ABSENT | typeof LACKING>;
  /** Reports whether a webhook at a path has a secret, by an empty event that is signed with it; null if that does not show. */
  readonly compareBySignature: (path: string, signing: Signing) => Promise<boolean | null>;
  /** The error of a list that cannot be believed. */
  readonly unlike: (path: string) => ServiceError;
}

/** GETs one path: the JSON of its answer, `absent` if the server knows the path and has nothing there, `lacking` if it has no such path. */
export type Get = (
  path: string,
  headers?: Readonly<Record<string, string>>,
) => Promise<Value | typeof ABSENT | typeof LACKING>;

export const ABSENT = Symbol('absent');
export const LACKING = Symbol('lacking');

/** An item with the approved changes that a list still shows the need for. */
export interface ItemWork {
  readonly item: DesiredItem;
  readonly changes: readonly Change[];
  readonly there: ListedItem | undefined;
  readonly listing: Listing;
  /** All that the file declares. */
  readonly desired: DesiredState;
}

/** One request that changes a collection. */
export interface ItemRequest {
  readonly kind: 'store' | 'describe' | 'rename' | 'remove';
  readonly name: string;
  /** The name that it gives to an item. */
  readonly to?: string;
  /** The members that a list shows of the item afterwards. */
  readonly shows: ListedItem['members'];
  /** The request, or what makes it of what is read right before. */
  readonly call: Call | ((get: Get) => Promise<Call>);
  /** The request as a server judges it, with names in the place of ids, where it is made of what is read right before. */
  readonly form?: Pick<Call, 'method' | 'path' | 'body'>;
  /** Reports whether a list shows the effect; absent if it is all that its changes need. No list shows that a secret was replaced. */
  readonly isShown?: (listing: Listing) => boolean;
  /** The condition that a list must meet right before the request; absent if it is always sent. */
  readonly needs?: Prerequisite;
}

/** The results of earlier requests, which another client may have undone. */
export interface Prerequisite {
  readonly isShown: (listing: Listing) => boolean;
  /** The explanation and the remedy if a list does not show it. */
  readonly otherwise: RequestRefusal;
}

export interface Call {
  readonly method: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly body: ValueRecord | null;
  /** Milliseconds until an answer begins, where the service itself asks others. */
  readonly headersTimeout?: number;
  /** Explains, from the answer, why the service did something other than requested; null if the answer does not show that. */
  readonly astray?: (answer: ValueRecord) => Omit<UnsupportedItem, 'item'> | null;
  /**
   * The reasons for a refusal, by status, in addition to the general meanings of 400, 404 and 422. Null for an answer with its usual
   * meaning.
   */
  readonly refusals?: Readonly<Record<number, string | ((answer: Value) => RequestRefusal | null)>>;
}

/** The request that takes an item away. */
export function createRemovalRequest(
  name: string,
  call: Call,
): ItemRequest & Pick<Prerequisite, 'isShown'> {
  return {
    kind: 'remove',
    name,
    shows: {},
    call,
    isShown: ({ items }) => items.every((one) => one.name !== name),
  };
}

/** The one request that takes an item away, if it is there. */
export function createRemovals(
  { item: { name }, there }: Pick<ItemWork, 'item' | 'there'>,
  pathOf: (there: ListedItem) => string,
  refusals: NonNullable<Call['refusals']> = {},
): readonly ItemRequest[] {
  if (there === undefined) return [];
  const path = pathOf(there);
  return [createRemovalRequest(name, { method: 'DELETE', path, body: null, refusals })];
}

/** The request that gives an item another name. */
export function createRenameRequest(
  item: ListedItem,
  to: string,
  call: ItemRequest['call'],
): ItemRequest {
  const { name, members } = item;
  return {
    kind: 'rename',
    name,
    to,
    shows: members,
    call,
    isShown: ({ items }) =>
      items.every((one) => one.name !== name) && items.some((one) => one.name === to),
  };
}

/** The request that makes a profile active, of those that have their names, or ids, under a path. */
export function createActivationRequest(path: string, name: string): Call {
  return {
    method: 'POST',
    path: `${path}/${encodeURIComponent(name)}/activate`,
    body: createRecord({}),
    refusals: { 404: `it has no profile ${name}`, 409: 'its settings cannot be read' },
  };
}

/** The reason that a service refuses a request, and the remedy. */
export interface RequestRefusal {
  readonly why: string;
  readonly hint: string;
}

const MOST_PAGES = 1000;

/** Reads a list with pages to its last one; null if the server has no such path. */
export function createPagedReader(
  pathOf: (page: string | null) => string,
  pageIn: (json: Value) => ItemPage | null,
): CollectionCodec['list'] {
  return async ({ get, unlike }) => {
    const items = new Map<string, ListedItem>();
    const seen = new Set<string>();
    for (let next: string | null = null, pages = 1; ; pages += 1) {
      const path = pathOf(next);
      const json = await get(path);
      if (json === LACKING) return null;
      const page = json === ABSENT ? null : pageIn(json);
      const listed = page?.items.filter((item) => item !== null) ?? [];
      if (page === null || listed.length < page.items.length) throw unlike(path);
      for (const item of listed) items.set(item.name, item);
      next = page.next;
      if (next === null) return [...items.values()];
      if (seen.has(next) || pages === MOST_PAGES) throw unlike(path);
      seen.add(next);
    }
  };
}

export interface ItemPage {
  readonly items: readonly (ListedItem | null)[];
  /** The token of the next page; null on the last one. */
  readonly next: string | null;
}
