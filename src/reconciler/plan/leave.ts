import { COLLECTION_FORMS } from '../model/collection-forms.ts';
import { itemsDeclared, namesOf, secondName, type DesiredItem } from '../model/collection.ts';
import { SetpointError } from '../model/error.ts';
import { fieldNamed } from '../model/field.ts';
import { formatPath, isWithin, samePath, type Path } from '../model/path.ts';
import {
  entryPaths,
  isOfServers,
  memberIn,
  memberPathIn,
  pathedEntries,
  type PathOfEntry,
} from '../model/mcp.ts';
import type { Change, SettingsPlan } from '../model/plan.ts';
import {
  type DeclaredItem,
  type DesiredField,
  type DesiredState,
  type Left,
  type ObservedState,
  serversIn,
} from '../model/state.ts';
import {
  isEmpty,
  isList,
  isRecord,
  mapRecord,
  membersOf,
  recordOf,
  type Value,
  type ValueRecord,
} from '../model/value.ts';

/** The items of collections that a file declares, as what a run may leave as it is. */
export function leavableItems(desired: Pick<DesiredState, 'items'>): Omit<Left, 'given' | 'ref'>[] {
  return COLLECTION_FORMS.flatMap((form) =>
    itemsDeclared(desired, form).map((item) => {
      const names = namesOf([item]);
      return { path: [form.block, item.name], names: [...names, ...names.map(secondName)] };
    }),
  );
}

/** The mcp entries that a file declares, with the paths that plans have for them. */
export function pathedDeclared(desired: Pick<DesiredState, 'fields'>) {
  const declared = serversIn(desired);
  return pathedEntries(declared?.value, entryPaths(declared));
}

/**
 * What a file declares without what this run leaves as it is. Of the settings it is as if the file listed it under `unmanaged`; an item of a
 * collection is as if the file did not name it, and is not removed either. Pure.
 */
export function leaving(desired: DesiredState, left: readonly Left[]): DesiredState {
  if (left.length === 0) return desired;
  const isWhole = (path: Path): boolean => left.some((one) => isWithin(path, one.path));
  const isGone = (path: Path): boolean => isWhole(path) || left.some((one) => isMainOf(path, one));
  const items = [...desired.items].map(([block, declared]): [string, readonly DeclaredItem[]] => [
    block,
    declared.flatMap((item) =>
      'name' in item && isWhole([block, String(item.name)])
        ? []
        : [withoutMembers(item, block, left, isGone)],
    ),
  ]);
  return {
    ...desired,
    left,
    fields: desired.fields
      .filter(({ field }) => !isGone(field.path))
      .map((declared) => withoutEntryMembers(declared, left)),
    unmanaged: [...desired.unmanaged, ...left.flatMap(unmanagedBy)],
    missing: desired.missing.filter(({ path }) => !isGone(path)),
    items: new Map(items.filter(([, declared]) => declared.length > 0)),
  };
}

function unmanagedBy({ path, names, of, calls = [] }: Left): readonly Path[] {
  return names.length === 0 && of === undefined ? [path, ...calls] : [];
}

/** Whether a path is that of the member that an item is if it is written short, and that one is left. */
function isMainOf(path: Path, { path: [block, , member], of }: Left): boolean {
  const form = COLLECTION_FORMS.find((one) => one.block === block);
  return of !== undefined && form?.main === member && member !== undefined && samePath(path, of);
}

function withoutMembers(
  item: DeclaredItem,
  block: string,
  left: readonly Left[],
  isGone: (path: Path) => boolean,
): DeclaredItem {
  const { name, members, values } = item as Partial<DesiredItem>;
  const gone = left.flatMap(({ path, of }) =>
    of !== undefined && samePath(of, [block, name ?? '']) ? path.slice(2) : [],
  );
  if (gone.length === 0 || members === undefined || members === null) return item;
  const own: DesiredItem = {
    ...(item as DesiredItem),
    members: membersOf(members, (member) => !gone.includes(member)),
    values: (values ?? []).filter(({ path }) => !isGone(path)),
    left: gone,
  };
  return own;
}

/** A config of mcp servers whose entries do not declare what is left of them: a write keeps what an entry does not declare. */
function withoutEntryMembers(declared: DesiredField, left: readonly Left[]): DesiredField {
  const gone = left.filter(({ path, of }) => of !== undefined && isOfServers(path));
  const { field, value } = declared;
  if (gone.length === 0 || field.name !== 'mcp_config' || !isRecord(value)) return declared;
  const entries = pathedDeclared({ fields: [declared] });
  const places = new Map(entries.map(({ entry, path }) => [entry, path]));
  const kept = (entry: Value): Value => {
    const place = isRecord(entry) ? places.get(entry) : undefined;
    if (!isRecord(entry) || place === undefined) return entry;
    return membersOf(
      entry,
      (name) => !gone.some(({ path }) => samePath(path, memberPathIn(place, [name]))),
    );
  };
  return { ...declared, value: mapRecord(value, (list) => (isList(list) ? list.map(kept) : list)) };
}

/** Throws if a write would lose what this run is to leave as it is. */
export function requireLeft(
  { left = [], fields }: DesiredState,
  { dialect, stored: isStored, secrets, values }: ObservedState,
  { unpreservable, changes }: SettingsPlan,
): void {
  const stored = entryMembers(left, values, entryPaths(serversIn({ fields })));
  const none = stored.find(({ entry }) => entry === undefined);
  if (none !== undefined)
    throw new SetpointError(
      'unfit-for-service',
      `--without ${formatPath(none.path)}: this service has no such entry, and it is not added without. Nothing was sent.`,
      { hint: `--without ${formatPath(none.of)} leaves all of it as it is.` },
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
    `--without ${path}: this service does not show it, and clears it when a write leaves it out. Nothing was sent.`,
    {
      hint:
        lost.of === undefined
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

/** What is left of mcp entries. */
function entryMembers(
  left: readonly Left[],
  { mcp_config: config }: ObservedState['values'],
  pathOf: PathOfEntry,
): readonly HeldMember[] {
  const there = pathedEntries(config, pathOf);
  return left.flatMap(({ path, of }) =>
    of === undefined || !isOfServers(of)
      ? []
      : [{ path, of, entry: there.find((one) => samePath(one.path, of))?.entry }],
  );
}

/** Whether a change drops it: a credential does not follow its entry to another host. */
function isDropped({ path, of, entry = recordOf([]) }: HeldMember, change: Change): boolean {
  const [name = ''] = memberIn(of, path);
  if (change.action !== 'change' || !samePath(change.path, of) || isEmpty(entry[name]))
    return false;
  return isRecord(change.after) && change.after[name] === undefined;
}
