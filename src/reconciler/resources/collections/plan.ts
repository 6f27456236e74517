import {
  toMemberPath,
  listItemNames,
  ownNames,
  secondName,
  secretLeaves,
  waitingFor,
  type CollectionForm,
  type DesiredItem,
  type ListedItem,
  type Listing,
} from '../../model/collection.ts';
import { addRenameWay, REASONS } from '../../model/reasons.ts';
import type { Path } from '../../model/path.ts';
import { Secret, UnseenSecret } from '../../model/secret.ts';
import { createRecord, readPath, type Value, type ValueRecord } from '../../model/value.ts';
import { isRotated } from '../../plan/declared.ts';
import { listAlongChanges, listUndeclaredKeys } from './along.ts';
import { findMovedAddresses } from './moved-addresses.ts';
import { afterRenames, createRename, listRenamings } from './renames.ts';
import {
  createMemberChange,
  isSecretMain,
  readLastStored,
  planMasked,
  planUntold,
  listMemberChanges,
  type CollectionPlan,
  type ItemPlan,
  type SecretFacts,
  type Planning,
  subjectOf,
} from './plan-members.ts';
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
    return [[name, createRecord(Object.entries({ ...stays, ...members, ...stored }))]];
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
  return planSecret(subjectOf(planning, path), {
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
