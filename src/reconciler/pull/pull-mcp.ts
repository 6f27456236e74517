import { findNode, member, plainValue, type Node } from '../desired/node.ts';
import type { PulledAction } from '../model/documents.gen.ts';
import {
  convertToMcpLists,
  createEntryIdentity,
  createMemberPath,
  entryPaths,
  isMcpList,
  isOfServers,
  listRecordEntries,
  MCP_LISTS,
  type McpList,
  USUAL_TRANSPORT,
} from '../model/mcp.ts';
import { formatPath, formatPathKey, isUnmanaged, isWithin, type Path } from '../model/path.ts';
import type { Change } from '../model/plan.ts';
import type { DesiredField } from '../model/state.ts';
import {
  createRecord,
  isRecord,
  type Json,
  maskSecrets,
  type Value,
  type ValueRecord,
} from '../model/value.ts';
import { matchManaged } from '../plan/match-entries.ts';
import { isObject, isSameData, type JsonObject } from '../yaml-edit/source.ts';
import { newEntry, pullEntry } from './entry.ts';
import type { PullEdit } from './place-edits.ts';
import type { ObservedEntry, WrittenValue } from './program.ts';
import {
  type EntryPullResult,
  joinPulls,
  NOTHING_PULLED,
  type PullRules,
  skipPull,
} from './rules.ts';
import { canDeclare, REASONS } from './writable.ts';
import { hasReferences } from './written-item.ts';

/** An entry as a plan calls it, and the change of the plan there. */
interface CalledEntry {
  readonly path: Path;
  readonly change: Change | undefined;
}

/** How a file declares entries, in lists or by name: the edits for each case, and what a plan calls an entry. */
interface Spelling {
  readonly declared: Pick<DesiredField, 'value' | 'block'>;
  /** An entry that both have. `own` is its position among the declared ones. */
  readonly update: (observed: ObservedEntry, own: number, at: CalledEntry) => EntryPullResult;
  /** An entry that only the service has. */
  readonly add: (observed: ObservedEntry, at: CalledEntry) => EntryPullResult;
  /** An entry that only the file has. */
  readonly remove: (own: number, at: CalledEntry) => EntryPullResult;
  /** True if a declared entry that may be another one of the service keeps its name. */
  readonly keepsNames: boolean;
}

/** An edit for an entry, with its position on the service: after all others for an entry that the service does not have. */
type PlacedPull = EntryPullResult & { readonly index: number };

/** Pulls one list of entries. They are matched as a plan matches them, but never by a guess. Unmanaged entries stay unchanged. */
function pullEntries(
  list: McpList,
  config: Value,
  rules: PullRules,
  spelling: Spelling,
): PlacedPull[] {
  const declared = readEntries(spelling.declared.value, list);
  const actual = readEntries(config, list);
  const members = rules.entryMembers?.[list] ?? null;
  const pathOf = entryPaths(spelling.declared);
  const changes = new Map(
    rules.changes.toReversed().map((change) => [formatPathKey(change.path), change]),
  );
  const call = (segment: string, entry: ValueRecord = {}): CalledEntry => {
    const path = pathOf(list, segment, entry);
    return { path, change: changes.get(formatPathKey(path)) };
  };
  const observe = (index: number, segment: string): ObservedEntry => {
    return { list, members, hidden: rules.hidden, index, segment, entry: actual[index] ?? {} };
  };
  const add = (index: number, segment: string): PlacedPull => {
    return { index, ...spelling.add(observe(index, segment), call(segment, actual[index])) };
  };
  const remove = (own: number, segment: string): PlacedPull => {
    return { index: Infinity, ...spelling.remove(own, call(segment, declared[own])) };
  };
  const matched = matchManaged(list, declared, actual, rules.unmanaged, () => 0);
  return [
    ...matched.pairs.flatMap(({ certain, declared: own, actual: index, segment, observed }) => {
      const at = call(segment, declared[own]);
      if (certain) return [{ index, ...spelling.update(observe(index, segment), own, at) }];
      if (!spelling.keepsNames) return [remove(own, segment), add(index, observed)];
      return at.change === undefined ? [] : [{ index, ...skipPull(at.change, REASONS.unlike) }];
    }),
    ...matched.added.map(({ declared: own, segment }) => remove(own, segment)),
    ...matched.removed.map(({ actual: index, segment }) => add(index, segment)),
  ];
}

function readEntries(config: Value | undefined, list: McpList): readonly ValueRecord[] {
  return isRecord(config) ? listRecordEntries(config[list]) : [];
}

function isExcluded({ path }: Pick<CalledEntry, 'path'>, { excluded }: PullRules): boolean {
  return excluded.has(formatPath(path)) || excluded.has(path[0] ?? '');
}

/* By lists: an edit replaces a whole entry, and all edits of a list become one of the list. */

