import { type FitReading, fit } from '../native/fit.ts';
import type { SchemaNode, Snapshot } from '../native/schema.ts';
import type { Vault } from '../native/vault.ts';
import { isJsonObject, type Json, type JsonObject, readOwnMember } from '../json.ts';
import { fillAgentDefaults, settleLlm } from '../native/class-rules.ts';
import { fitProfile, PROFILES, findStoredProfile, readProfiles } from '../native/profile-record.ts';
import { withProfiles, withProfileSecrets } from '../native/profile-record.ts';
import { MASK, hasSecret, type OnSecret, withSecrets } from '../native/secret-places.ts';
import { readHeldRecord, type HeldSettings } from '../store/held-settings.ts';
import { mergeVerdicts, refuseValue, good, type Verdict } from '../rules.ts';
import { findActiveProfile, setActiveProfile, withoutAddress } from './active-llm.ts';

/** The context of a service of this dialect. */
export interface AppServerKind {
  readonly snapshot: Snapshot;
  readonly vault: Vault;
}

export function createAppRecordReading({ snapshot, vault }: AppServerKind): FitReading {
  return { snapshot, openToken: (text) => vault.open(text), maps: 'instances' };
}

/** The two parts of the record that are validated when they are written. */
export type AppServerPart = 'agent_settings' | 'conversation_settings';

export const PARTS: readonly AppServerPart[] = ['agent_settings', 'conversation_settings'];

export function findMemberSchema({ snapshot }: AppServerKind, name: string): SchemaNode {
  return snapshot.properties?.[name] ?? {};
}

/**
 * The top-level members that a write cannot set, with their answered values. Source: contract "secrets_store: null",
 * "llm_profiles is ignored", "active_agent_profile_id is ignored".
 */
export const OWN = {
  secrets_store: { provider_tokens: {} },
  llm_profiles: { profiles: {}, active: null },
  active_agent_profile_id: null,
  active_agent_profile_revision: null,
  inherited_marketplaces: [],
} as const;

/** Members that only an answer has. */
export const FLAGS = ['provider_tokens_set', 'llm_api_key_set', 'search_api_key_set'];

/** A member that is stored unchanged, and answered as true. */
export const ALWAYS_TRUE = 'v1_enabled';

/** The members at the top that a write sets, as they are sent. */
export function settableNames({ snapshot }: AppServerKind): readonly string[] {
  const others = [...Object.keys(OWN), ...FLAGS, ...PARTS];
  return Object.keys(snapshot.properties ?? {}).filter((name) => !others.includes(name));
}

/**
 * The record in a store, its secrets opened; members at the top are as they were sent, of any type. Of what another dialect has
 * stored it holds the members that it knows by their names. Source: contract "a stored record of V0".
 */
export function openAppRecord(kind: AppServerKind, held: HeldSettings): JsonObject {
  const stored = readHeldRecord(held);
  const known = [...settableNames(kind), ...PARTS].flatMap((name) => {
    const value = readOwnMember(stored, name);
    return value === undefined ? [] : [[name, value] as const];
  });
  const load = (token: string) => kind.vault.load(token);
  const opened = withSecrets(kind.snapshot, kind.snapshot, Object.fromEntries(known), load);
  const record = isJsonObject(opened) ? opened : {};
  const profiles = held.dialect === 'app-server' ? readOwnMember(stored, PROFILES) : undefined;
  if (profiles === undefined) return record;
  const whole = withProfileSecrets(kind.snapshot, { ...record, [PROFILES]: profiles }, load);
  return withReadableProfiles(kind, whole);
}

/** Source: contract "profiles: one in settings.json that cannot be read is dropped by the next write". */
function withReadableProfiles(kind: AppServerKind, record: JsonObject): JsonObject {
  const readable = Object.entries(readProfiles(record)).flatMap(([name, profile]) => {
    const verdict = fitProfile(createAppRecordReading(kind), profile);
    return verdict.kind === 'good' ? [[name, verdict.value] as const] : [];
  });
  const kept = withProfiles(record, Object.fromEntries(readable));
  const active = findActiveProfile(kept);
  return active === null || findStoredProfile(kept, active) !== undefined
    ? kept
    : setActiveProfile(kept, null);
}

/** The record as the store keeps it. */
export function sealAppRecord(kind: AppServerKind, record: JsonObject): HeldSettings {
  const seal = (text: string) => kind.vault.seal(text);
  const withProfiles = withProfileSecrets(kind.snapshot, record, seal);
  const sealed = withSecrets(kind.snapshot, kind.snapshot, withProfiles, seal);
  return { dialect: 'app-server', record: isJsonObject(sealed) ? sealed : {} };
}

