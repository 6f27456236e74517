import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { stringify } from 'lossless-json';
import {
  isJsonList,
  isJsonObject,
  type Json,
  type JsonObject,
  readObjectMember,
  readJson,
  readTextMember,
} from '../../src/emulator/json.ts';
import { openVault } from '../../src/emulator/native/vault.ts';
import {
  emptyStore,
  readStoreDocument,
  type StoreContents,
  writeStoreDocument,
} from '../../src/emulator/store/store-document.ts';
import type { Json as RecordedJson } from './recorded-dialect.ts';

/** The folders of an Agent Server that hold a file for each thing, and what the embedded service calls them. */
const FOLDERS = new Map([
  ['profiles', 'llm_profiles'],
  ['agent-profiles', 'agent_profiles'],
  ['meta-profiles', 'meta_profiles'],
]);

/** Puts what a file of an Agent Server holds into the store of the embedded service; a text is a file that is no JSON. */
export function putStoredFile(
  store: string,
  key: string,
  name: string,
  content: RecordedJson,
): void {
  const read = readJson(stringify(content) ?? 'null');
  const value = read.kind === 'json' ? read.value : null;
  const reading = existsSync(store)
    ? readStoreDocument(readFileSync(store, 'utf8'))
    : ({ kind: 'contents', contents: emptyStore } as const);
  if (reading.kind !== 'contents') throw new Error(reading.reason);
  writeFileSync(store, writeStoreDocument(withFile(reading.contents, key, name, value)));
}

function withFile(before: StoreContents, key: string, name: string, content: Json): StoreContents {
  const [folder = '', file = ''] = name.split('/');
  if (name === 'settings.json') {
    const record = isJsonObject(content) ? content : { agent_settings: content };
    return { ...before, settings: { dialect: 'agent-server', record } };
  }
  const connections = isJsonObject(content) ? (content['connections'] ?? null) : null;
  if (folder === 'provider-connections' && isJsonList(connections)) {
    const entries = connections.map(
      (one) => [readTextMember(one, 'id'), withSealedKey(one, key)] as const,
    );
    return withCollection(before, 'provider_connections', Object.fromEntries(entries));
  }
  const collection = FOLDERS.get(folder);
  if (collection === undefined) throw new Error(`the embedded service has no such file: ${name}`);
  return withCollection(before, collection, {
    ...readObjectMember(before.collections, collection),
    [file.replace(/\.json$/, '')]: withSealedKey(content, key),
  });
}

function withCollection(before: StoreContents, name: string, things: JsonObject): StoreContents {
  return { ...before, collections: { ...before.collections, [name]: things } };
}

function withSealedKey(content: Json, key: string): Json {
  const text = readTextMember(content, 'api_key');
  if (!isJsonObject(content) || text === '') return content;
  return { ...content, api_key: openVault(key).seal(text) };
}
