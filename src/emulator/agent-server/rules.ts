import { isJsonObject, type Json, type JsonObject, memberOf } from '../json.ts';

/** Names that were members once and are refused; null for them says nothing. Source: contract "agent.enable_sub_agents: null, false after true". */
const GONE = ['enable_sub_agents', 'enable_switch_llm_tool'];

const NEWEST = 9n;

/**
 * Whether a diff of the agent's settings asks for what no schema tells is wrong: a version that is none, a member that is gone, an
 * llm for an agent that has its own.
 */
export function isRefused(diff: JsonObject, kind: string): boolean {
  const version = memberOf(diff, 'schema_version') ?? null;
  if (version !== null && (typeof version !== 'bigint' || version < 0n || version > NEWEST))
    return true;
  const gone = kind === 'acp' ? [...GONE, 'llm'] : GONE;
  return gone.some((name) => (memberOf(diff, name) ?? null) !== null);
}

/** The address that is not kept, because it is that of OpenAI's own models. */
const OPENAI = /^https:\/\/api\.openai\.com\/?$/;
const AZURE_VERSION = '2024-12-01-preview';

/** Models whose context is too small to work with. */
const SMALL_MODELS = new Set(['gpt-4', 'openai/gpt-4']);

/** What the server makes of an llm, or undefined if it refuses it. `sent` is the merged diff, before defaults were filled in. */
export function settledLlm(llm: JsonObject, sent: JsonObject): JsonObject | undefined {
  const text = (name: string): string => {
    const value = memberOf(llm, name) ?? null;
    return typeof value === 'string' ? value : '';
  };
  const model = text('model');
  const settled: Record<string, Json> = { ...llm };
  if (SMALL_MODELS.has(model)) return undefined;
  if (model.startsWith('azure') && memberOf(llm, 'api_version') === null)
    settled['api_version'] = AZURE_VERSION;
  if (model.startsWith('openai/') && OPENAI.test(text('base_url'))) settled['base_url'] = null;
  const timeout = memberOf(llm, 'timeout') ?? null;
  if (memberOf(sent, 'stream_idle_timeout') === undefined && timeout !== null)
    settled['stream_idle_timeout'] = Number(timeout);
  return settled;
}

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
    return "'auth' and an Authorization header exclude each other";
  return undefined;
}

/** Whether conversation settings contradict themselves. Source: contract "worktree_base: ref needs worktree_base_ref". */
export function isContradictory(conversation: JsonObject): boolean {
  return (
    memberOf(conversation, 'worktree_base') === 'ref' &&
    memberOf(conversation, 'worktree_base_ref') === null
  );
}

/**
 * Whether members of a conversation's start, which are checked here and not kept, have a wrong type.
 * Source: contract "conversation_settings: members that are not kept".
 */
export function isWrongStart(diff: JsonObject): boolean {
  const workspace = memberOf(diff, 'workspace') ?? null;
  const id = memberOf(diff, 'conversation_id') ?? null;
  const isUuid = typeof id === 'string' && /^[\da-f]{8}(?:-?[\da-f]{4}){3}-?[\da-f]{12}$/i.test(id);
  return (workspace !== null && !isJsonObject(workspace)) || (id !== null && !isUuid);
}
