import { type Change, type PartPlan } from '../../model/plan.ts';
import { isRename } from '../../model/action.ts';
import {
  toMemberPath,
  secretLeaves,
  untoldLeaf,
  type CollectionForm,
  type DesiredItem,
  type Leaf,
  type Listing,
} from '../../model/collection.ts';
import { SetpointError } from '../../model/error.ts';
import type { Result } from '../../model/outcome.ts';
import { isWithin } from '../../model/path.ts';
import type { WrittenSecret } from '../../model/ports.ts';
import { Secret } from '../../model/secret.ts';
import type { ObservedState } from '../../model/state.ts';
import type { ValueRecord } from '../../model/value.ts';
import type { ReconcileInput } from '../../reconcile/contract.ts';
import { findInterruption, unlessAbandoned } from '../../reconcile/interruption.ts';
import { retryPause } from '../../reconcile/pause.ts';
import type { CollectionKind, ItemAnswer } from './port.ts';
import { readLastStored } from './plan-members.ts';
import { namesRenamed, listRenamings } from './renames.ts';
import { createRenameRequest, type ItemRequest, type CollectionCodec } from './wire.ts';

/** The input of a write of a collection. */
export interface Writing {
  readonly kind: CollectionKind;
  readonly input: ReconcileInput;
  readonly settings: ObservedState;
  readonly desired: readonly DesiredItem[];
  /** The approved part of the plan. */
  readonly part: PartPlan;
  /** The plan of what a service lists. */
  readonly plan: (listing: Listing) => PartPlan;
}

const SENDS = 2;

/** A list may lag behind a write: it is read again after these pauses, in milliseconds. */
const PAUSES = [500, 1000, 2000];

/** The name of the item that a change is about. */
export function readChangedItemName({
  path,
  cause = path,
}: Pick<Change, 'path' | 'cause'>): string {
  return cause[1] ?? '';
}

/** Reads the current listing of the collection. */
export function presentListing({ kind, input, settings, desired }: Writing): Promise<Listing> {
  const listing = input.reader(kind.reader).list(settings, {
    declared: desired,
    desired: input.desired,
  });
  return unlessAbandoned(
    listing.then((found) => {
      if (found !== null) return found;
      throw new SetpointError('state-unknown', `The service has no ${kind.form.noun} any more.`);
    }),
    input.abandon,
  );
}

/** Lists until something is found, or no more is to be expected. */
export async function pollListing<T>(
  writing: Writing,
  found: (listing: Listing) => T,
  isEnough: (one: T) => boolean,
): Promise<T> {
  const { input } = writing;
  for (let attempt = 0; ; attempt += 1) {
    const one = found(await presentListing(writing));
    const pause = PAUSES[attempt];
    if (isEnough(one) || pause === undefined || findInterruption(input.signal) !== null) return one;
    await input.clock.sleep(pause, input.signal);
  }
}

/** Sends what makes one item as declared, and notes what became of its changes. */
export async function sendItem(
  writing: Writing,
  listing: Listing,
  changes: readonly Change[],
  results: Map<Change, Result>,
): Promise<SetpointError | null> {
  const { input, desired, kind, settings } = writing;
  const [first] = changes;
  const item = desired.find(
    ({ name }) => first !== undefined && name === readChangedItemName(first),
  );
  const wire = kind.wires[settings.dialect.name];
  if (first === undefined || item === undefined || wire === undefined) return null;
  const there = listing.items.find(({ name }) => name === item.name);
  const note = (result: Result): void => changes.forEach((change) => results.set(change, result));
  if (isRename(first)) {
    const putBack = await carryFingerprints(writing, item);
    return sendItemRequests(writing, renameRequests(wire, item, listing), {
      listing,
      changes,
      note,
      putBack,
    });
  }
  const requests = wire.requests({ item, changes, there, listing, desired: input.desired });
  const stored = requests.some((request) => request.kind !== 'describe');
  const putBack = stored
    ? await input.fingerprints.forget(
        listSentSecrets(kind.form, item, changes, listing).map(({ path }) => path),
      )
    : null;
  return sendItemRequests(writing, requests, { listing, changes, note, putBack });
}

/** Lists what a list shows to be left of changes. No list shows that a secret was replaced. */
export function listLeftChanges(
  { plan }: Writing,
  changes: readonly Change[],
  listing: Listing,
): readonly Change[] {
  return plan(listing).changes.filter(
    ({ action, path }) =>
      action !== 'rotate' && changes.some((change) => isWithin(path, change.path)),
  );
}

/** The notes that accompany the requests of some changes. */
interface Noting {
  readonly listing: Listing;
  readonly changes: readonly Change[];
  readonly note: (result: Result) => void;
  /** Restores the known fingerprints of secrets if nothing was sent. */
  readonly putBack: (() => Promise<void>) | null;
}

async function sendItemRequests(
  writing: Writing,
  requests: readonly ItemRequest[],
  { listing, changes, note, putBack }: Noting,
): Promise<SetpointError | null> {
  const { kind } = writing;
  const past = [listing];
  for (const [index, request] of requests.entries()) {
    const isMade = (shown: Listing): boolean =>
      request.isShown?.(shown) ??
      ((request.kind === 'describe' || changes.every(({ action }) => action !== 'rotate')) &&
        listLeftChanges(writing, changes, shown).length === 0);
    const answer = await sendOne(writing, request, past, isMade).catch((thrown: unknown) => {
      note('unknown');
      throw thrown;
    });
    if (answer.kind === 'stored') {
      note('unknown');
      past.push(applyItemRequest(request, past.at(-1) ?? listing));
      continue;
    }
    if (answer.kind !== 'not-applied' || index > 0) note('unknown');
    else await putBack?.();
    return answer.kind === 'ambiguous'
      ? createItemUnknownError(kind.form, request, answer.error)
      : answer.error;
  }
  note('verified');
  return null;
}

