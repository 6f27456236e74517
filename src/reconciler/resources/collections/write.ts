import { ownNames, type Listing } from '../../model/collection.ts';
import { asSetpointError, SetpointError } from '../../model/error.ts';
import type { Remainder, Result } from '../../model/outcome.ts';
import { formatPath, isWithin, samePath, type Path } from '../../model/path.ts';
import { partWarnings, type Change, type PartPlan, type Warning } from '../../model/plan.ts';
import { masked } from '../../model/value.ts';
import type { ResourceEnd } from '../../reconcile/contract.ts';
import { inPart, sameResult, untouched } from '../../reconcile/ends.ts';
import { interruption } from '../../reconcile/interruption.ts';
import type { CollectionKind } from './wire.ts';
import { itemOf, presentListing, sendItem, type Writing } from './send.ts';

/** A list may lag behind a write: it is read again after these pauses, in milliseconds. */
const PAUSES = [500, 1000, 2000];

/**
 * Makes a collection as declared: lists it again, sends what is still needed of the approved changes, one request at a time, lists it once more
 * and compares. A request is sent again once, and only if it may not have taken effect and a list does not show that it has. What is not
 * sent when one fails is left for the next run, which finds it by the list. Never throws.
 */
export async function writeCollection(writing: Writing): Promise<ResourceEnd> {
  const { part, input } = writing;
  if (part.changes.length === 0)
    return { ...untouched([], partWarnings(part)), unknown: part.unknown };
  const results = new Map<Change, Result>(sameResult(part.changes, 'not-sent'));
  const warnings: Warning[] = partWarnings(part);
  let error: SetpointError | null = null;
  let before: Listing | null = null;
  try {
    before = await presentListing(writing);
    for (const changes of neededItems(part, writing.plan(before))) {
      error = interruption(input.signal) ?? (await sendItem(writing, before, changes, results));
      if (error !== null) break;
    }
  } catch (thrown) {
    error = interruption(input.signal) ?? asSetpointError(thrown);
  }
  const sent = [...results.values()].some((result) => result !== 'not-sent');
  if (!sent || before === null) return endOf(part, { results, warnings, remaining: [], error });
  return concluded(writing, before, results, warnings, error);
}

/** The approved changes that a list still shows the need for, by item: what is stored before what is removed. */
function neededItems(approved: PartPlan, now: PartPlan): readonly (readonly Change[])[] {
  const isNeeded = ({ path, action }: Change): boolean =>
    now.changes.some((change) => change.action === action && samePath(change.path, path));
  const items = new Map<string, Change[]>();
  for (const change of approved.changes.filter(isNeeded)) {
    const item = itemOf(change);
    items.set(item, [...(items.get(item) ?? []), change]);
  }
  const isRemoval = ([change]: readonly Change[]): number => (change?.action === 'remove' ? 1 : 0);
  return [...items.values()].toSorted((one, other) => isRemoval(one) - isRemoval(other));
}

/** Lists until what was sent is shown, and compares. */
async function concluded(
  writing: Writing,
  before: Listing,
  results: Map<Change, Result>,
  warnings: Warning[],
  error: SetpointError | null,
): Promise<ResourceEnd> {
  const { part, input } = writing;
  try {
    const remaining = await remainingPastLag(writing, before, results);
    for (const [change, result] of results) {
      const isLeft = remaining.some((left) => samePath(left.path, change.path));
      if (result === 'verified') results.set(change, isLeft ? 'unknown' : shownResult(change));
    }
    const failure =
      error ?? (remaining.length === 0 ? null : notConverged(writing.kind, remaining));
    const end = endOf(part, { results, warnings, remaining, error: failure });
    return { ...end, warnings: [...end.warnings, ...(await remembered(writing, before, results))] };
  } catch (thrown) {
    const found = asSetpointError(thrown);
    for (const [change, result] of results)
      if (result === 'verified') results.set(change, 'unknown');
    const unseen = new SetpointError(
      'state-unknown',
      `The ${writing.kind.noun} were written and could not be verified. ${found.message}`,
      { cause: found },
    );
    return endOf(part, {
      results,
      warnings,
      remaining: [],
      error: interruption(input.signal) ?? error ?? unseen,
    });
  }
}

