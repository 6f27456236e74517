import { onceFor } from '../model/cache.ts';
import type { Dialect, DialectField } from '../model/dialect.ts';
import {
  listRecordEntries,
  isMcpList,
  isUnmanagedEntry,
  createKnownEntry,
  MCP_LISTS,
  type McpList,
  entryPaths,
  isOfServers,
  findEntryMember,
  createMemberPath,
  listPathedEntries,
  type PathOfEntry,
} from '../model/mcp.ts';
import { placeNamed, type Field, fieldNamed } from '../model/field.ts';
import {
  isUnmanaged,
  isWithin,
  pathNamed,
  type Path,
  samePath,
  formatPath,
} from '../model/path.ts';
import {
  type DesiredState,
  findDeclaredServers,
  type DeclaredItem,
  type DesiredField,
  type SkippedPath,
  type ObservedState,
} from '../model/state.ts';
import {
  isRecord,
  type ValueRecord,
  isList,
  WireNumber,
  type Value,
  mapRecord,
  createRecord,
  collectSecrets,
  isEmpty,
  filterMembers,
} from '../model/value.ts';
import type { Plan, Change, Unknown, SettingsPlan } from '../model/plan.ts';
import { type Warning, SetpointError } from '../model/error.ts';
import type { Digests } from '../model/ports.ts';
import { Secret } from '../model/secret.ts';
import { isSensitiveUrl } from '../model/address.ts';
import { maskProgramArgument } from '../model/secret-words.ts';
import { findPathFacts } from '../model/path-facts.ts';
import { isOtherServer } from './mcp-entry.ts';
import { COLLECTION_FORMS } from '../model/collection-forms.ts';
import { itemsDeclared, listItemNames, secondName, type DesiredItem } from '../model/collection.ts';

/** Reports whether the file declares a plan's name: directly, or by a map around it. */
export function declaresField({ fields }: Pick<DesiredState, 'fields'>, name: string): boolean {
  const place = placeNamed(name);
  return fields.some(({ field }) => isWithin(place, field.place));
}

/** Reports whether the file declares a field and does not list it as unmanaged. */
export function managesField({ fields, unmanaged }: DesiredState, name: string): boolean {
  return declaresField({ fields }, name) && !isUnmanaged(unmanaged, pathNamed(name));
}

/** The mcp lists that the file declares: null and {} declare all three. */
export function listManagedMcpLists(desired: DesiredState): readonly McpList[] {
  if (!managesField(desired, 'mcp_config')) return [];
  const declared = findDeclaredServers(desired)?.value;
  return isRecord(declared) ? Object.keys(declared).filter(isMcpList) : MCP_LISTS;
}

/**
 * Which entries of the service are declared in another list than theirs, whose own list the file does not declare: where every server
 * has a name, it has it in one list only.
 */
export function findRelocatedEntries(
  declared: ValueRecord,
  unmanaged: readonly Path[],
  { entryMembers }: Dialect,
): (list: McpList, entry: ValueRecord) => boolean {
  if (entryMembers !== undefined) return () => false;
  const names = new Set(
    MCP_LISTS.flatMap((list) =>
      listRecordEntries(declared[list]).flatMap((entry) =>
        isUnmanagedEntry(unmanaged, list, entry)
          ? []
          : (createKnownEntry(list, entry).name?.key ?? []),
      ),
    ),
  );
  return (list, entry) =>
    declared[list] === undefined &&
    names.has(createKnownEntry(list, entry).name?.key ?? '') &&
    !isUnmanagedEntry(unmanaged, list, entry);
}

/** Reports whether the file manages an entry of a list of the service. */
export function managesEntry(desired: DesiredState, list: McpList, entry: ValueRecord): boolean {
  return (
    listManagedMcpLists(desired).includes(list) &&
    !isUnmanagedEntry(desired.unmanaged, list, entry) &&
    isEntryInScope(desired, list, entry)
  );
}

