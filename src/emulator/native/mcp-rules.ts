import { isJsonObject, type JsonObject, memberOf } from '../json.ts';

/** What an mcp entry lacks or has too much of, as a sentence; undefined if it is in order. */
export function mcpProblem(entry: JsonObject): string | undefined {
  const transport = memberOf(entry, 'transport');
  if (transport === 'stdio' && memberOf(entry, 'command') === undefined)
    return "stdio MCP servers require 'command'";
  if (
    typeof transport === 'string' &&
    transport !== 'stdio' &&
    memberOf(entry, 'url') === undefined
  )
    return "remote MCP servers require 'url'";
  const headers = memberOf(entry, 'headers') ?? null;
  const named = isJsonObject(headers) ? Object.keys(headers) : [];
  if (memberOf(entry, 'auth') !== undefined && named.some((name) => /^authorization$/i.test(name)))
    return "'auth' cannot be combined with an explicit top-level 'Authorization' header; use auth.strategy='header' instead.";
  return undefined;
}
