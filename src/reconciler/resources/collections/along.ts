import { isSecretHolder, toMemberPath, type ListedItem } from '../../model/collection.ts';
import { isWithin, type Path } from '../../model/path.ts';
import { UNDECLARED, type Change } from '../../model/plan.ts';
import { UnseenSecret } from '../../model/secret.ts';
import {
  isEmpty,
  isRecord,
  sameValue,
  collectSecrets,
  type Value,
  type ValueRecord,
} from '../../model/value.ts';
import { createMemberChange, type Planning } from './plan-members.ts';

/* What the write of an item changes on the service besides what differs from the file. */

const CLEARED = 'goes with the same write, which cannot carry it';
const CHANGED = 'changes with the same write';

/** The keys of declared maps of secrets that the service has and the file leaves out: a map is declared whole. */
export function listUndeclaredKeys(
  planning: Planning,
  members: ValueRecord,
  there: ListedItem,
): readonly Change[] {
  const { form, item } = planning;
  return Object.entries(members).flatMap(([name, value]): Change[] => {
    const held = there.members[name];
    if (!isRecord(value) || !isRecord(held) || !isSecretHolder(form, name, value)) return [];
    return Object.entries(held)
      .filter(([key, one]) => !Object.hasOwn(value, key) && !isEmpty(one))
      .map(([key, one]) => {
        const path = toMemberPath(form, item.name, [name, key]);
        return createMemberChange(planning, path, 'clear', one, null, UNDECLARED);
      });
  });
}

/** What else the service has otherwise once an item is stored, by the effects of the request that stores it. */
export function listAlongChanges(
  planning: Planning,
  there: ListedItem,
  changes: readonly Change[],
): readonly Change[] {
  const { form, item, listing } = planning;
  const { stored } = there;
  const [cause] = changes;
  if (stored === undefined || cause === undefined || listing.leaves === undefined) return [];
  const after = listing.leaves({ item, there, changes });
  return differing(stored, after).flatMap(([member, before, now]): Change[] => {
    const path = toMemberPath(form, item.name, member);
    const isPlanned = changes.some(
      (change) => isWithin(path, change.path) || isWithin(change.path, path),
    );
    const [name = ''] = member;
    const isDeclared =
      Object.hasOwn(item.members ?? {}, name) || item.left?.includes(name) === true;
    // A declared secret that is sent again is planned by itself, as far as it may be another one.
    if (isPlanned || (isDeclared && (collectSecrets(before).length === 0 || !isEmpty(now))))
      return [];
    const action = isEmpty(now) ? 'clear' : isEmpty(before) ? 'set' : 'change';
    const reason = action === 'clear' ? CLEARED : CHANGED;
    return [createMemberChange(planning, path, action, before, isEmpty(now) ? null : now, reason)];
  });
}

/** The members of two records that are not the same, inside maps too. A token of a place is the same as itself alone. */
export function differing(
  before: ValueRecord,
  after: ValueRecord,
): readonly (readonly [Path, Value, Value])[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].flatMap((name): (readonly [Path, Value, Value])[] => {
    const [was, is] = [before[name] ?? null, after[name] ?? null];
    if (isSame(was, is)) return [];
    if (!isRecord(was) || !isRecord(is)) return [[[name], was, is]];
    return differing(was, is).map(([path, from, to]) => [[name, ...path], from, to] as const);
  });
}

function isSame(one: Value, other: Value): boolean {
  if (one === other || (isEmpty(one) && isEmpty(other))) return true;
  if (one instanceof UnseenSecret || other instanceof UnseenSecret) return false;
  return sameValue(one, other);
}
