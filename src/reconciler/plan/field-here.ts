import type { DialectField } from '../model/dialect.ts';
import { SetpointError } from '../model/error.ts';
import {
  AGENT_KIND,
  fieldNamed,
  fieldsWithin,
  createUnnamedField,
  type Field,
} from '../model/field.ts';
import { listSchemaVariants, type Definitions, type SchemaNode } from '../model/json-schema.ts';
import {
  findServerDefault,
  isSecretNode,
  kindMember,
  nativeDefinitions,
  nativeNodes,
  type FindKind,
} from '../model/native-schema.ts';
import {
  formatPath,
  isUnmanaged,
  isWithin,
  parsePath,
  pathNamed,
  samePath,
  type Path,
  formatPathKey,
} from '../model/path.ts';
import { MASK, Secret } from '../model/secret.ts';
import {
  type DesiredField,
  type DesiredState,
  type ObservedState,
  type NamedSettings,
  findDeclaredServers,
} from '../model/state.ts';
import {
  holdsNothing,
  isList,
  isRecord,
  assignPath,
  createRecord,
  sameValue,
  type Value,
  type ValueRecord,
} from '../model/value.ts';
import {
  callNames,
  findEntryPath,
  entryPaths,
  isMcpList,
  isUnmanagedEntry,
  MCP_LISTS,
  findEntryMember,
  createMemberPath,
  listPathedEntries,
  UNNAMED,
  unreadableItems,
  OTHERS,
} from '../model/mcp.ts';
import {
  listManagedMcpLists,
  managesEntry,
  managesField,
  findRelocatedEntries,
} from './declared.ts';

/**
 * A field as the services of an observation have it: from the table of their dialect, or, if the specification does not name it, from
 * their schema. Throws if they do not have it: that is found before a plan is made.
 */
export function resolveDialectField(
  { name, path, secret }: Field,
  observed: ObservedState,
): DialectField {
  const { dialect } = observed;
  const known = dialect.fields.get(name);
  if (known !== undefined) return known;
  if (fieldNamed(name) !== undefined)
    throw new SetpointError('internal', `${dialect.name} has no field ${name}.`);
  const nodes = findSchemaNodes(path, observed);
  // The word that distinguishes variants defaults to that of the first one.
  const isKind = nodes.some((node) => node.const !== undefined);
  const absent = findServerDefault(isKind ? nativeNodes(dialect.name, path) : nodes) ?? null;
  return {
    name,
    reads: secret ? 'presence' : 'value',
    onNull: absent === null ? 'clears' : 'resets',
    clearWith: null,
    absent,
    storesNull: true,
    ...dialect.native?.get(name),
  };
}

/** Returns the nodes of the service's schema at a path. With `desired`, returns those that the declared kinds select. */
export function findSchemaNodes(
  path: Path,
  observed: ObservedState,
  desired: Pick<DesiredState, 'fields'> = { fields: [] },
): readonly SchemaNode[] {
  return nativeNodes(observed.dialect.name, path, collectVariantKinds(observed, desired));
}

/** The words that distinguish the variants of parts: the declared ones, then those of the service, then the usual ones. */
export function collectVariantKinds(
  { dialect, values }: ObservedState,
  { fields }: Pick<DesiredState, 'fields'> = { fields: [] },
): FindKind {
  return (path) => {
    const name = formatPath(path);
    const declared = fields.find(({ field }) => field.name === name)?.value;
    const variants = nativeNodes(dialect.name, path.slice(0, -1));
    const words = variants.flatMap((node) => kindMember(node)?.[1] ?? []);
    const known = declared ?? inferKind(path, variants, fields) ?? values[name];
    // A word outside of these, or unknown here, excludes no variant.
    if (known !== undefined && known !== null) return words.find((word) => sameValue(known, word));
    return words[0];
  };
}

/**
 * The kind that a part must be of for what a file declares in it, if it does not name one: that of the one variant which has all of it. The
 * kind of agent is never implied: with another one all of its settings are gone.
 */
