import type { Reading } from '../native/fit.ts';
import type { SchemaNode, Snapshot } from '../native/schema.ts';
import type { Vault } from '../native/vault.ts';

/** What a service of this dialect works with. */
export interface Kind {
  readonly snapshot: Snapshot;
  readonly vault: Vault;
}

export function readingOf({ snapshot, vault }: Kind): Reading {
  return { snapshot, openToken: (text) => vault.open(text), maps: 'instances' };
}

/** The two parts of the record that are validated when they are written. */
export type Part = 'agent_settings' | 'conversation_settings';

export const PARTS: readonly Part[] = ['agent_settings', 'conversation_settings'];

export function nodeOf({ snapshot }: Kind, name: string): SchemaNode {
  return snapshot.properties?.[name] ?? {};
}

export const PASSWORDS = ['search_api_key', 'sandbox_api_key'];

/**
 * Members at the top of which a write says nothing, with what they are answered as. Source: contract "secrets_store: null",
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

/** A member that is stored as it is sent, and answered as true. */
export const ALWAYS_TRUE = 'v1_enabled';

/** The members at the top that a write sets, as they are sent. */
export function settableNames({ snapshot }: Kind): readonly string[] {
  const others = [...Object.keys(OWN), ...FLAGS, ...PARTS];
  return Object.keys(snapshot.properties ?? {}).filter((name) => !others.includes(name));
}
