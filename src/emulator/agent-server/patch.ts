import {
  isJsonList,
  isJsonObject,
  type Json,
  type JsonObject,
  readOwnMember,
  applyMergePatch,
  readObjectMember,
} from '../json.ts';
import { fillAgentDefaults, settleLlm, mcpProblem } from '../native/class-rules.ts';
import { fitPart, type AgentServerKind } from './record.ts';

/** The parts of a PATCH, checked for their shape; absent if they change nothing. */
export interface Diffs {
  readonly agent?: JsonObject;
  readonly conversation?: JsonObject;
  readonly misc?: JsonObject;
  readonly pointers: JsonObject;
  /** The llm of an LLM profile: its values replace those of the settings, and its maps are merged into theirs. */
  readonly llm?: JsonObject;
}

/** The record after a PATCH, all of it or nothing; undefined if one of its values is refused. */
export function patchRecord(
  kind: AgentServerKind,
  record: JsonObject,
  { agent, conversation, misc, pointers, llm }: Diffs,
  now: number,
): JsonObject | undefined {
  const after: Record<string, Json> = { ...record, ...pointers };
  if (agent !== undefined) {
    const next = patchAgentSettings(kind, readObjectMember(record, 'agent_settings'), agent, now);
    if (next === undefined) return undefined;
    after['agent_settings'] = next;
  }
  if (conversation !== undefined) {
    const next = patchConversationSettings(
      kind,
      readObjectMember(record, 'conversation_settings'),
      conversation,
    );
    if (next === undefined) return undefined;
    after['conversation_settings'] = next;
  }
  if (misc !== undefined)
    after['misc_settings'] = patchMiscSettings(readObjectMember(record, 'misc_settings'), misc);
  const router = readOwnMember(pointers, 'active_meta_profile');
  const settings = readObjectMember(after, 'agent_settings');
  if (readOwnMember(settings, 'agent_kind') === 'acp')
    return { ...after, active_meta_profile: null };
  if (router !== undefined) after['agent_settings'] = setRoutingProfile(settings, router);
  if (llm === undefined) return after;
  const agentAfter = readObjectMember(after, 'agent_settings');
  const merged = mergeMaps(readObjectMember(agentAfter, 'llm'), llm);
  return { ...after, agent_settings: { ...agentAfter, llm: merged } };
}

/** Merges maps at any depth; any other value, null too, replaces. Source: contract "two profiles with maps activated in turn by PATCH: the maps pile up". */
function mergeMaps(before: JsonObject, over: JsonObject): JsonObject {
  const merged = Object.entries(over).map(([name, value]) => {
    const was = readOwnMember(before, name);
    const isMap = was !== undefined && isJsonObject(was) && isJsonObject(value);
    return [name, isMap ? mergeMaps(was, value) : value] as const;
  });
  return { ...before, ...Object.fromEntries(merged) };
}

/** The other name of the kind `openhands`; to write it counts as a change of the kind. */
const OLD_NAME = 'llm';

/** Source: contract "agent_kind: acp and back: the llm, the condenser and mcp are gone", "agent_kind: null, a wrong one, llm". */
function patchAgentSettings(
  kind: AgentServerKind,
  before: JsonObject,
  diff: JsonObject,
  now: number,
): JsonObject | undefined {
  const was = readOwnMember(before, 'agent_kind') ?? null;
  const sent = readOwnMember(diff, 'agent_kind') ?? null;
  const isOther = sent !== null && sent !== was;
  const { schema_version: _, ...rest } = applyMergePatch(isOther ? {} : before, diff);
  const merged: JsonObject = sent === OLD_NAME ? { ...rest, agent_kind: 'openhands' } : rest;
  const now_is = readOwnMember(merged, 'agent_kind');
  if (isDiffRefused(diff, typeof now_is === 'string' ? now_is : 'openhands')) return undefined;
  const sentLlm = readOwnMember(merged, 'llm') ?? null;
  if (isJsonObject(sentLlm) && readOwnMember(sentLlm, 'model') === undefined) return undefined;
  const verdict = fitPart(kind, 'agent_settings', merged);
  if (verdict.kind !== 'good' || !isJsonObject(verdict.value)) return undefined;
  if (!mcpEntryList(verdict.value).every((entry) => mcpProblem(entry) === undefined))
    return undefined;
  const dated = fillAgentDefaults(verdict.value, 'agent-server', now);
  if (!isJsonObject(dated)) return undefined;
  const llm = readOwnMember(dated, 'llm');
  if (llm === undefined || !isJsonObject(llm)) return dated;
  const settled = settleLlm(llm, readObjectMember(merged, 'llm'));
  return settled && { ...dated, llm: settled };
}

