import {
  isJsonList,
  isJsonObject,
  type Json,
  type JsonObject,
  memberOf,
  readJson,
} from '../json.ts';
import { mcpConfig, mcpLists } from './mcp-config.ts';

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
  const found = isJsonObject(config) ? memberOf(config, list) : undefined;
  return found !== undefined && isJsonList(found) ? found : [];
}
