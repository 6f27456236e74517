import { type Json, type JsonObject, memberOf } from '../json.ts';
import { withServerMcp } from './server-mcp.ts';
import { type SettingsField, settingsFields } from './settings-fields.ts';

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
export function loadAnswer(stored: StoredSettings, serverMcp: JsonObject | undefined): JsonObject {
  const fields = settingsFields.map(
    (field) => [field.name, shown(field, stored, serverMcp)] as const,
  );
  return {
    ...Object.fromEntries(fields),
    provider_tokens_set: {},
    llm_api_key_set: stored.passwordsSet.includes('llm_api_key'),
    search_api_key_set: stored.passwordsSet.includes('search_api_key'),
  };
}

function shown(
  field: SettingsField,
  stored: StoredSettings,
  serverMcp: JsonObject | undefined,
): Json {
  if (field.storage === 'password') return null;
  if (field.storage === 'discarded') return { provider_tokens: {} };
  const value = memberOf(stored.values, field.name) ?? null;
  return field.name === 'mcp_config' ? withServerMcp(serverMcp, value) : value;
}
