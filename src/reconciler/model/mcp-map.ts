import { listRecordEntries, MCP_LISTS, type McpList } from './mcp.ts';
import { memberFacts } from './path-facts.ts';
import {
  isEmpty,
  isRecord,
  mapRecord,
  filterMembers,
  createRecord,
  sameValue,
  textFits,
  type Value,
  type ValueRecord,
} from './value.ts';

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
  if (transport === 'stdio' || (isEmpty(transport) && !isEmpty(command))) return 'stdio_servers';
  if (isEmpty(url)) return null;
  return transport === 'sse' || (isEmpty(transport) && isStream(url))
    ? 'sse_servers'
    : 'shttp_servers';
}

function isStream(url: Value | undefined): boolean {
  return textFits(url, (text) => /\/sse(?:[/?&]|$)/.test(text));
}

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
    ...(transport === null || transport === USUAL_TRANSPORT[list]
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
  return [
    ['api_key', value],
    ...(isUsual ? [] : [['auth', createRecord(Object.entries(how))] as const]),
  ];
}

/** Returns how an entry of a service authenticates: a key without more is sent in the usual way. Null if it does not authenticate. */
export function readEntryAuth({ api_key: key, auth }: ValueRecord): Value {
  if (isRecord(auth) && auth['strategy'] === 'none') return null;
  return auth ?? (key === undefined ? null : USUAL_AUTH);
}

/** A way to authenticate without what the server alone writes into it, such as the tokens of a login. */
export function withoutServed(auth: Value): Value {
  return isRecord(auth) ? filterMembers(auth, (name) => !isServed(name)) : auth;
}

/** Returns the members that the server has added to an authentication: they belong to the strategy they were made for. */
export function selectServedMembers(
  auth: Value | undefined,
  strategy: Value | undefined,
): ValueRecord {
  if (!isRecord(auth) || !sameValue(auth['strategy'], strategy)) return createRecord([]);
  return filterMembers(auth, (name, value) => isServed(name) && value !== null);
}

function isServed(name: string): boolean {
  return memberFacts('McpAuth', name).served === true;
}

export const USUAL_AUTH = createRecord([['strategy', 'api_key']]);

/** The servers that a file declares by their names, as entries of the lists: null stays, for it removes a member. */
export function convertDeclaredServers(servers: ValueRecord): ValueRecord {
  const lists = convertToMcpLists(servers);
  const entries = MCP_LISTS.map(
    (list) =>
      [
        list,
        listRecordEntries(lists[list]).map(({ name = null }) => {
          const server = typeof name === 'string' ? servers[name] : undefined;
          const { transport, ...rest } = isRecord(server) ? server : createRecord([]);
          return normalizeDeclaredEntry(
            createRecord([
              ['name', name],
              ...Object.entries(rest),
              ...(transport === undefined
                ? []
                : [['transport', transport ?? USUAL_TRANSPORT[list]] as const]),
            ]),
          );
        }),
      ] as const,
  );
  return createRecord([...Object.entries(lists), ...entries]);
}

/**
 * A declared entry with one form of authentication: `auth` defines how a key is sent, which is `api_key`; any other way has all of it in
 * `auth` and no key, and null means no authentication. A value that removes a member from a map is not in the map.
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
  const { value, ...how } = isRecord(auth) ? removeNulls(auth) : createRecord([]);
  if (isRecord(auth) && KEYED.has(how['strategy'] ?? null)) {
    const own = auth['value'] === undefined ? key : (value ?? null);
    return [
      ...(own === undefined ? [] : [['api_key', own] as const]),
      ['auth', createRecord(Object.entries(how))],
    ];
  }
  const isNone = isEmpty(how['strategy']) || how['strategy'] === 'none';
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
