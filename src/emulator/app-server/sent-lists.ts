import { isJsonObject, type Json, type JsonObject, memberOf, isJsonList } from '../json.ts';
import { pythonType } from '../native/refusal-text.ts';

/** Older names of a way to transport. */
const TRANSPORTS: Readonly<Record<string, string>> = { shttp: 'http' };

/**
 * A map of mcp servers as it is stored: without a wrapper around it, and each entry with its key in `auth`.
 * Source: contract "mcp_config: the wrapper mcpServers", "mcp_config: an Authorization header", "mcp_config: type shttp".
 */
export function rewrittenServers(value: Json): Json {
  if (!isJsonObject(value)) return value;
  const wrapped = memberOf(value, 'mcpServers') ?? null;
  const servers = isJsonObject(wrapped) ? wrapped : value;
  return Object.fromEntries(
    Object.entries(servers).map(([name, one]) => [name, isJsonObject(one) ? rewritten(one) : one]),
  );
}

function rewritten({ api_key: key, type, ...entry }: JsonObject): JsonObject {
  const named = typeof type === 'string' ? { transport: TRANSPORTS[type] ?? type } : {};
  return withAuth({ ...entry, ...named }, key);
}

function withAuth(entry: JsonObject, key: Json | undefined): JsonObject {
  if (typeof key === 'string') return { ...entry, auth: { strategy: 'api_key', value: key } };
  const sent = memberOf(entry, 'auth');
  if (sent === 'oauth') return { ...entry, auth: { strategy: 'oauth2' } };
  if (typeof sent === 'string') return { ...entry, auth: { strategy: 'bearer', value: sent } };
  const headers = memberOf(entry, 'headers') ?? null;
  if (sent !== undefined || !isJsonObject(headers)) return entry;
  const { Authorization: authorization, ...others } = headers;
  if (typeof authorization !== 'string') return entry;
  const [, token] = /^Bearer (.*)$/.exec(authorization) ?? [];
  const auth =
    token === undefined
      ? { strategy: 'header', headers: { Authorization: authorization } }
      : { strategy: 'bearer', value: token };
  return { ...entry, headers: others, auth };
}

/** Why a list of marketplaces is refused; undefined if it is not. Source: contract "registered_marketplaces: twice the same name". */
export function marketplaceProblem(value: Json | undefined): string | undefined {
  if (typeof value === 'string' && value !== '')
    return 'Expected dict or MarketplaceRegistration, got str';
  if (value === undefined || !isJsonList(value)) return undefined;
  const odd = value.find((one) => !isJsonObject(one));
  if (odd !== undefined) return `Expected dict or MarketplaceRegistration, got ${pythonType(odd)}`;
  const entries = value.filter(isJsonObject);
  const bare = entries.findIndex((entry) =>
    ['name', 'source'].some((name) => memberOf(entry, name) === undefined),
  );
  if (bare >= 0) return `Invalid marketplace at index ${bare}: Field required`;
  const wrong = entries.findIndex((entry) =>
    textOrEmpty(memberOf(entry, 'source')).startsWith('/'),
  );
  if (wrong >= 0)
    return `Invalid marketplace at index ${wrong}: Value error, local path source must be relative, not absolute`;
  const names = entries.map((entry) => textOrEmpty(memberOf(entry, 'name')));
  const twice = [...new Set(names.filter((name, index) => names.indexOf(name) !== index))];
  if (twice.length === 0) return undefined;
  return `Marketplace name(s) already in use or duplicated: ${twice.join(', ')}`;
}

function textOrEmpty(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

/** The list as it is stored: each of them is the user's own. */
export function scoped(value: Json): Json {
  if (!isJsonList(value)) return value;
  return value.map((one) => (isJsonObject(one) ? { ...one, scope: 'personal' } : one));
}