function inferKind(
  path: Path,
  variants: readonly SchemaNode[],
  fields: DesiredState['fields'],
): Value | undefined {
  const part = path.slice(0, -1);
  if (samePath(path, AGENT_KIND) || variants.length < 2) return undefined;
  const members = fields.flatMap(({ field, value }) => {
    const { place } = field;
    const isInside = value !== null && place.length > part.length && isWithin(place, part);
    return isInside ? [place[part.length] ?? ''] : [];
  });
  const having = variants.filter(({ properties = {} }) =>
    members.every((member) => Object.hasOwn(properties, member)),
  );
  const [only, ...others] = having;
  return only === undefined || others.length > 0 ? undefined : kindMember(only)?.[1];
}

/** The places of the words that distinguish the variants of the parts around a path. */
export function kindPlaces(path: Path, { dialect }: ObservedState): Path[] {
  return path.flatMap((_, index) => {
    const above = path.slice(0, index);
    const kinds = nativeNodes(dialect.name, above).flatMap((node) => kindMember(node)?.[0] ?? []);
    return kinds.slice(0, 1).map((kind) => [...above, kind]);
  });
}

/** Adds the kinds of parts that follow from a declaration and that the service does not have. */
export function withImpliedKinds(desired: DesiredState, observed: ObservedState): DesiredState {
  if (!observed.stored) return desired;
  const names = new Set(desired.fields.map(({ field }) => field.name));
  const [now, then] = [collectVariantKinds(observed), collectVariantKinds(observed, desired)];
  const implied = new Map<string, DesiredField>();
  for (const one of desired.fields) {
    if (one.value === null) continue;
    for (const place of kindPlaces(one.field.place, observed)) {
      const [name, kind] = [formatPath(place), then(place)];
      if (names.has(name) || samePath(place, AGENT_KIND) || kind === undefined) continue;
      if (sameValue(kind, now(place)) || isUnmanaged(desired.unmanaged, place)) continue;
      implied.set(name, {
        field: createUnnamedField(place, false),
        value: kind,
        source: one.source,
      });
    }
  }
  return implied.size === 0
    ? desired
    : { ...desired, fields: [...desired.fields, ...implied.values()] };
}

/** Returns what the service shows at a path: a value, or the values under it as a map. Undefined if none, so the default applies. */
export function readShownValue({ values }: ObservedState, path: Path): Value | undefined {
  const own = values[formatPath(path)];
  if (own !== undefined) return own;
  const inner = Object.entries(values).flatMap(([name, value]) => {
    const at = name.startsWith(path[0] ?? '') ? parsePath(name) : null;
    return at !== null && at.length > path.length && isWithin(at, path)
      ? [[at.slice(path.length), value] as const]
      : [];
  });
  return inner.length === 0 ? undefined : nestEntries(inner);
}

/**
 * All that the service has at the place of a map: native values, the fields of the specification that are in it, and secrets, if it shows
 * that they are stored.
 */
export function collectStoredMembers(path: Path, observed: ObservedState): Value {
  const { values, secrets } = observed;
  const own = readShownValue(observed, path);
  if (own !== undefined && !isRecord(own)) return own;
  const specified = fieldsWithin(path).flatMap(({ name, place }) => {
    const value = values[name] ?? null;
    return value === null ? [] : [[place, value] as const];
  });
  const stored = [...secrets].flatMap(([name, state]) => {
    const at = state === 'stored' ? pathNamed(name) : [];
    return at.length > path.length && isWithin(at, path) ? [[at, new Secret(MASK)] as const] : [];
  });
  return [...specified, ...stored].reduce(
    (whole, [at, value]) => assignPath(whole, at.slice(path.length), value),
    own ?? createRecord({}),
  );
}