export function renameRequests(
  { rename }: CollectionCodec,
  item: DesiredItem,
  listing: Listing,
): readonly ItemRequest[] {
  const [renaming] = listRenamings([item], listing);
  if (renaming === undefined || rename === undefined) return [];
  return namesRenamed(renaming, listing).flatMap(([from, to]) => {
    const there = listing.items.find(({ name }) => name === from);
    return there === undefined ? [] : [createRenameRequest(there, to, rename(there, to))];
  });
}

/** A value that no reference has: what was last stored is known to be another one than is declared. */
const ANOTHER = new Secret('\0');

/**
 * The known facts about the secrets of an item are stored under its new name before it has that: they stay known if the run ends right
 * after. The result takes that back.
 */
async function carryFingerprints(
  { input: { fingerprints, clock }, kind: { form } }: Writing,
  item: DesiredItem,
): Promise<() => Promise<void>> {
  const { name, former, members } = item;
  const storedAs = former?.name ?? name;
  const carried = listRecordedLeaves(form, members ?? {}).flatMap(
    ({ member, value }): WrittenSecret[] => {
      const last = readLastStored({ form, storedAs, fingerprints }, member, value);
      if (last === 'none' || !(value instanceof Secret)) return [];
      return [{ path: toMemberPath(form, name, member), value: last === 'same' ? value : ANOTHER }];
    },
  );
  if (carried.length > 0) await fingerprints.remember(carried, clock.now());
  return async () => {
    await fingerprints.forget(carried.map(({ path }) => path));
  };
}

/** The places of an item whose last sent values are stored. */
function listRecordedLeaves(form: CollectionForm, members: ValueRecord): readonly Leaf[] {
  const untold = untoldLeaf(form, members);
  return [...secretLeaves(form, members), ...(untold === null ? [] : [untold])];
}

/**
 * Sends a request, and again once if it may not have taken effect. An unsure result stays so, unless a list shows the effect. A list may be
 * as old as any of `past`, which the service had before the request: a list cannot prove an effect that one of these already shows.
 */
async function sendOne(
  writing: Writing,
  request: ItemRequest,
  past: readonly Listing[],
  isMade: (shown: Listing) => boolean,
): Promise<ItemAnswer> {
  const { input, kind, settings } = writing;
  const isOnce = kind.wires[settings.dialect.name]?.isOneMap === true;
  const isTold = !past.some(isMade);
  let unsure: ItemAnswer | null = null;
  const lost = await createMissingError(writing, request);
  if (lost !== null) return { kind: 'not-applied', retry: false, reached: false, error: lost };
  for (let attempt = 1; ; attempt += 1) {
    const answer: ItemAnswer = await input.writer(kind.writer).send(request);
    if (answer.kind === 'stored' || answer.kind === 'astray') return answer;
    if (answer.kind === 'ambiguous') unsure = answer;
    // A removal by another client counts as done, and an item that is gone after a rename was renamed.
    const isGone =
      request.kind === 'remove'
        ? answer.kind === 'not-applied' && answer.reached
        : request.kind === 'rename' && unsure !== null && answer.isMissing === true;
    if (((unsure !== null && isTold) || isGone) && (await isFound(writing, isMade)))
      return { kind: 'stored' };
    const isLast = isOnce || attempt >= SENDS || findInterruption(input.signal) !== null;
    if (isLast || (answer.kind === 'not-applied' && !answer.retry)) return unsure ?? answer;
    await input.clock.sleep(retryPause(answer.error), input.signal);
  }
}

/** Explains why a request is not sent: an item that it needs no longer exists. */
async function createMissingError(
  writing: Writing,
  { needs }: ItemRequest,
): Promise<SetpointError | null> {
  if (needs === undefined) return null;
  const isThere = await pollListing(writing, needs.isShown, (shown) => shown);
  const { why, hint } = needs.otherwise;
  return isThere ? null : new SetpointError('contended', why, { hint });
}

/** Reports whether a list can be read, and shows that a request took effect. */
async function isFound(writing: Writing, isMade: (shown: Listing) => boolean): Promise<boolean> {
  try {
    return isMade(await presentListing(writing));
  } catch {
    return false;
  }
}

/** The secrets of an item that its changes send, by the paths that plans have for them. One that is to be removed has its own path. */
export function listSentSecrets(
  form: CollectionForm,
  { name, members }: DesiredItem,
  changes: readonly Change[],
  { describes }: Pick<Listing, 'describes'>,
): readonly WrittenSecret[] {
  const own = [form.block, name];
  if (members === null) return [{ path: own, value: null }];
  return listRecordedLeaves(form, members).flatMap(({ member, value }): WrittenSecret[] => {
    const path = toMemberPath(form, name, member);
    const isSent = !describes || changes.some((change) => isWithin(path, change.path));
    if (!isSent) return [];
    return [{ path, value: value instanceof Secret ? value : null }];
  });
}

/** Returns the listing that is expected after a request. */
function applyItemRequest(
  { kind, name, to = name, shows }: ItemRequest,
  listing: Listing,
): Listing {
  const others = listing.items.filter((one) => one.name !== name);
  if (kind === 'remove') return { ...listing, items: others };
  return { ...listing, items: [...others, { name: to, members: shows }] };
}

function createItemUnknownError(
  { noun }: CollectionForm,
  { name }: ItemRequest,
  error: SetpointError,
): SetpointError {
  return new SetpointError(
    'state-unknown',
    `The write of ${name} of the ${noun} may or may not have taken effect. ${error.message}`,
    {
      hint: 'Run setpoint plan to see what the service has now.',
      cause: error,
    },
  );
}
