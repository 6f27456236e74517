import { entriesOf, identityOf, MCP_LISTS, type McpList } from '../model/mcp.ts';
import { Secret } from '../model/secret.ts';
import { isEmpty, isRecord, recordOf, type Value, type ValueRecord } from '../model/value.ts';

/** Members of a config that are no list of the specification: servers of which nobody can tell how they are reached. */
const OTHERS = 'other_servers';

/** Strategies whose secret is one value, which the lists of the specification call api_key. */
const KEYED: ReadonlySet<Value> = new Set(['api_key', 'bearer']);
const API_KEY = recordOf([['strategy', 'api_key']]);

/**
 * The servers of an answer as the lists of the specification. The name of a server goes along as `name`, and so does every member
 * that the lists do not have: what is not declared is sent back as it was read.
 */
export function listsOf(servers: ValueRecord): ValueRecord {
  const lists = new Map<string, ValueRecord[]>(MCP_LISTS.map((list) => [list, []]));
  const others: [string, Value][] = [];
  for (const [name, server] of Object.entries(servers)) {
    const list = isRecord(server) && isPlainName(name) ? listFor(server) : null;
    if (list === null || !isRecord(server)) others.push([name, server]);
    else lists.get(list)?.push(entryOf(list, name, server));
  }
  return recordOf([
    ...lists,
    ...(others.length === 0 ? [] : [[OTHERS, recordOf(others)] as const]),
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
  const fits = (text: string): 'yes' | 'no' => (/\/sse(?:[/?&]|$)/.test(text) ? 'yes' : 'no');
  return url instanceof Secret
    ? url.compareWith(fits) === 'yes'
    : typeof url === 'string' && fits(url) === 'yes';
}

function entryOf(list: McpList, name: string, server: ValueRecord): ValueRecord {
  const { transport = null, auth, ...rest } = server;
  const usual = { sse_servers: 'sse', stdio_servers: 'stdio', shttp_servers: 'http' }[list];
  return recordOf([
    ['name', name],
    ...Object.entries(rest).filter(([, value]) => value !== null),
    ...(transport === null || transport === usual ? [] : [['transport', transport] as const]),
    ...authMembers(auth),
  ]);
}

function authMembers(auth: Value | undefined): (readonly [string, Value])[] {
  if (!isRecord(auth)) return isEmpty(auth) ? [] : [['auth', auth ?? null]];
  const { value = null, ...how } = auth;
  if (auth['strategy'] === 'none') return [];
  if (!KEYED.has(auth['strategy'] ?? null)) return [['auth', auth]];
  const isUsual = Object.keys(how).length === 1 && auth['strategy'] === 'api_key';
  return [
    ['api_key', value],
    ...(isUsual ? [] : [['auth', recordOf(Object.entries(how))] as const]),
  ];
}

/** Servers by name, or the name that two of them would have. */
export type Servers = { readonly servers: ValueRecord } | { readonly twice: string };

/**
 * The servers that the lists of a write stand for. A server keeps the name that it was read with; a new one is called as the file
 * names it, or after its address, so that the same address always gives the same name.
 */
export function serversIn(config: Value): Servers {
  if (!isRecord(config)) return { servers: recordOf([]) };
  const others = config[OTHERS];
  const servers = new Map<string, Value>(isRecord(others) ? Object.entries(others) : []);
  const nameless: [McpList, ValueRecord][] = [];
  for (const list of MCP_LISTS) {
    for (const entry of entriesOf(config[list])) {
      const name = nameOf(entry);
      if (name === null) nameless.push([list, entry]);
      else if (servers.has(name)) return { twice: name };
      else servers.set(name, serverOf(list, entry));
    }
  }
  for (const [list, entry] of nameless)
    servers.set(unusedName(derivedName(list, entry), servers), serverOf(list, entry));
  return { servers: recordOf(servers) };
}

/** What a server is called: the name of its entry, without blanks around it. Null if it has none. */
export function nameOf({ name }: ValueRecord): string | null {
  const text = name instanceof Secret ? String(name.reveal()) : name;
  return typeof text === 'string' && text.trim() !== '' ? text.trim() : null;
}

/** Host and path of an address; what may not be shown of it is in no name. */
function derivedName(list: McpList, entry: ValueRecord): string {
  const { shown } = identityOf(list, entry);
  const words = shown.replace(/^[a-z]+:\/\//i, '').replaceAll(/[^A-Za-z0-9.]+/g, '-');
  return words.replaceAll(/^-+|-+$/g, '') || 'server';
}

function unusedName(name: string, servers: ReadonlyMap<string, Value>): string {
  for (let number = 1; ; number += 1) {
    const candidate = number === 1 ? name : `${name}-${number}`;
    if (!servers.has(candidate)) return candidate;
  }
}

function serverOf(list: McpList, entry: ValueRecord): ValueRecord {
  const { name: _, api_key: key = null, auth, transport, ...rest } = entry;
  const members = Object.entries(rest).filter(([, value]) => !isNothing(value));
  if (list === 'stdio_servers') return recordOf(members);
  const how = isRecord(auth) && KEYED.has(auth['strategy'] ?? null) ? auth : API_KEY;
  const keyed = isEmpty(key) ? null : recordOf([...Object.entries(how), ['value', key]]);
  // A key takes the place of any other way to authenticate.
  const sent = keyed ?? (how === auth ? null : (auth ?? null));
  return recordOf([
    ...members,
    ['transport', transport ?? (list === 'sse_servers' ? 'sse' : 'http')],
    ...(sent === null ? [] : [['auth', sent] as const]),
  ]);
}

/** What an entry need not say: the server takes an absent member for it. */
function isNothing(value: Value): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return isRecord(value) ? Object.keys(value).length === 0 : isEmpty(value);
}
