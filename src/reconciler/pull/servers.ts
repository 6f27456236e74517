import { member, findNode, plainValue, type Node } from '../desired/node.ts';
import {
  convertToMcpLists,
  USUAL_TRANSPORT,
  listRecordEntries,
  entryPaths,
  createEntryIdentity,
  isOfServers,
  MCP_LISTS,
  createMemberPath,
  type McpList,
} from '../model/mcp.ts';
import type { PulledAction } from '../model/documents.gen.ts';
import { formatPath, isWithin, formatPathKey, type Path } from '../model/path.ts';
import type { Change } from '../model/plan.ts';
import type { DesiredField } from '../model/state.ts';
import {
  isRecord,
  maskSecrets,
  createRecord,
  type Json,
  type Value,
  type ValueRecord,
} from '../model/value.ts';
import { matchManaged } from '../plan/match-entries.ts';
import { isObject, isSameData, type JsonObject } from '../yaml-edit/source.ts';
import { newEntry, pullEntry } from './entry.ts';
import { hasReferences } from './written-item.ts';
import { skipPull, NOTHING_PULLED, type EntryPullResult, type PullRules } from './mcp.ts';
import type { PullEdit } from './place-edits.ts';
import type { ObservedEntry } from './program.ts';
import { canDeclare, REASONS } from './writable.ts';

/** The map of a file that declares mcp servers by name: its place and its content. */
export interface DeclaredServers {
  readonly place: Path;
  readonly node: Node;
  /** As the lists of the specification, and the block that names them, if one does. */
  readonly declared: Pick<DesiredField, 'value' | 'block'>;
}

interface Pulling {
  readonly servers: DeclaredServers;
  readonly rules: PullRules;
  readonly changeAt: (path: Path) => Change | undefined;
  /** The names of all servers that the service has. */
  readonly there: ReadonlySet<string>;
}

/**
 * Pulls mcp servers that a file declares by name: one that differs member by member, one that has gone leaves the file, and one that the plan
 * would remove is declared. What is not named is left alone.
 */
export function pullServers(
  servers: DeclaredServers,
  actual: Value,
  rules: PullRules,
): EntryPullResult {
  const changes = rules.changes.filter(({ path }) => isOfServers(path));
  if (changes.length === 0) return NOTHING_PULLED;
  const byPath = new Map(
    changes.toReversed().map((change) => [formatPathKey(change.path), change]),
  );
  const lists = MCP_LISTS.map((list) => [list, readServerList(actual, list)] as const);
  const there = new Set(
    lists.flatMap(([, entries]) => entries.flatMap((entry) => readPulledName(entry) ?? [])),
  );
  const changeAt = (path: Path): Change | undefined => byPath.get(formatPathKey(path));
  const pulling = { servers, rules, changeAt, there };
  const parts = lists.flatMap(([list, entries]) => pullServerList(list, entries, pulling));
  return joinPulls(parts.map(withPaths));
}

/** The edits with what plans call the server that each is of. */
function withPaths(part: EntryPullResult): EntryPullResult {
  const [[, change] = []] = part.made;
  if (change === undefined) return part;
  return {
    ...part,
    edits: part.edits.map((edit) => ({ ...edit, about: change.path })),
    left: part.left.map((one) => ({ ...one, path: toServerMemberPath(change.path, one.path) })),
  };
}

/** The path of a member of a server, as plans call the server. */
function toServerMemberPath(server: Path, path: Path): Path {
  return isWithin(path, server) ? path : createMemberPath(server, path.slice(3));
}

export function joinPulls(parts: readonly EntryPullResult[]): EntryPullResult {
  return {
    edits: parts.flatMap(({ edits }) => edits),
    made: parts.flatMap(({ made }) => made),
    left: parts.flatMap(({ left }) => left),
  };
}

function readServerList(config: Value, list: McpList): readonly ValueRecord[] {
  return isRecord(config) ? listRecordEntries(config[list]) : [];
}

function readPulledName({ name }: ValueRecord): string | null {
  return typeof name === 'string' && name.trim() !== '' ? name.trim() : null;
}