const PATH = ['settings', 'mcp_config'];

/** The position of an entry that comes last. */
const LAST = '-';

/**
 * Pulls `mcp_config`: list by list if the file declares lists; as a whole if it is null or {}, which declare all three lists.
 * It becomes null if the service has none.
 */
export function pullMcpConfig(
  node: Node,
  declared: Value,
  actual: Value,
  rules: PullRules,
): EntryPullResult {
  const changes = rules.changes.filter(({ path }) => path[0] === 'mcp_config');
  if (changes.length === 0) return NOTHING_PULLED;
  if (rules.excluded.has('mcp_config'))
    return joinPulls(changes.map((change) => skipPull(change, REASONS.unlike)));
  const names = isRecord(declared) ? Object.keys(declared).filter(isMcpList) : MCP_LISTS;
  const managed = names.filter((list) => !isUnmanaged(rules.unmanaged, ['mcp_config', list]));
  const pulls = managed.map((list) => pullMcpList(list, { node, declared }, actual, rules));
  const { edits, made, left } = joinPulls(pulls);
  const isEmpty = pulls.every(({ value }) => value.length === 0);
  if (!isRecord(actual) && isEmpty && managed.length === names.length)
    return {
      edits: [{ path: PATH, value: null, placeholders: [] }],
      made: changes.map((one) => [one.path.length > 1 ? 'remove' : 'clear', one]),
      left: [],
    };
  if (node.kind === 'map' && node.members.size > 0) return { edits, made, left };
  const set =
    made.length > 0 || left.length > 0 ? made : changes.map((one) => ['set', one] as const);
  // All three lists, so that they are as exhaustive as null and {} were, whatever the layers below declare.
  const value = Object.fromEntries(
    managed.map((list, at): [string, Json] => [list, pulls[at]?.value ?? []]),
  );
  const placeholders = pulls.flatMap((pull) => pull.placeholders);
  return { edits: [{ path: PATH, value, placeholders }], made: set, left };
}

/** A list with the service's entries, and its edit if it differs. */
interface ListPull extends EntryPullResult, Pick<WrittenValue, 'placeholders'> {
  readonly value: readonly Json[];
}