/** Reports whether an entry is in the scope of a declared list. All are, unless the file declares servers by name. */
function isEntryInScope(desired: DesiredState, list: McpList, entry: ValueRecord): boolean {
  const { value, block } = findDeclaredServers(desired) ?? {};
  if (block === undefined || !isRecord(value)) return true;
  if (isOtherServer(block, list, entry)) return true;
  const { name, place } = createKnownEntry(list, entry);
  if (name === null)
    return listRecordEntries(value[list]).some((one) =>
      createKnownEntry(list, one).place.sameAs(place),
    );
  const named = MCP_LISTS.flatMap((each) =>
    listRecordEntries(value[each]).map((one) => one['name']),
  );
  return [...named, ...block.removed].includes(entry['name'] ?? null);
}

/**
 * The digest of what the file declares for each change, in their order, including literals that documents mask, and every reference in its
 * written form, in its place. It covers neither values of references nor values that only the service has.
 */
export function digestDeclaredChanges(
  plan: Plan,
  desired: DesiredState,
  { quick }: Pick<Digests, 'quick'>,
): string[] {
  const digest = (form: unknown): string => quick(JSON.stringify(form));
  return plan.flatMap((part) => {
    const terms = part.resource.terms(part, desired, quick);
    return part.changes.map(({ resource, path }, index) => digest([resource, path, terms[index]]));
  });
}

/** The digest of one literal of the file. */
export function literalDigest(text: string, { quick }: Pick<Digests, 'quick'>): string {
  return quick(JSON.stringify(['literal', text]));
}

/** A declared value with references instead of their values, keys in order. */
export function toDigestForm(value: Value, quick: Digests['quick']): unknown {
  if (value instanceof Secret)
    return value.ref === null
      ? { literal: value.compareWith((text) => literalDigest(text, { quick })) }
      : { reference: value.ref };
  if (value instanceof WireNumber) return { number: value.toJSON() };
  if (isList(value)) return value.map((item) => toDigestForm(item, quick));
  if (!isRecord(value)) return value;
  const members = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return { members: members.map(([key, member]) => [key, toDigestForm(member, quick)]) };
}

/** The contribution of one declared field to the plan. `write` is its value in a write; absent if it does not change. */
export interface FieldPlan {
  readonly changes?: readonly Change[];
  readonly unknown?: readonly Unknown[];
  readonly warnings?: readonly Warning[];
  /** True for a secret that was written from here and that the service no longer has. */
  readonly gone?: boolean;
  readonly write?: Value;
}

export const NOTHING: FieldPlan = {};

/** Reports whether any value clears a field of these services. */
export function canClear({ onNull, clearWith }: DialectField): boolean {
  return onNull !== 'keeps' || clearWith !== null;
}

/** States that the file declares null, and the service preserves its value: nothing is written. */
export function notCleared({ name, kept = 'these services' }: DialectField): Warning {
  const message = `${name} cannot be cleared: ${kept} keep what is stored. Declare a value, or list it as unmanaged.`;
  return { code: 'not-cleared', message, path: [name] };
}

/** The secrets that `--rotate` writes again although nothing shows that they differ. */
export type Rotation = 'all' | readonly Path[];

export function isRotated(rotation: Rotation, path: Path): boolean {
  return (
    rotation === 'all' ||
    rotation.some((rotated) => samePath(rotated, path) || isWithin(rotated, path))
  );
}

/** Reports whether `--rotate` writes a field again: a secret that has a value in the file. */
export function isRotatedField({ path, secret }: Field, value: Value): boolean {
  return secret || (findPathFacts(path).secret && collectSecrets(value).length > 0);
}

/**
 * An observed value in a plan next to the declared one: masked if the declared one is a secret, and unmasked if it is one of the literals
 * that the committed file has there, so that a reviewer sees the values that stay.
 */
export function maskByDeclaration(actual: Value, declared: Value | undefined): Value {
  if (declared instanceof Secret) return maskOldValue(actual);
  if (isRecord(actual) && isRecord(declared))
    return createRecord(
      Object.entries(actual).map(
        ([key, value]) => [key, maskByDeclaration(value, declared[key])] as const,
      ),
    );
  if (isList(actual) && isList(declared))
    return actual.map((value, index) =>
      value instanceof Secret
        ? openLiteral(value, declared)
        : maskByDeclaration(value, declared[index]),
    );
  return actual instanceof Secret && declared !== undefined && actual.sameAs(declared)
    ? declared
    : actual;
}

/** Masks the old value of a field whose new value is masked. */
export function maskOldValue(value: Value): Value {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? new Secret(value)
    : value;
}

