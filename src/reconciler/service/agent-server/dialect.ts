import type { Dialect, DialectField, Unstorable } from '../../model/dialect.ts';
import { fields, type SpecifiedField, type FieldName, hasTwoNames } from '../../model/field.ts';
import { MCP_LISTS } from '../../model/mcp.ts';
import { createRecord } from '../../model/value.ts';
import type { Places } from '../native.ts';

/** The path of the settings in this dialect. GET reads the record, PATCH merges into it. */
export const SETTINGS_PATH = '/api/settings';

/** The member that distinguishes this server's answer from every other; it reports whether llm_api_key is stored. */
export const KEY_FLAG = 'llm_api_key_is_set';

export const AGENT = 'agent_settings';
export const CONVERSATION = 'conversation_settings';
export const MISC = 'misc_settings';
export const PREFERENCES = 'app_preferences';

const RESET_LISTS = createRecord(MCP_LISTS.map((list) => [list, []]));

/** The addresses that are dropped because they are the defaults of the model's provider, asked of release 1.57.0; and none at all. */
const DROPPED = [
  ['', ''],
  ['openai/', 'https://api.openai.com'],
  ['openai/', 'https://api.openai.com/'],
] as const;

/** The place of each field in an answer. The usual client of this server stores its preferences in app_preferences. */
export const PLACES: Places = new Map(
  fields()
    .filter(hasTwoNames)
    .map(({ name, place }) => [name, place]),
);

/** The differences of fields in this dialect. An unlisted member of app_preferences is cleared by null, and has no default. */
const HERE: Readonly<Partial<Record<FieldName, Partial<DialectField>>>> = {
  agent: { onNull: 'resets', absent: 'CodeActAgent' },
  max_iterations: { onNull: 'resets', absent: 500, accepts: { least: 1 } },
  security_analyzer: { storesNull: true, absent: 'llm', accepts: { oneOf: ['llm', 'none'] } },
  confirmation_mode: { onNull: 'resets', absent: false },
  llm_model: { onNull: 'refuses', absent: 'gpt-5.6', accepts: { filled: true } },
  llm_base_url: { shownAsNull: { field: 'llm_model', values: DROPPED } },
  enable_default_condenser: { onNull: 'resets', absent: true },
  enable_sound_notifications: { absent: false },
  mcp_config: { onNull: 'resets', absent: RESET_LISTS },
  condenser_max_size: { onNull: 'resets', absent: 240, accepts: { least: 20 } },
};

const BOTH = 'settings-v0 and app-server have it';
const IMAGE = `${BOTH}; this server takes the image of conversations from OH_CONVERSATION_IMAGE when it starts`;
const KEY = `${BOTH}; declare what needs the key as an mcp server`;

/** The fields that the agent server does not have, each with the services that do. */
const LACKS: ReadonlyMap<FieldName, string> = new Map([
  [
    'remote_runtime_resource_factor',
    `${BOTH}; nearest here are container_memory and container_cpus of conversation_settings`,
  ],
  [
    'secrets_store',
    'releases up to 1.6 of the service (settings-v0) have it; what the file has here is set as git_providers and secrets',
  ],
  ['enable_proactive_conversation_starters', BOTH],
  ['enable_solvability_analysis', 'releases up to 1.6 of the service (settings-v0) have it'],
  ['sandbox_base_container_image', IMAGE],
  ['sandbox_runtime_container_image', IMAGE],
  ['search_api_key', KEY],
  ['sandbox_api_key', KEY],
  ['max_budget_per_task', BOTH],
  ['email', BOTH],
  ['email_verified', BOTH],
]);

/** Secrets that this server does not keep. */
const UNSTORABLE: readonly Unstorable[] = [
  {
    form: /^gAAAA/,
    because: 'it begins with gAAAA; the server treats such a value as its own token and clears it',
  },
  { form: /^\s+$/, because: 'it is blank, which clears the secret' },
];

/** Each field as release 1.57.0 has been seen to treat it. */
export const AGENT_SERVER: Dialect = {
  name: 'agent-server',
  writes: 'fields',
  mcp: 'entries',
  nullsMayHide: false,
  unstorable: UNSTORABLE,
  undecryptable:
    "Look at the server's OH_SECRET_KEY: its secrets may be encrypted with another key, and releases before 1.57 lose them by the next write.",
  lacks: LACKS,
  fields: new Map(
    fields()
      .filter(({ name }) => PLACES.has(name))
      .map((field) => [field.name, toAgentServerField(field)]),
  ),
};

function toAgentServerField({ name, secret }: SpecifiedField): DialectField {
  const reads = secret ? 'presence' : 'value';
  return { name, reads, onNull: 'clears', clearWith: null, absent: null, ...HERE[name] };
}

/** Returns the dialect of a server with an external agent, which brings its own model: members of the usual agent are dropped. */
export function agentServerWith(acp: boolean): Dialect {
  if (!acp) return AGENT_SERVER;
  const lacks = new Map<string, string>(AGENT_SERVER.lacks);
  for (const name of OF_OPENHANDS) lacks.set(name, ACP);
  const own = [...AGENT_SERVER.fields].filter(([name]) => !lacks.has(name));
  return { ...AGENT_SERVER, lacks, fields: new Map(own) };
}

const OF_OPENHANDS: readonly FieldName[] = [
  'agent',
  'llm_model',
  'llm_api_key',
  'llm_base_url',
  'enable_default_condenser',
  'condenser_max_size',
];
const ACP = 'agent_settings.agent_kind is acp on this server, and only openhands has it';
