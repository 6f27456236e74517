import {
  isEmpty,
  isRecord,
  mapRecord,
  filterMembers,
  createRecord,
  textFits,
  type Value,
  type ValueRecord,
  isList,
  collectSecrets,
} from './value.ts';
import { Identity, IdentityMap, MASK, Secret, UnseenSecret } from './secret.ts';
import { holdsMask, isMaskedName } from './secret-words.ts';
import { bareUrl } from './address.ts';
import { isUnmanaged, type Path } from './path.ts';

export const MCP_LISTS = ['sse_servers', 'stdio_servers', 'shttp_servers'] as const;
export type McpList = (typeof MCP_LISTS)[number];

export function isMcpList(name: string | undefined): name is McpList {
  return MCP_LISTS.some((list) => list === name);
}

/** The defaults of the service for members that an entry leaves out. */
export const MCP_DEFAULTS: Readonly<Record<McpList, ValueRecord>> = {
  sse_servers: { api_key: null },
  stdio_servers: { args: [], env: {} },
  shttp_servers: { api_key: null, timeout: 60 },
};

/** The defaults of services that name their servers, for members that an entry leaves out. */
export const NAMED_DEFAULTS: Readonly<Record<McpList, ValueRecord>> = {
  sse_servers: { transport: 'sse', enabled: true },
  stdio_servers: { transport: 'stdio', enabled: true },
  shttp_servers: { transport: 'http', enabled: true },
};

/** The name in paths of an entry that has no name or url. */
export const UNNAMED = '(unnamed)';

/** The member an entry is known by. */
export function identityMember(list: McpList): 'name' | 'url' {
  return list === 'stdio_servers' ? 'name' : 'url';
}

export function createEntryIdentity(list: McpList, entry: ValueRecord): Identity {
  const value: Value | undefined = entry[identityMember(list)];
  if (value instanceof Secret) return value.identity ?? Identity.unseen(MASK);
  if (typeof value !== 'string') return new Identity(UNNAMED);
  if (isMaskedName(value)) return Identity.unseen(value);
  return new Identity(list === 'stdio_servers' ? value.trim() : bareUrl(value));
}

/**
 * The identity of an entry: its name wherever both of two entries have one, and otherwise its place. The place of a program is its name.
 */
export interface EntryIdentity {
  readonly name: Identity | null;
  readonly place: Identity;
}

export function createKnownEntry(list: McpList, entry: ValueRecord): EntryIdentity {
  const place = createEntryIdentity(list, entry);
  return { name: list === 'stdio_servers' ? place : nameIdentity(entry), place };
}

function nameIdentity({ name }: ValueRecord): Identity | null {
  if (name instanceof Secret) return name.identity ?? Identity.unseen(MASK);
  const text = typeof name === 'string' ? name.trim() : '';
  return text === '' ? null : new Identity(text);
}

/** Reports whether two entries may be one, by the known facts. */
export function mayBeOne(one: EntryIdentity, other: EntryIdentity): boolean {
  return one.name !== null && other.name !== null
    ? one.name.mayBe(other.name)
    : one.place.mayBe(other.place);
}

/** Returns the key of an entry of a service in maps: null if it is not known. */
export function formatEntryKey(list: McpList, entry: ValueRecord): string | null {
  const { name, place } = createKnownEntry(list, entry);
  return (name ?? place).key;
}

/** Every segment that may call an entry in a path: its place, and its name. */
export function callNames(list: McpList, entry: ValueRecord): readonly string[] {
  const { name, place } = createKnownEntry(list, entry);
  return name === null ? [place.shown] : [place.shown, name.shown];
}

/** Reports whether the file lists an entry as unmanaged, by any of its names, or by its whole address where a part is not shown. */
export function isUnmanagedEntry(
  unmanaged: readonly Path[],
  list: McpList,
  entry: ValueRecord,
): boolean {
  const { key } = createEntryIdentity(list, entry);
  const names = [...callNames(list, entry), key ?? []].flat();
  return names.some((name) => isUnmanaged(unmanaged, ['mcp_config', list, name]));
}

/**
 * The entries of a list as paths name them: by their places, or by their names if others at the same place have other names. If two have
 * the same name, the second is `#2`. `beside` are the entries that they are compared with.
 */
