import type { Call } from '../call.ts';
import { type Answer, detail, json, unauthorized, unprocessable } from '../http/answer.ts';
import { isJsonObject, type Json, type JsonObject, memberOf } from '../json.ts';
import {
  fitProfile,
  isKeySet,
  nameProblem,
  profileOf,
  profilesOf,
  withoutProfile,
  withProfiles,
} from '../native/profiles.ts';
import { withSecrets } from '../native/secret-places.ts';
import { bad, type Verdict } from '../rules.ts';
import { readSentBody } from './body.ts';
import { changeOf, exposureOf, invalid, noProfile } from './handlers.ts';
import { patched } from './patch.ts';
import {
  emptyRecord,
  exposed,
  type Exposure,
  type AgentServerKind,
  openRecord,
  readingOf,
} from './record.ts';

const NAME = '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$';
const MOST = 50;

/** GET /api/profiles. Source: contract "profiles: the list, its order and members". */
export async function listProfiles(kind: AgentServerKind, call: Call): Promise<Answer> {
  if (!call.authorized) return unauthorized;
  const record = await readRecord(kind, call);
  const profiles = Object.entries(profilesOf(record))
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .flatMap(([name, profile]) => (isJsonObject(profile) ? [listedProfile(name, profile)] : []));
  return json(200, { profiles, active_profile: memberOf(record, 'active_profile') ?? null });
}

function listedProfile(name: string, profile: JsonObject): JsonObject {
  return {
    name,
    model: memberOf(profile, 'model') ?? null,
    base_url: memberOf(profile, 'base_url') ?? null,
    provider_connection_id: memberOf(profile, 'provider_connection_id') ?? null,
    provider_connection_broken: false,
    api_key_set: isKeySet(profile),
  };
}

/** GET /api/profiles/{name}. Unless secrets are asked for, the key reads null and the others their mask. */
export async function getProfile(kind: AgentServerKind, call: Call): Promise<Answer> {
  if (!call.authorized) return unauthorized;
  const exposure = exposureOf(call.headers['x-expose-secrets']);
  if (typeof exposure !== 'string') return exposure;
  const name = profileName(call);
  const profile = profileOf(await readRecord(kind, call), name);
  if (profile === undefined) return noProfile(name);
  const config = shownProfile(kind, profile, exposure);
  return json(200, { name, config, api_key_set: isKeySet(profile) });
}

function shownProfile(kind: AgentServerKind, profile: JsonObject, exposure: Exposure): Json {
  const node = { $ref: '#/$defs/LLM' };
  const config = withSecrets(kind.snapshot, node, profile, exposed(kind, exposure));
  return exposure === 'masked' && isJsonObject(config) ? { ...config, api_key: null } : config;
}

/** POST /api/profiles/{name}: the whole profile anew. Source: contract "profiles: a member left out falls back to its default". */
export async function saveProfile(kind: AgentServerKind, call: Call): Promise<Answer> {
  const body = readSentBody(call);
  if (body.kind === 'refused') return body.answer;
  const name = profileName(call);
  const verdicts = [nameProblem(name, NAME), sentProfile(kind, body.value)];
  const wrong = verdicts.find((verdict) => verdict.kind !== 'good');
  if (wrong !== undefined) return wrong.kind === 'bad' ? unprocessable(wrong.problems) : invalid;
  const [, llm] = verdicts;
  const profile = llm?.kind === 'good' ? llm.value : null;
  return changeOf(
    kind,
    call,
    (record) => {
      const profiles = profilesOf(record);
      const isOneMore = memberOf(profiles, name) === undefined;
      if (isOneMore && Object.keys(profiles).length >= MOST)
        return detail(
          409,
          `Profile limit reached (${MOST}). Delete a profile before saving a new one.`,
        );
      return withProfiles(record, { ...profiles, [name]: profile });
    },
    () => json(201, { name, message: `Profile '${name}' saved` }),
  );
}

function sentProfile(kind: AgentServerKind, body: Json): Verdict {
  if (!isJsonObject(body)) {
    const msg = 'Input should be a valid dictionary or object to extract fields from';
    return bad('model_attributes_type', ['body'], msg, body);
  }
  const llm = memberOf(body, 'llm');
  if (llm === undefined) return bad('missing', ['body', 'llm'], 'Field required', body);
  return fitProfile(readingOf(kind), llm);
}

/** DELETE /api/profiles/{name}, whether it is there or not. The settings keep its llm. */
export async function removeProfile(kind: AgentServerKind, call: Call): Promise<Answer> {
  if (!call.authorized) return unauthorized;
  const name = profileName(call);
  return changeOf(
    kind,
    call,
    (record) => {
      const left = withoutProfile(record, name);
      return memberOf(record, 'active_profile') === name ? { ...left, active_profile: null } : left;
    },
    () => json(200, { name, message: `Profile '${name}' deleted` }),
  );
}

/** POST /api/profiles/{name}/activate. Source: contract "profiles: activated twice". */
export async function activateServerProfile(kind: AgentServerKind, call: Call): Promise<Answer> {
  if (!call.authorized) return unauthorized;
  const name = profileName(call);
  const diffs = { pointers: { active_profile: name }, applies: name };
  const message = `Profile '${name}' activated and applied to current settings`;
  return changeOf(
    kind,
    call,
    (record, now) =>
      profileOf(record, name) === undefined
        ? noProfile(name)
        : (patched(kind, record, diffs, now) ?? invalid),
    (record) => {
      const agent = memberOf(record, 'agent_settings') ?? null;
      const isAcp = isJsonObject(agent) && memberOf(agent, 'agent_kind') === 'acp';
      return json(200, { name, message, llm_applied: !isAcp });
    },
  );
}

/** `x.json` is the same as `x`: each is a file of that name. */
function profileName({ id }: Call): string {
  return id.replace(/\.json$/, '');
}

async function readRecord(kind: AgentServerKind, { service }: Call): Promise<JsonObject> {
  const { settings } = await service.store.read();
  const now = service.now();
  const record = settings && openRecord(kind, settings, now);
  return record ?? emptyRecord(kind, now);
}
