import { type Change, type Unknown } from '../model/plan.ts';
import { isRename } from '../model/action.ts';
import { findNode, plainValue, type Node } from '../desired/node.ts';
import { pointerPlace } from '../desired/active-profiles.ts';
import type { BlockName } from '../desired/blocks.ts';
import type { Target } from '../desired/target.ts';
import { ACTIVE_FORM, GIT_PROVIDERS_FORM, SECRETS_FORM } from '../model/collection-forms.ts';
import {
  isSecretItemMember,
  itemNamed,
  waitingFor,
  type CollectionForm,
  type ListedItem,
} from '../model/collection.ts';
import type { LeftAlone, PulledAction } from '../model/documents.gen.ts';
import { formatPath, isWithin, formatPathKey, samePath, type Path } from '../model/path.ts';
import { isSecretText } from '../model/secret-words.ts';
import type { Secret } from '../model/secret.ts';
import { isEmptyStore, type DesiredState, type ObservedState } from '../model/state.ts';
import { isEmpty, maskSecrets, type Json, type Value } from '../model/value.ts';
import { isObject, type JsonObject } from '../yaml-edit/source.ts';
import {
  collectFormerNames,
  namesFormer,
  type FormerNames,
  isRotating,
  type ReadCollection,
  type ReadCollections,
} from './listed.ts';
import { skipPull, type EntryPullResult } from './rules.ts';
import type { PullEdit } from './place-edits.ts';
import type { WrittenValue } from './program.ts';
import { canDeclare, REASONS, whyUnwritten } from './writable.ts';
import {
  isByConnection,
  isLeftToDefault,
  hasReferences,
  secretReference,
  writeListedItem,
  writeItemMember,
} from './written-item.ts';

/** The edits of items that a service stores by name, what is skipped, and what cannot be compared. */
export interface PulledItems extends EntryPullResult {
  readonly adopted: readonly { readonly path: Path; readonly value: Value }[];
  readonly unknown: readonly Unknown[];
}

/** The rules for pulling items. */
export interface ItemRules {
  readonly adopt: 'all' | readonly Path[];
  /** The paths that do not change in the file, each with the reason. */
  readonly excluded: ReadonlyMap<string, string>;
  /** Differences that show once others are pulled. */
  readonly later: readonly Change[];
  readonly hidden: readonly Secret[];
}

/** A target, what it declares, and what its service has. */
interface ComparedTarget {
  readonly target: Target;
  readonly desired: DesiredState;
  readonly observed: ObservedState;
}

interface Pulling extends ComparedTarget {
  readonly one: ReadCollection;
  readonly rules: ItemRules;
  readonly formerNames: FormerNames;
  /** The items of the blocks before that are adopted. */
  readonly adopted: readonly Path[];
}

/** Pulls every collection that was read: items that differ, that have gone, and that are to be added to the file. */
export function pullItems(
  compared: ComparedTarget,
  { read, unread }: ReadCollections,
  rules: ItemRules,
): PulledItems {
  const formerNames = collectFormerNames(read, compared.desired);
  const adopted: Path[] = [];
  const parts = read.map((one) => {
    const part = pullCollection({ ...compared, one, rules, formerNames, adopted });
    adopted.push(...part.adopted.map(({ path }) => path));
    return part;
  });
  return {
    edits: parts.flatMap(({ edits }) => edits),
    made: parts.flatMap(({ made }) => made),
    left: [...unread, ...parts.flatMap(({ left }) => left)],
    adopted: parts.flatMap(({ adopted }) => adopted),
    unknown: parts.flatMap(({ unknown }) => unknown),
  };
}

function pullCollection(pulling: Pulling): PulledItems {
  const { desired, observed, one, rules } = pulling;
  const { listing } = one;
  const { changes: planned, unknown, unmanaged } = one.plan(desired);
  const isPlanned = ({ path }: Change): boolean => planned.some((it) => samePath(it.path, path));
  const ofBlock = rules.later.filter(({ path }) => path[0] === one.form.block);
  const changes = [...planned, ...ofBlock.filter((change) => !isPlanned(change))];
  // A service without anything was not emptied item by item.
  const isNew = isEmptyStore(observed) && listing.items.length === 0;
  const pulls = changes.map((change) =>
    isNew ? skipPull(change, REASONS.empty) : pullItemChange(change, pulling),
  );
  const known = new Set(changes.map(({ path }) => formatPathKey(path.slice(0, 2))));
  const added = unmanaged
    .filter((path) => !known.has(formatPathKey(path)) && isAdoptionTarget(path, rules.adopt))
    .map((path) => adoptItem(path, pulling));
  return {
    edits: [...pulls, ...added].flatMap(({ edits }) => edits),
    made: pulls.flatMap(({ made }) => made),
    left: [...pulls, ...added].flatMap(({ left }) => left),
    adopted: added
      .filter(({ edits }) => edits.length > 0)
      .map(({ path }) => ({ path, value: readWholeItem(one, path) })),
    unknown,
  };
}