/** A secret that is one of the literals, as that literal. */
function openLiteral(value: Secret, literals: readonly Value[]): Value {
  const known = indexLiterals(literals);
  const index = value.compareWith((text) => String(known.get(text) ?? -1));
  const literal = literals[Number(index)];
  return literal !== undefined && value.sameAs(literal) ? literal : value;
}

/** The texts and numbers of a list that are no secrets, with their positions. */
const indexLiterals = onceFor((values: readonly Value[]): ReadonlyMap<string, number> => {
  const made = new Map<string, number>();
  for (const [index, value] of values.entries())
    if (typeof value === 'string' || typeof value === 'number') made.set(String(value), index);
  return made;
});

/** A declared value in which literals are secrets that have the form of one: an address with userinfo or query, an argument by its flag. */
export function wrapSecretLiterals(value: Value): Value {
  if (typeof value === 'string') return isSensitiveUrl(value) ? new Secret(value) : value;
  if (isRecord(value)) return mapRecord(value, wrapSecretLiterals);
  if (!isList(value)) return value;
  return value.map((item, index) => {
    if (typeof item !== 'string') return wrapSecretLiterals(item);
    const before = value[index - 1];
    const shown = maskProgramArgument(item, typeof before === 'string' ? before : null);
    return shown === item ? item : new Secret(item);
  });
}

/** The items of collections that a file declares, as paths that a run may leave unchanged. */
export function leavableItems(
  desired: Pick<DesiredState, 'items'>,
): Omit<SkippedPath, 'given' | 'ref'>[] {
  return COLLECTION_FORMS.flatMap((form) =>
    itemsDeclared(desired, form).map((item) => {
      const names = listItemNames([item]);
      return { path: [form.block, item.name], names: [...names, ...names.map(secondName)] };
    }),
  );
}

/** The mcp entries that a file declares, with the paths that plans have for them. */
export function mapDeclaredEntryPaths(desired: Pick<DesiredState, 'fields'>) {
  const declared = findDeclaredServers(desired);
  return listPathedEntries(declared?.value, entryPaths(declared));
}

/**
 * The declaration of a file without the paths that this run leaves unchanged. Settings are treated as if the file listed them under
 * `unmanaged`; an item of a collection as if the file did not name it, and it is not removed either. Pure.
 */
export function omitSkipped(desired: DesiredState, left: readonly SkippedPath[]): DesiredState {
  if (left.length === 0) return desired;
  const isWhole = (path: Path): boolean => left.some((one) => isWithin(path, one.path));
  const isGone = (path: Path): boolean =>
    isWhole(path) || left.some((one) => isMainMemberPath(path, one));
  const items = [...desired.items].map(([block, declared]): [string, readonly DeclaredItem[]] => [
    block,
    declared.flatMap((item) =>
      'name' in item && isWhole([block, String(item.name)])
        ? []
        : [omitItemMembers(item, block, left, isGone)],
    ),
  ]);
  return {
    ...desired,
    left: [...(desired.left ?? []), ...left],
    fields: desired.fields
      .filter(({ field }) => !isGone(field.path))
      .map((declared) => withoutEntryMembers(declared, left)),
    unmanaged: [...desired.unmanaged, ...left.flatMap(listSkippedPaths)],
    missing: desired.missing.filter(({ path }) => !isGone(path)),
    items: new Map(items.filter(([, declared]) => declared.length > 0)),
  };
}

function listSkippedPaths({ path, names, of, calls = [] }: SkippedPath): readonly Path[] {
  return names.length === 0 && of === undefined ? [path, ...calls] : [];
}

/** Reports whether a path names the main member of an item in short form, and a run skips that member. */
function isMainMemberPath(path: Path, { path: [block, , member], of }: SkippedPath): boolean {
  const form = COLLECTION_FORMS.find((one) => one.block === block);
  return of !== undefined && form?.main === member && member !== undefined && samePath(path, of);
}

