import { isJsonObject, type Json, type JsonObject, memberOf } from '../json.ts';

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
