import type { Dialect, DialectField } from '../../model/dialect.ts';
import { fields, type SpecifiedField, type FieldName } from '../../model/field.ts';
import { MCP_LISTS } from '../../model/mcp.ts';
import { createRecord } from '../../model/value.ts';
import type { Places } from '../native.ts';
import { PROVIDER_DEFAULTS } from '../../model/provider-defaults.ts';

/** The path of the settings in this dialect. GET reads the record, POST merges into it. */
export const SETTINGS_PATH = '/api/v1/settings';

/** Answers the same settings with a mask instead of each secret, where the settings omit it and its name. */
export const MASKED_PATH = '/api/v1/users/me';

/** The member of an answer whose keys name the provider tokens that are stored. */
export const TOKEN_NAMES = 'provider_tokens_set';

/** The fields that differ from the specification in this dialect. */
const HERE: Readonly<Partial<Record<FieldName, Partial<DialectField>>>> = {
  agent: { onNull: 'resets', absent: 'CodeActAgent' },
  max_iterations: { onNull: 'resets', absent: 500, accepts: { least: 1 } },
  security_analyzer: {
    onNull: 'resets',
    clearWith: 'none',
    absent: 'llm',
    accepts: { oneOf: ['llm'] },
  },
  confirmation_mode: { onNull: 'resets', absent: false },
  llm_model: {
    onNull: 'refuses',
    clearWith: null,
    absent: 'gpt-5.5',
    accepts: { filled: true },
    renews: ['llm_base_url'],
  },
  llm_api_key: { onNull: 'clears', clearWith: null },
  llm_base_url: { onNull: 'clears', clearWith: null, shownAsNull: PROVIDER_DEFAULTS },
  condenser_max_size: { onNull: 'resets', absent: 240, accepts: { least: 20 } },
  enable_sound_notifications: { absent: false },
  mcp_config: { onNull: 'resets', absent: createRecord(MCP_LISTS.map((list) => [list, []])) },
  search_api_key: { onNull: 'clears', clearWith: null },
  sandbox_api_key: {
    loses: 'the service stores asterisks in its place, so that the key never works',
  },
};

/** The fields that ended with settings-v0, each with what took their place. */
const LACKS: ReadonlyMap<FieldName, string> = new Map([
  [
    'secrets_store',
    'releases up to 1.6 (settings-v0) have it; what the file has here is set as git_providers and secrets',
  ],
  ['enable_solvability_analysis', 'releases up to 1.6 (settings-v0) have it'],
]);

/** The place of each field in an answer. Preferences of the application are members of the record here. */
export const PLACES: Places = new Map(
  fields()
    .filter(({ name }) => !LACKS.has(name))
    .map(({ name, path, place }) => [name, place[0] === 'misc_settings' ? path : place]),
);

/** Each field as release 1.11.0 has been seen to treat it. */
export const APP_SERVER: Dialect = {
  name: 'app-server',
  writes: 'fields',
  mcp: 'config',
  authHeader: 'Authorization',
  nullsMayHide: false,
  native: new Map([['disabled_skills', { onNull: 'refuses' }]]),
  lacks: LACKS,
  fields: new Map(
    fields()
      .filter(({ name }) => PLACES.has(name))
      .map((field) => [field.name, toAppServerField(field)]),
  ),
};

/** Returns the dialect of a server with an external agent: members of the usual agent are missing from its settings. */
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

function toAppServerField(field: SpecifiedField): DialectField {
  const { name, onNull, clearWith, secret, readable, setFlag, default: absent } = field;
  const reads = readable ? 'value' : secret && setFlag !== null ? 'presence' : 'nothing';
  return { name, reads, onNull, clearWith, absent, ...HERE[name] };
}
