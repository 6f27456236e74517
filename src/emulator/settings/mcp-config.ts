import {
  isJsonList,
  isJsonObject,
  type Json,
  type JsonObject,
  readOwnMember,
  readJson,
} from '../json.ts';
import {
  mergeVerdicts,
  bad,
  refuseValue,
  checkObject,
  crash,
  good,
  type Location,
  type Member,
  type Rule,
  type Verdict,
  integerWhere,
  nullable,
  textRule,
} from '../rules.ts';
import { stdioEntry } from './stdio-entry.ts';

/** The three lists of `mcp_config`, in the order of a load's answer. */
export const mcpLists = ['sse_servers', 'stdio_servers', 'shttp_servers'] as const;

const members: readonly Member[] = [
  { name: 'sse_servers', rule: listOfUrls(sseEntry), absent: [] },
  { name: 'stdio_servers', rule: stdioList, absent: [] },
  { name: 'shttp_servers', rule: listOfUrls(shttpEntry), absent: [] },
];

/** An `mcp_config` object. Source: specification 2.2; the contract cases "mcp_config: …". */
export function mcpConfig(value: Json, at: Location): Verdict {
  return checkObject(members, 'refused', value, at);
}

function listOfUrls(entry: Rule): Rule {
  return (value, at) => {
    const items = iterateMcpValue(value);
    return items === undefined ? crash : everyEntry(entry, items, at);
  };
}

function stdioList(value: Json, at: Location): Verdict {
  if (isJsonList(value)) return everyEntry(stdioEntry, value, at);
  return bad('list_type', at, 'Input should be a valid list', value);
}

/** Returns the items that a real server iterates over if it does not get a list: the characters of a string, the names of an object. */
function iterateMcpValue(value: Json): readonly Json[] | undefined {
  if (isJsonList(value)) return value;
  if (typeof value === 'string') return Array.from(value);
  return isJsonObject(value) ? Object.keys(value) : undefined;
}

function everyEntry(entry: Rule, items: readonly Json[], at: Location): Verdict {
  return mergeVerdicts(items.map((item, index) => entry(item, [...at, BigInt(index)])));
}

const maxTimeoutSeconds = 3600n;
const defaultTimeoutSeconds = 60n;

const timeoutRule = nullable(
  integerWhere(
    (seconds) => seconds > 0n && seconds <= maxTimeoutSeconds,
    `Timeout must be positive and at most ${maxTimeoutSeconds} seconds`,
  ),
);

const apiKey: Member = { name: 'api_key', rule: nullable(textRule), absent: null };

const sseMembers: readonly Member[] = [
  {
    name: 'url',
    rule: (value, at) => (typeof value === 'string' ? urlRule(value, at) : textRule(value, at)),
  },
  apiKey,
];

const shttpMembers: readonly Member[] = [
  { name: 'url', rule: (value, at) => (typeof value === 'string' ? urlRule(value, at) : crash) },
  apiKey,
  { name: 'timeout', rule: timeoutRule, absent: defaultTimeoutSeconds },
];

/** An entry of `sse_servers`: `{url, api_key}`. Source: specification 2.2; contract "mcp_config: a url alone is an entry". */
export function sseEntry(value: Json, at: Location): Verdict {
  return checkObject(sseMembers, 'ignored', urlAlone(value), at);
}

/**
 * An entry of `shttp_servers`: `{url, api_key, timeout}`, timeout in seconds, 60 by default.
 * Source: specification 2.2; contract "mcp_config: url with blanks around".
 */
export function shttpEntry(value: Json, at: Location): Verdict {
  return checkObject(shttpMembers, 'ignored', urlAlone(value), at);
}

function urlAlone(value: Json): Json {
  return typeof value === 'string' ? { url: value } : value;
}

function urlRule(value: string, at: Location): Verdict {
  const url = value.trim();
  if (url === '') return refuseValue('URL cannot be empty', at, value);
  const parts = /^([a-z][a-z\d+.-]*):(?:\/\/([^/?#]*))?/i.exec(url);
  if (parts === null) return refuseValue('URL must include a scheme', at, value);
  const host = parts[2] ?? '';
  if (host === '' || host.includes('[') !== host.includes(']')) {
    return refuseValue('URL must include a valid host', at, value);
  }
  if (/^(?:http|ws)s?$/i.test(parts[1] ?? '')) return good(url);
  return refuseValue('URL scheme must be http, https, ws or wss', at, value);
}

/**
 * Entries that the server itself owns, in the form of `mcp_config` and checked by the same rules when the service starts.
 * Source: the contract cases of settings-with-server-mcp.json.
 */
export interface ServerMcp {
  readonly sse_servers?: readonly unknown[];
  readonly stdio_servers?: readonly unknown[];
  readonly shttp_servers?: readonly unknown[];
}

/** The entries as a load answers them. Throws an Error that names the first one that breaks a rule. */
export function readServerMcp(serverMcp: ServerMcp): JsonObject {
  const reading = readJson(JSON.stringify(serverMcp));
  const verdict = mcpConfig(reading.kind === 'json' ? reading.value : null, ['serverMcp']);
  if (verdict.kind === 'good' && isJsonObject(verdict.value)) return verdict.value;
  const problem = verdict.kind === 'bad' ? verdict.problems[0] : undefined;
  const place = problem === undefined ? 'serverMcp' : problem.loc.join('.');
  throw new Error(
    `The server's own mcp entries do not fit at ${place}: ${problem?.msg ?? 'not a list of entries'}.`,
  );
}

/** A stored `mcp_config` as a load answers it: the server's own entries, then the stored ones, duplicates included. */
export function withServerMcp(own: JsonObject | undefined, stored: Json): Json {
  if (own === undefined) return stored;
  return Object.fromEntries(
    mcpLists.map((list) => [list, [...entries(own, list), ...entries(stored, list)]]),
  );
}

function entries(config: Json, list: string): readonly Json[] {
  const found = isJsonObject(config) ? readOwnMember(config, list) : undefined;
  return found !== undefined && isJsonList(found) ? found : [];
}