export function listPathSegments(
  list: McpList,
  entries: readonly ValueRecord[],
  beside: readonly ValueRecord[] = [],
): string[] {
  const known = entries.map((entry) => createKnownEntry(list, entry));
  const named = new IdentityMap<Identity | null>();
  for (const { name, place } of [
    ...known,
    ...beside.map((entry) => createKnownEntry(list, entry)),
  ]) {
    if (name === null) continue;
    const first = named.get(place);
    if (first === undefined) named.set(place, name);
    else if (first !== null && !first.sameAs(name)) named.set(place, null);
  }
  return numberIdentities(
    known.map(({ name, place }) => (named.get(place) === null ? (name ?? place) : place)),
  );
}

/** The function that returns the path of an entry in plans, by its name in the list. */
export type PathOfEntry = (list: McpList, segment: string, entry: ValueRecord) => Path;

/**
 * The names in plans for the entries of a service, and of the file: by their names if the file declares servers by name, and otherwise by
 * their lists. One without a name on the service has that of the declared one at its place.
 */
export function entryPaths(
  declared: { readonly block?: { readonly name: string }; readonly value?: Value } = {},
) {
  const { block, value } = declared;
  const inList: PathOfEntry = (list, segment) => ['mcp_config', list, segment];
  if (block === undefined) return inList;
  const names = new Map<McpList, IdentityMap<string>>();
  const namesIn = (list: McpList): IdentityMap<string> => {
    const known = names.get(list) ?? new IdentityMap<string>();
    if (!names.has(list))
      for (const entry of isRecord(value) ? listRecordEntries(value[list]) : [])
        known.set(createKnownEntry(list, entry).place, textName(entry) ?? '');
    names.set(list, known);
    return known;
  };
  const byName: PathOfEntry = (list, segment, entry) => {
    const own = textName(entry);
    const name = own ?? namesIn(list).get(createKnownEntry(list, entry).place);
    if (name === undefined) return inList(list, segment, entry);
    // Another entry of the same address has a name of its own.
    const isCounted = own === undefined || segment.startsWith(`${own}#`);
    return [block.name, name + (isCounted ? (/#\d+$/.exec(segment)?.[0] ?? '') : '')];
  };
  return byName;
}

function textName({ name }: ValueRecord): string | undefined {
  return typeof name === 'string' ? name : undefined;
}

/** Reports whether a path is that of an mcp entry, or inside one, or of a list of them. */
export function isOfServers([first]: Path): boolean {
  return first === 'mcp_config' || first === 'mcp_servers';
}

/** Reports whether a path is that of an mcp entry. */
export function isEntryPath(path: Path): boolean {
  const [first, list] = path;
  if (first === 'mcp_servers') return path.length === 2;
  return first === 'mcp_config' && path.length === 3 && isMcpList(list);
}

/** The path of an entry in the path of something inside it. */
export function findEntryPath(path: Path): Path {
  return path.slice(0, path[0] === 'mcp_servers' ? 2 : 3);
}

/** The path of a member of an entry: of a server by name, its key is a part of how it authenticates. */
export function createMemberPath(entry: Path, [member = '', ...inner]: Path): Path {
  const isKey = entry[0] === 'mcp_servers' && member === 'api_key';
  return [...entry, ...(isKey ? ['auth', 'value'] : [member]), ...inner];
}

/** The member of an entry that such a path is in. */
export function findEntryMember(entry: Path, path: Path): Path {
  const [member = '', value, ...inner] = path.slice(entry.length);
  const isKey = entry[0] === 'mcp_servers' && member === 'auth' && value === 'value';
  return isKey ? ['api_key', ...inner] : path.slice(entry.length);
}

/** The entries of some lists of a config, each with the path that plans have for it. */
export function listPathedEntries(
  config: Value | undefined,
  pathOf: PathOfEntry = entryPaths(),
  lists: readonly McpList[] = MCP_LISTS,
): readonly { readonly list: McpList; readonly entry: ValueRecord; readonly path: Path }[] {
  return lists.flatMap((list) => {
    const entries = isRecord(config) ? listRecordEntries(config[list]) : [];
    const segments = listPathSegments(list, entries);
    return entries.map((entry, index) => {
      return { list, entry, path: pathOf(list, segments[index] ?? '', entry) };
    });
  });
}

/** The identities of a list as paths name them: a second that is shown alike is `#2`. */
export function numberIdentities(identities: readonly Identity[]): string[] {
  const seen = new Map<string, number>();
  return identities.map(({ shown }) => {
    const before = seen.get(shown) ?? 0;
    seen.set(shown, before + 1);
    return before === 0 ? shown : `${shown}#${before + 1}`;
  });
}

/** The entries of a list: only maps count. */
export function listRecordEntries(value: Value | undefined): readonly ValueRecord[] {
  return isList(value) ? value.filter(isRecord) : [];
}

/** Reports whether a member came back as a mask, or with one in it, including in a name or an address. */
export function isMaskedMember(value: Value): boolean {
  return holdsMask(value) || (typeof value === 'string' && isMaskedName(value));
}

/** Members that are what an entry is, and no way to authenticate, although a secret may be in them. */
const NOT_SENT_ALONG = new Set(['name', 'url', 'command', 'args']);

/** The members of an entry with a secret that is sent to where the entry leads. */
export function listSecretMembers(entry: ValueRecord): string[] {
  return Object.entries(entry).flatMap(([name, value]) =>
    !NOT_SENT_ALONG.has(name) && collectSecrets(value).some((secret) => !secret.isEmpty())
      ? [name]
      : [],
  );
}

/** An entry without its masked members: written back, a mask would be stored instead of the secret. */
export function removeMaskedMembers(entry: ValueRecord): ValueRecord {
  return createRecord(Object.entries(entry).filter(([, value]) => !isMaskedMember(value)));
}

/** A config without the masked members of its entries. */
export function removeMaskedFromConfig(config: ValueRecord): ValueRecord {
  const unmasked = (item: Value): Value => (isRecord(item) ? removeMaskedMembers(item) : item);
  return createRecord(
    Object.entries(config).map(([name, value]) => [
      name,
      isList(value) ? value.map(unmasked) : value,
    ]),
  );
}

/** The items of a list that this version cannot read as entries, such as a bare string among programs. */
export function unreadableItems(config: Value | undefined, list: McpList): readonly Value[] {
  const items = isRecord(config) ? config[list] : undefined;
  return isList(items) ? items.filter((item) => !isRecord(item)) : [];
}

/** Members of a config that do not belong to a list of the specification: servers whose transport is unknown. */
export const OTHERS = 'other_servers';

/** Strategies whose secret is one value, which the lists of the specification call api_key. */
export const KEYED: ReadonlySet<Value> = new Set(['api_key', 'bearer']);

/**
 * The servers of an answer as the lists of the specification. The name of a server goes along as `name`, and so does every member
 * that the lists do not have: what is not declared is sent back as it was read.
 */
export function convertToMcpLists(servers: ValueRecord): ValueRecord {
  const lists = new Map<string, ValueRecord[]>(MCP_LISTS.map((list) => [list, []]));
  const others: [string, Value][] = [];
  for (const [name, server] of Object.entries(servers)) {
    const list = isRecord(server) && isPlainName(name) ? listFor(server) : null;
    if (list === null || !isRecord(server)) others.push([name, server]);
    else lists.get(list)?.push(convertServerEntry(list, name, server));
  }
  return createRecord([
    ...lists,
    ...(others.length === 0 ? [] : [[OTHERS, createRecord(others)] as const]),
  ]);
}

/** A name that an entry can be called by: blanks around it do not count there. */
function isPlainName(name: string): boolean {
  return name !== '' && name === name.trim();
}

/** Without a transport the server infers one: by the path of the address, or from the command. */
function listFor({ transport, url, command }: ValueRecord): McpList | null {
  const isOpen = isEmpty(transport) || transport instanceof UnseenSecret;
  const isOf = (list: McpList) => textFits(transport, (one) => LIST_TRANSPORTS[list].includes(one));
  if (isOf('stdio_servers') || (isOpen && !isEmpty(command))) return 'stdio_servers';
  if (isEmpty(url)) return null;
  return isOf('sse_servers') || (isOpen && isStream(url)) ? 'sse_servers' : 'shttp_servers';
}

function isStream(url: Value | undefined): boolean {
  return textFits(url, (text) => /\/sse(?:[/?&]|$)/.test(text));
}

/** The transports of the servers in a list. */
export const LIST_TRANSPORTS: Readonly<Record<McpList, readonly string[]>> = {
  sse_servers: ['sse'],
  stdio_servers: ['stdio'],
  shttp_servers: ['http', 'streamable-http'],
};

/** The default transport of the servers in a list. */
export const USUAL_TRANSPORT: Readonly<Record<McpList, string>> = {
  sse_servers: 'sse',
  stdio_servers: 'stdio',
  shttp_servers: 'http',
};

function convertServerEntry(list: McpList, name: string, server: ValueRecord): ValueRecord {
  const { transport = null, auth, ...rest } = server;
  return createRecord([
    ['name', name],
    ...Object.entries(rest).filter(([, value]) => value !== null),
    ...(transport === null || textFits(transport, (one) => one === USUAL_TRANSPORT[list])
      ? []
      : [['transport', transport] as const]),
    ...authMembers(auth),
  ]);
}

function authMembers(auth: Value | undefined): (readonly [string, Value])[] {
  if (!isRecord(auth)) return isEmpty(auth) ? [] : [['auth', auth ?? null]];
  const { value = null, ...how } = removeNulls(auth);
  if (!KEYED.has(how['strategy'] ?? null)) return [['auth', auth]];
  const isUsual = Object.keys(how).length === 1 && how['strategy'] === 'api_key';
  return [['api_key', value], ...(isUsual ? [] : [['auth', createRecord(how)] as const])];
}

/** Returns how an entry of a service authenticates: a key without more is sent in the usual way. Null if it does not authenticate. */
export function readEntryAuth({ api_key: key, auth }: ValueRecord): Value {
  if (isRecord(auth) && auth['strategy'] === 'none') return null;
  return auth ?? (key === undefined ? null : USUAL_AUTH);
}

export const USUAL_AUTH = createRecord({ strategy: 'api_key' });

/** The servers that a file declares by their names, as entries of the lists: null stays, for it removes a member. */
export function convertDeclaredServers(servers: ValueRecord): ValueRecord {
  const lists = convertToMcpLists(servers);
  const entries = MCP_LISTS.map(
    (list) =>
      [
        list,
        listRecordEntries(lists[list]).map(({ name = null }) => {
          const server = typeof name === 'string' ? servers[name] : undefined;
          const { transport, ...rest } = isRecord(server) ? server : createRecord({});
          return normalizeDeclaredEntry(
            createRecord({
              name,
              ...rest,
              ...(transport === undefined ? {} : { transport: transport ?? USUAL_TRANSPORT[list] }),
            }),
          );
        }),
      ] as const,
  );
  return createRecord([...Object.entries(lists), ...entries]);
}

/**
 * A declared entry with one form of authentication: `auth` defines how a key is sent, which is `api_key`; any other way has all of it in
 * `auth` and no key, and null means no authentication, or the usual one of a key. A value that removes a member from a map is not in the map.
 */
export function normalizeDeclaredEntry(entry: ValueRecord): ValueRecord {
  const { auth, headers, ...rest } = entry;
  return createRecord([
    ...Object.entries(rest),
    ...(headers === undefined
      ? []
      : [['headers', isRecord(headers) ? removeNulls(headers) : headers] as const]),
    ...(auth === undefined ? [] : normalizeDeclaredAuth(auth, entry)),
  ]);
}

function normalizeDeclaredAuth(
  auth: Value,
  { api_key: key }: ValueRecord,
): (readonly [string, Value])[] {
  const { value, ...how } = isRecord(auth) ? removeNulls(auth) : createRecord({});
  if (isRecord(auth) && KEYED.has(how['strategy'] ?? null)) {
    const own = auth['value'] === undefined ? key : (value ?? null);
    return [...(own === undefined ? [] : [['api_key', own] as const]), ['auth', createRecord(how)]];
  }
  const isNone = isEmpty(how['strategy']) || how['strategy'] === 'none';
  if (auth === null && !isEmpty(key))
    return [
      ['api_key', key ?? null],
      ['auth', USUAL_AUTH],
    ];
  const other = isRecord(auth) ? (isNone ? null : removeNulls(auth)) : auth;
  return [
    ['api_key', key ?? null],
    ['auth', other],
  ];
}

/** A map without its nulls, at any depth. */
function removeNulls(map: ValueRecord): ValueRecord {
  return mapRecord(
    filterMembers(map, (_, value) => value !== null),
    (value) => (isRecord(value) ? removeNulls(value) : value),
  );
}
