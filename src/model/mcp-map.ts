import { MCP_LISTS, type McpList } from './mcp.ts';
import { Secret } from './secret.ts';
import { isEmpty, isRecord, recordOf, type Value, type ValueRecord } from './value.ts';

/** Members of a config that are no list of the specification: servers of which nobody can tell how they are reached. */
export const OTHERS = 'other_servers';

/** Strategies whose secret is one value, which the lists of the specification call api_key. */
export const KEYED: ReadonlySet<Value> = new Set(['api_key', 'bearer']);

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
