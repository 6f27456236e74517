import { resolveToolName } from '../../model/collection-forms.ts';
import type { SchemaNode } from '../../model/json-schema.ts';
import { nativeDefinitions } from '../../model/native-schema.ts';
import {
  isEmpty,
  isList,
  isRecord,
  createRecord,
  textFits,
  type Value,
} from '../../model/value.ts';
import type { TypeRule } from '../shape.ts';
import { NONE, readRecord, withMembers, withoutMember } from '../stored.ts';

/* What Agent Servers make of what they are sent, by type. */

export const definitions = () => nativeDefinitions('agent-server');

/** The settings of an agent of either kind. */
export const AGENT: SchemaNode = {
  anyOf: [{ $ref: '#/$defs/OpenHandsAgentSettings' }, { $ref: '#/$defs/ACPAgentSettings' }],
};

/** The types of the parts of the settings. */
export const SETTINGS_TYPES: Readonly<Record<string, SchemaNode>> = {
  agent_settings: AGENT,
  conversation_settings: { $ref: '#/$defs/ConversationSettings' },
};

const AZURE_VERSION = '2024-12-01-preview';

const MCP = [
  'MCPServer',
  'MCPNoneAuthCredential',
  'MCPApiKeyAuthCredential',
  'MCPBearerAuthCredential',
  'MCPBasicAuthCredential',
  'MCPHeaderAuthCredential',
  'MCPOAuthAuthCredential',
  'MCPOAuthAuthentication',
  'MCPOAuthState',
  'MCPOAuthTokenState',
  'MCPOAuthClientInfoState',
];

const ACP_FILES: readonly Value[] = [
  ['CODEX_AUTH_JSON', 'auth.json', 'CODEX_HOME', 'codex'],
  [
    'GOOGLE_APPLICATION_CREDENTIALS_JSON',
    'gcloud-credentials.json',
    'GOOGLE_APPLICATION_CREDENTIALS',
    'gemini-cli',
    'GOOGLE_CLOUD_PROJECT',
    'GOOGLE_CLOUD_LOCATION',
  ],
  ['KIMI_CODE_CONFIG_TOML', 'config.toml', 'KIMI_CODE_HOME', 'kimi-code'],
  ['PI_AUTH_JSON', 'auth.json', 'PI_CODING_AGENT_DIR', 'pi'],
].map(([secret = '', filename = '', variable = '', subdir = '', ...warned]) =>
  createRecord([
    ['secret_name', secret],
    ['filename', filename],
    ['env_var', variable],
    ['subdir', subdir],
    ['env_points_to', warned.length === 0 ? 'dir' : 'file'],
    ['warn_if_unset', warned],
  ]),
);

/** What servers of both later dialects do. `files`: how many agents of other makers have files of keys. */
export const sharedTypeRules = (files: number): readonly TypeRule[] => [
  {
    rule: 'llm: azure brings api_version',
    of: ['LLM'],
    fill: (llm) =>
      textFits(llm['model'], (model) => model.startsWith('azure')) && isEmpty(llm['api_version'])
        ? withMembers(llm, { api_version: AZURE_VERSION })
        : llm,
  },
  {
    rule: 'acp: an agent of another maker has the files of its keys by itself',
    of: ['ACPAgentSettings'],
    fill: (agent) => {
      const own = agent['acp_file_secrets'];
      return isList(own) && own.length === 0
        ? withMembers(agent, { acp_file_secrets: ACP_FILES.slice(0, files) })
        : agent;
    },
  },
  {
    rule: 'mcp: members that are none, and empty maps, go',
    of: MCP,
    fill: (server) =>
      createRecord(
        Object.entries(server).filter(
          ([, value]) => value !== null && !(isRecord(value) && Object.keys(value).length === 0),
        ),
      ),
  },
];