function nestEntries(entries: readonly (readonly [Path, Value])[]): ValueRecord {
  const groups = new Map<string, (readonly [Path, Value])[]>();
  for (const [[key = '', ...rest], value] of entries)
    groups.set(key, [...(groups.get(key) ?? []), [rest, value]]);
  return createRecord(
    [...groups].map(([key, inner]) => {
      const [only] = inner;
      return [key, only !== undefined && only[0].length === 0 ? only[1] : nestEntries(inner)];
    }),
  );
}

/** Reports whether two values at a path mean the same. A default that a server fills in for an omitted member does not count. */
export function isEquivalentValue(
  a: Value,
  b: Value,
  path: Path,
  observed: ObservedState,
): boolean {
  if (sameValue(a, b)) return true;
  if (!isList(a) && !isRecord(a)) return false;
  const nodes = findSchemaNodes(path, observed);
  const defs = nativeDefinitions(observed.dialect.name);
  return sameValue(removeDefaults(a, nodes, defs), removeDefaults(b, nodes, defs));
}

function removeDefaults(value: Value, nodes: readonly SchemaNode[], defs: Definitions): Value {
  if (isList(value)) {
    const items = nodes.flatMap((node) =>
      node.items === undefined ? [] : listSchemaVariants(node.items, defs),
    );
    return value.map((item) => removeDefaults(item, items, defs));
  }
  if (!isRecord(value)) return value;
  return createRecord(
    Object.entries(value).flatMap(([key, member]): (readonly [string, Value])[] => {
      const inner = nodes.flatMap((node) => listNodeMembers(node, key, defs));
      const filled = inner.some(
        (node) => node.readOnly === true || sameValue(member, node.default ?? null),
      );
      return inner.length > 0 && filled ? [] : [[key, removeDefaults(member, inner, defs)]];
    }),
  );
}

function listNodeMembers(
  { properties = {} }: SchemaNode,
  key: string,
  defs: Definitions,
): readonly SchemaNode[] {
  const own = Object.hasOwn(properties, key) ? properties[key] : undefined;
  return own === undefined ? [] : listSchemaVariants(own, defs);
}

/** Reports whether a path contains a secret. The service shows at most that it is stored. */
export function isServiceSecret(path: Path, observed: ObservedState): boolean {
  return isSecretNode(findSchemaNodes(path, observed));
}

/** The paths on an Agent Server of settings that other servers have at the top level. */
const OF_AGENT_SERVER: ReadonlyMap<NamedSettings['name'], Path> = new Map([
  ['marketplaces', ['agent_settings', 'agent_context', 'registered_marketplaces']],
  ['disabled_skills', ['agent_settings', 'agent_context', 'disabled_skills']],
]);

/** Every path that plans may have for a declared field, whichever service is asked. */
export function pathsOfField({ field, block }: Pick<DesiredField, 'field' | 'block'>): Path[] {
  if (block === undefined) return [field.path];
  return [field.path, OF_AGENT_SERVER.get(block.name) ?? [block.name]];
}

/** The paths that plans may have for a path of the file. */
export function listPlanPaths(path: Path, { fields }: DesiredState): readonly Path[] {
  const [name = '', item, identity = '', ...rest] = path;
  if (name === 'mcp_servers' && item !== undefined) return [path];
  const isEntry = name === 'mcp_config' && identity !== '';
  const called = isEntry ? 'mcp_servers' : name;
  const declared = fields.find(({ block }) => block?.name === called);
  if (declared === undefined) return [path];
  if (!isEntry) return pathsOfField(declared);
  const named = listPathedEntries(declared.value, entryPaths(declared)).filter(
    ({ list, entry }) => list === item && callNames(list, entry).includes(identity),
  );
  return named.map(({ path: own }) => createMemberPath(own, rest));
}

/** The desired state with the fields of named blocks where these services have them, in the order in which they have their items. */
export function resolveNamedBlocks(desired: DesiredState, observed: ObservedState): DesiredState {
  if (desired.fields.every(({ block }) => block === undefined)) return desired;
  return { ...desired, fields: desired.fields.map((field) => resolveNamedField(field, observed)) };
}

