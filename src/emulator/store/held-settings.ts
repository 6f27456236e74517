import { isJsonList, isJsonObject, type Json, type JsonObject, readOwnMember } from '../json.ts';
import { validateSettings } from '../settings/settings-fields.ts';
import { mergeSettings, type StoredSettings } from '../settings/settings-fields.ts';

/** The settings as the dialect that wrote them last keeps them; the others read what they find of their own in them. */
export type HeldSettings =
  | ({ readonly dialect: 'settings-v0' } & StoredSettings)
  | {
      readonly dialect: 'app-server' | 'agent-server';
      /** In the server's own nesting, each secret as a token. */
      readonly record: JsonObject;
    };

export function writeHeldSettings(settings: HeldSettings): Json {
  if (settings.dialect !== 'settings-v0')
    return { dialect: settings.dialect, record: settings.record };
  return { values: settings.values, passwords_set: settings.passwordsSet };
}

export function readHeldSettings(
  settings: Json | undefined,
): HeldSettings | undefined | 'unusable' {
  if (settings === null) return undefined;
  if (settings === undefined || !isJsonObject(settings)) return 'unusable';
  const dialect = readOwnMember(settings, 'dialect');
  const record = readOwnMember(settings, 'record');
  if (dialect === 'app-server' || dialect === 'agent-server')
    return record !== undefined && isJsonObject(record) ? { dialect, record } : 'unusable';
  const passwordsSet = readOwnMember(settings, 'passwords_set');
  const values = validValues(readOwnMember(settings, 'values') ?? null);
  if (values === undefined || passwordsSet === undefined || !isJsonList(passwordsSet))
    return 'unusable';
  const names = passwordsSet.filter((name) => typeof name === 'string');
  if (names.length < passwordsSet.length) return 'unusable';
  return {
    dialect: 'settings-v0',
    values: mergeSettings(undefined, values).values,
    passwordsSet: names,
  };
}

function validValues(values: Json): JsonObject | undefined {
  const verdict = validateSettings(values);
  return verdict.kind === 'good' ? verdict.value : undefined;
}

/** A token that stands for a stored secret with an unknown value. */
const SET = 'gAAAA';

/** The record that another dialect finds: the fields of settings-v0 at the top, as an upgraded server finds them in its file. */
export function readHeldRecord(settings: HeldSettings): JsonObject {
  if (settings.dialect !== 'settings-v0') return settings.record;
  const passwords = settings.passwordsSet.map((name) => [name, SET] as const);
  return { ...settings.values, ...Object.fromEntries(passwords) };
}

/** Returns the fields for settings-v0: those it knows by their names at the top; undefined if one has a value that it does not accept. */
export function readHeldFields(settings: HeldSettings): StoredSettings | undefined {
  if (settings.dialect === 'settings-v0') return settings;
  const verdict = validateSettings(settings.record);
  return verdict.kind === 'good' ? mergeSettings(undefined, verdict.value) : undefined;
}

/** The model that conversations get; null if none is chosen. */
export function readHeldModel(settings: HeldSettings): string | null {
  const [agent, llm] = ['agent_settings', 'llm'];
  let found: Json | undefined =
    settings.dialect === 'settings-v0'
      ? readOwnMember(settings.values, 'llm_model')
      : readOwnMember(settings.record, agent);
  if (found !== undefined && isJsonObject(found)) {
    const inner = readOwnMember(found, llm);
    found = inner !== undefined && isJsonObject(inner) ? readOwnMember(inner, 'model') : undefined;
  }
  return typeof found === 'string' ? found : null;
}
