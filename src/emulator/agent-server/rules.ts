import { isJsonList, isJsonObject, type JsonObject, memberOf } from '../json.ts';

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
  const plugins = memberOf(diff, 'plugins') ?? null;
  const isWrongList = plugins !== null && !isJsonList(plugins);
  return (
    isWrongList || (workspace !== null && !isJsonObject(workspace)) || (id !== null && !isUuid)
  );
}