function resolveNamedField(declared: DesiredField, observed: ObservedState): DesiredField {
  const { block, field, value } = declared;
  const other = block === undefined ? undefined : OF_AGENT_SERVER.get(block.name);
  if (other === undefined) return declared;
  const here = observed.dialect.name === 'agent-server' ? createUnnamedField(other, false) : field;
  return {
    ...declared,
    field: here,
    value: sortLikeObserved(value, readShownValue(observed, here.path)),
  };
}

/** A list whose order means nothing, in the order of the items that are there. */
function sortLikeObserved(value: Value, shown: Value | undefined): Value {
  if (!isList(value) || !isList(shown)) return value;
  const at = (item: Value): number => {
    const found = shown.findIndex((other) => sameValue(readItemName(other), readItemName(item)));
    return found === -1 ? shown.length : found;
  };
  return value.toSorted((one, other) => at(one) - at(other));
}

function readItemName(item: Value): Value {
  return isRecord(item) ? (item['name'] ?? null) : item;
}

/**
 * The mcp servers of a service that the file does not manage although it declares some, in whichever spelling: entries of lists that it
 * leaves out, servers that a block by name does not name, and what cannot be read as an entry. Paths are those of plans.
 */
export function listUnmanagedServers(
  desired: DesiredState,
  { values, dialect }: ObservedState,
): Path[] {
  const declared = findDeclaredServers(desired);
  const config = values['mcp_config'];
  const isDeclared = declared !== undefined && managesField(desired, 'mcp_config');
  if (!isDeclared || !isRecord(config)) return [];
  const own = isRecord(declared.value) ? declared.value : createRecord({});
  const isMoved = findRelocatedEntries(own, desired.unmanaged, dialect);
  const entries = listPathedEntries(config, entryPaths(declared)).flatMap(({ list, entry, path }) =>
    managesEntry(desired, list, entry) ||
    isMoved(list, entry) ||
    isUnmanagedEntry(desired.unmanaged, list, entry)
      ? []
      : [path],
  );
  const paths = [...entries, ...unreadableServers(desired, config)];
  return paths.filter((path) => !isUnmanaged(desired.unmanaged, path));
}

/** Lists the parts of a config that are not entries: items of lists that the file omits, and servers that no list can have. */
function unreadableServers(desired: DesiredState, config: ValueRecord): Path[] {
  const declared = listManagedMcpLists(desired);
  const named = findDeclaredServers(desired)?.block;
  const items = MCP_LISTS.filter(
    (list) => !declared.includes(list) && unreadableItems(config, list).length > 0,
  ).map((list) => ['mcp_config', list, UNNAMED]);
  const others = Object.entries(config).flatMap(([name, value]): Path[] => {
    if (isMcpList(name) || holdsNothing(value)) return [];
    if (name !== OTHERS || !isRecord(value)) return [['mcp_config', name]];
    const above = named === undefined ? ['mcp_config', OTHERS] : [named.name];
    return Object.keys(value).map((server) => [...above, server]);
  });
  return [...items, ...others];
}

/** The secrets of mcp servers that are gone from a service, as the file calls the servers. */
export function listMissingServerSecrets(
  desired: DesiredState,
  { bare = [], values }: ObservedState,
): readonly Path[] {
  const declared = findDeclaredServers(desired);
  if (bare.length === 0 || declared?.block === undefined) return bare;
  const config = values['mcp_config'];
  const own = listPathedEntries(config, entryPaths(declared)).map(({ path }) => path);
  const called = new Map(
    listPathedEntries(config).map(({ path }, index) => [formatPathKey(path), own[index] ?? path]),
  );
  return bare.map((path) => {
    const server = called.get(formatPathKey(findEntryPath(path)));
    return server === undefined
      ? path
      : createMemberPath(server, findEntryMember(findEntryPath(path), path));
  });
}