function readWholeItem(
  { form: { main }, listing: { items } }: ReadCollection,
  [, name]: Path,
): Value {
  const members = items.find((item) => item.name === name)?.members ?? null;
  return main === undefined ? members : (members?.[main] ?? null);
}

function isAdoptionTarget(path: Path, adopt: ItemRules['adopt']): boolean {
  return adopt === 'all' || adopt.some((named) => samePath(named, path) || isWithin(path, named));
}

function pullItemChange(change: Change, pulling: Pulling): EntryPullResult {
  const { one, rules } = pulling;
  const [, name = ''] = change.path;
  const there = findListedItem(name, pulling);
  const kept = findExclusionReason(change.path, rules.excluded);
  if (kept !== undefined) return skipPull(change, kept);
  if (isRename(change)) return skipPull(change, REASONS.renamed);
  if (namesFormer(change.before, one.form.block, pulling.formerNames))
    return skipPull(change, REASONS.namesRenamed);
  if (there?.outdated !== undefined && change.code === there.outdated.code)
    return skipPull(change, REASONS.outdated);
  if (change.action === 'remove' && there !== undefined) {
    const { edit, left } = itemEdit(there, pulling);
    return edit === null
      ? { edits: [], made: [], left }
      : { edits: [edit], made: [['add', change]], left };
  }
  if (there !== undefined) return pullItemMember(change, there, pulling);
  if (waitingFor(name, one.listing) !== undefined) return skipPull(change, REASONS.interrupted);
  const place = locateItem(name, pulling);
  const gone: PullEdit = { path: place, value: null, placeholders: [], leaves: true };
  return { edits: [gone], made: [['remove', change]], left: [] };
}

/** Finds a declared item on the service, under its current name or a former one. */
function findListedItem(name: string, { one, desired }: Pulling): ListedItem | undefined {
  const { form, listing } = one;
  const former = itemNamed(desired, form, name)?.former?.name;
  const called = (some: string | undefined) => listing.items.find((item) => item.name === some);
  return called(name) ?? called(former);
}

function findExclusionReason(path: Path, excluded: ItemRules['excluded']): string | undefined {
  return path
    .map((_, index) => excluded.get(formatPath(path.slice(0, index + 1))))
    .find((reason) => reason !== undefined);
}

function adoptItem(path: Path, pulling: Pulling): EntryPullResult & { readonly path: Path } {
  const [, name] = path;
  const kept = findExclusionReason(path, pulling.rules.excluded);
  const there = pulling.one.listing.items.find((item) => item.name === name);
  if (there === undefined || kept !== undefined)
    return { path, ...skipPull({ path, ref: null }, kept ?? REASONS.inexpressible) };
  if (namesFormer(there.members, path[0] ?? '', pulling.formerNames))
    return { path, ...skipPull({ path, ref: null }, REASONS.namesRenamed) };
  if (isUndeclaredActive(path, pulling))
    return { path, ...skipPull({ path, ref: null }, REASONS.undeclared) };
  const { edit, left } = itemEdit(there, pulling);
  return { path, edits: edit === null ? [] : [edit], made: [], left };
}

/** Reports whether a file that declares everything would make a profile active that it does not declare. */
function isUndeclaredActive(path: Path, { one, desired, rules, adopted }: Pulling): boolean {
  const [, kind = ''] = path;
  if (one.form !== ACTIVE_FORM || rules.adopt !== 'all') return false;
  const block = `${kind}s`;
  const name = readWholeItem(one, path);
  if (typeof name !== 'string' || itemNamed(desired, { block }, name) !== undefined) return false;
  return !adopted.some((at) => samePath(at, [block, name]));
}

/** The whole of an item, as `init` writes it. */
function itemEdit(
  there: ListedItem,
  pulling: Pulling,
): { readonly edit: PullEdit | null; readonly left: readonly LeftAlone[] } {
  const { name } = there;
  const {
    one: { form, listing },
    rules: { hidden },
  } = pulling;
  const path = [form.block, name];
  const left: LeftAlone[] = [];
  const leave = (reason: string, at: Path = path) => {
    left.push({ path: isSecretText(name) ? [form.block] : at, reason, ref: null });
    return { edit: null, left };
  };
  if (there.foreign !== undefined) return leave(`not managed: ${there.foreign}`);
  if (isRotating(there, listing)) return leave(REASONS.rotating);
  const written = isSecretText(name)
    ? null
    : writeListedItem(form, listing, there, hidden, (one) =>
        leave(REASONS.inexpressible, [...path, one]),
      );
  if (written === null) return leave(REASONS.sensitive);
  if (!canDeclare({ [form.block]: { [name]: written.value } })) return leave(REASONS.inexpressible);
  return { edit: { path: locateItem(name, pulling), beside: true, ...written }, left };
}

