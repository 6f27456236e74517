import { isJsonList, isJsonObject, type Json, memberOf, readJson, writeJson } from '../json.ts';
import { readHeldSettings, type HeldSettings, writeHeldSettings } from './held-settings.ts';
import {
  readStoredSandbox,
  readStoredStartTask,
  type StoredSandbox,
  type StoredStartTask,
  writeStoredSandbox,
  writeStoredStartTask,
} from './stored-records.ts';
import { readStoredSecret, type StoredSecret, writeStoredSecret } from './stored-secret.ts';

const writtenBy = "setpoint's embedded service";
const formatVersion = 1n;

/** All that the service remembers; `settings` and `secrets` are undefined until the first store. Lists are oldest first. */
export interface StoreContents {
  readonly settings: HeldSettings | undefined;
  readonly secrets: readonly StoredSecret[] | undefined;
  readonly sandboxes: readonly StoredSandbox[];
  readonly startTasks: readonly StoredStartTask[];
}

export type StoreReading =
  | { readonly kind: 'contents'; readonly contents: StoreContents }
  | { readonly kind: 'unusable'; readonly reason: string };

export const emptyStore: StoreContents = {
  settings: undefined,
  secrets: undefined,
  sandboxes: [],
  startTasks: [],
};

export function writeStoreDocument(contents: StoreContents): string {
  const { settings, secrets, sandboxes, startTasks } = contents;
  const document = {
    written_by: writtenBy,
    format_version: formatVersion,
    settings: settings === undefined ? null : writeHeldSettings(settings),
    custom_secrets: secrets === undefined ? null : secrets.map(writeStoredSecret),
    sandboxes: sandboxes.map(writeStoredSandbox),
    start_tasks: startTasks.map(writeStoredStartTask),
  };
  return `${writeJson(document)}\n`;
}

/**
 * The contents of a store's text, or why it is not one. The reason quotes nothing of the text. Stores written before
 * sandboxes and secrets were kept have no lists of them.
 */
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
  const settings = readHeldSettings(memberOf(document, 'settings'));
  if (settings === 'unusable') return unusable('its settings are not what the service writes');
  const held = memberOf(document, 'custom_secrets') ?? null;
  const secrets = held === null ? undefined : listOf(held, readStoredSecret);
  if (held !== null && secrets === undefined)
    return unusable('its custom secrets are not what the service writes');
  const sandboxes = listOf(memberOf(document, 'sandboxes') ?? [], readStoredSandbox);
  if (sandboxes === undefined) return unusable('its sandboxes are not what the service writes');
  const startTasks = listOf(memberOf(document, 'start_tasks') ?? [], readStoredStartTask);
  if (startTasks === undefined) return unusable('its start tasks are not what the service writes');
  return { kind: 'contents', contents: { settings, secrets, sandboxes, startTasks } };
}

function unusable(reason: string): StoreReading {
  return { kind: 'unusable', reason };
}

function listOf<T>(value: Json, read: (item: Json) => T | undefined): readonly T[] | undefined {
  if (!isJsonList(value)) return undefined;
  const items = value.map(read).filter((item) => item !== undefined);
  return items.length < value.length ? undefined : items;
}
