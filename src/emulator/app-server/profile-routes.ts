import type { Call } from '../call.ts';
import {
  type Answer,
  detail,
  createJsonAnswer,
  unauthorized,
  unprocessable,
} from '../http/answer.ts';
import { decodeBody } from '../http/body.ts';
import {
  isJsonObject,
  type Json,
  type JsonObject,
  readOwnMember,
  readObjectMember,
} from '../json.ts';
import {
  fitProfile,
  isKeySet,
  checkProfileName,
  findStoredProfile,
  readProfiles,
  withoutProfile,
  withProfiles,
} from '../native/profile-record.ts';
import { MASK } from '../native/secret-places.ts';
import { withSecrets } from '../native/secret-places.ts';
import { mergeVerdicts, bad, checkObject, flagRule, good, type Location } from '../rules.ts';
import { textRule, type Verdict } from '../rules.ts';
import { findActiveProfile, inUse, setActiveProfile, withoutStaleProfile } from './active-llm.ts';
import { withSettingsAddress } from './active-llm.ts';
import { type AppServerKind, createAppRecordReading } from './record.ts';
import { providerAddress } from './active-llm.ts';
import { openAppRecord, sealAppRecord } from './record.ts';

const NAME = '^[A-Za-z0-9._-]{1,64}$';
const MOST = 10;

const NO_SETTINGS = detail(404, 'Settings not found');

function noProfile(name: string): Answer {
  return detail(404, `Profile '${name}' not found`);
}

/** The answer to a request without the key, of a name that no profile can have, or with a wrong body; undefined if it may be made. */
function refuseProfileRequest(
  { authorized, id }: Call,
  body: Verdict = good(null),
): Answer | undefined {
  if (!authorized) return unauthorized;
  const whole = mergeVerdicts([checkProfileName(id, NAME), body]);
  if (whole.kind === 'good') return undefined;
  return whole.kind === 'bad' ? unprocessable(whole.problems) : { kind: 'crash' };
}

/** GET /api/v1/settings/profiles, in the order in which they were made. Source: contract "profiles: the order is that of creation". */
export async function listProfiles(kind: AppServerKind, call: Call): Promise<Answer> {
  if (!call.authorized) return unauthorized;
  const record = (await readRecord(kind, call)) ?? {};
  const profiles = Object.entries(readProfiles(record)).flatMap(([name, profile]) =>
    isJsonObject(profile) ? [profileInList(name, profile)] : [],
  );
  return createJsonAnswer(200, { profiles, active_profile: findActiveProfile(record) });
}

function profileInList(name: string, profile: JsonObject): JsonObject {
  return {
    name,
    model: readOwnMember(profile, 'model') ?? null,
    base_url: readOwnMember(profile, 'base_url') ?? providerAddress(profile),
    api_key_set: isKeySet(profile),
  };
}

/** GET /api/v1/settings/profiles/{name}: the key reads null, other secrets their mask. */
export async function getProfile(kind: AppServerKind, call: Call): Promise<Answer> {
  const refusal = refuseProfileRequest(call);
  if (refusal !== undefined) return refusal;
  const profile = findStoredProfile((await readRecord(kind, call)) ?? {}, call.id);
  if (profile === undefined) return noProfile(call.id);
  const node = { $ref: '#/$defs/LLM' };
  const shown = withSecrets(kind.snapshot, node, profile, () => MASK);
  const config = isJsonObject(shown) ? { ...shown, api_key: null } : shown;
  return createJsonAnswer(200, { name: call.id, config, api_key_set: isKeySet(profile) });
}

/** The parts of a POST of a profile. */
interface SentProfile {
  /** Null: a copy of the llm of the settings. */
  readonly llm: JsonObject | null;
  readonly keepsKey: boolean;
  readonly prefersOldKey: boolean;
}

