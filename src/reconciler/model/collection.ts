import { eachFacts, findPathFacts, memberFacts } from './path-facts.ts';
import type { Reason } from './reasons.ts';
import { samePath, type Path, type Source } from './path.ts';
import { Secret } from './secret.ts';
import { listBlockItems, type DeclaredItem, type DesiredState } from './state.ts';
import type { Value, ValueRecord } from './value.ts';
import type { MemberFacts } from './type-facts.ts';
import { isList, isRecord, sameValue } from './value.ts';

/**
 * The name of a collection and the facts about its items' members, whichever service has it.
 *
 * 1. Must have the `resource`, the `block` and the `noun` by which plans, files and messages name it.
 * 2. Must set `isWhole` if a member that the file omits gets its default.
 * 3. May explain refused names (`naming`), and name its `releases`.
 * 4. May have a `main` member for the short form, and a member that a list does not show (`untold`).
 * 5. May set `isRenamed` and `isRevealed` if a server can do so.
 * 6. May have a `table` for `get`, and names that only the service gives (`ofService`).
 * 7. May name the member that a server changes for safety, which is changed back only on request (`onRequest`).
 *
 * @example
 * export const SKILLS_FORM = {
 *   resource: 'skill',
 *   block: 'skills',
 *   noun: 'skills',
 *   isWhole: true,
 * } as const satisfies CollectionForm;
 */
export interface CollectionForm<Block extends string = string> {
  /** As its changes name it. */
  readonly resource: string;
  /** The block of a settings file that declares it. */
  readonly block: Block;
  /** The name of its items in messages: `custom secrets`. */
  readonly noun: string;
  /** The message and the hint for a name that the schema refuses; the pattern of the schema if they are left out. */
  readonly naming?: readonly [message: string, hint: string];
  /** Which servers have it, if not all of those that setpoint speaks to. */
  readonly releases?: string;
  /** The member that an item is if it is written short: it has the path of the item in plans. That of a secret is its value. */
  readonly main?: string;
  /** A member that a list reports if `tells` is true for the declaration. Else the last sent value is compared, as for a secret. */
  readonly untold?: { readonly member: string; readonly tells: (declared: Value) => boolean };
  /** True if the file replaces the whole item: a member that the file omits gets its default, unless it is a secret. */
  readonly isWhole: boolean;
  /** True if some servers can rename an item, with all its members and their own id for it. */
  readonly isRenamed?: true;
  /** True if an Agent Server shows its secrets on request: `server.compare_secrets` then compares them. */
  readonly isRevealed?: true;
  /** The member that a server may change by itself for safety: it is changed back only if `--rotate` names it. */
  readonly onRequest?: string;
  /** What `get` calls the column of its names, if not by `resource`, and the columns after it; all members if they are left out. */
  readonly table?: { readonly head?: string; readonly columns: readonly Column[] };
  /** Names that only the service itself gives: they are never removed because the file does not name them. */
  readonly ofService?: readonly string[];
}

/** A column of a table: its title, the members of which it shows the first that is there, and what it shows if none is. */
export interface Column {
  readonly title: string;
  readonly members: readonly string[];
  readonly otherwise?: string;
}

/** Reports whether there is a secret at a path inside an item. */
export function isSecretItemMember(
  { block }: Pick<CollectionForm, 'block'>,
  member: Path,
): boolean {
  return findPathFacts([block, '', ...member]).secret;
}

/** Reports whether a member of an item is a secret, or a map that contains one. */
export function isSecretHolder(form: CollectionForm, name: string, value: Value): boolean {
  if (isSecretItemMember(form, [name])) return true;
  return isRecord(value) && Object.keys(value).some((key) => isSecretItemMember(form, [name, key]));
}

/** The path that plans have for a member of an item. */
export function toMemberPath(form: CollectionForm, name: string, member: Path): Path {
  const isMain = form.main !== undefined && samePath(member, [form.main]);
  return [form.block, name, ...(isMain ? [] : member)];
}

/** A place inside an item that may hold a secret, and what is there. */
export interface Leaf {
  readonly member: Path;
  readonly value: Value;
}

/** The places of an item that hold a secret by the form of its collection. */
export function secretLeaves(form: CollectionForm, members: ValueRecord): readonly Leaf[] {
  return Object.entries(members).flatMap(([name, value]) => listSecretLeaves(form, [name], value));
}

