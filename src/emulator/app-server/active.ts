import { isJsonObject, type JsonObject, memberOf, writeJson } from '../json.ts';
import { PROFILES, profileOf, profilesOf } from '../native/profiles.ts';
import { withAddress } from './providers.ts';

/** The LLM profile that is active in a record; null if none is. */
export function activeOf(record: JsonObject): string | null {
  const held = memberOf(record, PROFILES) ?? null;
  const active = isJsonObject(held) ? memberOf(held, 'active') : undefined;
  return typeof active === 'string' ? active : null;
}

export function withActive(record: JsonObject, active: string | null): JsonObject {
  return { ...record, [PROFILES]: { profiles: profilesOf(record), active } };
}

/** A record in which a profile is active: its llm takes the place of that of the settings, with the address of its provider. */
export function activated(record: JsonObject, name: string): JsonObject {
  const llm = profileOf(record, name) ?? {};
  const agent = { ...agentOf(record), llm };
  return { ...withActive(record, name), agent_settings: withAddress(agent) };
}

/**
 * A record as it is stored: no profile is active whose llm is not that of the settings. One without an address is none after any write,
 * because the settings have that of its provider. Source: contract "profiles: a base_url that is the provider's own keeps the pointer".
 */
export function withoutStaleProfile(record: JsonObject): JsonObject {
  const active = activeOf(record);
  if (active === null) return record;
  const [profile, llm] = [profileOf(record, active), memberOf(agentOf(record), 'llm')];
  const isSame =
    profile !== undefined && llm !== undefined && writeJson(profile) === writeJson(llm);
  return isSame ? record : withActive(record, null);
}

function agentOf(record: JsonObject): JsonObject {
  const agent = memberOf(record, 'agent_settings') ?? null;
  return isJsonObject(agent) ? agent : {};
}
