import {
  isJsonObject,
  type Json,
  type JsonObject,
  readOwnMember,
  readObjectMember,
} from '../json.ts';
import { LLM, readProfiles } from '../native/profile-record.ts';
import { withSecrets } from '../native/secret-places.ts';
import { readHeldRecord } from '../store/held-settings.ts';
import type { StoreContents } from '../store/store-document.ts';
import { emptyRecord, openAgentRecord, type AgentServerKind, sealAgentRecord } from './record.ts';

/** The collections next to the settings, by their names in the store. */
const COLLECTIONS = [
  'llm_profiles',
  'provider_connections',
  'agent_profiles',
  'meta_profiles',
  'skills',
  'plugins',
  'canvas_extensions',
  'workspaces',
  'workspace_parents',
] as const;

export type CollectionName = (typeof COLLECTIONS)[number];

/** All that an Agent Server holds but custom secrets, its secrets opened. */
export interface ServerContent {
  /** Undefined: it is stored and cannot be read. */
  readonly record: JsonObject | undefined;
  /** The things of each collection by name, in the order of creation. One that is not an object cannot be read. */
  readonly things: Readonly<Record<CollectionName, JsonObject>>;
}

export function openHeld(
  kind: AgentServerKind,
  contents: StoreContents,
  now: number,
): ServerContent {
  const { settings } = contents;
  const record =
    settings === undefined ? emptyRecord(kind, now) : openAgentRecord(kind, settings, now);
  return {
    record,
    things: mapThingSecrets(kind, readStoredThings(contents), (text) => kind.vault.load(text)),
  };
}

/** Returns the content for the store. The settings are written only if they differ from those that were opened. */
export function sealHeld(
  kind: AgentServerKind,
  before: StoreContents,
  opened: ServerContent,
  held: ServerContent,
): StoreContents {
  const sealed = mapThingSecrets(kind, held.things, (text) => kind.vault.seal(text));
  const collections = { ...before.collections, ...sealed };
  if (held.record === undefined || held.record === opened.record) return { ...before, collections };
  return { ...before, collections, settings: sealAgentRecord(kind, held.record) };
}

/** Stores of before had the LLM profiles among the settings. */
function readStoredThings({ settings, collections }: StoreContents): ServerContent['things'] {
  const isOld =
    settings?.dialect === 'agent-server' &&
    readOwnMember(collections, 'llm_profiles') === undefined;
  const things = COLLECTIONS.map((name) => [name, readObjectMember(collections, name)] as const);
  const found = Object.fromEntries(things) as ServerContent['things'];
  return isOld ? { ...found, llm_profiles: readProfiles(readHeldRecord(settings)) } : found;
}

function mapThingSecrets(
  { snapshot }: AgentServerKind,
  things: ServerContent['things'],
  onSecret: (text: string) => string,
): ServerContent['things'] {
  return {
    ...things,
    llm_profiles: mapThings(things.llm_profiles, (profile) =>
      withSecrets(snapshot, LLM, profile, onSecret),
    ),
    provider_connections: mapThings(things.provider_connections, (connection) => {
      const key = readOwnMember(connection, 'api_key');
      return typeof key === 'string' ? { ...connection, api_key: onSecret(key) } : connection;
    }),
  };
}

function mapThings(things: JsonObject, of: (thing: JsonObject) => Json): JsonObject {
  return Object.fromEntries(
    Object.entries(things).map(([name, one]) => [name, isJsonObject(one) ? of(one) : one]),
  );
}

/** One thing of a collection; undefined if it is not there or cannot be read. */
export function findThing(
  { things }: ServerContent,
  collection: CollectionName,
  name: string,
): JsonObject | undefined {
  const found = readOwnMember(things[collection], name) ?? null;
  return isJsonObject(found) ? found : undefined;
}

/** Returns the readable things of a collection. */
export function readableThings({ things }: ServerContent, collection: CollectionName) {
  return Object.entries(things[collection]).filter((entry): entry is [string, JsonObject] =>
    isJsonObject(entry[1]),
  );
}

/** With a thing in its place, or at the end of its collection. */
export function withThing(
  held: ServerContent,
  collection: CollectionName,
  name: string,
  thing: Json,
): ServerContent {
  const things = { ...held.things[collection], [name]: thing };
  return { ...held, things: { ...held.things, [collection]: things } };
}

export function withoutThing(
  held: ServerContent,
  collection: CollectionName,
  name: string,
): ServerContent {
  const left = Object.entries(held.things[collection]).filter(([other]) => other !== name);
  return { ...held, things: { ...held.things, [collection]: Object.fromEntries(left) } };
}