function listSecretLeaves(form: CollectionForm, member: Path, value: Value): readonly Leaf[] {
  if (isRecord(value))
    return Object.entries(value).flatMap(([key, inner]) =>
      listSecretLeaves(form, [...member, key], inner),
    );
  return isSecretItemMember(form, member) ? [{ member, value }] : [];
}

/** Returns the declared value of the member that a list may not show; one that is left out is empty text. */
export function untoldLeaf({ untold }: CollectionForm, members: ValueRecord): Leaf | null {
  if (untold === undefined) return null;
  const value = members[untold.member] ?? '';
  const text = typeof value === 'string' ? new Secret(value) : value;
  return { member: [untold.member], value: text };
}

/**
 * An item that a settings file declares by its name in a collection, such as a secret or an LLM profile. `members` is its declaration in
 * the file, without omitted members; null if the item is to be removed.
 */
export interface DesiredItem extends DeclaredItem {
  readonly name: string;
  readonly members: ValueRecord | null;
  /** True if the file does not name it, and it is to be removed because the file names all allowed ones. */
  readonly isOther?: true;
  /** The members that this run leaves as the service has them, although the file declares them: they are not among `members`. */
  readonly left?: readonly string[];
  /** Its former name; absent if the file does not give one. */
  readonly former?: FormerName;
}

/** A name that an item had, and the place of the file that declares it. */
export interface FormerName {
  readonly name: string;
  readonly source: Source;
}

/**
 * An item that a service lists. A secret that is stored and not shown is an UnseenSecret, one that is not stored is null, and one without
 * any report is left out.
 */
export interface ListedItem {
  readonly name: string;
  readonly members: ValueRecord;
  /** The members that this release of the service shows of it, by the names of the file; absent if that is not known. */
  readonly shows?: readonly string[];
  /** All that the service has stored of it, by its own names: a secret that it does not show is a token of this place. */
  readonly stored?: ValueRecord;
  /** The service's own id for it, if that is not its name. */
  readonly id?: string;
  /** The items of other collections of the service that name it, if they were looked up. */
  readonly heldBy?: readonly Holder[];
  /** True if the service works with this one, where one of its items is active, or named by the settings. */
  readonly isActive?: true;
  /** True if its connection has no address: the model determines where the key of the connection is sent. */
  readonly isInferred?: true;
  /** Why the server itself changed the member that is written on request only, as found; absent if it did not. */
  readonly stopped?: string;
  /** The kind of it that no file declares; absent if a file can declare it. */
  readonly foreign?: string;
  /** Why it has to be written again although it is listed as declared. */
  readonly outdated?: Reason;
}

/** An item that names another one. */
export interface Holder {
  readonly block: string;
  readonly name: string;
}

/** Returns the items of a collection that a file declares, as its block created them. */
export function itemsDeclared(
  desired: Pick<DesiredState, 'items'>,
  { block }: Pick<CollectionForm, 'block'>,
): readonly DesiredItem[] {
  return listBlockItems(desired, block) as readonly DesiredItem[];
}

export function itemNamed(
  desired: Pick<DesiredState, 'items'>,
  form: Pick<CollectionForm, 'block'>,
  name: string,
): DesiredItem | undefined {
  return itemsDeclared(desired, form).find((one) => one.name === name);
}

/** A place of a declared item that names an item of a block: its path in plans, and the place of the item that has it. */
export interface ItemReference {
  readonly block: string;
  readonly name: string;
  readonly path: Path;
  readonly source: Source;
}

/** Every name that declared items have of items of blocks. */
export function itemReferences({ items }: Pick<DesiredState, 'items'>): readonly ItemReference[] {
  return [...items].flatMap(([own, declared]) =>
    (declared as readonly DesiredItem[]).flatMap(({ name, members, source }) =>
      Object.entries(members ?? {}).flatMap(([key, value]) => {
        // The active item of a kind names a profile of that kind, and has the path of the item.
        const isActive = own === 'active';
        const facts = isActive ? { item: `${name}s` } : memberFacts(findBlockType(own), key);
        const path = isActive ? [own, name] : [own, name, key];
        return collectReferences(value, facts, path).map((one) => ({ ...one, source }));
      }),
    ),
  );
}

