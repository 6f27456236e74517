import { memberOf, type Json, type JsonObject } from '../json/json.ts';
import { settingsFields, type SettingsField } from './settings-fields.ts';

/** What is stored: plain values by field, and the names of the password fields that hold one. Never a password itself. */
export interface StoredSettings {
  readonly values: JsonObject;
  readonly passwordsSet: readonly string[];
}

/**
 * What a store leaves behind: every field replaced, but for those that keep their value where the new one is null.
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
