import { ownNames, type CollectionForm, type DesiredItem } from '../../model/collection.ts';
import { leftNames } from '../../model/without.ts';
import type { Source } from '../../model/path.ts';
import { UNDECLARED, type Change, type PartPlan, type Warning } from '../../model/plan.ts';
import { itemOf } from './send.ts';
import type { Judged, Wire } from './wire.ts';

/* What a service has and the file does not name, where the file says that others go. */

/** The removals of others, as one declaration: no declared item has this name. */
export const OTHERS = '';

/** The item that a change follows from, as the file declares it. */
export function declaredAs(
  change: Pick<Change, 'path'> & Partial<Pick<Change, 'action' | 'reason'>>,
): string {
  return isOther(change) ? OTHERS : itemOf(change);
}

function isOther({ action, reason }: Partial<Pick<Change, 'action' | 'reason'>>): boolean {
  return action === 'remove' && reason === UNDECLARED;
}

/** What is declared, and the removal of what a service has besides: all but what is its own. `source` says that others go; undefined: they stay. */
export function withOthers(
  { block, ofService = [] }: CollectionForm,
  judged: Judged,
  wire: Wire | undefined,
  source: Source | undefined,
): readonly DesiredItem[] {
  const { items, listing, desired } = judged;
  if (source === undefined) return items;
  const left = leftNames(desired, block);
  const own = ownNames(items, listing);
  const others = listing.items
    .filter(({ name }) => !own.has(name) && !left.has(name) && !ofService.includes(name))
    .filter((item) => wire?.keeps?.(item, judged) !== true);
  return [...items, ...others.map(({ name }) => removalOf(name, source))];
}

/** What is declared, and the removals of others that are approved. What came after the approval stays. */
export function withApproved(
  items: readonly DesiredItem[],
  { changes }: PartPlan,
  source: Source | undefined,
): readonly DesiredItem[] {
  if (source === undefined) return items;
  return [...items, ...changes.filter(isOther).map((change) => removalOf(itemOf(change), source))];
}

function removalOf(name: string, source: Source): DesiredItem {
  return { name, members: null, source, isOther: true };
}

/** That a look at all that a server has changes something on it. */
export function listWrites({ block }: CollectionForm, wire: Wire | undefined): readonly Warning[] {
  const message = wire?.listWrites;
  return message === undefined ? [] : [{ code: 'list-writes', message, path: [block] }];
}