function mcpEntryList(agent: JsonObject): readonly JsonObject[] {
  return Object.values(readObjectMember(agent, 'mcp_config')).filter(isJsonObject);
}

/** A flat merge in which null is a value. */
function patchConversationSettings(
  kind: AgentServerKind,
  before: JsonObject,
  diff: JsonObject,
): JsonObject | undefined {
  const { schema_version: version = null, ...rest } = diff;
  if (version !== null && version !== 0n && version !== 1n) return undefined;
  if (isWrongStart(diff)) return undefined;
  const verdict = fitPart(kind, 'conversation_settings', { ...before, ...rest });
  if (verdict.kind !== 'good' || !isJsonObject(verdict.value)) return undefined;
  return isContradictory(verdict.value) ? undefined : verdict.value;
}

/**
 * Free JSON: at its top null is a value, below it removes. Source: contract
 * "misc_settings: null at the top is kept as null, below it deletes".
 */
function patchMiscSettings(before: JsonObject, diff: JsonObject): JsonObject {
  const after = new Map(Object.entries(before));
  for (const [name, value] of Object.entries(diff)) {
    const was = after.get(name);
    const merges = was !== undefined && isJsonObject(was) && isJsonObject(value);
    after.set(name, replaceInfinity(merges ? applyMergePatch(was, value) : value));
  }
  return Object.fromEntries(after);
}

/** A number beyond what JSON can hold is stored as null. Source: contract "PATCH: NaN and Infinity". */
function replaceInfinity(value: Json): Json {
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (isJsonList(value)) return value.map(replaceInfinity);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, replaceInfinity(one)]),
  );
}

/** The agent settings that the choice of a meta profile switches on, or off. */
export function setRoutingProfile(agent: JsonObject, profile: Json): JsonObject {
  return {
    ...agent,
    active_meta_profile: profile,
    enable_classify_and_switch_llm_tool: profile !== null,
  };
}

/**
 * Names that were members once and are refused; null for them changes nothing. Source: contract
 * "agent.enable_sub_agents: null, false after true".
 */
const GONE = ['enable_sub_agents', 'enable_switch_llm_tool'];

const NEWEST = 9n;

/**
 * Reports whether a diff of the agent's settings requests something that is wrong although no schema excludes it: an invalid version, a
 * member that is gone, an llm for an agent that has its own.
 */
export function isDiffRefused(diff: JsonObject, kind: string): boolean {
  const version = readOwnMember(diff, 'schema_version') ?? null;
  if (version !== null && (typeof version !== 'bigint' || version < 0n || version > NEWEST))
    return true;
  const gone = kind === 'acp' ? [...GONE, 'llm'] : GONE;
  return gone.some((name) => (readOwnMember(diff, name) ?? null) !== null);
}

/** Reports whether conversation settings contradict themselves. Source: contract "worktree_base: ref needs worktree_base_ref". */
export function isContradictory(conversation: JsonObject): boolean {
  return (
    readOwnMember(conversation, 'worktree_base') === 'ref' &&
    readOwnMember(conversation, 'worktree_base_ref') === null
  );
}

/**
 * Reports whether members of a conversation's start, which are checked here and not stored, have a wrong type.
 * Source: contract "conversation_settings: members that are not kept".
 */
export function isWrongStart(diff: JsonObject): boolean {
  const workspace = readOwnMember(diff, 'workspace') ?? null;
  const id = readOwnMember(diff, 'conversation_id') ?? null;
  const isUuid = typeof id === 'string' && /^[\da-f]{8}(?:-?[\da-f]{4}){3}-?[\da-f]{12}$/i.test(id);
  const plugins = readOwnMember(diff, 'plugins') ?? null;
  const isWrongList = plugins !== null && !isJsonList(plugins);
  return (
    isWrongList || (workspace !== null && !isJsonObject(workspace)) || (id !== null && !isUuid)
  );
}
