import { partWarnings, type Change, type PartPlan } from '../../model/plan.ts';
import { isRename, findActionEffect } from '../../model/action.ts';
import { type Warning, asSetpointError, SetpointError } from '../../model/error.ts';
import {
  ownNames,
  type CollectionForm,
  type DesiredItem,
  type ListedItem,
  type Listing,
} from '../../model/collection.ts';
import type { Remainder, Result } from '../../model/outcome.ts';
import { formatPath, isWithin, samePath, type Path } from '../../model/path.ts';
import { maskSecrets } from '../../model/value.ts';
import { type ResourceEnd } from '../../reconcile/contract.ts';
import { findInterruption } from '../../reconcile/interruption.ts';
import { toPartialError, sameResult, createUnsentEnd } from '../../reconcile/resource-end.ts';
import { afterRenames, throwIfNotRenamed } from './renames.ts';
import {
  listLeftChanges,
  readChangedItemName,
  pollListing,
  presentListing,
  sendItem,
  listSentSecrets,
  type Writing,
} from './send.ts';

/**
 * Makes a collection as declared: lists it again, sends what is still needed of the approved changes, one request at a time, lists it once more
 * and compares. A request is sent again once, and only if it may not have taken effect and a list does not show that it has. What is not
 * sent when one fails is left for the next run, which finds it by the list. Never throws.
 */
export async function writeCollection(writing: Writing): Promise<ResourceEnd> {
  const { part, input, kind, settings, desired } = writing;
  if (part.changes.length === 0)
    return { ...createUnsentEnd([], partWarnings(part)), unknown: part.unknown };
  const results = new Map<Change, Result>(sameResult(part.changes, 'not-sent'));
  const warnings: Warning[] = partWarnings(part);
  let error: SetpointError | null = null;
  let before: Listing | null = null;
  try {
    before = await presentListing(writing);
    throwIfNotRenamed(kind.form, kind.wires[settings.dialect.name], desired, before);
    const made: Change[] = [];
    for (const changes of listNeededChanges(part, writing.plan(before))) {
      const listing = await listingFor(changes, writing, before, made);
      error =
        findInterruption(input.signal) ?? (await sendItem(writing, listing, changes, results));
      if (error !== null) break;
      made.push(...changes);
    }
  } catch (thrown) {
    error = findInterruption(input.signal) ?? asSetpointError(thrown);
  }
  const sent = [...results.values()].some((result) => result !== 'not-sent');
  if (!sent || before === null)
    return createPartEnd(part, { results, warnings, remaining: [], error });
  return verifySentChanges(writing, before, results, warnings, error);
}

/** The approved changes that a list still shows the need for, by item: renames come first, then what makes room, and other removals last. */
function listNeededChanges(approved: PartPlan, now: PartPlan): readonly (readonly Change[])[] {
  const again = approved.work as readonly Path[];
  const isNeeded = ({ path, action, cause }: Change): boolean =>
    again.some((one) => samePath(one, cause ?? path)) ||
    now.changes.some(
      (change) =>
        samePath(change.path, cause ?? path) &&
        // An item to change may be gone by now: earlier writes of this run can have made a profile inactive.
        (cause !== undefined ||
          change.action === action ||
          (action === 'change' && change.action === 'set')),
    );
  const items = new Map<string, Change[]>();
  for (const change of approved.changes.filter(isNeeded)) {
    const key = `${isOfRename(change, approved.changes) ? 'rename ' : ''}${readChangedItemName(change)}`;
    items.set(key, [...(items.get(key) ?? []), change]);
  }
  return [...items.values()].toSorted(
    (one, other) => rankChangeGroup(approved, one) - rankChangeGroup(approved, other),
  );
}

/** Reports whether a change is made by a rename: it is one, or one of `changes` takes it along. */
function isOfRename(change: Change, changes: readonly Change[]): boolean {
  const { cause } = change;
  if (cause === undefined) return isRename(change);
  return changes.some((one) => isRename(one) && samePath(one.path, cause));
}

