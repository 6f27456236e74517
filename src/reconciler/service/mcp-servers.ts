import { KEYED, listsOf, OTHERS, USUAL_TRANSPORT } from '../model/mcp-map.ts';
import { entriesOf, identityOf, MCP_LISTS, type McpList } from '../model/mcp.ts';
import { Secret } from '../model/secret.ts';
import { isEmpty, isRecord, recordOf, type Value, type ValueRecord } from '../model/value.ts';

export { listsOf };

const API_KEY = recordOf([['strategy', 'api_key']]);

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

/** That two servers would have one name, which is the key of one server there. */
export function twiceProblem(name: string): string {
  return `two servers of mcp_config would have the name ${name}, which names one server there; one of them may be unmanaged, or in a list that the file does not declare`;
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
  const { name: _, api_key: key, auth, transport, ...rest } = entry;
  const members = Object.entries(rest).filter(([, value]) => !isNothing(value));
  const how = isRecord(auth) && KEYED.has(auth['strategy'] ?? null) ? auth : API_KEY;
  const keyed = isEmpty(key) ? null : recordOf([...Object.entries(how), ['value', key ?? null]]);
  // A key takes the place of any other way to authenticate; without its key a way to send one is none.
  const sent = keyed ?? (how === auth && key !== undefined ? null : (auth ?? null));
  const reached = transport ?? (list === 'stdio_servers' ? null : USUAL_TRANSPORT[list]);
  return recordOf([
    ...members,
    ...(reached === null ? [] : [['transport', reached] as const]),
    ...(sent === null ? [] : [['auth', sent] as const]),
  ]);
}

/** What an entry need not say: the server takes an absent member for it. */
function isNothing(value: Value): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return isRecord(value) ? Object.keys(value).length === 0 : isEmpty(value);
}
