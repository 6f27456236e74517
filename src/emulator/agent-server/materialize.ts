import { type Answer, createJsonAnswer } from '../http/answer.ts';
import {
  isJsonList,
  isJsonObject,
  type Json,
  type JsonObject,
  readOwnMember,
  readTextMember,
  readObjectMember,
} from '../json.ts';
import { isKeySet, LLM } from '../native/profile-record.ts';
import { MASK, withSecrets } from '../native/secret-places.ts';
import { bad, checkObject, good, nullable, type Rule } from '../rules.ts';
import { readAgentProfile } from './agent-profile.ts';
import type { ServerContent } from './held.ts';
import { mcpEntries } from './mcp.ts';
import { loadThing, nameRule } from './named.ts';
import { llmOfProfile } from './llm-profiles.ts';
import { type AgentServerKind, fitPart } from './record.ts';
import type { HeldRequest } from './requests.ts';
import { fillAgentDefaults } from '../native/class-rules.ts';
import { parseShellWords } from '../settings/stdio-entry.ts';

const TOLD = { collection: 'agent_profiles', title: 'Agent profile', noun: 'profile' } as const;

const draftRule: Rule = (value, at) =>
  isJsonObject(value)
    ? good(value)
    : bad('value_error', at, 'Value error, profile must be an object', value);

/**
 * The result of a launch of a profile, or of a draft of one. Missing items that it names are reported, and are not an error.
 * Source: contract "agent profiles: materialize a draft", "agent profiles: a meta profile that is not there".
 */
export function materializing(kind: AgentServerKind): HeldRequest {
  const members = [{ name: 'profile', rule: nullable(draftRule), absent: null }];
  return {
    names: nameRule,
    isOptional: true,
    takes: (body, at) => checkObject(members, 'refused', body ?? {}, at),
    does: (held, { sent, body, now }) => {
      const draft = isJsonObject(body) ? (readOwnMember(body, 'profile') ?? null) : null;
      const found = isJsonObject(draft)
        ? readAgentProfile(kind, draft, sent)
        : loadThing(TOLD, held, sent);
      return 'refused' in found
        ? found.refused
        : createJsonAnswer(200, diagnoseProfile(kind, held, found.thing, now));
    },
  };
}

function diagnoseProfile(
  kind: AgentServerKind,
  held: ServerContent,
  profile: JsonObject,
  now: number,
): JsonObject {
  const readMember = (member: string): Json => readOwnMember(profile, member) ?? null;
  const isAcp = readMember('agent_kind') === 'acp';
  const llmName = readTextMember(profile, 'llm_profile_ref');
  const llm = isAcp ? undefined : llmOfProfile(held, llmName);
  // Where its LLM profile cannot be used, nothing else is looked at.
  const isBroken = llm !== undefined && 'refused' in llm && !isNotFoundAnswer(llm.refused);
  const found = selectMcpServers(held, readMember('mcp_server_refs'));
  const mcp = isBroken ? { ...found, dangling: [] } : found;
  const meta = isAcp || isBroken ? NO_META : resolveMetaProfile(kind, held, profile);
  const problems = [
    ...(llm !== undefined && 'refused' in llm ? [llmProblem(llmName, llm.refused)] : []),
    ...(mcp.dangling.length > 0
      ? [`MCP server(s) not configured: ${mcp.dangling.join(', ')}`]
      : []),
    ...meta.problems,
    ...(isAcp ? commandProblem(profile) : []),
  ];
  const unusable = isAcp ? [] : unusableTools(readMember('tools'));
  const errors = [
    ...(unusable.length > 0 ? [`Tool(s) this server cannot run: ${unusable.join(', ')}`] : []),
    ...problems,
  ];
  const isResolved = llm !== undefined && 'thing' in llm;
  const settings = isAcp
    ? acpSettings(profile, mcp.entries)
    : openhandsSettings(profile, isResolved ? llm.thing : {}, mcp.entries, meta);
  return {
    agent_kind: readMember('agent_kind'),
    valid: errors.length === 0,
    errors,
    unusable_tools: unusable,
    llm_profile_ref: readMember('llm_profile_ref'),
    llm_profile_resolved: isResolved,
    llm_api_key_set: isResolved && isKeySet(llm.thing),
    mcp_server_refs: readMember('mcp_server_refs'),
    resolved_mcp_config_keys: Object.keys(mcp.entries),
    dangling_mcp_server_refs: mcp.dangling,
    disabled_skills: readOwnMember(profile, 'disabled_skills') ?? [],
    public_skills: readMember('public_skills'),
    resolved_skills: [],
    secret_refs: readMember('secret_refs'),
    ...createAcpChannels(readTextMember(profile, 'acp_server')),
    meta_profile_ref: readMember('meta_profile_ref'),
    dangling_meta_profile_ref: meta.dangling,
    dangling_meta_profile_llm_refs: meta.danglingLlms,
    resolved_settings: errors.length === 0 ? hideSettingsSecrets(kind, settings, now) : null,
  };
}

interface FilteredEntries {
  readonly entries: JsonObject;
  readonly dangling: readonly string[];
}

/** The mcp servers that a profile names, or all; each name counts once. */
function selectMcpServers(held: ServerContent, refs: Json): FilteredEntries {
  const servers = mcpEntries(held);
  if (!isJsonList(refs)) return { entries: servers, dangling: [] };
  const names = [...new Set(refs.filter((one) => typeof one === 'string'))];
  const isThere = (name: string) => readOwnMember(servers, name) !== undefined;
  const entries = names.filter(isThere).map((name) => [name, servers[name] ?? null] as const);
  return { entries: Object.fromEntries(entries), dangling: names.filter((name) => !isThere(name)) };
}

