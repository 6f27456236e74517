import {
  isJsonObject,
  type Json,
  type JsonObject,
  readOwnMember,
  readJson,
  writeJson,
} from '../json.ts';
import {
  parseStoredList,
  noV1Lists,
  readV1Lists,
  type V1Lists,
  writeV1Lists,
} from '../v1/stored.ts';
import { type HeldSettings, readHeldSettings, writeHeldSettings } from './held-settings.ts';

const writtenBy = "setpoint's embedded service";
const formatVersion = 1n;

/**
 * All that the service remembers; `settings` and `secrets` are undefined until the first store, that of a git token for `secrets`. Lists are
 * oldest first.
 */
export interface StoreContents extends V1Lists {
  readonly settings: HeldSettings | undefined;
  readonly secrets: readonly StoredSecret[] | undefined;
  readonly gitTokens: readonly StoredGitToken[];
  /** Other named things, each collection under its own name; their content is the dialect's, each secret as a token. */
  readonly collections: JsonObject;
}

export type StoreReading =
  | { readonly kind: 'contents'; readonly contents: StoreContents }
  | { readonly kind: 'unusable'; readonly reason: string };

export const emptyStore: StoreContents = {
  settings: undefined,
  secrets: undefined,
  gitTokens: [],
  collections: {},
  ...noV1Lists,
};

export function writeStoreDocument(contents: StoreContents): string {
  const { settings, secrets, gitTokens, collections } = contents;
  const document = {
    written_by: writtenBy,
    format_version: formatVersion,
    settings: settings === undefined ? null : writeHeldSettings(settings),
    custom_secrets: secrets === undefined ? null : secrets.map(writeStoredSecret),
    git_tokens: gitTokens.map(writeStoredGitToken),
    collections,
    ...writeV1Lists(contents),
  };
  return `${writeJson(document)}\n`;
}

/**
 * The contents of a store's text, or the reason why it is invalid. The reason quotes nothing of the text. Old stores have no secrets, git
 * tokens or collections.
 */
export function readStoreDocument(text: string): StoreReading {
  const reading = readJson(text);
  if (reading.kind !== 'json') return unusable('it is not JSON');
  const document = reading.value;
  if (!isJsonObject(document) || readOwnMember(document, 'written_by') !== writtenBy) {
    return unusable(`it was not written by ${writtenBy}`);
  }
  if (readOwnMember(document, 'format_version') !== formatVersion) {
    return unusable(`its format_version is not ${formatVersion}`);
  }
  const settings = readHeldSettings(readOwnMember(document, 'settings'));
  if (settings === 'unusable') return unusable('its settings are not what the service writes');
  const held = readOwnMember(document, 'custom_secrets') ?? null;
  const secrets = held === null ? undefined : parseStoredList(held, readStoredSecret);
  if (held !== null && secrets === undefined)
    return unusable('its custom secrets are not what the service writes');
  const gitTokens = parseStoredList(
    readOwnMember(document, 'git_tokens') ?? [],
    readStoredGitToken,
  );
  if (gitTokens === undefined) return unusable('its git tokens are not what the service writes');
  const collections = readOwnMember(document, 'collections') ?? {};
  if (!isJsonObject(collections))
    return unusable('its collections are not what the service writes');
  const lists = readV1Lists(document);
  if (typeof lists === 'string') return unusable(`its ${lists} are not what the service writes`);
  return { kind: 'contents', contents: { settings, secrets, gitTokens, collections, ...lists } };
}

function unusable(reason: string): StoreReading {
  return { kind: 'unusable', reason };
}

/** A custom secret; its value is a token of the service's vault. */
export interface StoredSecret {
  readonly name: string;
  readonly token: string;
  readonly description: string | null;
}

function writeStoredSecret({ name, token, description }: StoredSecret): JsonObject {
  return { name, value: token, description };
}

/** The secret in a store's text, or undefined if the value is not one. */
function readStoredSecret(value: Json): StoredSecret | undefined {
  if (!isJsonObject(value)) return undefined;
  const name = readOwnMember(value, 'name');
  const token = readOwnMember(value, 'value');
  const description = readOwnMember(value, 'description');
  if (typeof name !== 'string' || typeof token !== 'string') return undefined;
  if (description !== null && typeof description !== 'string') return undefined;
  return { name, token, description };
}

/** The token of a git provider, itself a token of the service's vault. */
export interface StoredGitToken {
  readonly name: string;
  readonly token: string;
  readonly host: string | null;
  readonly userId: string | null;
}

function writeStoredGitToken({ name, token, host, userId }: StoredGitToken): JsonObject {
  return { name, token, host, user_id: userId };
}

/** The git token in a store's text, or undefined if the value is not one. */
function readStoredGitToken(value: Json): StoredGitToken | undefined {
  if (!isJsonObject(value)) return undefined;
  const name = readOwnMember(value, 'name');
  const token = readOwnMember(value, 'token');
  const host = readOwnMember(value, 'host');
  const userId = readOwnMember(value, 'user_id');
  if (typeof name !== 'string' || typeof token !== 'string') return undefined;
  if (host !== null && typeof host !== 'string') return undefined;
  if (userId !== null && typeof userId !== 'string') return undefined;
  return { name, token, host, userId };
}