function omitItemMembers(
  item: DeclaredItem,
  block: string,
  left: readonly SkippedPath[],
  isGone: (path: Path) => boolean,
): DeclaredItem {
  const { name, members, values } = item as Partial<DesiredItem>;
  const gone = left.flatMap(({ path, of }) =>
    of !== undefined && samePath(of, [block, name ?? '']) ? path.slice(2) : [],
  );
  if (gone.length === 0 || members === undefined || members === null) return item;
  const own: DesiredItem = {
    ...(item as DesiredItem),
    members: filterMembers(members, (member) => !gone.includes(member)),
    values: (values ?? []).filter(({ path }) => !isGone(path)),
    left: gone,
  };
  return own;
}

/** A config of mcp servers whose entries do not declare what is left of them: a write keeps what an entry does not declare. */
function withoutEntryMembers(declared: DesiredField, left: readonly SkippedPath[]): DesiredField {
  const gone = left.filter(({ path, of }) => of !== undefined && isOfServers(path));
  const { field, value } = declared;
  if (gone.length === 0 || field.name !== 'mcp_config' || !isRecord(value)) return declared;
  const entries = mapDeclaredEntryPaths({ fields: [declared] });
  const places = new Map(entries.map(({ entry, path }) => [entry, path]));
  const kept = (entry: Value): Value => {
    const place = isRecord(entry) ? places.get(entry) : undefined;
    if (!isRecord(entry) || place === undefined) return entry;
    return filterMembers(
      entry,
      (name) => !gone.some(({ path }) => samePath(path, createMemberPath(place, [name]))),
    );
  };
  return { ...declared, value: mapRecord(value, (list) => (isList(list) ? list.map(kept) : list)) };
}

/** Throws if a write would lose what this run is to leave unchanged. */
export function requireLeft(
  { left = [], fields }: DesiredState,
  { dialect, stored: isStored, secrets, values }: ObservedState,
  { unpreservable, changes }: SettingsPlan,
): void {
  const stored = listSkippedMembers(left, values, entryPaths(findDeclaredServers({ fields })));
  const none = stored.find(({ entry }) => entry === undefined);
  if (none !== undefined)
    throw new SetpointError(
      'unfit-for-service',
      `--without ${formatPath(none.path)}: the service has no such entry. setpoint does not create an entry without this value. Nothing was sent.`,
      { hint: `--without ${formatPath(none.of)} leaves all of it unchanged.` },
    );
  const lost = left.find(({ path }) => {
    const [name = '', ...inner] = path;
    const isSecret = inner.length === 0 && fieldNamed(name)?.secret === true;
    const isHidden = isStored && isSecret && !secrets.has(name) && dialect.fields.has(name);
    if (dialect.writes === 'record' && isHidden) return true;
    const held = stored.find((one) => one.path === path);
    if (held !== undefined && changes.some((change) => isDropped(held, change))) return true;
    return unpreservable.some((one) => samePath(one.path, path) || isWithin(one.path, path));
  });
  if (lost === undefined) return;
  const path = formatPath(lost.path);
  throw new SetpointError(
    'unfit-for-service',
    `${lost.isOfOnly === true ? '--only leaves out' : '--without'} ${path}: the service does not show this value, and a write without it clears it. Nothing was sent.`,
    {
      hint:
        lost.isOfOnly === true
          ? `Add --only ${path}.`
          : lost.of === undefined
            ? `Give the value that ${path} needs, or declare null for it.`
            : `Give the value that ${path} needs, or leave out what else changes.`,
    },
  );
}

interface HeldMember {
  readonly path: Path;
  readonly of: Path;
  /** The entry as the service has it; undefined if it has none. */
  readonly entry: ValueRecord | undefined;
}

/** Lists the members of mcp entries that a run skips. */
function listSkippedMembers(
  left: readonly SkippedPath[],
  { mcp_config: config }: ObservedState['values'],
  pathOf: PathOfEntry,
): readonly HeldMember[] {
  const there = listPathedEntries(config, pathOf);
  return left.flatMap(({ path, of }) =>
    of === undefined || !isOfServers(of)
      ? []
      : [{ path, of, entry: there.find((one) => samePath(one.path, of))?.entry }],
  );
}

/** Reports whether a change drops it. A credential does not follow its entry to another host. */
function isDropped({ path, of, entry = createRecord({}) }: HeldMember, change: Change): boolean {
  const [name = ''] = findEntryMember(of, path);
  if (change.action !== 'change' || !samePath(change.path, of) || isEmpty(entry[name]))
    return false;
  return isRecord(change.after) && change.after[name] === undefined;
}
