import { listDifferences } from '../../effects/stored.ts';
import {
  isSecretHolder,
  toMemberPath,
  type ListedItem,
  isSecretItemMember,
  untoldLeaf,
  type CollectionForm,
  type DesiredItem,
  type Listing,
} from '../../model/collection.ts';
import { formatPath, isWithin, type Path } from '../../model/path.ts';
import type { Change, MovedAddress, Unknown } from '../../model/plan.ts';
import { REASONS, type Reason } from '../../model/reasons.ts';
import {
  isEmpty,
  isRecord,
  collectSecrets,
  type ValueRecord,
  holdsNothing,
  sameValue,
  type Value,
} from '../../model/value.ts';
import type { Fingerprints } from '../../model/ports.ts';
import { UnseenSecret } from '../../model/secret.ts';
import { isRotated, maskByDeclaration, type Rotation } from '../../plan/declared.ts';
import {
  createChange,
  type Subject,
  compareWithLastWrite,
  planHidden,
  createMasked,
  listMissingReferences,
} from '../../plan/decision.ts';

/** The changes that turn a collection into its declaration, and what of it could not be compared. */
export interface CollectionPlan {
  readonly changes: readonly Change[];
  readonly unknown: readonly Unknown[];
  /** Secrets that were stored from here, if the service lists no item at all. */
  readonly gone: readonly Path[];
  /** The items of the service that the file does not name. */
  readonly unmanaged: readonly Path[];
  readonly moved: readonly MovedAddress[];
  /** What is stored of each item afterwards: by the names of the server, where it has its own. */
  readonly leaves: ReadonlyMap<string, ValueRecord>;
}

/** The known facts about the secrets, next to what a service lists. */
export interface SecretFacts {
  readonly rotation: Rotation;
  readonly fingerprints: Fingerprints;
}

export type ItemPlan = Partial<Omit<CollectionPlan, 'unmanaged' | 'leaves'>>;

/** A declared item, and what it is planned by. */
export interface Planning extends SecretFacts {
  readonly form: CollectionForm;
  readonly item: DesiredItem;
  readonly listing: Listing;
  /** The name under which the service has it now: what was last stored was stored under that. */
  readonly storedAs: string;
}

export function isSecretMain(form: CollectionForm): boolean {
  return form.main !== undefined && isSecretItemMember(form, [form.main]);
}

export function createMemberChange(
  { form, item }: Planning,
  path: Path,
  action: Change['action'],
  before: Value,
  after: Value,
  reason: Reason,
): Change {
  return createChange(createItemSubject({ form, item }, path), action, before, after, reason);
}

/** The subject of a change at a path of an item. */
export function createItemSubject(
  { form, item }: Pick<Planning, 'form' | 'item'>,
  path: Path,
): Subject {
  const isSensitive = path.length === 2 && isSecretMain(form);
  return { resource: form.resource, path, source: item.source, isSensitive };
}

/** Compares the declared secret with the one last stored from here under its path. */
export function readLastStored(
  { form, storedAs, fingerprints }: Pick<Planning, 'form' | 'storedAs' | 'fingerprints'>,
  member: Path,
  value: Value,
) {
  return compareWithLastWrite(fingerprints, toMemberPath(form, storedAs, member), value);
}

/** The member that a list does not report here. */
function listUndescribedMembers(
  { untold }: CollectionForm,
  members: ValueRecord,
  there: ListedItem,
): string | undefined {
  if (untold === undefined) return undefined;
  const { member, tells } = untold;
  const isTold = Object.hasOwn(there.members, member) && tells(members[member] ?? null);
  return isTold ? undefined : member;
}

/** Plans an item that a service does not show, from what was last sent. */
export function planUntold(planning: Planning, members: ValueRecord, there: ListedItem): ItemPlan {
  const { form, item, rotation } = planning;
  const leaf = untoldLeaf(form, members);
  const name = listUndescribedMembers(form, members, there);
  if (leaf === null || name === undefined || leaf.value instanceof UnseenSecret) return {};
  const path = toMemberPath(form, item.name, leaf.member);
  const value = members[name] ?? null;
  return planHidden(createItemSubject(planning, path), {
    before: maskByDeclaration(there.members[name] ?? null, value),
    value,
    last: readLastStored(planning, leaf.member, leaf.value),
    isRotated: rotation !== 'all' && isRotated(rotation, path),
  });
}

