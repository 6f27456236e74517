import { isJsonObject, type Json, type JsonObject } from '../json.ts';
import {
  bad,
  badValue,
  checkObject,
  good,
  type Location,
  type Rule,
  type Verdict,
} from '../validation/rule.ts';
import {
  flagRule,
  fractionRule,
  integerRule,
  integerWhere,
  nullable,
  textRule,
} from '../validation/scalar-rules.ts';
import { mcpConfig } from './mcp-config.ts';

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
  kept('llm_model', textRule),
  password('llm_api_key', 'kept'),
  kept('llm_base_url', textRule),
  wiped('remote_runtime_resource_factor', integerRule),
  { name: 'secrets_store', storage: 'discarded', onNull: 'wiped', rule: secretsStore, absent: {} },
  flag('enable_default_condenser', true),
  flag('enable_sound_notifications', false),
  flag('enable_proactive_conversation_starters', true),
  flag('enable_solvability_analysis', true),
  kept('user_consents_to_analytics', flagRule),
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

function kept(name: string, rule: Rule): SettingsField {
  return { name, storage: 'value', onNull: 'kept', rule: nullable(rule), absent: null };
}

function password(name: string, onNull: 'kept' | 'wiped'): SettingsField {
  return { name, storage: 'password', onNull, rule: nullable(textRule), absent: null };
}

function flag(name: string, byDefault: boolean): SettingsField {
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
