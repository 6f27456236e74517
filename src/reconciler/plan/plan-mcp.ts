import {
  listRecordEntries,
  entryPaths,
  isMcpList,
  MCP_LISTS,
  removeMaskedFromConfig,
  unreadableItems,
  USUAL_TRANSPORT,
  type McpList,
  listPathedEntries,
  type PathOfEntry,
} from '../model/mcp.ts';
import { REASONS } from '../model/reasons.ts';
import type { Dialect } from '../model/dialect.ts';
import { sameEndpoint } from '../model/endpoint.ts';
import { formatPath, isUnmanaged, type Path } from '../model/path.ts';
import type { Change } from '../model/plan.ts';
import type { Warning } from '../model/error.ts';
import type { DesiredField, ObservedState } from '../model/state.ts';
import {
  isEmpty,
  isList,
  isRecord,
  mapRecord,
  createRecord,
  sameValue,
  type Value,
  type ValueRecord,
} from '../model/value.ts';
import {
  nameDifferences,
  resolveMcpHiding,
  type NamedServers,
  createEntryRemoval,
} from './mcp-entry.ts';
import { listCalledEntries } from './match-entries.ts';
import { planMcpList, type ListPlan } from './plan-mcp-list.ts';
import { resolveDialectField } from './field-here.ts';
import {
  findRelocatedEntries,
  NOTHING,
  maskByDeclaration,
  type FieldPlan,
  type Rotation,
} from './declared.ts';
import { createSettingsSubject, createChange, createPartChange, type Subject } from './decision.ts';

/**
 * `mcp_config`: a declared list is exhaustive, one that is not declared is left alone. Null declares no entries, and
 * `{}` for three empty lists; unmanaged entries do not count against either.
 */
export function planMcp(
  desired: DesiredField,
  observed: ObservedState,
  unmanaged: readonly Path[],
  rotation: Rotation,
): FieldPlan {
  const { onNull } = resolveDialectField(desired.field, observed);
  const actual = observed.values['mcp_config'] ?? null;
  const declared = isRecord(desired.value)
    ? desired.value
    : createRecord(MCP_LISTS.map((list) => [list, []]));
  const moved = findRelocatedEntries(declared, unmanaged, observed.dialect);
  const stored = withDeclaredLists(isRecord(actual) ? actual : createRecord({}), desired);
  const pathOf = entryPaths(desired);
  const { config, removals } = withoutMoved(stored, moved, pathOf);
  const hiding = resolveMcpHiding(observed);
  const named = listNamedServers(desired);
  const declaredHere = (list: McpList): readonly ValueRecord[] =>
    listRecordEntries(declared[list]).map((entry) => adaptEntry(list, entry, observed.dialect));
  const lists = MCP_LISTS.filter(
    (list) => declared[list] !== undefined && !isUnmanaged(unmanaged, ['mcp_config', list]),
  ).map((list) =>
    planMcpList(declaredHere(list), listRecordEntries(config[list]), {
      list,
      desired,
      pathOf,
      entries: listRecordEntries(declared[list]),
      unmanaged,
      rotation,
      hiding,
      named,
    }),
  );
  const whole = createSettingsSubject(['mcp_config'], desired.source());
  if (desired.value === null) {
    const isNone = actual === null || (onNull === 'resets' && isWithoutEntries(config));
    return isNone ? NOTHING : planNull(whole, actual, config, lists);
  }
  const changes = oneOfEach([...removals, ...lists.flatMap((list) => list.changes)]);
  const warnings = [...(named?.block.removed ?? [])].flatMap((name) =>
    notRemoved(name, config, lists, observed.dialect),
  );
  const unknown = lists.flatMap((list) => list.unknown);
  const after = createRecord(lists.map((list) => [list.name, list.entries]));
  const excluded = lists.some(
    (list) => listRecordEntries(declared[list.name]).length > list.entries.length,
  );
  const created =
    named === null && actual === null && changes.length === 0 && !excluded && lists.length > 0;
  if (changes.length === 0 && !created) {
    // Values that cannot be compared are also written: sent back as read, a mask would be stored.
    return {
      unknown,
      warnings,
      ...(unknown.length === 0 ? {} : { write: buildSentConfig(config, config, lists) }),
    };
  }
  return {
    changes: created ? [createChange(whole, 'set', null, after, REASONS['not-set'])] : changes,
    unknown,
    warnings,
    write: buildSentConfig(config, config, lists),
  };
}

/** That null may mean a server with a url; these services do not store its name: it stays. */
function notRemoved(
  name: Value | undefined,
  config: ValueRecord,
  lists: readonly ListPlan[],
  { name: spoken, entryMembers }: Dialect,
): Warning[] {
  const isNameless = entryMembers !== undefined && typeof name === 'string';
  const isProgram = listRecordEntries(config['stdio_servers']).some(
    (entry) => entry['name'] === name,
  );
  const others = lists.filter((list) => list.name !== 'stdio_servers' && list.kept.length > 0);
  if (!isNameless || isProgram || others.length === 0) return [];
  const path = ['mcp_servers', name];
  const message = `${formatPath(path)} removes no server with a url: ${spoken} stores only the names of programs. Declare mcp_config, or remove the server another way.`;
  return [{ code: 'not-cleared', message, path }];
}