function rankChangeGroup({ room = [] }: PartPlan, [change]: readonly Change[]): number {
  if (change === undefined) return 0;
  if (isRename(change)) return -2;
  if (change.action !== 'remove') return 0;
  return room.some((first) => samePath(first, change.path)) ? -1 : 1;
}

/** Reads the listing that the requests need. */
async function listingFor(
  [first]: readonly Change[],
  writing: Writing,
  before: Listing,
  made: readonly Change[],
): Promise<Listing> {
  if (first === undefined || isRename(first)) return before;
  const renamed = afterRenames(writing.desired, before);
  return made.length === 0 ? renamed : listingAfter(writing, renamed, made);
}

/**
 * The input for the requests of one more item after others were made as declared. One map of all is read again: another client may have
 * written there, and what was written here stays, whether that list is old enough to show it or not.
 */
async function listingAfter(
  writing: Writing,
  before: Listing,
  made: readonly Change[],
): Promise<Listing> {
  const { kind, settings, desired } = writing;
  if (kind.wires[settings.dialect.name]?.isOneMap !== true) return before;
  const listing = await presentListing(writing);
  const own = new Set(made.map(readChangedItemName));
  const items = desired.flatMap(({ name, members }): readonly ListedItem[] => {
    if (!own.has(name) || members === null) return [];
    const shown = before.items.find((item) => item.name === name)?.members ?? {};
    return [{ name, members: { ...shown, ...members } }];
  });
  return { ...listing, items: [...listing.items.filter(({ name }) => !own.has(name)), ...items] };
}

/** Lists until what was sent is shown, and compares. */
async function verifySentChanges(
  writing: Writing,
  before: Listing,
  results: Map<Change, Result>,
  warnings: Warning[],
  error: SetpointError | null,
): Promise<ResourceEnd> {
  const { part, input } = writing;
  try {
    const { changes: left, remaining } = await pollListing(
      writing,
      (listing) => listRemainingChanges(writing, before, listing, results),
      (left) => left.remaining.length === 0,
    );
    for (const [change, result] of results) {
      const isLeft = left.some((one) => isLeftWith(change, one));
      if (result === 'verified') results.set(change, isLeft ? 'unknown' : toShownResult(change));
    }
    const failure =
      error ?? (remaining.length === 0 ? null : notConverged(writing.kind.form, remaining));
    const end = createPartEnd(part, { results, warnings, remaining, error: failure });
    return {
      ...end,
      warnings: [...end.warnings, ...(await saveFingerprints(writing, before, results))],
    };
  } catch (thrown) {
    const found = asSetpointError(thrown);
    for (const [change, result] of results)
      if (result === 'verified') results.set(change, 'unknown');
    const unseen = new SetpointError(
      'state-unknown',
      `The ${writing.kind.form.noun} were written and could not be verified. ${found.message}`,
      { cause: found },
    );
    return createPartEnd(part, {
      results,
      warnings,
      remaining: [],
      error: findInterruption(input.signal) ?? error ?? unseen,
    });
  }
}

/** Reports whether a change is needed as long as another one is. Missing members of an item do not concern a rename. */
function isLeftWith(change: Change, left: Change): boolean {
  const { cause = change.path } = change;
  return isWithin(left.path, cause) && (isRename(left) || !isRename(change));
}

/** For a rotation, only the sending of a value can be known; for a new value, also its presence. */
function toShownResult({ action, sensitive }: Change): Result {
  if (!sensitive || findActionEffect(action) === 'drop') return 'verified';
  return action === 'rotate' ? 'unverifiable' : 'set';
}

/** The sent changes that a list does not show, and what they and other items lack. */
interface RemainingChanges {
  readonly changes: readonly Change[];
  readonly remaining: readonly Remainder[];
}