/** Reports whether a snapshot masks a member, which then cannot be compared. */
function isMemberMasked({ form }: Planning, there: ListedItem, name: string): boolean {
  const actual = there.members[name] ?? null;
  return (
    !isSecretHolder(form, name, actual) &&
    collectSecrets(actual).some((secret) => secret instanceof UnseenSecret)
  );
}

/** Reports whether a member waits for a request: the server itself changed it, and `--rotate` does not name it. */
function isWaiting(
  { form, item, rotation }: Planning,
  there: ListedItem,
  name: string,
  value: Value,
): boolean {
  if (there.stopped === undefined || name !== form.onRequest) return false;
  const path = toMemberPath(form, item.name, [name]);
  const isAsked = rotation !== 'all' && isRotated(rotation, path);
  return !isAsked && !sameValue(value, there.members[name] ?? null);
}

/** The declared member that the server itself changed: it is not changed back by itself. */
export function planStopped(
  planning: Planning,
  members: ValueRecord,
  there: ListedItem,
): readonly Unknown[] {
  const { form, item } = planning;
  return Object.entries(members).flatMap(([name, value]): Unknown[] => {
    if (!isWaiting(planning, there, name, value)) return [];
    const path = toMemberPath(form, item.name, [name]);
    const reason = `${there.stopped ?? ''}; see why, and run apply --rotate ${formatPath(path)}`;
    return [{ path, reason, ref: null }];
  });
}

/** The declared members that a snapshot masks. */
export function planMasked(
  planning: Planning,
  members: ValueRecord,
  there: ListedItem,
): readonly Unknown[] {
  const names = Object.keys(members).filter((name) => isMemberMasked(planning, there, name));
  return names.map((name) =>
    createMasked(toMemberPath(planning.form, planning.item.name, [name]), members[name] ?? null, {
      kind: 'stored',
    }),
  );
}

/** Lists the shown members of an item that differ from the declaration. */
export function listMemberChanges(
  planning: Planning,
  members: ValueRecord,
  there: ListedItem,
): readonly Change[] {
  const { form, item, listing } = planning;
  const { whole, fills } = listing;
  // What a server fills in for a member is what null declares.
  const filled = (name: string, value: Value): Value => value ?? fills?.(name, members) ?? null;
  const isDefault = (name: string, value: Value): boolean =>
    whole === undefined ? holdsNothing(value) : sameValue(whole(name, value), whole(name, null));
  const isSame = (name: string, value: Value, actual: Value): boolean =>
    whole === undefined
      ? sameValue(value, actual) || (holdsNothing(value) && isDefault(name, actual))
      : sameValue(whole(name, filled(name, value)), whole(name, actual));
  const untold = listUndescribedMembers(form, members, there);
  const isApart = (name: string, value: Value): boolean =>
    name === untold || isSecretHolder(form, name, value);
  const declared = Object.entries(members).flatMap(([name, value]): Change[] => {
    if (isApart(name, value) || isMemberMasked(planning, there, name)) return [];
    if (isWaiting(planning, there, name, value)) return [];
    const path = toMemberPath(form, item.name, [name]);
    const actual = there.members[name] ?? null;
    if (isSame(name, value, actual) || listMissingReferences(path, value).length > 0) return [];
    const before = maskByDeclaration(isEmpty(actual) ? null : actual, value);
    const after = isEmpty(value) ? null : value;
    const action = before === null ? 'set' : after === null ? 'clear' : 'change';
    return [createMemberChange(planning, path, action, before, after, REASONS.differs)];
  });
  if (!form.isWhole) return declared;
  const left = Object.entries(there.members).flatMap(([name, actual]): Change[] => {
    if (Object.hasOwn(members, name) || isApart(name, actual)) return [];
    if (isDefault(name, actual)) return [];
    const path = toMemberPath(form, item.name, [name]);
    return [createMemberChange(planning, path, 'clear', actual, null, REASONS.reset)];
  });
  return [...declared, ...left];
}

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
