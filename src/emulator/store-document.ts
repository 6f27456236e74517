import { isJsonList, isJsonObject, memberOf, type Json, type JsonObject } from './json.ts';
import { mergeSettings, type StoredSettings } from './merge-settings.ts';
import { readJson } from './read-json.ts';
import { validateSettings } from './validate-settings.ts';
import { writeJson } from './write-json.ts';

const writtenBy = "setpoint's embedded service";
const formatVersion = 1n;

/** All that the service remembers; `settings` is undefined until the first store. */
export interface StoreContents {
  readonly settings: StoredSettings | undefined;
}

export type StoreReading =
  | { readonly kind: 'contents'; readonly contents: StoreContents }
  | { readonly kind: 'unusable'; readonly reason: string };

export function writeStoreDocument({ settings }: StoreContents): string {
  const stored = settings && { values: settings.values, passwords_set: settings.passwordsSet };
  const document = {
    written_by: writtenBy,
    format_version: formatVersion,
    settings: stored ?? null,
  };
  return `${writeJson(document)}\n`;
}

/** The contents of a store's text, or why it is none of ours. The reason quotes nothing of the text. */
export function readStoreDocument(text: string): StoreReading {
  const reading = readJson(text);
  if (reading.kind !== 'json') return unusable('it is not JSON');
  const document = reading.value;
  if (!isJsonObject(document) || memberOf(document, 'written_by') !== writtenBy) {
    return unusable(`it was not written by ${writtenBy}`);
  }
  if (memberOf(document, 'format_version') !== formatVersion) {
    return unusable(`its format_version is not ${formatVersion}`);
  }
  const settings = memberOf(document, 'settings');
  if (settings === null) return { kind: 'contents', contents: { settings: undefined } };
  const stored = settings === undefined ? undefined : storedSettings(settings);
  if (stored === undefined) return unusable('its settings are not what the service writes');
  return { kind: 'contents', contents: { settings: stored } };
}

function unusable(reason: string): StoreReading {
  return { kind: 'unusable', reason };
}

function storedSettings(settings: Json): StoredSettings | undefined {
  if (!isJsonObject(settings)) return undefined;
  const passwordsSet = memberOf(settings, 'passwords_set');
  const values = validValues(memberOf(settings, 'values') ?? null);
  if (values === undefined || passwordsSet === undefined || !isJsonList(passwordsSet))
    return undefined;
  const names = passwordsSet.filter((name) => typeof name === 'string');
  if (names.length < passwordsSet.length) return undefined;
  return { values: mergeSettings(undefined, values).values, passwordsSet: names };
}

function validValues(values: Json): JsonObject | undefined {
  const verdict = validateSettings(values);
  return verdict.kind === 'good' ? verdict.value : undefined;
}