/** The names that a block of servers by name speaks of; null if the whole config is declared. */
function listNamedServers({ value, block }: DesiredField): NamedServers | null {
  if (block === undefined) return null;
  const declared = listCalledEntries(value).map(({ value: entry }) => entry['name']);
  return { declared: new Set(declared), block };
}

/** A declared entry as these services can have it: without a name that they have no place for. */
function adaptEntry(list: McpList, entry: ValueRecord, dialect: Dialect): ValueRecord {
  const own = dialect.entryMembers?.[list];
  if (own === undefined) return entry;
  return createRecord(Object.entries(entry).filter(([name]) => own.includes(name)));
}

/** A config without the entries that the file declares in another list, and the changes that remove them. */
function withoutMoved(
  config: ValueRecord,
  isMoved: (list: McpList, entry: ValueRecord) => boolean,
  pathOf: PathOfEntry,
): { readonly config: ValueRecord; readonly removals: readonly Change[] } {
  const removals = listPathedEntries(config, pathOf)
    .filter(({ list, entry }) => isMoved(list, entry))
    .map(({ path, entry }) => createEntryRemoval(path, entry, REASONS['other-list'], null));
  if (removals.length === 0) return { config, removals };
  const left = mapRecord(config, (items, list) =>
    isMcpList(list) && isList(items)
      ? items.filter((item) => !isRecord(item) || !isMoved(list, item))
      : items,
  );
  return { config: left, removals };
}

/**
 * A config with each server in the list that the file declares it for, by name and at the same address: another transport is a change of one
 * member there, and all else of the server stays, such as a login.
 */
function withDeclaredLists(config: ValueRecord, { value, block }: DesiredField): ValueRecord {
  if (block === undefined || !isRecord(value)) return config;
  const targetOf = (list: string, entry: Value): McpList | undefined =>
    MCP_LISTS.find(
      (other) =>
        other !== list &&
        listRecordEntries(value[other]).some((one) => isSameServer(one, entry) && one['transport']),
    );
  const moved = MCP_LISTS.flatMap((list) =>
    listRecordEntries(config[list]).flatMap((entry) => {
      const target = targetOf(list, entry);
      const how = { transport: USUAL_TRANSPORT[list], ...entry };
      return target === undefined ? [] : [{ target, entry: createRecord(how) }];
    }),
  );
  if (moved.length === 0) return config;
  return mapRecord(config, (items, list) => {
    if (!isMcpList(list) || !isList(items)) return items;
    const added = moved.flatMap(({ target, entry }) => (target === list ? [entry] : []));
    return [...items.filter((item) => targetOf(list, item) === undefined), ...added];
  });
}

function isSameServer(declared: ValueRecord, entry: Value): boolean {
  return (
    isRecord(entry) &&
    !isEmpty(entry['url']) &&
    sameValue(declared['name'] ?? null, entry['name'] ?? null) &&
    sameEndpoint(entry['url'] ?? null, declared['url'] ?? null)
  );
}

/** A server by name that is reached in another way leaves one list and comes into another: that is one change of it. */
function oneOfEach(changes: readonly Change[]): readonly Change[] {
  const named = changes.filter(({ path }) => path[0] === 'mcp_servers');
  const gone = new Map(
    named.flatMap(({ path, action, before }) =>
      action === 'remove' && isRecord(before) ? [[formatPath(path), before] as const] : [],
    ),
  );
  const moved = named.filter(({ path, action }) => action === 'set' && gone.has(formatPath(path)));
  const names = new Set(moved.map(({ path }) => formatPath(path)));
  return changes.flatMap((change): Change[] => {
    const before = gone.get(formatPath(change.path));
    if (before === undefined || !names.has(formatPath(change.path))) return [change];
    return change.action === 'set' && isRecord(change.after)
      ? [toMemberChange(change, before, change.after)]
      : [];
  });
}

function toMemberChange(change: Change, before: ValueRecord, after: ValueRecord): Change {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const differing = names.filter((name) => !sameValue(before[name] ?? null, after[name] ?? null));
  const members = differing.flatMap((name) =>
    nameDifferences(name, after[name] ?? null, before[name] ?? null),
  );
  const { source, ref } = change;
  const subject = createSettingsSubject(change.path, source);
  return { ...createPartChange(subject, maskByDeclaration(before, after), after, members), ref };
}

function planNull(
  whole: Subject,
  actual: Value,
  config: ValueRecord,
  lists: readonly ListPlan[],
): FieldPlan {
  const kept = lists.some((list) => list.kept.length > 0);
  if (kept && lists.every((list) => list.changes.length === 0)) return NOTHING;
  return {
    changes: [
      createChange({ ...whole, isSensitive: true }, 'clear', actual, null, REASONS.cleared),
    ],
    write: kept ? buildSentConfig(createRecord({}), config, lists) : null,
  };
}

/** Reports whether a config that is never null has no server. */
function isWithoutEntries(config: ValueRecord): boolean {
  return Object.values(config).every((list) => isList(list) && list.length === 0);
}

/**
 * The config to send: the planned lists over `base`, without what is masked there. Items of the observed config that cannot be
 * read stay in their lists: one of them may be a declared entry.
 */
function buildSentConfig(
  base: ValueRecord,
  observed: ValueRecord,
  lists: readonly ListPlan[],
): ValueRecord {
  return createRecord([
    ...Object.entries(removeMaskedFromConfig(base)),
    ...lists.map(
      ({ name, entries }) => [name, [...entries, ...unreadableItems(observed, name)]] as const,
    ),
  ]);
}
