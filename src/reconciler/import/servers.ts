import type { Path } from '../model/path.ts';
import {
  type Foreign,
  type ForeignRecord,
  foreignRecord,
  isForeignList,
  isForeignRecord,
  isNothing,
  isForeignText,
  Template,
  readForeignText,
} from './foreign.ts';
import { type Gathering, NOT_TAKEN } from './written.ts';

/** Finds mcp servers in the three lists of the specification. */
export function findLists(config: ForeignRecord, at: Path, found: Gathering): void {
  const taken = new Set<string>();
  for (const [list, value] of Object.entries(config)) {
    const transport = Object.hasOwn(LISTS, list) ? LISTS[list] : undefined;
    if (transport === undefined || !isForeignList(value)) {
      if (!isNothing(value)) found.leave([...at, list], NOT_TAKEN.other);
      continue;
    }
    for (const [index, entry] of value.entries()) {
      const server: ForeignRecord = isForeignRecord(entry)
        ? entry
        : foreignRecord([['url', entry]]);
      const name = chooseFreeName(chooseServerName(server, transport), taken);
      taken.add(name);
      findServer(
        name,
        foreignRecord([...Object.entries(server), ['transport', transport]]),
        [...at, list, String(index)],
        found,
      );
    }
  }
}

const LISTS: Readonly<Record<string, string>> = {
  sse_servers: 'sse',
  stdio_servers: 'stdio',
  shttp_servers: 'http',
};

