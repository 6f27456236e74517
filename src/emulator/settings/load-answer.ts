import { memberOf, type Json, type JsonObject } from '../json/json.ts';
import type { StoredSettings } from './merge-settings.ts';
import { withServerMcp } from './server-mcp.ts';
import { settingsFields, type SettingsField } from './settings-fields.ts';

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
