import {
  isJsonObject,
  type Json,
  type JsonObject,
  readOwnMember,
  readObjectMember,
  writeJson,
} from '../json.ts';
import { settleLlm } from '../native/class-rules.ts';
import { PROFILES, findStoredProfile, readProfiles } from '../native/profile-record.ts';

/** The LLM profile that is active in a record; null if none is. */
export function findActiveProfile(record: JsonObject): string | null {
  const held = readOwnMember(record, PROFILES) ?? null;
  const active = isJsonObject(held) ? readOwnMember(held, 'active') : undefined;
  return typeof active === 'string' ? active : null;
}

export function setActiveProfile(record: JsonObject, active: string | null): JsonObject {
  return { ...record, [PROFILES]: { profiles: readProfiles(record), active } };
}

/** A record with an active profile: its llm replaces that of the settings. */
export function inUse(record: JsonObject, name: string): JsonObject {
  const agent_settings = {
    ...readAgentSettings(record),
    llm: findStoredProfile(record, name) ?? {},
  };
  return { ...setActiveProfile(record, name), agent_settings };
}

/** A record whose settings have the address of the provider, unless the agent is of another maker. */
export function withSettingsAddress(record: JsonObject): JsonObject {
  const agent = readAgentSettings(record);
  if (readOwnMember(agent, 'agent_kind') === 'acp') return record;
  return { ...record, agent_settings: withAddress(agent) };
}

/**
 * A record after a change: a profile whose llm differs from that of the settings is not active. One without an address becomes inactive at
 * the first write after its activation, which has given the settings the address of its provider, and at the second after another one was
 * deleted, which has not. Source: contract "profiles: a base_url that is the provider's own keeps the pointer",
 * "profiles: the active one deleted: the first of those left takes over, key and all".
 */
export function withoutStaleProfile(record: JsonObject): JsonObject {
  const active = findActiveProfile(record);
  if (active === null) return record;
  const profile = findStoredProfile(record, active);
  const llm = readObjectMember(readAgentSettings(record), 'llm');
  // The loaded form: the usual address of OpenAI counts as none.
  const loaded = settleLlm(llm, llm) ?? llm;
  const isSame = profile !== undefined && writeJson(profile) === writeJson(loaded);
  return isSame ? record : setActiveProfile(record, null);
}

function readAgentSettings(record: JsonObject): JsonObject {
  const agent = readOwnMember(record, 'agent_settings') ?? null;
  return isJsonObject(agent) ? agent : {};
}

/** The address of a model's provider, by what the model's name begins with. */
const PROVIDERS: readonly (readonly [string, string])[] = [
  ['anthropic/', 'https://api.anthropic.com'],
  ['claude-', 'https://api.anthropic.com'],
  ['openai/', 'https://api.openai.com'],
  ['litellm_proxy/', 'https://api.openai.com/v1'],
  ['gpt-', 'https://api.openai.com'],
  ['openhands/', 'https://llm-proxy.app.all-hands.dev'],
  ['mistral/', 'https://api.mistral.ai/v1'],
  ['deepseek/', 'https://api.deepseek.com/beta'],
  ['groq/', 'https://api.groq.com/openai/v1'],
  ['xai/', 'https://api.x.ai/v1'],
];

/** The address of the provider of an llm's model; null if it is not known. */
export function providerAddress(llm: JsonObject): string | null {
  const model = readOwnMember(llm, 'model');
  const name = typeof model === 'string' ? model : '';
  return PROVIDERS.find(([start]) => name.startsWith(start))?.[1] ?? null;
}

/**
 * Agent settings as they are stored: where no address is set, with that of the model's provider.
 * Source: contract "llm: another model after the inferred address", "llm.base_url: null after a value".
 */
function withAddress(agent: JsonObject): JsonObject {
  return onLlm(agent, (llm) => {
    const address = readOwnMember(llm, 'base_url') ?? null;
    if (address === null) return providerAddress(llm);
    return address === '' ? null : address;
  });
}

/** Agent settings as they are answered: the address of the present model's provider reads null. */
export function withoutAddress(agent: JsonObject): JsonObject {
  return onLlm(agent, (llm) => {
    const address = readOwnMember(llm, 'base_url') ?? null;
    return address === providerAddress(llm) ? null : address;
  });
}

function onLlm(agent: JsonObject, readdressed: (llm: JsonObject) => Json): JsonObject {
  const llm = readOwnMember(agent, 'llm') ?? null;
  if (!isJsonObject(llm) || readOwnMember(llm, 'base_url') === undefined) return agent;
  return { ...agent, llm: { ...llm, base_url: readdressed(llm) } };
}
