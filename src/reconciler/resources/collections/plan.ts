import {
  type ListedItem,
  toMemberPath,
  listItemNames,
  ownNames,
  secondName,
  secretLeaves,
  waitingFor,
  type CollectionForm,
  type DesiredItem,
  type Listing,
} from '../../model/collection.ts';
import { sameEndpoint } from '../../model/endpoint.ts';
import { findPathFacts, type Address } from '../../model/path-facts.ts';
import { isWithin, samePath, type Path } from '../../model/path.ts';
import type { Change, MovedAddress } from '../../model/plan.ts';
import {
  isEmpty,
  isRecord,
  readPath,
  type Value,
  type ValueRecord,
  createRecord,
  sameValue,
} from '../../model/value.ts';
import { isOtherProvider, listChangedItemFacts } from '../../plan/moved.ts';
import { PROVIDER_DEFAULTS } from '../../model/provider-defaults.ts';
import {
  type Planning,
  listAlongChanges,
  listUndeclaredKeys,
  createMemberChange,
  isSecretMain,
  readLastStored,
  planMasked,
  planStopped,
  planUntold,
  listMemberChanges,
  type CollectionPlan,
  type ItemPlan,
  type SecretFacts,
  createItemSubject,
} from './plan-members.ts';
import { addRenameWay, REASONS } from '../../model/reasons.ts';
import { Secret, UnseenSecret } from '../../model/secret.ts';
import { isRotated } from '../../plan/declared.ts';
import { afterRenames, createRename, listRenamings } from './renames.ts';
import {
  HIDDEN,
  listMissingReferences,
  planSecret,
  findUnseenReason,
} from '../../plan/decision.ts';

/**
 * Plans a collection by name: declared items are stored, changed, or removed; unnamed ones are left alone. A secret is mostly not read: a
 * stored one counts as the declared one only if a fingerprint confirms it. Pure.
 */
export function planCollection(
  form: CollectionForm,
  desired: readonly DesiredItem[],
  present: Listing,
  known: SecretFacts,
): CollectionPlan {
  const renamings = new Map(listRenamings(desired, present).map((one) => [one.item, one]));
  const listing = afterRenames(desired, present);
  const { items } = listing;
  const listed = new Map(items.map((item) => [item.name, item]));
  const plans = desired.map((item): ItemPlan => {
    const renaming = renamings.get(item);
    const storedAs = renaming?.former.name ?? item.name;
    const plan = planItem({ form, item, listing, storedAs, ...known }, listed.get(item.name));
    if (renaming === undefined) return plan;
    return { ...plan, changes: [createRename(form, renaming), ...(plan.changes ?? [])] };
  });
  const own = ownNames(desired, listing);
  const leaves = desired.flatMap((item, index): [string, ValueRecord][] => {
    const { name, members } = item;
    if (members === null) return [];
    const [there, { changes = [] } = {}] = [listed.get(name), plans[index]];
    const stays = form.isWhole ? {} : there?.members;
    const stored = listing.leaves?.({ item, there, changes });
    return [[name, createRecord({ ...stays, ...members, ...stored })]];
  });
  return {
    leaves: new Map(leaves),
    changes: plans.flatMap(({ changes = [] }) => changes),
    unknown: plans.flatMap(({ unknown = [] }) => unknown),
    gone: items.length > 0 ? [] : plans.flatMap(({ gone = [] }) => gone),
    moved: plans.flatMap(({ moved = [] }) => moved),
    unmanaged: items.flatMap(({ name }) => (own.has(name) ? [] : [[form.block, name]])),
  };
}

function planItem(planning: Planning, there: ListedItem | undefined): ItemPlan {
  const { form, item, listing } = planning;
  const { name, members } = item;
  const path = [form.block, name];
  const interrupted = waitingFor(name, listing) !== undefined;
  if (members === null) {
    if (there === undefined && !interrupted) return {};
    const held = isSecretMain(form) ? HIDDEN : readWholeValue(form, there?.members ?? null);
    const told = item.isOther === true ? REASONS.undeclared : REASONS.stored;
    const reason = there === undefined ? REASONS['left-over'] : told;
    return {
      changes: [
        createMemberChange(
          planning,
          path,
          'remove',
          there === undefined ? null : held,
          null,
          reason,
        ),
      ],
    };
  }
  const whole = readWholeValue(form, members);
  const unknown = listMissingReferences(path, whole);
  if (there === undefined) {
    const told = REASONS[isSecretMain(form) ? 'unset' : 'not-set'];
    const reason = interrupted ? REASONS['set-again'] : told;
    const names = listItemNames([item]);
    const gone = secretLeaves(form, members).flatMap(({ member, value }) =>
      names.every((storedAs) => readLastStored({ ...planning, storedAs }, member, value) === 'none')
        ? []
        : [toMemberPath(form, name, member)],
    );
    const changes = [createMemberChange(planning, path, 'set', null, whole, reason)];
    return { changes, unknown, gone, moved: findMovedAddresses(planning, there, changes) };
  }
  const shown = [
    ...listMemberChanges(planning, members, there),
    ...listUndeclaredKeys(planning, members, there),
  ];
  const secrets = (alters: boolean): readonly ItemPlan[] =>
    secretLeaves(form, members).map(({ member, value }) =>
      planItemSecret(planning, { member, value }, there, { interrupted, alters }),
    );
  const first = secrets(shown.length > 0);
  const isStored = shown.length > 0 || first.some(({ changes = [] }) => changes.length > 0);
  const hidden = listing.resends === undefined ? first : secrets(isStored);
  const untold = planUntold(planning, members, there);
  const differing = [...[...hidden, untold].flatMap((one) => one.changes ?? []), ...shown];
  const { outdated } = there;
  const needed =
    differing.length > 0 || outdated === undefined
      ? differing
      : [createMemberChange(planning, path, 'change', whole, whole, outdated)];
  const changes = [...needed, ...listAlongChanges(planning, there, needed)];
  return {
    changes,
    moved: findMovedAddresses(planning, there, changes),
    unknown: [
      ...[...hidden, untold].flatMap((one) => one.unknown ?? []),
      ...planMasked(planning, members, there),
      ...planStopped(planning, members, there),
      ...unknown.filter(({ path: at }) => !isSecretPath(planning, at)),
    ],
  };
}