/** POST /api/v1/settings/profiles/{name}: replaces the whole profile, except a key that is left out. */
export async function saveProfile(kind: AppServerKind, call: Call): Promise<Answer> {
  const decoded = decodeBody(call.body, call.contentType);
  if (decoded.kind === 'refused') return decoded.answer;
  const sent = parseSentProfile(kind, decoded.value);
  const refusal = refuseProfileRequest(call, 'kind' in sent ? sent : good(null));
  if (refusal !== undefined || 'kind' in sent) return refusal ?? { kind: 'crash' };
  const { id: name } = call;
  return changeRecord(kind, call, (record) => {
    const profiles = readProfiles(record);
    const isOneMore = readOwnMember(profiles, name) === undefined;
    if (isOneMore && Object.keys(profiles).length >= MOST)
      return detail(
        409,
        `Profile limit reached (${MOST}). Delete a profile before saving a new one.`,
      );
    const profile = createStoredProfile(record, name, sent);
    const saved = withProfiles(record, { ...profiles, [name]: profile });
    // A profile that was sent is never equal to the llm of the settings, whatever its values are.
    const isReplaced = sent.llm !== null && findActiveProfile(record) === name;
    const after = withoutStaleProfile(
      setActiveProfile(saved, isReplaced ? null : findActiveProfile(record)),
    );
    return {
      record: after,
      answer: createJsonAnswer(201, { name, message: `Profile '${name}' saved` }),
    };
  });
}

function parseSentProfile(kind: AppServerKind, body: Json): SentProfile | Verdict {
  if (body !== null && !isJsonObject(body)) {
    const msg = 'Input should be a valid dictionary or object to extract fields from';
    return bad('model_attributes_type', ['body'], msg, body);
  }
  const said = body ?? {};
  const flag = (name: string, absent: boolean) =>
    flagRule(readOwnMember(said, name) ?? absent, ['body', name]);
  const keepsKey = flag('include_secrets', true);
  const llm = checkSentLlm(kind, readOwnMember(said, 'llm') ?? null);
  const prefersOldKey = flag('preserve_existing_api_key', false);
  const whole = mergeVerdicts([keepsKey, llm, prefersOldKey]);
  if (whole.kind !== 'good') return whole;
  const [keeps, value, prefers] = whole.value;
  const isCopy = value === null || value === undefined || !isJsonObject(value);
  return { llm: isCopy ? null : value, keepsKey: keeps === true, prefersOldKey: prefers === true };
}

function checkSentLlm(kind: AppServerKind, llm: Json): Verdict {
  if (llm === null) return good(null);
  const unknown = isJsonObject(llm) ? unknownMembers(kind, llm) : [];
  const fitted = fitProfile({ ...createAppRecordReading(kind), maps: 'attributes' }, llm);
  const whole = mergeVerdicts([fitted, ...unknown]);
  return whole.kind === 'good' ? fitted : whole;
}

function unknownMembers({ snapshot }: AppServerKind, llm: JsonObject): Verdict[] {
  const known = snapshot.$defs?.['LLM']?.properties ?? {};
  return Object.entries(llm).flatMap(([name, value]) =>
    Object.hasOwn(known, name)
      ? []
      : [bad('extra_forbidden', ['body', 'llm', name], 'Extra inputs are not permitted', value)],
  );
}

/** Source: contract "profiles: include_secrets false clears the key", "profiles: preserve_existing_api_key". */
function createStoredProfile(record: JsonObject, name: string, sent: SentProfile): JsonObject {
  const llm = sent.llm ?? settingsLlm(record);
  if (!sent.keepsKey) return { ...llm, api_key: null };
  const before = findStoredProfile(record, name);
  const takesOld = sent.prefersOldKey || (sent.llm !== null && !isKeySet(llm));
  if (before === undefined || !takesOld) return llm;
  return { ...llm, api_key: readOwnMember(before, 'api_key') ?? null };
}

function settingsLlm(record: JsonObject): JsonObject {
  return readObjectMember(readObjectMember(record, 'agent_settings'), 'llm');
}

