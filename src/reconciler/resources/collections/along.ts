import { listDifferences } from '../../effects/stored.ts';
import { isSecretHolder, toMemberPath, type ListedItem } from '../../model/collection.ts';
import { isWithin } from '../../model/path.ts';
import type { Change } from '../../model/plan.ts';
import { REASONS } from '../../model/reasons.ts';
import { isEmpty, isRecord, collectSecrets, type ValueRecord } from '../../model/value.ts';
import { createMemberChange, type Planning } from './plan-members.ts';

/* What the write of an item changes on the service besides what differs from the file. */

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
        return createMemberChange(planning, path, 'clear', one, null, REASONS.undeclared);
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
  return listDifferences(stored, after).flatMap(([member, before, now]): Change[] => {
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
    const reason = REASONS[action === 'clear' ? 'lost-with-write' : 'changed-with-write'];
    return [createMemberChange(planning, path, action, before, isEmpty(now) ? null : now, reason)];
  });
}