/** A declared list with the service's entries: those that the service does not have go, those that differ change in place, new ones come last. */
export function pullMcpList(
  list: McpList,
  { node, declared }: { readonly node: Node | undefined; readonly declared: Value },
  config: Value,
  rules: PullRules,
): ListPull {
  const items = member(node, list);
  const nodes = items?.kind === 'list' ? items.items : [];
  const before = nodes.map((item) => maskSecrets(plainValue(item)));
  const entries = readEntries(declared, list);
  const path = [...PATH, list];
  const spelling: Spelling = {
    declared: { value: declared },
    keepsNames: false,
    update: (observed, own, at) => {
      const [item, entry] = [nodes[own], entries[own]];
      if (item === undefined || entry === undefined) return NOTHING_PULLED;
      const { differing } = rules.compare(list, entry, observed.entry);
      if (differing.length === 0) return NOTHING_PULLED;
      if (isExcluded(at, rules)) return skipPull({ ...at, ref: null }, REASONS.unlike);
      const pulled = pullEntry(observed, item, entry, differing, rules.overReferences);
      const { left, ...edit } = { ...pulled, path: [...path, String(own)] };
      const isSame = isSameData(pulled.value, before[own] ?? null);
      return isSame ? { ...NOTHING_PULLED, left } : { ...pullAs('change', at, edit), left };
    },
    add: (observed, at) => {
      const leave = (reason: string) => skipPull({ ...at, ref: null }, reason);
      if (/#\d+$/.test(observed.segment)) return leave(REASONS.twice);
      if (isExcluded(at, rules)) return leave(REASONS.unlike);
      const written = newEntry(observed);
      if (written === null) return leave(REASONS.inexpressible);
      const { left, ...edit } = { ...written, path: [...path, LAST] };
      return { ...pullAs('add', at, edit), left };
    },
    remove: (own, at) => pullAs('remove', at, leaveFile([...path, String(own)])),
  };
  const parts = pullEntries(list, config, rules, spelling);
  const { edits, made, left } = joinPulls(parts.toSorted((one, other) => one.index - other.index));
  const value = editList(before, edits);
  const placeholders = edits.flatMap((edit) => edit.placeholders);
  const isSame = isSameData(before, value);
  return { value, placeholders, edits: isSame ? [] : [{ path, value, placeholders }], made, left };
}

/** One change of the file, which reverses a change of the plan where the plan has one. */
function pullAs(action: PulledAction, { change }: CalledEntry, edit: PullEdit): EntryPullResult {
  return { edits: [edit], made: change === undefined ? [] : [[action, change]], left: [] };
}

function leaveFile(path: readonly string[]): PullEdit {
  return { path, value: null, placeholders: [], leaves: true };
}

/** A list with the edits of its items. */
function editList(before: readonly Json[], edits: readonly PullEdit[]): readonly Json[] {
  const items = new Map(before.map((item, index) => [String(index), item]));
  for (const { path, value, leaves } of edits) {
    const at = path.at(-1) ?? '';
    if (leaves === true) items.delete(at);
    else items.set(at === LAST ? `${LAST}${items.size}` : at, value);
  }
  return [...items.values()];
}

/* By names: an edit is of a member, so that each layer of the file keeps what it declares. */

/** The map of a file that declares mcp servers by name: its place and its content. */
export interface DeclaredServers {
  readonly place: Path;
  readonly node: Node;
  /** As the lists of the specification, and the block that names them, if one does. */
  readonly declared: Pick<DesiredField, 'value' | 'block'>;
}

/**
 * Pulls mcp servers that a file declares by name: one that differs member by member, one that has gone leaves the file, and one that the plan
 * would remove is declared. What is not named is left alone.
 */
export function pullServers(
  servers: DeclaredServers,
  config: Value,
  rules: PullRules,
): EntryPullResult {
  if (!rules.changes.some(({ path }) => isOfServers(path))) return NOTHING_PULLED;
  const names = MCP_LISTS.flatMap((list) => readEntries(config, list).map(trimServerName));
  return joinPulls(
    MCP_LISTS.flatMap((list) =>
      pullEntries(list, config, rules, spellByName(list, servers, new Set(names), rules)),
    ).map(withPaths),
  );
}

/** How a file declares servers by name. `there` are the names of all servers that the service has. */
function spellByName(
  list: McpList,
  servers: DeclaredServers,
  there: ReadonlySet<string | null>,
  rules: PullRules,
): Spelling {
  const { declared } = servers;
  const entries = readEntries(declared.value, list);
  const nameOf = (own: number) => trimServerName(entries[own] ?? {}) ?? '';
  const nodeOf = (name: string | null) => findNode(servers.node, [name ?? '']);
  return {
    declared,
    keepsNames: true,
    update: (observed, own, at) => {
      const [name, entry] = [nameOf(own), entries[own]];
      if (at.change === undefined || entry === undefined) return NOTHING_PULLED;
      const node = nodeOf(name);
      if (node === undefined || isExcluded(at, rules)) return skipPull(at.change, REASONS.unlike);
      const server = { declared: entry, node, place: [...servers.place, name] };
      return updateServer(at.change, observed, server, rules);
    },
    add: (observed, at) => {
      const { change } = at;
      if (change === undefined) return NOTHING_PULLED;
      const known = nodeOf(trimServerName(observed.entry));
      if (known !== undefined && hasReferences(known)) return skipPull(change, REASONS.reference);
      if (isExcluded(at, rules)) return skipPull(change, REASONS.unlike);
      const written = newServer(observed, servers);
      if (written === null) return skipPull(change, REASONS.inexpressible);
      const action = change.action === 'change' ? 'change' : 'add';
      return { ...pullAs(action, at, written.edit), left: written.left };
    },
    remove: (own, at) => {
      const { change } = at;
      const name = nameOf(own);
      if (change === undefined || name === '') return NOTHING_PULLED;
      if (isExcluded(at, rules)) return skipPull(change, REASONS.unlike);
      if (!there.has(name)) return pullAs('remove', at, leaveFile([...servers.place, name]));
      // It is in another list of the service, from where it is pulled whole.
      if (change.action === 'change') return NOTHING_PULLED;
      const node = nodeOf(name);
      return node !== undefined && hasReferences(node)
        ? skipPull(change, REASONS.reference)
        : { ...NOTHING_PULLED, made: [['change', change]] };
    },
  };
}

/** The edits with what plans call the server that each is of. */
function withPaths(part: EntryPullResult): EntryPullResult {
  const [[, change] = []] = part.made;
  if (change === undefined) return part;
  const { path: server } = change;
  return {
    ...part,
    edits: part.edits.map((edit) => ({ ...edit, about: server })),
    left: part.left.map((one) => {
      const { path } = one;
      return isWithin(path, server)
        ? one
        : { ...one, path: createMemberPath(server, path.slice(3)) };
    }),
  };
}

function trimServerName({ name }: ValueRecord): string | null {
  return typeof name === 'string' && name.trim() !== '' ? name.trim() : null;
}

/** A server of the service as a file declares it by name. Null if a file cannot hold it. */
export function newServer(
  observed: ObservedEntry,
  { place, node }: Pick<DeclaredServers, 'place' | 'node'>,
): { readonly edit: PullEdit; readonly left: EntryPullResult['left'] } | null {
  const { list, entry } = observed;
  const found = newEntry(observed);
  // A service that has no names calls one by its address.
  const name = trimServerName(entry) ?? parseAddressHost(createEntryIdentity(list, entry).shown);
  const isTaken = trimServerName(entry) === null && findNode(node, [name]) !== undefined;
  if (found === null || !isObject(found.value) || isTaken) return null;
  const value = convertToNamedServer(list, found.value);
  if (!canDeclare({ mcp_servers: { [name]: value } })) return null;
  const known = findNode(node, [name]);
  const before = known?.kind === 'map' ? [...known.members.keys()] : [];
  const nulls = before.map((key): [string, null] => [key, null]);
  const over = { ...Object.fromEntries(nulls), ...value };
  const edit = { path: [...place, name], beside: true, value, over } as const;
  const placeholders = found.placeholders.map((one) => ({
    ...one,
    path: ownPath(one.path, [...place, name]),
  }));
  return { edit: { ...edit, placeholders }, left: found.left };
}

/** The path of a member of an entry as the map of servers by name has it. */
function ownPath([, , , ...member]: Path, server: Path): Path {
  const own = member[0] === 'api_key' ? ['auth', 'value'] : member;
  return [...(server[0] === 'settings' ? server.slice(1) : server), ...own];
}

function parseAddressHost(address: string): string {
  const rest = address.replace(/^[a-z][a-z0-9+.-]*:\/\//i, '');
  return rest.split('/')[0] ?? rest;
}

/** An entry of a list with the members that a server by name has. The name is its key. */
function convertToNamedServer(list: McpList, entry: JsonObject): JsonObject {
  const { name: _, api_key: key, auth, transport, ...rest } = entry;
  const { url } = rest;
  const isPlain = typeof url === 'string' && !url.includes('${');
  const inferred = convertToMcpLists(
    createRecord({ x: createRecord({ url: isPlain ? url : null }) }),
  );
  const isInferred = list === 'stdio_servers' || listRecordEntries(inferred[list]).length > 0;
  const how = transport ?? (isInferred ? undefined : USUAL_TRANSPORT[list]);
  const strategy = isObject(auth) ? auth : { strategy: 'api_key' };
  const members: readonly (readonly [string, Json | undefined])[] = [
    ...Object.entries(rest),
    ['transport', how],
    ['auth', key === undefined ? auth : { ...strategy, value: key }],
  ];
  return Object.fromEntries(
    members.flatMap(([key_, value]) => (value === undefined ? [] : [[key_, value] as const])),
  );
}

/** A declared server with the members that differ. References and secrets stay. */
function updateServer(
  change: Change,
  observed: ObservedEntry,
  { declared, node, place }: Readonly<{ declared: ValueRecord; node: Node; place: Path }>,
  { compare }: PullRules,
): EntryPullResult {
  const { list, entry } = observed;
  const name = place.at(-1) ?? '';
  const { differing } = compare(list, declared, entry);
  const isKey = (one: string): boolean => one === 'api_key' || one === 'auth';
  const open = differing.filter((one) => one !== 'name' && !isKey(one));
  const isFit = (value: Json): boolean => canDeclare({ mcp_servers: { [name]: value } });
  const pulled = pullEntry({ ...observed, isFit }, node, declared, open, false);
  const [before, after] = [maskSecrets(plainValue(node)), pulled.value];
  const edits = open.flatMap((one): PullEdit[] => {
    const [was, is] = [before, after].map((all) => (isObject(all) ? all[one] : undefined));
    if (is === undefined || isSameData(was, is)) return [];
    const placeholders = pulled.placeholders.filter(({ path }) => path[3] === one);
    const edit = { path: [...place, one], item: place.length, value: is, placeholders };
    return [is === null ? { ...edit, leaves: true } : edit];
  });
  const auth = differing.some(isKey) ? authPull(change, member(node, 'auth'), entry) : [];
  const gone = auth === 'leaves' ? [{ ...leaveFile([...place, 'auth']), item: place.length }] : [];
  const left = [...pulled.left, ...(auth === 'leaves' ? [] : auth)];
  const made: [PulledAction, Change][] = edits.length + gone.length > 0 ? [['change', change]] : [];
  return { edits: [...edits, ...gone], made, left };
}

/** Pulls the authentication of a server, which contains a secret: removed if the service has none, otherwise unchanged. */
function authPull(
  { path, ref }: Change,
  node: Node | undefined,
  { api_key: key, auth }: ValueRecord,
): 'leaves' | EntryPullResult['left'] {
  const isNone = (key ?? null) === null && (auth ?? null) === null;
  const isReference = node !== undefined && hasReferences(node);
  if (isNone && node !== undefined && !isReference) return 'leaves';
  const reason = isReference ? REASONS.reference : REASONS.secret;
  return [{ path: [...path, 'auth'], reason, ref: isReference ? ref : null }];
}