/** DELETE /api/v1/settings/profiles/{name}, whether it exists or not: the first of the remaining ones replaces the active one. */
export async function removeProfile(kind: AppServerKind, call: Call): Promise<Answer> {
  const refusal = refuseProfileRequest(call);
  if (refusal !== undefined) return refusal;
  const { id: name } = call;
  const answer = createJsonAnswer(200, { name, message: `Profile '${name}' deleted` });
  if ((await readRecord(kind, call)) === undefined) return answer;
  return changeRecord(kind, call, (record) => {
    const left = withoutProfile(record, name);
    if (findActiveProfile(record) !== name) return { record: left, answer };
    const [first] = Object.keys(readProfiles(left));
    return {
      record: first === undefined ? setActiveProfile(left, null) : inUse(left, first),
      answer,
    };
  });
}

/** POST /api/v1/settings/profiles/{name}/activate. Source: contract "profiles: activated without a key, the key of the settings goes". */
export async function handleProfileActivation(kind: AppServerKind, call: Call): Promise<Answer> {
  const refusal = refuseProfileRequest(call);
  if (refusal !== undefined) return refusal;
  const { id: name } = call;
  if ((await readRecord(kind, call)) === undefined) return noProfile(name);
  return changeRecord(kind, call, (record) => {
    const profile = findStoredProfile(record, name);
    if (profile === undefined) return noProfile(name);
    const model = readOwnMember(profile, 'model') ?? null;
    const message = `Switched to profile '${name}'`;
    return {
      record: withSettingsAddress(inUse(record, name)),
      answer: createJsonAnswer(200, { name, message, model }),
    };
  });
}

/** POST /api/v1/settings/profiles/{name}/rename: the profile keeps its place, and stays active if it is. */
export async function renameProfile(kind: AppServerKind, call: Call): Promise<Answer> {
  const decoded = decodeBody(call.body, call.contentType);
  if (decoded.kind === 'refused') return decoded.answer;
  const { id: name } = call;
  const body = renameBody(decoded.value, ['body']);
  const refusal = refuseProfileRequest(call, body);
  const isGood = body.kind === 'good' && isJsonObject(body.value);
  const said = isGood ? readOwnMember(body.value, 'new_name') : undefined;
  if (refusal !== undefined || typeof said !== 'string') return refusal ?? { kind: 'crash' };
  return changeRecord(kind, call, (record) => {
    if (findStoredProfile(record, name) === undefined) return noProfile(name);
    if (said !== name && findStoredProfile(record, said) !== undefined)
      return detail(409, `Profile '${said}' already exists`);
    const renamed = Object.entries(readProfiles(record)).map(
      ([other, profile]) => [other === name ? said : other, profile] as const,
    );
    const after = withProfiles(record, Object.fromEntries(renamed));
    return {
      record: findActiveProfile(record) === name ? setActiveProfile(after, said) : after,
      answer: createJsonAnswer(200, {
        name: said,
        message: `Profile '${name}' renamed to '${said}'`,
      }),
    };
  });
}

function renameBody(body: Json, at: Location): Verdict {
  if (body === null) return bad('missing', at, 'Field required', null);
  return checkObject([{ name: 'new_name', rule: newNameRule }], 'ignored', body, at);
}

function newNameRule(value: Json, at: Location): Verdict {
  return typeof value === 'string' ? checkProfileName(value, NAME, at) : textRule(value, at);
}

async function readRecord(kind: AppServerKind, { service }: Call): Promise<JsonObject | undefined> {
  const { settings } = await service.store.read();
  return settings && openAppRecord(kind, settings);
}

/** Stores what a change makes of the record; an answer alone stores nothing. */
async function changeRecord(
  kind: AppServerKind,
  { service }: Call,
  make: (record: JsonObject) => { readonly record: JsonObject; readonly answer: Answer } | Answer,
): Promise<Answer> {
  return service.store.update((before) => {
    if (before.settings === undefined) return { contents: before, answer: NO_SETTINGS };
    const made = make(openAppRecord(kind, before.settings));
    if ('kind' in made) return { contents: before, answer: made };
    const settings = sealAppRecord(kind, made.record);
    return { contents: { ...before, settings }, answer: made.answer };
  });
}
