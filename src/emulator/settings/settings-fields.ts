import { isJsonObject, type Json, type JsonObject, memberOf } from '../json.ts';
import {
  bad,
  badValue,
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
 * How a field is stored. `value`: as sent; `password`: only whether it is set; `discarded`: not stored.
 * `onNull`: whether null and a missing field keep the stored value (`kept`), or reset it to `absent` (`wiped`).
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
  wiped('language', textRule),
  wiped('agent', textRule),
  wiped('max_iterations', integerRule),
  wiped('security_analyzer', textRule),
  wiped('confirmation_mode', flagRule),
  keptField('llm_model', textRule),
  password('llm_api_key', 'kept'),
  keptField('llm_base_url', textRule),
  wiped('remote_runtime_resource_factor', integerRule),
  { name: 'secrets_store', storage: 'discarded', onNull: 'wiped', rule: secretsStore, absent: {} },
  flagField('enable_default_condenser', true),
  flagField('enable_sound_notifications', false),
  flagField('enable_proactive_conversation_starters', true),
  flagField('enable_solvability_analysis', true),
  keptField('user_consents_to_analytics', flagRule),
  wiped('sandbox_base_container_image', textRule),
  wiped('sandbox_runtime_container_image', textRule),
  wiped('mcp_config', mcpConfig),
  password('search_api_key', 'kept'),
  password('sandbox_api_key', 'wiped'),
  wiped('max_budget_per_task', fractionRule),
  wiped('condenser_max_size', condenserSize),
  wiped('email', textRule),
  wiped('email_verified', flagRule),
  wiped('git_user_name', textRule),
  wiped('git_user_email', textRule),
];

function wiped(name: string, rule: Rule): SettingsField {
  return { name, storage: 'value', onNull: 'wiped', rule: nullable(rule), absent: null };
}

function keptField(name: string, rule: Rule): SettingsField {
  return { name, storage: 'value', onNull: 'kept', rule: nullable(rule), absent: null };
}

function password(name: string, onNull: 'kept' | 'wiped'): SettingsField {
  return { name, storage: 'password', onNull, rule: nullable(textRule), absent: null };
}

function flagField(name: string, byDefault: boolean): SettingsField {
  return { name, storage: 'value', onNull: 'wiped', rule: flagRule, absent: byDefault };
}

function secretsStore(value: Json, at: Location): Verdict {
  return isJsonObject(value) ? good({}) : badValue('secrets_store must be an object', at, value);
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

/** What is stored: plain values by field, and the names of the password fields that hold one. Never a password itself. */
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
  const value = memberOf(sent, field.name) ?? null;
  if (value !== null || field.onNull === 'wiped' || before === undefined) return value;
  return memberOf(before.values, field.name) ?? null;
}

function nextIsSet(
  field: SettingsField,
  before: StoredSettings | undefined,
  sent: JsonObject,
): boolean {
  const value = memberOf(sent, field.name);
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
    (field) => [field.name, shownField(field, stored, serverMcp)] as const,
  );
  return {
    ...Object.fromEntries(fields),
    provider_tokens_set: tokensSet,
    llm_api_key_set: stored.passwordsSet.includes('llm_api_key'),
    search_api_key_set: stored.passwordsSet.includes('search_api_key'),
  };
}

function shownField(
  field: SettingsField,
  stored: StoredSettings,
  serverMcp: JsonObject | undefined,
): Json {
  if (field.storage === 'password') return null;
  if (field.storage === 'discarded') return { provider_tokens: {} };
  const value = memberOf(stored.values, field.name) ?? null;
  return field.name === 'mcp_config' ? withServerMcp(serverMcp, value) : value;
}