/** Returns the value that the path of an item represents: its main member, or all of it. */
export function readWholeValue({ main }: CollectionForm, members: ValueRecord | null): Value {
  return main === undefined || members === null ? members : (members[main] ?? null);
}

/** Reports whether a path names a secret, which is planned on its own. */
function isSecretPath({ form, item }: Planning, path: Path): boolean {
  return secretLeaves(form, item.members ?? {}).some(
    ({ member }) => String(toMemberPath(form, item.name, member)) === String(path),
  );
}

/** Returns the value that a service reports for a secret; undefined if it reports none. */
function readSecretMember(members: ValueRecord, member: Path): Value | undefined {
  const [first = ''] = member;
  return Object.hasOwn(members, first) ? (readPath(members, member) ?? null) : undefined;
}

/** A secret of an item that is there. */
function planItemSecret(
  planning: Planning,
  { member, value }: { readonly member: Path; readonly value: Value },
  there: ListedItem,
  { interrupted, alters }: { readonly interrupted: boolean; readonly alters: boolean },
): ItemPlan {
  const { form, item, listing, rotation } = planning;
  const path = toMemberPath(form, item.name, member);
  const held = readSecretMember(there.members, member);
  const last = readLastStored(planning, member, value);
  const isResent = listing.resends?.(member[0] ?? '') === true;
  return planSecret(createItemSubject(planning, path), {
    value,
    held: held === undefined && value instanceof Secret ? HIDDEN : (held ?? null),
    last,
    isRotated: isRotated(rotation, path),
    words: { unset: REASONS['not-set'], differs: REASONS.differs },
    again: interrupted ? REASONS['rotated-again'] : null,
    resent: !alters
      ? null
      : !listing.describes
        ? REASONS.renewed
        : isResent
          ? REASONS.resent
          : null,
    via: (reason) =>
      listing.replaces === 'in-place' ? reason : addRenameWay(reason, secondName(item.name)),
    ...(value instanceof UnseenSecret ? { unseen: findUnseenReason(path, value) } : {}),
  });
}

/**
 * The addresses in an item that the changes move to another host or provider although a stored credential goes there: one of the item
 * itself, or one of another item that it names. A credential that is written again is not the one that was stored for another host.
 */
export function findMovedAddresses(
  { form, item }: Pick<Planning, 'form' | 'item'>,
  there: ListedItem | undefined,
  changes: readonly Change[],
): readonly MovedAddress[] {
  const path = [form.block, item.name];
  const after = item.members ?? {};
  return changes.flatMap((change) =>
    listChangedItemFacts(change).flatMap((changed): MovedAddress[] => {
      const {
        path: place,
        facts: { address },
        before: from,
        after: to,
      } = changed;
      if (address === null || change.action === 'remove') return [];
      const isMoved =
        address.by === 'url'
          ? !sameEndpoint(from, to)
          : isByModel(there, after) && isOtherProvider(from, to, PROVIDER_DEFAULTS);
      if (!isMoved) return [];
      const sent = address.sends.flatMap((group) =>
        selectSentItemSecret(group, { path, there: there?.members ?? {}, after, changes, address }),
      );
      const by = sent.find((one) => !isWithin(one, path));
      if (sent.length === 0) return [];
      const where = address.by === 'url' ? 'another host' : 'another provider';
      return [{ path: place, where, ...(by === undefined ? {} : { by }) }];
    }),
  );
}

/** Reports whether the service infers the address of a model itself. A profile with an address uses that, whatever the model. */
function isByModel(there: ListedItem | undefined, after: ValueRecord): boolean {
  const { members = {}, isInferred = false } = there ?? {};
  const isLinked = !isEmpty(members['connection']) || !isEmpty(after['connection']);
  if (isLinked && !(isInferred && sameValue(members['connection'], after['connection'])))
    return false;
  return [members, after].every(({ base_url: url }) => isEmpty(url));
}

interface Sending {
  readonly path: Path;
  readonly there: ValueRecord;
  readonly after: ValueRecord;
  readonly changes: readonly Change[];
  readonly address: Address;
}

/** Returns the credential that is sent from a group of alternatives; for another item its path, whether it has one or not. */
function selectSentItemSecret(group: readonly Path[], sending: Sending): readonly Path[] {
  const { path, there, after, changes, address } = sending;
  for (const place of group) {
    const [name = '', ...inner] = place.slice(path.length);
    const { item } = findPathFacts([...path, name]);
    const named = after[name];
    if (item !== null && typeof named === 'string') return [[item, named, ...inner]];
    const touching = changes.filter((change) => samePath(change.path, place));
    const isReplaced = touching.some(({ action }) => action !== 'clear');
    if (isReplaced && !address.former) return [];
    const held = readPath(there, [name, ...inner]);
    const isCleared = touching.some(({ action }) => action === 'clear');
    if (!isCleared && isStored(held)) return [place];
  }
  return [];
}

function isStored(value: Value | undefined): boolean {
  return isRecord(value) ? Object.values(value).some(isStored) : !isEmpty(value);
}