/** Returns the place of an item in the file, declared or not. An active item may be a pointer of the settings. */
function locateItem(name: string, { target, one: { form } }: Pulling): Path {
  const pointer = form === ACTIVE_FORM ? pointerPlace(target, name) : null;
  return pointer === null ? [form.block, name] : ['settings', ...pointer];
}

function findItemNode(place: Path, target: Target): Node | undefined {
  const [block = '', ...inner] = place;
  const node = target[block as BlockName];
  return node === undefined ? undefined : findNode(node, inner);
}

/** A member that differs on the service. References stay, and no secret is written. */
function pullItemMember(change: Change, there: ListedItem, pulling: Pulling): EntryPullResult {
  const { path, ref, action } = change;
  const {
    target,
    one: { form, listing },
    rules: { hidden },
  } = pulling;
  const { block, main } = form;
  const [, name = '', ...inner] = path;
  const member = inner.length === 0 && main !== undefined ? [main] : inner;
  const [first = ''] = member;
  const place = locateItem(name, pulling);
  const node = findItemNode(place, target);
  const isShort = node?.kind === 'scalar';
  const own = isShort || node === undefined ? node : findNode(node, member);
  const at = isShort ? place : [...place, ...member];
  const write = (
    written: WrittenValue & Pick<PullEdit, 'leaves' | 'along'>,
    as: PulledAction,
  ): EntryPullResult => {
    const edits = [{ path: at, item: place.length, ...written }];
    return { edits, made: [[as, change]], left: [] };
  };
  if (isSecretItemMember(form, member)) {
    if (isByConnection(form, there, first)) return write(leavingFile(null), 'clear');
    if (action === 'clear') return write(secretReference(form, name, member), 'set');
    return skipPull(change, ref === null ? REASONS.secret : REASONS.reference);
  }
  if (own !== undefined && hasReferences(own)) return skipPull(change, REASONS.reference);
  const value = there.members[first] ?? null;
  const written = writeItemMember(form, name, [first, value], hidden);
  if (form.isWhole && isLeftToDefault(form, listing, there, first))
    return write(leavingFile(written?.value ?? null), 'clear');
  if (written === null || written.placeholders.length > 0)
    return skipPull(change, whyUnwritten(value, hidden));
  const plain = node === undefined ? {} : maskSecrets(plainValue(node));
  // Removals from the file do not prevent additions.
  const stays = ([key]: readonly [string, Json]): boolean =>
    !form.isWhole || !isLeftToDefault(form, listing, there, key);
  const whole = Object.fromEntries(Object.entries(isObject(plain) ? plain : {}).filter(stays));
  const isFit = (one: Json): boolean =>
    isShort ||
    [whole, { ...whole, ...plainMembers(there, pulling) }].some((others) =>
      canDeclare({ [block]: { [name]: { ...others, [first]: one } } }),
    );
  const found = [written.value, ...(isEmpty(value) ? [null] : [])].find(isFit);
  if (found === undefined) return skipPull(change, REASONS.inexpressible);
  const as = action === 'set' ? 'clear' : action === 'clear' ? 'set' : 'change';
  const brought = first === 'connection' ? removeImpliedMembers(form, there, node, place) : [];
  const along = NEVER_IN_PART.has(block) ? { along: whole } : {};
  const pulled = write({ value: found, placeholders: [], ...along }, as);
  return { ...pulled, edits: [...pulled.edits, ...brought] };
}

/** Returns the plain members of an item, which one of them may need, such as the kind of an agent. */
function plainMembers(there: ListedItem, { one: { form, listing }, rules }: Pulling): JsonObject {
  const members = Object.entries(there.members).flatMap(([key, value]): [string, Json][] => {
    const written = writeItemMember(form, there.name, [key, value], rules.hidden);
    const isPlain = written !== null && written.placeholders.length === 0;
    return isPlain && !isLeftToDefault(form, listing, there, key) ? [[key, written.value]] : [];
  });
  return Object.fromEntries(members);
}

/** The members of a profile that its connection brings leave the file. */
function removeImpliedMembers(
  form: CollectionForm,
  there: ListedItem,
  node: Node | undefined,
  place: Path,
): readonly PullEdit[] {
  const own = node?.kind === 'map' ? [...node.members.keys()] : [];
  return own
    .filter((key) => isByConnection(form, there, key))
    .map((key) => ({ path: [...place, key], item: place.length, ...leavingFile(null) }));
}

/** Items whose secret has to be declared in every layer that declares anything of them. */
const NEVER_IN_PART: ReadonlySet<string> = new Set([SECRETS_FORM.block, GIT_PROVIDERS_FORM.block]);

function leavingFile(value: Json): WrittenValue & Pick<PullEdit, 'leaves'> {
  return { value, placeholders: [], leaves: true };
}