/**
 * The loaded record: every value coerced, defaults filled in; or every problem that prevents it from being read.
 * Source: contract "language: wrong type", "user_version: coerced, true".
 */
export function loadAppRecord(
  kind: AppServerKind,
  record: JsonObject,
  now: number,
): Verdict<JsonObject> {
  const reading = createAppRecordReading(kind);
  const names = Object.keys(kind.snapshot.properties ?? {}).filter((name) => !FLAGS.includes(name));
  const own: JsonObject = OWN;
  const verdicts = names.map((name): Verdict => {
    const value = readOwnMember(record, name);
    const fixed = name === PROFILES ? (value ?? OWN[PROFILES]) : readOwnMember(own, name);
    if (fixed !== undefined) return good(fixed);
    const held = value === undefined ? unwrittenValue(kind, name) : value;
    const verdict = fit(reading, findMemberSchema(kind, name), held, [name]);
    if (verdict.kind !== 'good') return verdict;
    if (name === ALWAYS_TRUE) return good(true);
    if (name === 'conversation_settings') return refuseNewerVersion(verdict, record);
    return name === 'agent_settings' ? good(readAgent(verdict.value, now)) : verdict;
  });
  const whole = mergeVerdicts(verdicts);
  if (whole.kind !== 'good') return whole;
  return good(
    Object.fromEntries(names.map((name, index) => [name, whole.value[index] ?? null] as const)),
  );
}

/** Agent settings as the server's own class reads them: an llm of OpenAI has no address of its own if it has the usual one. */
function readAgent(value: Json, now: number): Json {
  const agent = fillAgentDefaults(value, 'app-server', now);
  const llm = isJsonObject(agent) ? (readOwnMember(agent, 'llm') ?? null) : null;
  if (!isJsonObject(agent) || !isJsonObject(llm)) return agent;
  return { ...agent, llm: settleLlm(llm, llm) ?? llm };
}

const NEWEST_CONVERSATION = 1n;

function refuseNewerVersion(verdict: Verdict, record: JsonObject): Verdict {
  if (verdict.kind !== 'good' || !isJsonObject(verdict.value)) return verdict;
  const version = readOwnMember(verdict.value, 'schema_version');
  if (typeof version !== 'bigint' || version <= NEWEST_CONVERSATION) return verdict;
  const sentence = `ConversationSettings schema_version ${version} is newer than supported version ${NEWEST_CONVERSATION}.`;
  return refuseValue(sentence, [], record);
}

/** Returns the value of a member that was never written; the two parts consist of the defaults of their own members. */
function unwrittenValue(kind: AppServerKind, name: string): Json {
  const given = findMemberSchema(kind, name).default;
  if (typeof given === 'boolean' || typeof given === 'string') return given;
  if (Array.isArray(given)) return [];
  return PARTS.some((part) => part === name) ? {} : null;
}

/** The answer of GET /api/v1/settings: secrets are left out, and flags show whether two of them are set. */
export function createAppSettingsAnswer(
  kind: AppServerKind,
  record: JsonObject,
  tokensSet: JsonObject,
): JsonObject {
  return {
    ...withPlainAddress(
      mapRecordSecrets(kind, record, (_, isOfContext) => (isOfContext ? MASK : null)),
    ),
    provider_tokens_set: tokensSet,
    llm_api_key_set: hasSecret(record, ['agent_settings', 'llm', 'api_key']),
    search_api_key_set: hasSecret(record, ['search_api_key']),
  };
}

/** The answer of GET /api/v1/users/me: a mask instead of each secret. Source: contract "users/me". */
export function createUserAnswer(kind: AppServerKind, record: JsonObject): JsonObject {
  return { ...mapRecordSecrets(kind, record, () => MASK), id: null };
}

function mapRecordSecrets(kind: AppServerKind, record: JsonObject, onSecret: OnSecret): JsonObject {
  const withProfiles = withProfileSecrets(kind.snapshot, record, onSecret);
  const replaced = withSecrets(kind.snapshot, kind.snapshot, withProfiles, onSecret);
  return isJsonObject(replaced) ? replaced : {};
}

function withPlainAddress(record: JsonObject): JsonObject {
  const agent = readOwnMember(record, 'agent_settings') ?? null;
  return isJsonObject(agent) ? { ...record, agent_settings: withoutAddress(agent) } : record;
}
