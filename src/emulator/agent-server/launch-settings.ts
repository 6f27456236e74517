import {
  isJsonObject,
  type Json,
  type JsonObject,
  readOwnMember,
  readObjectMember,
  readTextMember,
} from '../json.ts';
import { fillAgentDefaults } from '../native/class-rules.ts';
import { MASK, withSecrets } from '../native/secret-places.ts';
import { parseShellWords } from '../settings/stdio-entry.ts';
import { type AgentServerKind, fitPart } from './record.ts';

/** The tools of an agent whose profile chooses none. */
export const STANDARD_TOOLS = [
  'terminal',
  'file_editor',
  'task_tracker',
  'browser_tool_set',
  'switch_llm',
];

/** The parts of a profile's meta profile: itself, the LLM profiles it names, and what it lacks. */
export interface MetaRefs {
  readonly profile: JsonObject | null;
  readonly llms: JsonObject;
  readonly dangling: string | null;
  readonly danglingLlms: readonly string[];
  readonly problems: readonly string[];
}

/** The settings of a launch of a profile. */
export function openhandsSettings(
  profile: JsonObject,
  llm: JsonObject,
  mcp_config: JsonObject,
  meta: MetaRefs,
): JsonObject {
  const same = (name: string): Json => readOwnMember(profile, name) ?? null;
  const context = {
    load_project_skills: true,
    system_message_suffix: same('system_message_suffix'),
    disabled_skills: same('disabled_skills'),
  };
  return {
    agent_kind: 'openhands',
    agent: same('agent'),
    llm: { ...llm, stream: true },
    mcp_config,
    tools: same('tools') ?? STANDARD_TOOLS.map((name) => ({ name, params: {} })),
    persona: same('persona'),
    agent_context: context,
    condenser: same('condenser'),
    verification: same('verification'),
    enable_classify_and_switch_llm_tool: same('enable_classify_and_switch_llm_tool'),
    active_meta_profile: same('meta_profile_ref'),
    meta_profile: meta.profile,
    meta_profile_llms: meta.llms,
    tool_concurrency_limit: same('tool_concurrency_limit'),
  };
}

export function acpSettings(profile: JsonObject, mcp_config: JsonObject): JsonObject {
  const same = (name: string): Json => readOwnMember(profile, name) ?? null;
  return {
    agent_kind: 'acp',
    acp_server: same('acp_server'),
    acp_model: same('acp_model'),
    acp_session_mode: same('acp_session_mode'),
    acp_prompt_timeout: same('acp_prompt_timeout'),
    acp_startup_timeout: same('acp_startup_timeout'),
    acp_command: parseAcpCommand(profile),
    acp_args: same('acp_args') ?? [],
    mcp_config,
    agent_context: {},
  };
}

export function parseAcpCommand(profile: JsonObject): readonly string[] {
  const read = parseShellWords(readTextMember(profile, 'acp_command'));
  return read.kind === 'words' ? read.words : [];
}

/** The settings as a record has them, without a secret in them. */
export function hideSettingsSecrets(
  kind: AgentServerKind,
  settings: JsonObject,
  now: number,
): Json {
  const verdict = fitPart(kind, 'agent_settings', settings);
  if (verdict.kind !== 'good') return null;
  const node = kind.snapshot.properties?.['agent_settings'] ?? {};
  const filled = fillAgentDefaults(verdict.value, 'agent-server', now);
  const shown = withSecrets(kind.snapshot, node, filled, () => MASK);
  if (!isJsonObject(shown) || readOwnMember(shown, 'agent_kind') !== 'acp') return shown;
  // An agent of another maker does not get the time.
  const context = { ...readObjectMember(shown, 'agent_context'), current_datetime: null };
  return { ...shown, agent_context: context };
}
