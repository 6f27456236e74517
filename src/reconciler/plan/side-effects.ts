import {
  listRecordEntries,
  entryPaths,
  createEntryIdentity,
  isMcpList,
  MCP_LISTS,
  formatEntryKey,
  listPathSegments,
  removeMaskedFromConfig,
  unreadableItems,
  UNNAMED,
  type McpList,
  type PathOfEntry,
} from '../model/mcp.ts';
import type { Dialect } from '../model/dialect.ts';
import { fieldAtNative, isNativePath } from '../model/field.ts';
import { formatPath, pathNamed, samePath, type Path, firstAlike } from '../model/path.ts';
import type { Change } from '../model/plan.ts';
import {
  type SettingsWrite,
  type DesiredState,
  type ObservedState,
  type Prediction,
  type SecretState,
  findDeclaredServers,
} from '../model/state.ts';
import {
  isList,
  isRecord,
  createRecord,
  sameValue,
  type Value,
  readPath,
  type ValueRecord,
} from '../model/value.ts';
import { managesEntry, managesField, findRelocatedEntries } from './declared.ts';
import { matchEntries } from './match-entries.ts';
import { listEntryDefaults } from './mcp-entry.ts';
import { isCleared } from './plan-value.ts';

/** Something that a write changed although the file does not manage it. */
export interface SideEffect {
  readonly path: Path;
  readonly before: Value;
  readonly after: Value;
}

/**
 * The unmanaged differences between what is expected of a write and what is observed after it. A field of a record may have appeared, and an
 * mcp entry's defaults may have been filled in; every other difference is listed. `differences` are those that the write itself makes: a
 * server of another release may have other defaults than predicted, or lack a member.
 */
export function findUnmanagedChanges(
  before: ObservedState,
  after: ObservedState,
  desired: DesiredState,
  differences: Prediction['differences'] = [],
): SideEffect[] {
  const own = new Map(
    differences.map(([place]) => [formatPath(fieldAtNative(place)?.path ?? place), place]),
  );
  const { answer } = after;
  const isOtherRelease = (name: string): boolean => {
    const place = own.get(name);
    const isDefault = before.values[name] === undefined;
    return place !== undefined && (isDefault || readPath(answer, place) === undefined);
  };
  return listComparableNames(before, after).flatMap((name): SideEffect[] => {
    const value = before.values[name] ?? null;
    const now = after.values[name] ?? null;
    if (isFilledIn(name, after) || isOtherRelease(name)) return [];
    if (name === 'mcp_config')
      return findMcpChanges(value, now, desired, after.dialect).filter((one) => !one.isManaged);
    const field = after.dialect.fields.get(name);
    return managesField(desired, name) ||
      sameValue(value, now) ||
      (field !== undefined && isCleared(field, value) && isCleared(field, now))
      ? []
      : [{ path: pathNamed(name), before: value, after: now }];
  });
}

/** Whether a server adds to a list by itself at each read: the skills that are installed on it, while a flag is on. */
export function isFilledIn(name: string, { values }: ObservedState): boolean {
  return name === FILLED && FILLING.some((flag) => values[flag] === true);
}

const FILLED = 'agent_settings.agent_context.skills';
const FILLING = ['load_user_skills', 'load_public_skills'].map(
  (flag) => `agent_settings.agent_context.${flag}`,
);

/**
 * The values that the service showed before a write, and, if it preserves omitted members, those that it shows only now: a native value
 * that was its default. The first write of a store fills in its defaults.
 */
function listComparableNames(before: ObservedState, after: ObservedState): readonly string[] {
  const names = Object.keys(before.values);
  if (before.dialect.writes === 'record' || !before.stored) return names;
  const native = Object.keys(after.values).filter((name) => isNativePath(pathNamed(name)));
  return [...new Set([...names, ...native])];
}

