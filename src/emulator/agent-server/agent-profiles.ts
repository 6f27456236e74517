import { randomUUID } from 'node:crypto';
import { type Answer, detail, createJsonAnswer } from '../http/answer.ts';
import {
  isJsonList,
  isJsonObject,
  type Json,
  type JsonObject,
  readOwnMember,
  readObjectMember,
  readTextMember,
} from '../json.ts';
import { isKeySet } from '../native/profile-record.ts';
import { bad, good, type Rule } from '../rules.ts';
import { readAgentProfile, withoutCriticKey } from './agent-profile.ts';
import { ownLlm } from './connections.ts';
import { type ServerContent, readableThings, findThing, withThing } from './held.ts';
import { materializing } from './materialize.ts';
import { MOST, type NamedCollection } from './named.ts';
import { type AgentServerKind, emptyRecord } from './record.ts';
import { type HeldRequest, unreadableFailure } from './requests.ts';

const HELD = 'agent_profiles';
/** The profile that the server makes where none is active. */
const SEED = 'default';

/** /api/agent-profiles: what an agent is launched with. One is always active, which the list sees to. */
export function agentProfiles(kind: AgentServerKind): NamedCollection {
  return {
    collection: HELD,
    title: 'Agent profile',
    noun: 'profile',
    path: '/api/agent-profiles',
    takes: anyObject,
    beforeList: (held) => withActiveOne(held),
    listed: (named, { record = {} }) => ({
      profiles: named.map(([name, profile]) => listAgentProfile(name, profile)),
      active_agent_profile_id: readOwnMember(record, 'active_agent_profile_id') ?? null,
    }),
    shown: (_, profile, { sent }) => createJsonAnswer(200, { name: sent, profile }),
    kept: (held, { body, name, sent }) => {
      const read = readAgentProfile(kind, isJsonObject(body) ? body : {}, sent);
      if ('refused' in read) return read;
      return { thing: setProfileIdentity(read.thing, findThing(held, HELD, name)) };
    },
    removed: (left, name, { now, sent }, profile) => {
      const { record = {} } = left;
      if (profile === undefined || sent !== name || !isActive(record, profile)) return left;
      const settings = agentWithout(kind, readObjectMember(record, 'agent_settings'), now);
      const after = { ...record, active_agent_profile_id: null, agent_settings: settings };
      return withActiveOne({ ...left, record: after });
    },
    renamed: (held, _, newName) => {
      const profile = findThing(held, HELD, newName);
      return profile === undefined
        ? held
        : withThing(held, HELD, newName, { ...profile, name: newName });
    },
    verbs: { activate: activating, materialize: materializing(kind) },
  };
}

const anyObject: Rule = (value, at) =>
  isJsonObject(value)
    ? good(value)
    : bad('dict_type', at, 'Input should be a valid dictionary', value);

function listAgentProfile(name: string, profile: JsonObject): JsonObject {
  const readMember = (member: string): Json => readOwnMember(profile, member) ?? null;
  return {
    id: readMember('id'),
    name,
    agent_kind: readOwnMember(profile, 'agent_kind') ?? 'openhands',
    revision: readMember('revision'),
    llm_profile_ref: readMember('llm_profile_ref'),
    mcp_server_refs: readMember('mcp_server_refs'),
  };
}

/** The id is the server's own and stays; each store counts. Source: contract "agent profiles: id and name in the body are not taken". */
function setProfileIdentity(profile: JsonObject, before: JsonObject | undefined): JsonObject {
  if (before === undefined) return { ...profile, id: randomUUID() };
  const revision = readOwnMember(before, 'revision') ?? null;
  const next = typeof revision === 'bigint' ? revision + 1n : 1n;
  return { ...profile, id: readOwnMember(before, 'id') ?? randomUUID(), revision: next };
}

/** By its id. The settings stay as they are. Source: contract "agent profiles: activated by id only". */
const activating: HeldRequest = {
  does: (held, { sent }) => {
    const isKnown = readableThings(held, HELD).some(([, one]) => readOwnMember(one, 'id') === sent);
    if (!isKnown) return detail(404, `Agent profile with id '${sent}' not found`);
    if (held.record === undefined) return detail(500, 'Failed to activate agent profile');
    const message = `Agent profile '${sent}' activated`;
    return {
      held: { ...held, record: { ...held.record, active_agent_profile_id: sent } },
      answer: createJsonAnswer(200, { id: sent, message, agent_settings_applied: false }),
    };
  },
};

function isActive(record: JsonObject, profile: JsonObject): boolean {
  const id = readOwnMember(profile, 'id') ?? null;
  return id !== null && readOwnMember(record, 'active_agent_profile_id') === id;
}

