import type { Dialect, DialectField } from '../../model/dialect.ts';
import { fields, type SpecifiedField, type FieldName } from '../../model/field.ts';
import { MCP_LISTS } from '../../model/mcp.ts';
import type { Path } from '../../model/path.ts';
import { recordOf } from '../../model/value.ts';
import { PROVIDER_DEFAULTS } from '../provider-defaults.ts';

/** Where this dialect has its settings. GET reads the record, POST merges into it. */
export const SETTINGS_PATH = '/api/v1/settings';

/** Answers the same settings with a mask in place of each secret, where the settings leave it out, its name too. */
export const MASKED_PATH = '/api/v1/users/me';

/** The member of an answer whose keys name the provider tokens that are stored. */
export const TOKEN_NAMES = 'provider_tokens_set';

/** A difference from the field of the specification; what is not listed here has the same name, and null clears it. */
interface Here {
  /** Where an answer has the field; absent if it is a member of the record with the field's name. */
  readonly at?: Path;
  readonly field?: Partial<DialectField>;
}

const LLM = ['agent_settings', 'llm'];
const CONDENSER = ['agent_settings', 'condenser'];
const CONVERSATION = 'conversation_settings';

const HERE: Readonly<Partial<Record<FieldName, Here>>> = {
  agent: {
    at: ['agent_settings', 'agent'],
    field: { onNull: 'resets', absent: 'CodeActAgent' },
  },
  max_iterations: {
    at: [CONVERSATION, 'max_iterations'],
    field: { onNull: 'resets', absent: 500, accepts: { least: 1 } },
  },
  security_analyzer: {
    at: [CONVERSATION, 'security_analyzer'],
    field: { onNull: 'resets', clearWith: 'none', absent: 'llm', accepts: { oneOf: ['llm'] } },
  },
  confirmation_mode: {
    at: [CONVERSATION, 'confirmation_mode'],
    field: { onNull: 'resets', absent: false },
  },
  llm_model: {
    at: [...LLM, 'model'],
    field: {
      onNull: 'refuses',
      clearWith: null,
      absent: 'gpt-5.5',
      accepts: { filled: true },
      renews: ['llm_base_url'],
    },
  },
  llm_api_key: { at: [...LLM, 'api_key'], field: { onNull: 'clears', clearWith: null } },
  llm_base_url: {
    at: [...LLM, 'base_url'],
    field: {
      onNull: 'clears',
      clearWith: null,
      shownAsNull: PROVIDER_DEFAULTS,
    },
  },
  enable_default_condenser: { at: [...CONDENSER, 'enabled'] },
  condenser_max_size: {
    at: [...CONDENSER, 'max_size'],
    field: { onNull: 'resets', absent: 240, accepts: { least: 20 } },
  },
  enable_sound_notifications: { field: { absent: false } },
  mcp_config: {
    at: ['agent_settings', 'mcp_config'],
    field: { onNull: 'resets', absent: recordOf(MCP_LISTS.map((list) => [list, []])) },
  },
  search_api_key: { field: { onNull: 'clears', clearWith: null } },
  sandbox_api_key: {
    field: { loses: 'the service stores asterisks in its place, so that the key never works' },
  },
};

/** The fields that ended with settings-v0, each with what took their place. */
const LACKS: ReadonlyMap<FieldName, string> = new Map([
  [
    'secrets_store',
    'releases up to 1.6 (settings-v0) have it; set these secrets by other means, at /api/v1/secrets',
  ],
  ['enable_solvability_analysis', 'releases up to 1.6 (settings-v0) have it'],
]);

/** Where an answer has each field. */
export const PLACES: ReadonlyMap<FieldName, Path> = new Map(
  fields()
    .filter(({ name }) => !LACKS.has(name))
    .map(({ name }) => [name, HERE[name]?.at ?? [name]]),
);

/** Each field as release 1.11.0 has been seen to treat it. */
export const APP_SERVER: Dialect = {
  name: 'app-server',
  writes: 'fields',
  mcp: 'config',
  authHeader: 'Authorization',
  sandboxes: true,
  nullsMayHide: false,
  ofKind: (kind) => appServerWith(kind === 'acp'),
  native: new Map([['disabled_skills', { onNull: 'refuses' }]]),
  lacks: LACKS,
  fields: new Map(
    fields()
      .filter(({ name }) => PLACES.has(name))
      .map((field) => [field.name, fieldHere(field)]),
  ),
};

/** What a server can do whose agent is of another make: the members of the usual one are gone from its settings. */
export function appServerWith(acp: boolean): Dialect {
  if (!acp) return APP_SERVER;
  const own = [...APP_SERVER.fields].filter(([name]) => !OF_OPENHANDS.has(name));
  const why = 'agent_settings.agent_kind is acp on this service, and only openhands has it';
  const lacks = [...OF_OPENHANDS].map((name) => [name, why] as const);
  return { ...APP_SERVER, lacks: new Map([...LACKS, ...lacks]), fields: new Map(own) };
}

const OF_OPENHANDS: ReadonlySet<string> = new Set<FieldName>([
  'agent',
  'enable_default_condenser',
  'condenser_max_size',
]);

function fieldHere(field: SpecifiedField): DialectField {
  const { name, onNull, clearWith, secret, readable, setFlag, default: absent } = field;
  const reads = readable ? 'value' : secret && setFlag !== null ? 'presence' : 'nothing';
  return { name, reads, onNull, clearWith, absent, ...HERE[name]?.field };
}