/** That a value was sent is all that can be known of a rotation; of one that was not there, that there is one now. */
function shownResult({ action, sensitive }: Change): Result {
  if (!sensitive || action === 'remove') return 'verified';
  return action === 'rotate' ? 'unverifiable' : 'set';
}

async function remainingPastLag(
  writing: Writing,
  before: Listing,
  results: ReadonlyMap<Change, Result>,
): Promise<readonly Remainder[]> {
  const { input } = writing;
  for (let attempt = 0; ; attempt += 1) {
    const remaining = remainingIn(writing, before, await presentListing(writing), results);
    const pause = PAUSES[attempt];
    if (remaining.length === 0 || pause === undefined || interruption(input.signal) !== null)
      return remaining;
    await input.clock.sleep(pause, input.signal);
  }
}

/** What was sent and is not shown, and what somebody else's item lost beside it. */
function remainingIn(
  { kind, part, desired, plan }: Writing,
  before: Listing,
  after: Listing,
  results: ReadonlyMap<Change, Result>,
): readonly Remainder[] {
  const sent = [...results].filter(([, result]) => result === 'verified');
  const left = plan(after).changes.filter(
    ({ action, path }) =>
      action !== 'rotate' && sent.some(([change]) => samePath(change.path, path)),
  );
  const ours = ownNames(desired, before);
  const there = new Set(after.items.map(({ name }) => name));
  const lost = before.items.filter(({ name }) => !ours.has(name) && !there.has(name));
  return [
    ...left.map((change): Remainder => ({
      resource: part.resource.name,
      path: change.path,
      expected: masked(change.after),
      actual: masked(change.before),
      reason: 'the service does not show what it was sent',
      hint: 'Run setpoint plan to see what is left: something else may write there.',
    })),
    ...lost.map(({ name }): Remainder => ({
      resource: part.resource.name,
      path: [kind.block, name],
      expected: '(sensitive)',
      actual: null,
      reason: 'was there before the write, and is not any more',
      hint: 'This write did not name it: something else writes there at the same time. Set it again.',
    })),
  ];
}

/** Keeps the fingerprints of the values that were stored. If they cannot be kept, that is a warning: the write is done. */
async function remembered(
  { input, desired, kind }: Writing,
  { describes }: Listing,
  results: ReadonlyMap<Change, Result>,
): Promise<readonly Warning[]> {
  const isStored = (path: Path): boolean =>
    [...results].some(
      ([change, result]) =>
        isWithin(change.path, path) &&
        (result === 'set' ||
          result === 'unverifiable' ||
          // Where a description is not changed alone, the value was sent along.
          (result === 'verified' && !describes)),
    );
  const written = desired.flatMap(({ name, value }) => {
    const path = [kind.block, name];
    return value === null || !isStored(path) ? [] : [{ path, value }];
  });
  try {
    await input.fingerprints.remember(written, input.clock.now());
    return [];
  } catch (thrown) {
    return [{ code: 'not-remembered', message: asSetpointError(thrown).message, path: [] }];
  }
}

function endOf(
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
    ? { ...whole, status: 'partial', error: isWhole ? error : inPart(error) }
    : { ...whole, status: 'failed' };
}

function notConverged({ noun }: CollectionKind, remaining: readonly Remainder[]): SetpointError {
  const paths = remaining.map(({ path }) => formatPath(path)).join(', ');
  const hint = remaining[0]?.hint;
  return new SetpointError(
    'not-converged',
    `After the write of the ${noun} these are not as they should be: ${paths}.`,
    hint === undefined ? {} : { hint },
  );
}