/** Settings of an agent of another maker go with its profile, except the mcp servers, which are shared by all. */
function agentWithout(kind: AgentServerKind, agent: JsonObject, now: number): JsonObject {
  if (readOwnMember(agent, 'agent_kind') !== 'acp') return agent;
  const fresh = readObjectMember(emptyRecord(kind, now), 'agent_settings');
  return { ...fresh, mcp_config: readObjectMember(agent, 'mcp_config') };
}

/**
 * With an existing profile active: the current one, or `default`, which is made of the settings if there is none, or the first.
 * Source: contract "agent profiles: the active one deleted, the default takes over".
 */
function withActiveOne(held: ServerContent): ServerContent | Answer {
  const { record } = held;
  if (record === undefined) return unreadableFailure;
  if (readableThings(held, HELD).some(([, one]) => isActive(record, one))) return held;
  const seeded =
    readOwnMember(held.things[HELD], SEED) === undefined ? withSeed(held, record) : held;
  const others = readableThings(seeded, HELD).toSorted(([one], [other]) => (one < other ? -1 : 1));
  const profile = findThing(seeded, HELD, SEED) ?? others.find(([name]) => name !== SEED)?.[1];
  if (profile === undefined) return seeded;
  const after = { ...record, active_agent_profile_id: readOwnMember(profile, 'id') ?? null };
  return { ...seeded, record: after };
}

/** The LLM profile that is active is named, else `default`. */
function withSeed(held: ServerContent, record: JsonObject): ServerContent {
  if (Object.keys(held.things[HELD]).length >= MOST) return held;
  const agent = readObjectMember(record, 'agent_settings');
  const active = readTextMember(record, 'active_profile');
  const isAcp = readOwnMember(agent, 'agent_kind') === 'acp';
  const before = active === '' && !isAcp ? withSeedLlm(held, readObjectMember(agent, 'llm')) : held;
  const own = isAcp ? acpMembers(agent) : openhandsMembers(agent, active === '' ? SEED : active);
  const profile = {
    schema_version: 4n,
    agent_kind: isAcp ? 'acp' : 'openhands',
    id: randomUUID(),
    name: SEED,
  };
  const refs = { revision: 0n, mcp_server_refs: null, secret_refs: null };
  return withThing(before, HELD, SEED, { ...profile, ...refs, ...own });
}

/** The llm of the settings as the LLM profile `default`, if it has been set up. */
function withSeedLlm(held: ServerContent, llm: JsonObject): ServerContent {
  const profiles = held.things.llm_profiles;
  const isThere =
    readOwnMember(profiles, SEED) !== undefined || Object.keys(profiles).length >= MOST;
  const isSetUp =
    isKeySet(llm) ||
    readOwnMember(llm, 'auth_type') === 'subscription' ||
    readTextMember(llm, 'base_url').trim() !== '';
  if (isThere || !isSetUp) return held;
  return withThing(held, 'llm_profiles', SEED, ownLlm(llm));
}

function openhandsMembers(agent: JsonObject, llm_profile_ref: string): JsonObject {
  const context = readObjectMember(agent, 'agent_context');
  const same = (name: string): Json => readOwnMember(agent, name) ?? null;
  return {
    llm_profile_ref,
    agent: same('agent'),
    tools: same('tools'),
    persona: same('persona'),
    system_message_suffix: readOwnMember(context, 'system_message_suffix') ?? null,
    disabled_skills: readOwnMember(context, 'disabled_skills') ?? [],
    public_skills: null,
    condenser: same('condenser'),
    verification: withoutCriticKey(readObjectMember(agent, 'verification')),
    enable_classify_and_switch_llm_tool: same('enable_classify_and_switch_llm_tool'),
    meta_profile_ref: same('active_meta_profile'),
    tool_concurrency_limit: same('tool_concurrency_limit'),
  };
}

function acpMembers(agent: JsonObject): JsonObject {
  const same = (name: string): Json => readOwnMember(agent, name) ?? null;
  const words = (name: string): readonly string[] => {
    const list = same(name);
    return isJsonList(list) ? list.filter((one) => typeof one === 'string') : [];
  };
  const [command, args] = [words('acp_command'), words('acp_args')];
  return {
    acp_server: same('acp_server'),
    acp_model: same('acp_model'),
    acp_session_mode: same('acp_session_mode'),
    acp_prompt_timeout: same('acp_prompt_timeout'),
    acp_startup_timeout: same('acp_startup_timeout'),
    acp_command: command.length > 0 ? command.map(quoteShellWord).join(' ') : null,
    acp_args: args.length > 0 ? args : null,
  };
}

/** A word as a shell reads it. */
function quoteShellWord(word: string): string {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word;
  return `'${word.replaceAll("'", `'"'"'`)}'`;
}