function pullServerList(
  list: McpList,
  actual: readonly ValueRecord[],
  pulling: Pulling,
): EntryPullResult[] {
  const { servers, rules, changeAt, there } = pulling;
  const declared = readServerList(servers.declared.value, list);
  const common = { list, members: rules.entryMembers?.[list] ?? null, hidden: rules.hidden };
  const matched = matchManaged(list, declared, actual, rules.unmanaged, () => 0);
  const called = entryPaths(servers.declared);
  const pathOf = (segment: string, entry: ValueRecord = {}): Path => called(list, segment, entry);
  return [
    ...matched.pairs.map((pair): EntryPullResult => {
      const change = changeAt(pathOf(pair.segment, declared[pair.declared]));
      const [own, entry] = [declared[pair.declared], actual[pair.actual]];
      if (change === undefined || own === undefined || entry === undefined) return NOTHING_PULLED;
      if (!pair.certain) return skipPull(change, REASONS.unlike);
      const observed = { ...common, index: pair.actual, segment: pair.segment, entry };
      return updateServer(change, observed, own, pulling);
    }),
    ...matched.added.map(({ declared: index, segment }): EntryPullResult => {
      const change = changeAt(pathOf(segment, declared[index]));
      const name = readPulledName(declared[index] ?? {});
      if (change === undefined || name === null) return NOTHING_PULLED;
      const node = findNode(servers.node, [name]);
      if (isServerExcluded(change, rules)) return skipPull(change, REASONS.unlike);
      // It is in another list of the service, from where it is pulled whole.
      if (there.has(name) && change.action === 'change') return NOTHING_PULLED;
      if (there.has(name))
        return node !== undefined && hasReferences(node)
          ? skipPull(change, REASONS.reference)
          : { ...NOTHING_PULLED, made: [['change', change]] };
      const edit = { path: [...servers.place, name], value: null, placeholders: [] };
      return { edits: [{ ...edit, leaves: true }], made: [['remove', change]], left: [] };
    }),
    ...matched.removed.map(({ actual: index, segment }): EntryPullResult => {
      const change = changeAt(pathOf(segment, actual[index]));
      const entry = actual[index];
      if (change === undefined || entry === undefined) return NOTHING_PULLED;
      return addServer(change, { ...common, index, segment, entry }, pulling);
    }),
  ];
}

function isServerExcluded({ path }: Pick<Change, 'path'>, { excluded }: PullRules): boolean {
  return excluded.has(formatPath(path)) || excluded.has(path[0] ?? '');
}

/** A server that the file does not declare, or takes out, or declares with another transport. */
function addServer(change: Change, observed: ObservedEntry, pulling: Pulling): EntryPullResult {
  const { servers, rules } = pulling;
  const known = findNode(servers.node, [readPulledName(observed.entry) ?? '']);
  if (known !== undefined && hasReferences(known)) return skipPull(change, REASONS.reference);
  if (isServerExcluded(change, rules)) return skipPull(change, REASONS.unlike);
  const written = newServer(observed, servers);
  if (written === null) return skipPull(change, REASONS.inexpressible);
  return {
    edits: [written.edit],
    made: [[change.action === 'change' ? 'change' : 'add', change]],
    left: written.left,
  };
}

/** A server of the service as a file declares it by name. Null if a file cannot hold it. */
export function newServer(
  observed: ObservedEntry,
  { place, node }: Pick<DeclaredServers, 'place' | 'node'>,
): { readonly edit: PullEdit; readonly left: EntryPullResult['left'] } | null {
  const { list, entry } = observed;
  const found = newEntry(observed);
  // A service that has no names calls one by its address.
  const name = readPulledName(entry) ?? parseAddressHost(createEntryIdentity(list, entry).shown);
  const isTaken = readPulledName(entry) === null && findNode(node, [name]) !== undefined;
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
    createRecord([['x', createRecord([['url', isPlain ? url : null]])]]),
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
  declared: ValueRecord,
  { servers, rules }: Pulling,
): EntryPullResult {
  const { place } = servers;
  const { list, entry } = observed;
  const name = readPulledName(declared) ?? '';
  const node = findNode(servers.node, [name]);
  if (node === undefined || isServerExcluded(change, rules))
    return skipPull(change, REASONS.unlike);
  const { differing } = rules.compare(list, declared, entry);
  const isKey = (one: string): boolean => one === 'api_key' || one === 'auth';
  const open = differing.filter((one) => one !== 'name' && !isKey(one));
  const isFit = (value: Json): boolean => canDeclare({ mcp_servers: { [name]: value } });
  const pulled = pullEntry({ ...observed, isFit }, node, declared, open, false);
  const [before, after] = [maskSecrets(plainValue(node)), pulled.value];
  const edits = open.flatMap((one): PullEdit[] => {
    const [was, is] = [before, after].map((all) => (isObject(all) ? all[one] : undefined));
    if (is === undefined || isSameData(was, is)) return [];
    const placeholders = pulled.placeholders.filter(({ path }) => path[3] === one);
    const edit = { path: [...place, name, one], item: place.length + 1, value: is, placeholders };
    return [is === null ? { ...edit, leaves: true } : edit];
  });
  const auth = differing.some(isKey) ? authPull(change, member(node, 'auth'), entry) : [];
  const gone = auth === 'leaves' ? [authLeaves([...place, name])] : [];
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

function authLeaves(server: Path): PullEdit {
  const path = [...server, 'auth'];
  return { path, item: server.length, value: null, placeholders: [], leaves: true };
}
