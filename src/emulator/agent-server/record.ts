import { isJsonObject, type Json, type JsonObject, readOwnMember } from '../json.ts';
import { fit, type FitReading } from '../native/fit.ts';
import { fillAgentDefaults } from '../native/class-rules.ts';
import { MASK } from '../native/secret-places.ts';
import type { Snapshot } from '../native/schema.ts';
import { hasSecret, withSecrets } from '../native/secret-places.ts';
import type { Vault } from '../native/vault.ts';
import { readHeldRecord, type HeldSettings } from '../store/held-settings.ts';

/** The context of a service of this dialect. */
export interface AgentServerKind {
  readonly snapshot: Snapshot;
  readonly vault: Vault;
}

export type AgentServerPart = 'agent_settings' | 'conversation_settings' | 'misc_settings';

const POINTERS = ['active_profile', 'active_agent_profile_id', 'active_meta_profile'] as const;
const STORE_VERSION = 6n;

/** Returns how a part of the record is read. `maps` is the name of a value that is not an object. */
export function createRecordReading({ snapshot, vault }: AgentServerKind): FitReading {
  const openToken = (text: string) => vault.open(text);
  return { snapshot, openToken, maps: 'attributes' };
}

/** Fits a part of the settings to its schema, and adds every default. */
export function fitPart(kind: AgentServerKind, part: AgentServerPart, value: Json) {
  const node = kind.snapshot.properties?.[part] ?? {};
  return fit(createRecordReading(kind), node, value, [part]);
}

/** The record of a service that has stored nothing yet. Source: contract "load on an empty store". */
export function emptyRecord(kind: AgentServerKind, now: number): JsonObject {
  const agent = fitPart(kind, 'agent_settings', {});
  const conversation = fitPart(kind, 'conversation_settings', {});
  return {
    agent_settings:
      agent.kind === 'good' ? fillAgentDefaults(agent.value, 'agent-server', now) : {},
    conversation_settings: conversation.kind === 'good' ? conversation.value : {},
    ...Object.fromEntries(POINTERS.map((name) => [name, null])),
    misc_settings: {},
  };
}

/**
 * Decrypts a stored record, also one of another dialect. Its parts are read as a server reads an older file, which drops the rest. Returns
 * undefined if a part cannot be read.
 */
export function openAgentRecord(
  kind: AgentServerKind,
  held: HeldSettings,
  now: number,
): JsonObject | undefined {
  const stored = readHeldRecord(held);
  const empty = emptyRecord(kind, now);
  const record: Record<string, Json> = { ...empty };
  for (const part of ['agent_settings', 'conversation_settings'] as const) {
    const found = readOwnMember(stored, part);
    if (found === undefined) continue;
    const opened = withSecrets(
      kind.snapshot,
      kind.snapshot.properties?.[part] ?? {},
      found,
      (token) => kind.vault.load(token),
    );
    const verdict = fitPart(kind, part, opened);
    if (verdict.kind !== 'good') return undefined;
    record[part] =
      part === 'agent_settings'
        ? fillAgentDefaults(verdict.value, 'agent-server', now)
        : verdict.value;
  }
  if (held.dialect !== 'agent-server') return record;
  for (const name of [...POINTERS, 'misc_settings'])
    record[name] = readOwnMember(stored, name) ?? record[name] ?? null;
  return record;
}

/** Encrypts a record for the store. */
export function sealAgentRecord(kind: AgentServerKind, record: JsonObject): HeldSettings {
  const seal = (text: string) => kind.vault.seal(text);
  const sealed = withSecrets(kind.snapshot, kind.snapshot, record, seal);
  const versioned = { schema_version: STORE_VERSION, ...(isJsonObject(sealed) ? sealed : {}) };
  return { dialect: 'agent-server', record: versioned };
}

/** The form of secrets in answers. */
export type Exposure = 'masked' | 'plaintext' | 'encrypted';

/** Returns the answer for the text of a secret. */
export function createSecretExposer(
  { vault }: AgentServerKind,
  exposure: Exposure,
): (text: string) => string {
  return (text) => {
    if (exposure === 'encrypted') return vault.seal(text);
    return exposure === 'masked' || vault.isUnknown(text) ? MASK : text;
  };
}

/** Returns the answer to a read of the settings. Source: contract `X-Expose-Secrets: "plaintext"`, "llm_api_key_is_set: only llm.api_key counts". */
export function createSettingsAnswer(
  kind: AgentServerKind,
  record: JsonObject,
  exposure: Exposure,
): Json {
  const shown = withSecrets(
    kind.snapshot,
    kind.snapshot,
    record,
    createSecretExposer(kind, exposure),
  );
  const isKeySet = hasSecret(record, ['agent_settings', 'llm', 'api_key']);
  return isJsonObject(shown) ? { ...shown, llm_api_key_is_set: isKeySet } : shown;
}