/** The names of items of a block that the declared items of all blocks have in their members. */
export function listReferencedNames(
  desired: Pick<DesiredState, 'items'>,
  block: string,
): ReadonlySet<string> {
  return new Set(itemReferences(desired).flatMap((one) => (one.block === block ? [one.name] : [])));
}

function findBlockType(block: string): string | undefined {
  return memberFacts('File', block).type;
}

function collectReferences(
  value: Value,
  facts: MemberFacts,
  path: Path,
): readonly Omit<ItemReference, 'source'>[] {
  if (isList(value))
    return value.flatMap((one, index) =>
      collectReferences(one, eachFacts(facts), [...path, String(index)]),
    );
  if (isRecord(value))
    return Object.entries(value).flatMap(([key, inner]) =>
      collectReferences(inner, memberFacts(facts.type, key), [...path, key]),
    );
  return facts.item !== undefined && typeof value === 'string' && value !== ''
    ? [{ block: facts.item, name: value, path }]
    : [];
}

/** The declared item that one of a service is, or becomes once it is renamed. */
export function itemListed(items: readonly DesiredItem[], listed: string): DesiredItem | undefined {
  return (
    items.find(({ name }) => name === listed) ?? items.find(({ former }) => former?.name === listed)
  );
}

/** The names by which a service may have what is declared: the own ones, and those from before. */
export function listItemNames(items: readonly DesiredItem[]): readonly string[] {
  return items.flatMap(({ name, former }) => (former === undefined ? [name] : [name, former.name]));
}

/** The items of a collection on a service. */
export interface Listing {
  readonly items: readonly ListedItem[];
  /**
   * The way to replace a stored value. `in-place`: by one request. `by-second-name`: nothing replaces it, so the new value is stored under
   * a second name, the old one removed, and the second renamed.
   */
  readonly replaces: 'in-place' | 'by-second-name';
  /** True if the shown part of an item changes without its secrets being sent. */
  readonly describes: boolean;
  /** A member in the form in which it is compared, with its default for what it leaves out; absent if members are compared as they are. */
  readonly whole?: (name: string, value: Value) => Value;
  /** What a server fills in for a member that is left out, given the others; undefined if it is the default of `whole`. */
  readonly fills?: (name: string, members: ValueRecord) => Value | undefined;
  /** What is stored of an item after the write that these changes make necessary, by the names of `stored`; absent if nothing else changes. */
  readonly leaves?: (storing: Storing) => ValueRecord;
  /** What else of the service is stored that its requests copy or clear; absent if that was not asked for. */
  readonly stored?: ValueRecord;
  /** Whether a declared secret is sent with every store of its item, because the service would lose it. */
  readonly resends?: (member: string) => boolean;
}

/** An item that is written, with the changes that make it necessary. */
export interface Storing {
  readonly item: DesiredItem;
  readonly there: ListedItem | undefined;
  readonly changes: readonly { readonly path: Path; readonly action: string }[];
}

/** Reports whether two items have the same members. */
export function sameMembers(
  one: ValueRecord,
  other: ValueRecord,
  whole: NonNullable<Listing['whole']> = (_, value) => value,
): boolean {
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...names].every((name) =>
    sameValue(whole(name, one[name] ?? null), whole(name, other[name] ?? null)),
  );
}

/** The name under which a value waits to replace another. */
export function secondName(name: string): string {
  return `${name}__next`;
}

/** Returns the listed value that waits under the second name of an item; undefined where a request replaces values in place. */
export function waitingFor(
  name: string,
  { items, replaces }: Pick<Listing, 'items' | 'replaces'>,
): ListedItem | undefined {
  if (replaces === 'in-place') return undefined;
  const waiting = secondName(name);
  return items.find((item) => item.name === waiting);
}

/** The names in a list that are the file's own: those that it declares or renames, and those under which values of them may wait. */
export function ownNames(
  desired: readonly DesiredItem[],
  { replaces }: Pick<Listing, 'replaces'>,
): ReadonlySet<string> {
  const names = listItemNames(desired);
  return new Set(replaces === 'in-place' ? names : [...names, ...names.map(secondName)]);
}