/** The name that an entry has, or gets: that of its host. */
function chooseServerName({ name, url }: ForeignRecord, transport: string): string {
  if (typeof name === 'string' && name.trim() !== '') return name.trim();
  const address = typeof url === 'string' ? url : '';
  const host = /^[a-z][a-z0-9+.-]*:\/\/(?:[^/?#@]*@)?([^/:?#]+)/i.exec(address)?.[1] ?? transport;
  return host.replaceAll(/[^A-Za-z0-9]+/g, '-').replaceAll(/^-|-$/g, '') || transport;
}

function chooseFreeName(name: string, taken: ReadonlySet<string>): string {
  if (!taken.has(name)) return name;
  let number = 2;
  while (taken.has(`${name}-${number}`)) number += 1;
  return `${name}-${number}`;
}

/** Finds mcp servers in a map by their names. Those of OpenHands have their times in `seconds`. */
export function findServers(servers: Foreign, at: Path, found: Gathering, seconds = false): void {
  if (isForeignList(servers)) {
    for (const [index, one] of servers.entries()) {
      const place = [...at, String(index)];
      if (isForeignRecord(one))
        findServer(
          chooseServerName(one, 'server'),
          convertTimeLimit(one, place, found, seconds),
          place,
          found,
        );
      else found.leave(place, NOT_TAKEN.shape);
    }
    return;
  }
  if (!isForeignRecord(servers)) return;
  for (const [name, server] of Object.entries(servers)) {
    const place = [...at, name];
    if (isForeignRecord(server))
      findServer(name.trim(), convertTimeLimit(server, place, found, seconds), place, found);
    else found.leave(place, NOT_TAKEN.shape);
  }
}

/** The limits of plausible times: from here on a longer time is in milliseconds, and one shorter than a second in them is in seconds. */
const [SECOND, HOURS] = [1000, 10_000];

/** A server with its time limit in seconds. In doubt it is left out: agents do not agree on the unit, and none is written. */
function convertTimeLimit(
  server: ForeignRecord,
  at: Path,
  found: Gathering,
  seconds: boolean,
): ForeignRecord {
  const { timeout, ...others } = server;
  const limit = isForeignRecord(timeout ?? null) || timeout === undefined ? NaN : Number(timeout);
  if (seconds || !Number.isFinite(limit)) return server;
  if (limit < SECOND) return server;
  if (limit < HOURS) {
    found.leave([...at, 'timeout'], NOT_TAKEN.unit);
    return others;
  }
  return { ...others, timeout: Math.max(1, Math.ceil(limit / SECOND)) };
}

/** Whether a map has mcp servers: each has a command or an address. */
export function isServers(value: Foreign | undefined): value is ForeignRecord {
  if (!isForeignRecord(value)) return false;
  const servers = Object.values(value);
  const isServer = (one: Foreign): boolean =>
    isForeignRecord(one) && REACHED.some((key) => key in one);
  return servers.length > 0 && servers.every(isServer);
}

const ADDRESSES = ['url', 'serverUrl'] as const;
const REACHED = [...ADDRESSES, 'command'];

/** Members that one program alone has: what they say is lost without them. */
const OF_ONE_PROGRAM: ReadonlySet<string> = new Set([
  'httpUrl',
  'environment',
  'env_vars',
  'http_headers',
  'env_http_headers',
  'bearer_token_env_var',
  'tool_timeout_sec',
]);

/** Members that do not affect how a server is reached. */
const SILENT: ReadonlySet<string> = new Set(['name', 'id', 'disabled', 'enabled']);
const READ: ReadonlySet<string> = new Set([
  ...SILENT,
  ...ADDRESSES,
  'command',
  'args',
  'env',
  'type',
  'transport',
  'headers',
  'api_key',
  'auth',
  'cwd',
  'description',
  'timeout',
  'sse_read_timeout',
  'keep_alive',
]);

const TRANSPORTS: Readonly<Record<string, string>> = {
  sse: 'sse',
  http: 'http',
  'streamable-http': 'http',
  streamableHttp: 'http',
  streamable_http: 'http',
  shttp: 'http',
};

function findServer(name: string, server: ForeignRecord, at: Path, found: Gathering): void {
  if (server['disabled'] === true || server['enabled'] === false) {
    found.leave(at, NOT_TAKEN.off);
    return;
  }
  const alone = Object.keys(server).filter((key) => OF_ONE_PROGRAM.has(key));
  if (alone.length > 0 || isForeignList(server['command'])) {
    for (const key of alone.length > 0 ? alone : ['command'])
      found.leave([...at, key], NOT_TAKEN.program);
    return;
  }
  const { command = null } = server;
  const url = ADDRESSES.map((key) => server[key]).find((one) => !isNothing(one));
  if (isNothing(command) && !isForeignText(url)) {
    found.leave(at, NOT_TAKEN.shape);
    return;
  }
  const way = server['transport'] ?? server['type'];
  const transport =
    typeof way === 'string' && Object.hasOwn(TRANSPORTS, way) ? TRANSPORTS[way] : undefined;
  const args = isForeignList(server['args']) ? server['args'] : [];
  const isProgram = isNothing(url);
  // A path that ends in sse shows how it is reached; no other does.
  const isSaid =
    transport === 'sse' || /\/sse(?:[/?&]|$)/.test(isForeignText(url) ? readForeignText(url) : '');
  const members: [string, Foreign | undefined][] = [
    ['url', url],
    ['transport', isProgram || !isSaid ? undefined : transport],
    ['command', isProgram ? command : undefined],
    ['args', isProgram ? args : undefined],
    ['env', isProgram ? readProgramVariables(server) : undefined],
    ...(isProgram ? [] : listCredentials(server)),
    ...OTHERS.map((key): [string, Foreign | undefined] => [key, server[key]]),
    ['timeout', server['timeout']],
  ];
  found.leaveOthers(server, READ, at, NOT_TAKEN.other);
  const known = members.flatMap(([key, one]) =>
    one === undefined || isNothing(one) ? [] : [[key, one] as const],
  );
  found.take(['mcp_servers', name], foreignRecord(known), at);
}

/** Members that the settings call by the same name. */
const OTHERS = ['cwd', 'description', 'sse_read_timeout', 'keep_alive'] as const;

/** The variables of a program. */
function readProgramVariables({ env }: ForeignRecord): Foreign {
  return foreignRecord(
    Object.entries(isForeignRecord(env) ? env : {}).map(
      ([name, one]) => [name, asText(one)] as const,
    ),
  );
}

function asText(value: Foreign): Foreign {
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;
}

/** Lists the credentials of a server, unchanged except for a bearer token, which settings of every kind have by that name. */
function listCredentials({ headers, auth, api_key: key }: ForeignRecord): [string, Foreign][] {
  const all = Object.entries(isForeignRecord(headers) ? headers : {});
  const own = ownAuth(auth) ?? (isNothing(key) ? null : createForeignAuth('api_key', key ?? null));
  if (own !== null)
    return [
      ['auth', own],
      ['headers', foreignRecord(all)],
    ];
  const bearer = all.flatMap(([header, value]) => {
    const inner = header.toLowerCase() === 'authorization' ? parseBearerToken(value) : null;
    return inner === null ? [] : [{ header, inner }];
  });
  const [first] = bearer;
  if (first === undefined) return [['headers', foreignRecord(all)]];
  return [
    ['auth', createForeignAuth('bearer', first.inner)],
    ['headers', foreignRecord(all.filter(([header]) => header !== first.header))],
  ];
}

/** The `auth` of the service's own settings: a map, `oauth`, or the token itself. */
function ownAuth(auth: Foreign | undefined): ForeignRecord | null {
  if (isForeignRecord(auth)) return auth;
  if (auth === 'oauth') return foreignRecord([['strategy', 'oauth2']]);
  return isForeignText(auth) && !isNothing(auth) ? createForeignAuth('bearer', auth) : null;
}

function createForeignAuth(strategy: 'api_key' | 'bearer', value: Foreign): ForeignRecord {
  return foreignRecord([
    ['strategy', strategy],
    ['value', value],
  ]);
}

/** The token of `Bearer …`; null if it is another scheme. */
function parseBearerToken(value: Foreign): Foreign | null {
  const text = isForeignText(value) ? readForeignText(value) : '';
  const token = /^bearer\s+(\S.*)$/is.exec(text)?.[1];
  if (token === undefined) return null;
  return value instanceof Template ? new Template(token) : token;
}