/** The secrets that were stored before a write and are not any more, according to the service. */
export function findLostSecrets(before: ObservedState, after: ObservedState): Path[] {
  const isKnown = (name: string) => before.dialect.fields.has(name) || name.includes('.');
  const lost = [...before.secrets]
    .filter(([name, state]) => state === 'stored' && isLost(after.secrets.get(name), isKnown(name)))
    .map(([name]) => pathNamed(name));
  const now = new Set(after.tokens);
  const tokens = before.tokens.filter((name) => !now.has(name));
  return [...lost, ...tokens.map((name) => ['secrets_store', 'provider_tokens', name])];
}

/** A field that this version does not know is also lost when the service no longer mentions it. */
function isLost(state: SecretState | undefined, isKnown: boolean): boolean {
  return state === 'not-stored' || (state === undefined && !isKnown);
}

/** Something of the mcp servers in two states, whether the file manages it, and its list if it is an entry. */
interface ServerPair extends SideEffect {
  readonly isManaged: boolean;
  readonly isSame?: true;
  readonly list?: McpList;
}

/** The mcp entries that differ. */
export function findMcpChanges(...states: Parameters<typeof pairServers>): ServerPair[] {
  return pairServers(...states).filter(({ isSame }) => isSame !== true);
}

/** The mcp entries of two states, and what else differs. */
export function pairServers(
  before: Value,
  after: Value,
  desired: DesiredState,
  dialect: Dialect,
): ServerPair[] {
  const managed = managesField(desired, 'mcp_config');
  if (!isRecord(before))
    return managed || sameValue(before, after)
      ? []
      : [{ path: ['mcp_config'], before, after, isManaged: false }];
  const config = isRecord(after) ? after : {};
  const own = findDeclaredServers(desired);
  const pathOf = entryPaths(own);
  const declared = isRecord(own?.value) ? own.value : {};
  const moved = findRelocatedEntries(declared, desired.unmanaged, dialect);
  const isManaged = (list: McpList, entry: ValueRecord): boolean =>
    managesEntry(desired, list, entry) || moved(list, entry);
  const members = Object.entries(before).flatMap(([name, value]): ServerPair[] => {
    const now = config[name] ?? null;
    if (isMcpList(name) && isList(value))
      return pairEntries(name, value, now, isManaged, pathOf, listEntryDefaults(dialect)[name]);
    return managed || sameValue(value, now)
      ? []
      : [{ path: ['mcp_config', name], before: value, after: now, isManaged: false }];
  });
  return [...findUnreadableChanges(before, after, desired), ...members];
}

/** Items that this version cannot read stay, unless the file declares an empty config. */
function findUnreadableChanges(before: Value, after: Value, desired: DesiredState): ServerPair[] {
  if (findDeclaredServers(desired)?.value === null) return [];
  return MCP_LISTS.flatMap((list): ServerPair[] => {
    const [was, is] = [unreadableItems(before, list), unreadableItems(after, list)];
    const path = ['mcp_config', list, UNNAMED];
    return sameValue(was, is) ? [] : [{ path, before: was, after: is, isManaged: false }];
  });
}

function pairEntries(
  list: McpList,
  before: Value,
  after: Value,
  isManaged: (list: McpList, entry: ValueRecord) => boolean,
  pathOf: PathOfEntry,
  defaults: ValueRecord,
): ServerPair[] {
  const [was, is] = [listRecordEntries(before), listRecordEntries(after)];
  const [earlier, later] = [listPathSegments(list, was, is), listPathSegments(list, is, was)];
  const change = (segment: string, entry: ValueRecord | null, now: ValueRecord | null) => {
    const shown = entry ?? now ?? {};
    const path = pathOf(list, segment, shown);
    return { path, before: entry, after: now, isManaged: isManaged(list, shown), list };
  };
  const { pairs, added, removed } = matchEntries(list, was, is, () => 0);
  return [
    ...pairs.map((pair): ServerPair => {
      const [entry, now] = [was[pair.declared] ?? {}, is[pair.actual] ?? {}];
      const isSame = sameValue({ ...defaults, ...entry }, { ...defaults, ...now });
      const made = change(earlier[pair.declared] ?? '', entry, now);
      return isSame ? { ...made, isSame } : made;
    }),
    ...added.map((index) => change(earlier[index] ?? '', was[index] ?? {}, null)),
    ...removed.map(({ actual }) => change(later[actual] ?? '', null, is[actual] ?? {})),
  ];
}

