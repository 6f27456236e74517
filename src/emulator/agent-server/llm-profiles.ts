import { type Answer, createJsonAnswer } from '../http/answer.ts';
import {
  isJsonObject,
  type Json,
  type JsonObject,
  readOwnMember,
  readObjectMember,
  readTextMember,
} from '../json.ts';
import { contextProblem, isContextSmall } from '../native/class-rules.ts';
import { fitProfile, isKeySet, LLM } from '../native/profile-record.ts';
import { withSecrets } from '../native/secret-places.ts';
import { checkObject, crash, flagRule, good, type Location, type Verdict } from '../rules.ts';
import { failure } from './body.ts';
import { connectionKey, findConnection, linkLlmConnection, ownLlm } from './connections.ts';
import { type ServerContent, readableThings, withThing } from './held.ts';
import { type LoadResult, loadThing, type NamedCollection, nameRule } from './named.ts';
import { type AgentServerKind, createSecretExposer, createRecordReading } from './record.ts';
import { validateLlm } from './stand-ins.ts';
import {
  type ContentRequest,
  parseExposure,
  type HeldRequest,
  stripJsonSuffix,
  unreadable,
} from './requests.ts';

const TOLD = { collection: 'llm_profiles', title: 'Profile', noun: 'profile' } as const;

/** /api/profiles: LLM profiles, each with its own key or one of a provider connection. */
export function llmProfiles(kind: AgentServerKind): NamedCollection {
  return {
    ...TOLD,
    path: '/api/profiles',
    takes: (body, at) => checkProfileBody(kind, body, at),
    crashes: (body) =>
      failure(contextProblem(isJsonObject(body) ? readObjectMember(body, 'llm') : {})),
    listed: (named, held) => ({
      profiles: named.map(([name, profile]) => createProfileListing(held, name, profile)),
      active_profile: readOwnMember(held.record ?? {}, 'active_profile') ?? null,
    }),
    beforeShown: (asked) => {
      const exposure = parseExposure(asked);
      return typeof exposure === 'string' ? undefined : exposure;
    },
    shown: (held, profile, asked) => answerProfile(kind, held, profile, asked),
    kept: (_, { body }) => ({ thing: isJsonObject(body) ? readObjectMember(body, 'llm') : {} }),
    removed: (left, name) =>
      refuseReferencedProfile(left, name) ?? moveActivePointer(left, name, null),
    renamed: (held, name, newName) =>
      moveActivePointer(referringTo(held, name, newName), name, newName),
    verbs: { activate: activating(), validate: validating(kind) },
  };
}

function createProfileListing(held: ServerContent, name: string, profile: JsonObject): JsonObject {
  const id = readOwnMember(profile, 'provider_connection_id') ?? null;
  const connection = findConnection(held, profile);
  const isLinkedKeySet = connection !== undefined && readOwnMember(connection, 'api_key') !== null;
  return {
    name,
    model: readOwnMember(profile, 'model') ?? null,
    base_url: readOwnMember(profile, 'base_url') ?? null,
    provider_connection_id: id,
    provider_connection_broken: id !== null && connection === undefined,
    api_key_set: isKeySet(profile) || isLinkedKeySet,
  };
}

/**
 * Unless secrets are asked for, the key reads null and the others their mask. What a connection brings is shown in clear only.
 * Source: contract "connections: a profile of its own key is linked, then unlinked".
 */
function answerProfile(
  kind: AgentServerKind,
  held: ServerContent,
  profile: JsonObject,
  asked: ContentRequest,
): Answer {
  const exposure = parseExposure(asked);
  if (typeof exposure !== 'string') return exposure;
  const whole =
    exposure === 'plaintext' ? linkLlmConnection(held, asked.sent, profile) : { thing: profile };
  if ('refused' in whole) return whole.refused;
  const shown = withSecrets(kind.snapshot, LLM, whole.thing, createSecretExposer(kind, exposure));
  const config = exposure === 'masked' && isJsonObject(shown) ? { ...shown, api_key: null } : shown;
  const connection = findConnection(held, profile);
  const isSet =
    isKeySet(profile) || (connection !== undefined && connectionKey(connection) !== null);
  return createJsonAnswer(200, { name: asked.sent, config, api_key_set: isSet });
}

