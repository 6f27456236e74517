import { member, nodeAt, plainValue, type Node } from '../desired/node.ts';
import { listsOf, USUAL_TRANSPORT } from '../model/mcp-map.ts';
import {
  entriesOf,
  entryPaths,
  identityOf,
  isOfServers,
  MCP_LISTS,
  memberPathIn,
  type McpList,
} from '../model/mcp.ts';
import type { PulledAction } from '../model/documents.gen.ts';
import { formatPath, isWithin, pathKey, type Path } from '../model/path.ts';
import type { Change } from '../model/plan.ts';
import type { DesiredField } from '../model/state.ts';
import {
  isRecord,
  masked,
  recordOf,
  type Json,
  type Value,
  type ValueRecord,
} from '../model/value.ts';
import { matchManaged } from '../plan/match-entries.ts';
import { isObject, sameJson, type JsonObject } from '../yaml-edit/source.ts';
import { newEntry, pulledEntry } from './entry.ts';
import { refersIn } from './written-item.ts';
import { leaving, NOTHING_PULLED, type Pulled, type PullRules } from './mcp.ts';
import type { PullEdit } from './place-edits.ts';
import type { ObservedEntry } from './program.ts';
import { canDeclare, REASONS } from './writable.ts';

/** The map of a file that declares mcp servers by name: where it is, and what it says. */
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
export function pulledServers(servers: DeclaredServers, actual: Value, rules: PullRules): Pulled {
  const changes = rules.changes.filter(({ path }) => isOfServers(path));
  if (changes.length === 0) return NOTHING_PULLED;
  const byPath = new Map(changes.toReversed().map((change) => [pathKey(change.path), change]));
  const lists = MCP_LISTS.map((list) => [list, listIn(actual, list)] as const);
  const there = new Set(
    lists.flatMap(([, entries]) => entries.flatMap((entry) => nameOf(entry) ?? [])),
  );
  const changeAt = (path: Path): Change | undefined => byPath.get(pathKey(path));
  const pulling = { servers, rules, changeAt, there };
  const parts = lists.flatMap(([list, entries]) => pulledOf(list, entries, pulling));
  return joined(parts.map(withPaths));
}

/** The edits with what plans call the server that each is of. */
function withPaths(part: Pulled): Pulled {
  const [[, change] = []] = part.made;
  if (change === undefined) return part;
  return {
    ...part,
    edits: part.edits.map((edit) => ({ ...edit, about: change.path })),
    left: part.left.map((one) => ({ ...one, path: ownPathIn(change.path, one.path) })),
  };
}

/** The path of a member of a server, as plans call the server. */
function ownPathIn(server: Path, path: Path): Path {
  return isWithin(path, server) ? path : memberPathIn(server, path.slice(3));
}

export function joined(parts: readonly Pulled[]): Pulled {
  return {
    edits: parts.flatMap(({ edits }) => edits),
    made: parts.flatMap(({ made }) => made),
    left: parts.flatMap(({ left }) => left),
  };
}

function listIn(config: Value, list: McpList): readonly ValueRecord[] {
  return isRecord(config) ? entriesOf(config[list]) : [];
}

function nameOf({ name }: ValueRecord): string | null {
  return typeof name === 'string' && name.trim() !== '' ? name.trim() : null;
}

function pulledOf(list: McpList, actual: readonly ValueRecord[], pulling: Pulling): Pulled[] {
  const { servers, rules, changeAt, there } = pulling;
  const declared = listIn(servers.declared.value, list);
  const common = { list, members: rules.entryMembers?.[list] ?? null, hidden: rules.hidden };
  const matched = matchManaged(list, declared, actual, rules.unmanaged, () => 0);
  const called = entryPaths(servers.declared);
  const pathOf = (segment: string, entry: ValueRecord = {}): Path => called(list, segment, entry);
  return [
    ...matched.pairs.map((pair): Pulled => {
      const change = changeAt(pathOf(pair.segment, declared[pair.declared]));
      const [own, entry] = [declared[pair.declared], actual[pair.actual]];
      if (change === undefined || own === undefined || entry === undefined) return NOTHING_PULLED;
      if (!pair.certain) return leaving(change, REASONS.unlike);
      const observed = { ...common, index: pair.actual, segment: pair.segment, entry };
      return changedServer(change, observed, own, pulling);
    }),
    ...matched.added.map(({ declared: index, segment }): Pulled => {
      const change = changeAt(pathOf(segment, declared[index]));
      const name = nameOf(declared[index] ?? {});
      if (change === undefined || name === null) return NOTHING_PULLED;
      const node = nodeAt(servers.node, [name]);
      if (isExcluded(change, rules)) return leaving(change, REASONS.unlike);
      // It is in another list of the service, from where it is pulled whole.
      if (there.has(name) && change.action === 'change') return NOTHING_PULLED;
      if (there.has(name))
        return node !== undefined && refersIn(node)
          ? leaving(change, REASONS.reference)
          : { ...NOTHING_PULLED, made: [['change', change]] };
      const edit = { path: [...servers.place, name], value: null, placeholders: [] };
      return { edits: [{ ...edit, leaves: true }], made: [['remove', change]], left: [] };
    }),
    ...matched.removed.map(({ actual: index, segment }): Pulled => {
      const change = changeAt(pathOf(segment, actual[index]));
      const entry = actual[index];
      if (change === undefined || entry === undefined) return NOTHING_PULLED;
      return addedServer(change, { ...common, index, segment, entry }, pulling);
    }),
  ];
}