/**
 * The write that undoes a doubling; null if nothing has doubled. Some servers add mcp entries of their own to what they stored, at
 * every load; written back, such an entry is there twice. So the copies that have appeared of an entry are the server's own, and as
 * many are stored that should not be: both are left out, the first ones. A declared entry is there all the same, as the server's
 * own, unless the plan `changed` it: then the declared one is not what the server adds, and stays.
 */
export function withoutDoubled(
  write: SettingsWrite,
  before: ObservedState,
  after: ObservedState,
  desired: DesiredState,
  changed: readonly Change[] = [],
): SettingsWrite | null {
  const config = findReplacingConfig(write);
  if (config === null) return null;
  const added = listAddedEntries(before, after, desired).filter(
    ({ isManaged, path }) => !isManaged || !changed.some((change) => samePath(change.path, path)),
  );
  const mended = added.reduce((made, { list, key, copies }) => {
    const items = made[list];
    if (!isList(items)) return made;
    let open = 2 * copies;
    const left = items.filter(
      (item) => !isRecord(item) || formatEntryKey(list, item) !== key || open-- <= 0,
    );
    return left.length === items.length ? made : createRecord({ ...made, [list]: left });
  }, config);
  if (mended === config) return null;
  return { ...write, fields: createRecord({ ...write.fields, mcp_config: mended }) };
}

/** The declared entries with a new copy that the server added: their paths, as the file names them. */
export function serverOwned(...states: Parameters<typeof listAddedEntries>): Path[] {
  return listAddedEntries(...states).flatMap(({ isManaged, path }) => (isManaged ? [path] : []));
}

/** Reports whether a change removes a copy of one of these entries. */
export function removesCopy({ action, path }: Change, owned: readonly Path[]): boolean {
  const entry = firstAlike(path);
  return action === 'remove' && owned.some((one) => samePath(one, entry));
}

/** The config that a write leaves on a service whose whole record it replaces. */
function findReplacingConfig({ fields, observed }: SettingsWrite): ValueRecord | null {
  const config = fields['mcp_config'];
  if (config !== undefined) return isRecord(config) ? config : null;
  const stays = observed.values['mcp_config'];
  return isRecord(stays) ? removeMaskedFromConfig(stays) : null;
}

/** The entries that were there and of which copies have appeared. */
function listAddedEntries(before: ObservedState, after: ObservedState, desired: DesiredState) {
  const pathOf = entryPaths(findDeclaredServers(desired));
  return MCP_LISTS.flatMap((list) => {
    const [was, is] = [before, after].map(({ values }) => groupCopies(list, values['mcp_config']));
    return [...(is ?? [])].flatMap(([key, [entry = {}, ...others]]) => {
      const copies = others.length + 1 - (was?.get(key)?.length ?? Infinity);
      if (copies <= 0) return [];
      const path = pathOf(list, createEntryIdentity(list, entry).shown, entry);
      return [{ list, key, copies, path, isManaged: managesEntry(desired, list, entry) }];
    });
  });
}

function groupCopies(list: McpList, config: Value | undefined): ReadonlyMap<string, ValueRecord[]> {
  const copies = new Map<string, ValueRecord[]>();
  for (const entry of isRecord(config) ? listRecordEntries(config[list]) : []) {
    const key = formatEntryKey(list, entry);
    const known = key === null ? [] : (copies.get(key) ?? []);
    known.push(entry);
    if (key !== null) copies.set(key, known);
  }
  return copies;
}