const NO_META: MetaRefs = {
  profile: null,
  llms: {},
  dangling: null,
  danglingLlms: [],
  problems: [],
};

/** The meta profile that a profile routes by, with the LLM profiles that it names. */
function resolveMetaProfile(
  kind: AgentServerKind,
  held: ServerContent,
  profile: JsonObject,
): MetaRefs {
  const name = readTextMember(profile, 'meta_profile_ref');
  if (name === '' || readOwnMember(profile, 'enable_classify_and_switch_llm_tool') !== true)
    return NO_META;
  const found = loadThing(
    { collection: 'meta_profiles', title: '', noun: 'meta-profile' },
    held,
    name,
  );
  if ('refused' in found)
    return { ...NO_META, dangling: name, problems: [`Meta-profile '${name}' not found`] };
  const classes = readOwnMember(found.thing, 'classes') ?? [];
  const classed = isJsonList(classes) ? classes.map((one) => readTextMember(one, 'model')) : [];
  const names = [...new Set([readTextMember(found.thing, 'classifier_model'), ...classed])];
  const llms = names.map((one) => [one, llmOfProfile(held, one)] as const);
  const danglingLlms = llms.flatMap(([one, llm]) => ('refused' in llm ? [one] : []));
  const resolved = llms.flatMap(([one, llm]) =>
    'thing' in llm ? [[one, maskLlmSecrets(kind, llm.thing)] as const] : [],
  );
  const sentence = 'LLM profile(s) routed to by the meta-profile not found';
  const problems = danglingLlms.length > 0 ? [`${sentence}: ${danglingLlms.join(', ')}`] : [];
  return {
    ...NO_META,
    profile: found.thing,
    llms: Object.fromEntries(resolved),
    danglingLlms,
    problems,
  };
}

/** An llm without a secret: schemas do not show where one is in a map of them. */
function maskLlmSecrets({ snapshot }: AgentServerKind, llm: JsonObject): Json {
  return withSecrets(snapshot, LLM, llm, () => MASK);
}

/** Returns why the LLM profile of a profile cannot be read. */
function llmProblem(name: string, refused: Answer): string {
  if (isNotFoundAnswer(refused)) return `LLM profile '${name}' not found`;
  const detail = refused.kind === 'json' ? readTextMember(refused.body, 'detail') : '';
  return `Failed to build agent settings: LLM profile '${name}': ${detail}`;
}

function isNotFoundAnswer(refused: Answer): boolean {
  return refused.kind === 'json' && refused.status === 404;
}

/** An agent of an unknown maker has no command of its own. */
function commandProblem(profile: JsonObject): readonly string[] {
  if (readTextMember(profile, 'acp_server') !== 'custom' || parseAcpCommand(profile).length > 0)
    return [];
  const sentence = "acp_command is required when acp_server='custom'";
  return [
    `Failed to build agent settings: ${sentence} \u2014 there is no default launch command to fall back to`,
  ];
}

/** The additional tools of an agent whose profile selects none. */
const OTHER_TOOLS = ['task_tool_set', 'finish', 'think', 'glob', 'grep', 'planning_file_editor'];

function unusableTools(tools: Json): readonly string[] {
  if (!isJsonList(tools)) return [];
  const known = [...STANDARD_TOOLS, ...OTHER_TOOLS];
  return tools.map((one) => readTextMember(one, 'name')).filter((name) => !known.includes(name));
}

interface Channels {
  readonly key?: string;
  readonly url?: string;
  readonly files?: readonly string[];
}

/** The names of the secrets by which agents of other makers get their keys. */
const CHANNELS: Readonly<Record<string, Channels>> = {
  'claude-code': { key: 'ANTHROPIC_API_KEY', url: 'ANTHROPIC_BASE_URL' },
  codex: { key: 'OPENAI_API_KEY', url: 'OPENAI_BASE_URL', files: ['CODEX_AUTH_JSON'] },
  'gemini-cli': {
    key: 'GEMINI_API_KEY',
    url: 'GEMINI_BASE_URL',
    files: ['GOOGLE_APPLICATION_CREDENTIALS_JSON'],
  },
  'kimi-code': { url: 'KIMI_BASE_URL', files: ['KIMI_CODE_CONFIG_TOML'] },
  pi: { key: 'ANTHROPIC_API_KEY', files: ['PI_AUTH_JSON'] },
  opencode: { key: 'OPENCODE_API_KEY' },
};

function createAcpChannels(server: string): JsonObject {
  const { key = null, url = null, files = [] } = CHANNELS[server] ?? {};
  return {
    acp_api_key_secret_name: key,
    acp_base_url_secret_name: url,
    acp_file_secret_names: files,
  };
}

/** The tools of an agent whose profile chooses none. */
const STANDARD_TOOLS = [
  'terminal',
  'file_editor',
  'task_tracker',
  'browser_tool_set',
  'switch_llm',
];

/** The parts of a profile's meta profile: itself, the LLM profiles it names, and what it lacks. */
interface MetaRefs {
  readonly profile: JsonObject | null;
  readonly llms: JsonObject;
  readonly dangling: string | null;
  readonly danglingLlms: readonly string[];
  readonly problems: readonly string[];
}

/** The settings of a launch of a profile. */
function openhandsSettings(
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

function acpSettings(profile: JsonObject, mcp_config: JsonObject): JsonObject {
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

function parseAcpCommand(profile: JsonObject): readonly string[] {
  const read = parseShellWords(readTextMember(profile, 'acp_command'));
  return read.kind === 'words' ? read.words : [];
}

/** The settings as a record has them, without a secret in them. */
function hideSettingsSecrets(kind: AgentServerKind, settings: JsonObject, now: number): Json {
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