function isExcluded({ path }: Pick<Change, 'path'>, { excluded }: PullRules): boolean {
  return excluded.has(formatPath(path)) || excluded.has(path[0] ?? '');
}

/** A server that the file does not declare, or takes out, or declares with another transport. */
function addedServer(change: Change, observed: ObservedEntry, pulling: Pulling): Pulled {
  const { servers, rules } = pulling;
  const known = nodeAt(servers.node, [nameOf(observed.entry) ?? '']);
  if (known !== undefined && refersIn(known)) return leaving(change, REASONS.reference);
  if (isExcluded(change, rules)) return leaving(change, REASONS.unlike);
  const written = newServer(observed, servers);
  if (written === null) return leaving(change, REASONS.inexpressible);
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
): { readonly edit: PullEdit; readonly left: Pulled['left'] } | null {
  const { list, entry } = observed;
  const found = newEntry(observed);
  // A service that has no names calls one by its address.
  const name = nameOf(entry) ?? hostOf(identityOf(list, entry).shown);
  const isTaken = nameOf(entry) === null && nodeAt(node, [name]) !== undefined;
  if (found === null || !isObject(found.value) || isTaken) return null;
  const value = byName(list, found.value);
  if (!canDeclare({ mcp_servers: { [name]: value } })) return null;
  const known = nodeAt(node, [name]);
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

function hostOf(address: string): string {
  const rest = address.replace(/^[a-z][a-z0-9+.-]*:\/\//i, '');
  return rest.split('/')[0] ?? rest;
}

/** An entry of a list with the members that a server by name has. The name is its key. */
function byName(list: McpList, entry: JsonObject): JsonObject {
  const { name: _, api_key: key, auth, transport, ...rest } = entry;
  const { url } = rest;
  const isPlain = typeof url === 'string' && !url.includes('${');
  const inferred = listsOf(recordOf([['x', recordOf([['url', isPlain ? url : null]])]]));
  const isInferred = list === 'stdio_servers' || entriesOf(inferred[list]).length > 0;
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
function changedServer(
  change: Change,
  observed: ObservedEntry,
  declared: ValueRecord,
  { servers, rules }: Pulling,
): Pulled {
  const { place } = servers;
  const { list, entry } = observed;
  const name = nameOf(declared) ?? '';
  const node = nodeAt(servers.node, [name]);
  if (node === undefined || isExcluded(change, rules)) return leaving(change, REASONS.unlike);
  const { differing } = rules.compare(list, declared, entry);
  const isKey = (one: string): boolean => one === 'api_key' || one === 'auth';
  const open = differing.filter((one) => one !== 'name' && !isKey(one));
  const isFit = (value: Json): boolean => canDeclare({ mcp_servers: { [name]: value } });
  const pulled = pulledEntry({ ...observed, isFit }, node, declared, open, false);
  const [before, after] = [masked(plainValue(node)), pulled.value];
  const edits = open.flatMap((one): PullEdit[] => {
    const [was, is] = [before, after].map((all) => (isObject(all) ? all[one] : undefined));
    if (is === undefined || sameJson(was, is)) return [];
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

/** How a server authenticates holds a secret: it goes if the service has none, and stays as it is otherwise. */
function authPull(
  { path, ref }: Change,
  node: Node | undefined,
  { api_key: key, auth }: ValueRecord,
): 'leaves' | Pulled['left'] {
  const isNone = (key ?? null) === null && (auth ?? null) === null;
  const isReference = node !== undefined && refersIn(node);
  if (isNone && node !== undefined && !isReference) return 'leaves';
  const reason = isReference ? REASONS.reference : REASONS.secret;
  return [{ path: [...path, 'auth'], reason, ref: isReference ? ref : null }];
}

function authLeaves(server: Path): PullEdit {
  const path = [...server, 'auth'];
  return { path, item: server.length, value: null, placeholders: [], leaves: true };
}
