import { isJsonObject, type Json, type JsonObject, readOwnMember } from '../json.ts';
import {
  bad,
  refuseValue,
  checkObject,
  good,
  type Location,
  type Rule,
  type Verdict,
  flagRule,
  fractionRule,
  integerRule,
  integerWhere,
  nullable,
  textRule,
} from '../rules.ts';
import { mcpConfig, withServerMcp } from './mcp-config.ts';

/**
 * The storage of a field. `value`: as sent; `password`: only whether it is set; `discarded`: not stored. `onNull`: whether null and a
 * missing field preserve the stored value (`kept`), or reset it to `absent` (`wiped`).
 */
export interface SettingsField {
  readonly name: string;
  readonly storage: 'value' | 'password' | 'discarded';
  readonly onNull: 'kept' | 'wiped';
  readonly rule: Rule;
  readonly absent: Json;
}

const minCondenserSize = 20n;

const condenserSize = integerWhere(
  (size) => size >= minCondenserSize,
  `condenser_max_size must be at least ${minCondenserSize}`,
);

/**
 * Every field of the settings, in the order of a load's answer.
 * Source: specification 2.1; the contract cases "FIELD: null after a value" and "FIELD: left out after a value".
 */
export const settingsFields: readonly SettingsField[] = [
  createClearableField('language', textRule),
  createClearableField('agent', textRule),
  createClearableField('max_iterations', integerRule),
  createClearableField('security_analyzer', textRule),
  createClearableField('confirmation_mode', flagRule),
  createSetOnlyField('llm_model', textRule),
  createPasswordField('llm_api_key', 'kept'),
  createSetOnlyField('llm_base_url', textRule),
  createClearableField('remote_runtime_resource_factor', integerRule),
  { name: 'secrets_store', storage: 'discarded', onNull: 'wiped', rule: secretsStore, absent: {} },
  flagField('enable_default_condenser', true),
  flagField('enable_sound_notifications', false),
  flagField('enable_proactive_conversation_starters', true),
  flagField('enable_solvability_analysis', true),
  createSetOnlyField('user_consents_to_analytics', flagRule),
  createClearableField('sandbox_base_container_image', textRule),
  createClearableField('sandbox_runtime_container_image', textRule),
  createClearableField('mcp_config', mcpConfig),
  createPasswordField('search_api_key', 'kept'),
  createPasswordField('sandbox_api_key', 'wiped'),
  createClearableField('max_budget_per_task', fractionRule),
  createClearableField('condenser_max_size', condenserSize),
  createClearableField('email', textRule),
  createClearableField('email_verified', flagRule),
  createClearableField('git_user_name', textRule),
  createClearableField('git_user_email', textRule),
];

function createClearableField(name: string, rule: Rule): SettingsField {
  return { name, storage: 'value', onNull: 'wiped', rule: nullable(rule), absent: null };
}

function createSetOnlyField(name: string, rule: Rule): SettingsField {
  return { name, storage: 'value', onNull: 'kept', rule: nullable(rule), absent: null };
}

function createPasswordField(name: string, onNull: 'kept' | 'wiped'): SettingsField {
  return { name, storage: 'password', onNull, rule: nullable(textRule), absent: null };
}

function flagField(name: string, byDefault: boolean): SettingsField {
  return { name, storage: 'value', onNull: 'wiped', rule: flagRule, absent: byDefault };
}

function secretsStore(value: Json, at: Location): Verdict {
  return isJsonObject(value) ? good({}) : refuseValue('secrets_store must be an object', at, value);
}

/**
 * The body of a store as normalised values of every field, or every problem of it, in the order of the fields.
 * Source: specification 4.2; contract "a list as body", "unknown top-level field", "a refused store changes nothing".
 */
export function validateSettings(body: Json): Verdict<JsonObject> {
  const at: Location = ['body'];
  if (body === null) return bad('missing', at, 'Field required', null);
  return checkObject(settingsFields, 'ignored', body, at);
}

/** The stored settings: plain values by field, and the names of the password fields that have one. Never a password itself. */
export interface StoredSettings {
  readonly values: JsonObject;
  readonly passwordsSet: readonly string[];
}

/**
 * The settings after a store: every field is replaced, except those that keep their value if the new one is null.
 * A blank password clears. Source: contract "a sparse store resets what it leaves out", "llm_api_key: blanks after a value".
 */
export function mergeSettings(
  before: StoredSettings | undefined,
  sent: JsonObject,
): StoredSettings {
  const plain = settingsFields.filter(({ storage }) => storage === 'value');
  const passwords = settingsFields.filter(({ storage }) => storage === 'password');
  const values = plain.map((field) => [field.name, nextValue(field, before, sent)] as const);
  return {
    values: Object.fromEntries(values),
    passwordsSet: passwords
      .filter((field) => nextIsSet(field, before, sent))
      .map(({ name }) => name),
  };
}

function nextValue(
  field: SettingsField,
  before: StoredSettings | undefined,
  sent: JsonObject,
): Json {
  const value = readOwnMember(sent, field.name) ?? null;
  if (value !== null || field.onNull === 'wiped' || before === undefined) return value;
  return readOwnMember(before.values, field.name) ?? null;
}

function nextIsSet(
  field: SettingsField,
  before: StoredSettings | undefined,
  sent: JsonObject,
): boolean {
  const value = readOwnMember(sent, field.name);
  if (typeof value === 'string') return value.trim() !== '';
  return (
    field.onNull === 'kept' && before !== undefined && before.passwordsSet.includes(field.name)
  );
}

/**
 * The body of a load: every field, then the flags. Password fields are null whether set or not.
 * Source: specification 2.3; contract "store every field, then load".
 */
export function loadAnswer(
  stored: StoredSettings,
  serverMcp: JsonObject | undefined,
  tokensSet: JsonObject,
): JsonObject {
  const fields = settingsFields.map(
    (field) => [field.name, createFieldAnswer(field, stored, serverMcp)] as const,
  );
  return {
    ...Object.fromEntries(fields),
    provider_tokens_set: tokensSet,
    llm_api_key_set: stored.passwordsSet.includes('llm_api_key'),
    search_api_key_set: stored.passwordsSet.includes('search_api_key'),
  };
}

function createFieldAnswer(
  field: SettingsField,
  stored: StoredSettings,
  serverMcp: JsonObject | undefined,
): Json {
  if (field.storage === 'password') return null;
  if (field.storage === 'discarded') return { provider_tokens: {} };
  const value = readOwnMember(stored.values, field.name) ?? null;
  return field.name === 'mcp_config' ? withServerMcp(serverMcp, value) : value;
}