/** Replaces the whole profile. Source: contract "profiles: a member left out falls back to its default". */
function checkProfileBody(kind: AgentServerKind, body: Json, at: Location): Verdict {
  const members = [
    { name: 'llm', rule: (llm: Json) => checkProfileLlm(kind, llm) },
    { name: 'include_secrets', rule: flagRule, absent: true },
  ];
  const verdict = checkObject(members, 'ignored', body, at);
  if (verdict.kind !== 'good') return verdict;
  const own = ownLlm(readObjectMember(verdict.value, 'llm'));
  const isWhole = readOwnMember(verdict.value, 'include_secrets') === true;
  return good({ llm: isWhole ? own : withSecrets(kind.snapshot, LLM, own, () => null) });
}

function checkProfileLlm(kind: AgentServerKind, llm: Json): Verdict {
  const isModel = isJsonObject(llm) && typeof readOwnMember(llm, 'model') === 'string';
  if (isModel && isContextSmall(llm)) return crash;
  // A key that only looks encrypted is stored as it was sent, other than in the settings.
  const openToken = (text: string): string => kind.vault.open(text) ?? text;
  return fitProfile({ ...createRecordReading(kind), openToken }, llm);
}

/** The llm that a profile stands for, with what its connection brings. */
export function llmOfProfile(held: ServerContent, name: string): LoadResult {
  const found = loadThing(TOLD, held, name);
  return 'refused' in found ? found : linkLlmConnection(held, name, found.thing);
}

/** Source: contract "profiles: activated twice". */
function activating(): HeldRequest {
  return {
    names: nameRule,
    does: (held, { sent, name }) => {
      const llm = llmOfProfile(held, sent);
      if ('refused' in llm) return llm.refused;
      if (held.record === undefined) return unreadable;
      const agent = readObjectMember(held.record, 'agent_settings');
      const isApplied = readOwnMember(agent, 'agent_kind') !== 'acp';
      const settings = isApplied ? { agent_settings: { ...agent, llm: llm.thing } } : {};
      const message = `Profile '${sent}' activated${isApplied ? ' and applied to current settings' : ''}`;
      return {
        held: { ...held, record: { ...held.record, ...settings, active_profile: name } },
        answer: createJsonAnswer(200, { name: sent, message, llm_applied: isApplied }),
      };
    },
  };
}

function validating(kind: AgentServerKind): HeldRequest {
  return {
    names: nameRule,
    takes: (body, at) => checkProfileBody(kind, body, at),
    crashes: (body) =>
      failure(contextProblem(isJsonObject(body) ? readObjectMember(body, 'llm') : {})),
    does: (_, { body, knobs }) =>
      validateLlm(isJsonObject(body) ? readObjectMember(body, 'llm') : {}, knobs.models),
  };
}

/** The answer to removing a profile that agent profiles name. */
function refuseReferencedProfile(held: ServerContent, name: string): Answer | undefined {
  const names = referrers(held, name).map(([referrer]) => referrer);
  if (names.length === 0) return undefined;
  const sentence = `LLM profile is referenced by ${names.length} agent profile(s): ${names.join(', ')}`;
  return createJsonAnswer(409, { detail: sentence });
}

function referrers(held: ServerContent, name: string) {
  return readableThings(held, 'agent_profiles')
    .filter(([, profile]) => stripJsonSuffix(readTextMember(profile, 'llm_profile_ref')) === name)
    .toSorted(([one], [other]) => (one < other ? -1 : 1));
}

/** Agent profiles follow a profile to its new name; their revisions stay. */
function referringTo(held: ServerContent, name: string, newName: string): ServerContent {
  return referrers(held, name).reduce(
    (after, [referrer, profile]) =>
      withThing(after, 'agent_profiles', referrer, { ...profile, llm_profile_ref: newName }),
    held,
  );
}

/** With the pointer to an active profile moved, if it points to that one. */
function moveActivePointer(held: ServerContent, name: string, to: string | null): ServerContent {
  const { record } = held;
  const active = record && readOwnMember(record, 'active_profile');
  if (typeof active !== 'string' || stripJsonSuffix(active) !== name) return held;
  return { ...held, record: { ...record, active_profile: to } };
}