export const TYPE_RULES: readonly TypeRule[] = [
  ...sharedTypeRules(4),
  {
    rule: 'tools: parameters that are none are empty',
    of: ['sdk_Tool'],
    fill: (tool) => (tool['params'] === null ? withMembers(tool, { params: NONE }) : tool),
  },
  {
    rule: 'llm: the address of OpenAI itself is stored as none',
    of: ['LLM'],
    fill: (llm) =>
      textFits(llm['model'], (model) => model.startsWith('openai/')) &&
      textFits(llm['base_url'], (url) => /^https:\/\/api\.openai\.com\/?$/.test(url))
        ? withMembers(llm, { base_url: null })
        : llm,
  },
  {
    rule: 'llm: timeout brings stream_idle_timeout where none is stored or sent',
    of: ['LLM'],
    fill: (llm, sent) =>
      Object.hasOwn(llm, 'stream_idle_timeout') &&
      sent['stream_idle_timeout'] === undefined &&
      !isEmpty(llm['timeout'])
        ? withMembers(llm, { stream_idle_timeout: llm['timeout'] ?? null })
        : llm,
  },
];

/** The members that each kind of agent profile has, from the settings of the kind where it has the same there. */
export function agentProfileNode(kind: Value | undefined): SchemaNode {
  const of = (definition: string) => definitions()[definition]?.properties ?? {};
  const text = { type: ['string', 'null'], default: null };
  const texts = { type: ['array', 'null'], items: { type: 'string' }, default: null };
  const base: Readonly<Record<string, SchemaNode>> = {
    agent_kind: { type: 'string', default: 'openhands' },
    id: text,
    name: text,
    revision: { type: 'integer', default: 0 },
    ...(kind === 'acp' ? {} : { llm_profile_ref: text }),
    mcp_server_refs: texts,
    secret_refs: texts,
  };
  const acp = of('ACPAgentSettings');
  if (kind === 'acp')
    return {
      properties: {
        ...base,
        ...only(acp, ['acp_server']),
        acp_model: text,
        acp_session_mode: text,
        ...only(acp, ['acp_prompt_timeout', 'acp_startup_timeout']),
        acp_command: text,
        acp_args: texts,
      },
    };
  const agent = of('OpenHandsAgentSettings');
  return {
    properties: {
      ...base,
      meta_profile_ref: text,
      ...only(agent, ['agent', 'tools', 'persona']),
      system_message_suffix: text,
      disabled_skills: { type: 'array', items: { type: 'string' }, default: [] },
      public_skills: texts,
      ...only(agent, ['condenser', 'verification']),
      enable_classify_and_switch_llm_tool: { type: 'boolean', default: false },
      ...only(agent, ['tool_concurrency_limit']),
    },
  };
}

function only(
  properties: Readonly<Record<string, SchemaNode>>,
  names: readonly string[],
): Readonly<Record<string, SchemaNode>> {
  return Object.fromEntries(names.map((name) => [name, properties[name] ?? {}]));
}

/** A tool of which there are two: the first place, and the parameters of whichever has any. */
export function toolsOnce(tools: Value): Value {
  if (!isList(tools)) return tools;
  const byName = new Map<string, Value>();
  for (const tool of tools) {
    const name = readRecord(tool)['name'];
    const called = typeof name === 'string' ? resolveToolName(name) : '';
    const first = byName.get(called);
    const own = isRecord(tool) ? withMembers(tool, { name: called }) : tool;
    const isBare = Object.keys(readRecord(first, 'params')).length === 0;
    if (first === undefined || (isBare && Object.keys(readRecord(tool, 'params')).length > 0))
      byName.set(called, own);
  }
  return [...byName.values()];
}

export function withoutCriticKey(verification: Value): Value {
  return isRecord(verification) ? withoutMember(verification, 'critic_api_key') : verification;
}

/** Of a routing what is left out is none; it keeps nothing that is unknown. */
export const ROUTING: SchemaNode = {
  properties: {
    classifier_model: { type: 'string' },
    classes: {
      type: 'array',
      items: {
        properties: {
          description: { type: 'string' },
          model: { type: 'string' },
        },
      },
      default: [],
    },
    prompt_template: { type: ['string', 'null'], default: null },
    model_table: { type: ['string', 'null'], default: null },
  },
};