/** Lists the sent changes that are not shown, and losses of undeclared items. */
function listRemainingChanges(
  writing: Writing,
  before: Listing,
  after: Listing,
  results: ReadonlyMap<Change, Result>,
): RemainingChanges {
  const { kind, part, desired } = writing;
  const sent = [...results].flatMap(([change, result]) => (result === 'verified' ? [change] : []));
  const left = listLeftChanges(writing, sent, after);
  const ours = ownNames(desired, before);
  const there = new Set(after.items.map(({ name }) => name));
  const lost = before.items.filter(({ name }) => !ours.has(name) && !there.has(name));
  const remaining = [
    ...left.map((change): Remainder => ({
      resource: part.resource.name,
      path: change.path,
      expected: maskSecrets(change.after),
      actual: maskSecrets(change.before),
      reason: 'the service does not show what it was sent',
      hint: 'Run setpoint plan to see what is left: something else may write there.',
    })),
    ...lost.map(({ name }): Remainder => ({
      resource: part.resource.name,
      path: [kind.form.block, name],
      expected: '(sensitive)',
      actual: null,
      reason: 'was there before the write, and is now gone',
      hint: 'This write did not name it: something else writes there at the same time. Set it again.',
    })),
  ];
  return { changes: left, remaining };
}

/** Stores the fingerprints of the stored values. If they cannot be stored, that is a warning: the write is done. */
async function saveFingerprints(
  { input, desired, kind, settings }: Writing,
  listing: Listing,
  results: ReadonlyMap<Change, Result>,
): Promise<readonly Warning[]> {
  const wire = kind.wires[settings.dialect.name];
  const stored = [...results].flatMap(([change, result]) =>
    result === 'not-sent' || result === 'unknown' ? [] : [change],
  );
  const changesTo = (item: DesiredItem) =>
    stored.filter((change) => readChangedItemName(change) === item.name);
  const written = desired.flatMap((item) => {
    const own = changesTo(item).filter((change) => !isOfRename(change, stored));
    const isRemoved = item.members === null;
    if (own.length === 0 || isRemoved) return [];
    const along = wire?.takesAlong?.(item, input.desired) ?? [];
    return [...listSentSecrets(kind.form, item, own, listing), ...along];
  });
  const renamed = desired.filter((item) => changesTo(item).some(isRename));
  try {
    await input.fingerprints.remember(written, input.clock.now());
    await input.fingerprints.forget(
      renamed.flatMap(({ former }) =>
        former === undefined ? [] : [[kind.form.block, former.name]],
      ),
    );
    return [];
  } catch (thrown) {
    return [{ code: 'not-remembered', message: asSetpointError(thrown).message, path: [] }];
  }
}

function createPartEnd(
  part: PartPlan,
  end: Pick<ResourceEnd, 'results' | 'warnings' | 'remaining' | 'error'>,
): ResourceEnd {
  const { results, error, remaining } = end;
  const changed = [...results.values()].some((result) => result !== 'not-sent');
  const whole = { ...end, started: new Map(), unknown: part.unknown };
  if (error === null) return { ...whole, status: changed ? 'applied' : 'in-sync' };
  if (remaining.length > 0 && error.code === 'not-converged')
    return { ...whole, status: 'not-converged' };
  const isWhole = error.code === 'interrupted' || error.code === 'terminated';
  const done = [...results.values()].some((one) => one !== 'not-sent' && one !== 'unknown');
  return done
    ? { ...whole, status: 'partial', error: isWhole ? error : toPartialError(error) }
    : { ...whole, status: 'failed' };
}

function notConverged({ noun }: CollectionForm, remaining: readonly Remainder[]): SetpointError {
  const paths = remaining.map(({ path }) => formatPath(path)).join(', ');
  const hint = remaining[0]?.hint;
  return new SetpointError(
    'not-converged',
    `After the write of the ${noun} these are not as they should be: ${paths}.`,
    hint === undefined ? {} : { hint },
  );
}
