import {
  isJsonObject,
  type Json,
  type JsonObject,
  readOwnMember,
  readObjectMember,
  applyMergePatch,
} from '../json.ts';
import { fit } from '../native/fit.ts';
import { fillAgentDefaults, mcpProblem, settleLlm } from '../native/class-rules.ts';
import { pythonType, refusalText } from '../native/refusal-text.ts';
import { MASK } from '../native/secret-places.ts';
import { mergeVerdicts, bad, refuseValue, type Verdict } from '../rules.ts';
import {
  type AppServerKind,
  findMemberSchema,
  type AppServerPart,
  createAppRecordReading,
  settableNames,
} from './record.ts';
import { checkMarketplaces } from './marketplaces.ts';
import { withoutStaleProfile, withSettingsAddress } from './active-llm.ts';

export type WrittenRecord =
  | { readonly kind: 'record'; readonly record: JsonObject }
  | { readonly kind: 'refused'; readonly reason: string }
  /** The server's own code fails. */
  | { readonly kind: 'failed' };

const MARKETPLACES = 'registered_marketplaces';

/** Members that null leaves as they are. Source: contract "user_consents_to_analytics: null after a value". */
const KEPT_BY_NULL = ['user_consents_to_analytics', 'disabled_skills'];

const TITLES: Readonly<Record<AppServerPart, string>> = {
  agent_settings: 'tagged-union[OpenHandsAgentSettings,LLMAgentSettings,ACPAgentSettings]',
  conversation_settings: 'ConversationSettings',
};

/**
 * The record after a POST. Members at the top are set as they are, unchecked; the two parts are merged and validated.
 * `before` is the stored record, `loaded` the same as it loads.
 */
export function writeAppRecord(
  kind: AppServerKind,
  before: JsonObject,
  loaded: JsonObject,
  body: JsonObject,
  now: number,
): WrittenRecord {
  if (failsOn(readObjectMember(body, 'agent_settings_diff'))) return { kind: 'failed' };
  const after: Record<string, Json> = { ...before, ...topLevel(kind, body) };
  const parts = [
    ['agent_settings', patchAppAgent(kind, loaded, body)],
    ['conversation_settings', patchAppConversation(kind, loaded, body)],
  ] as const;
  for (const [part, made] of parts) {
    if (typeof made === 'string') return { kind: 'refused', reason: made };
    if (made.kind !== 'good')
      return { kind: 'refused', reason: refusalText(TITLES[part], listVerdictProblems(made)) };
    after[part] = made.value;
  }
  const sent = readOwnMember(body, MARKETPLACES);
  const list = sent === undefined ? undefined : checkMarketplaces(sent);
  if (list?.kind === 'refused' || list?.kind === 'failed') return list;
  if (list !== undefined) after[MARKETPLACES] = list.value;
  const password = passwordProblem(kind, body);
  if (password !== undefined) return { kind: 'refused', reason: password };
  const llm = readObjectMember(readObjectMember(after, 'agent_settings'), 'llm');
  const settled = readOwnMember(llm, 'model') === undefined ? llm : settleLlm(llm, llm);
  if (settled === undefined) return { kind: 'failed' };
  after['agent_settings'] = withLlm(after['agent_settings'] ?? {}, settled);
  after['agent_settings'] = fillAgentDefaults(after['agent_settings'] ?? {}, 'app-server', now);
  return { kind: 'record', record: withSettingsAddress(withoutStaleProfile(after)) };
}

function listVerdictProblems(verdict: Verdict) {
  return verdict.kind === 'bad' ? verdict.problems : [];
}

/** Source: contract "search_api_key: asterisks", "search_api_key: blanks". */
function topLevel(kind: AppServerKind, body: JsonObject): JsonObject {
  const set = settableNames(kind).flatMap((name): (readonly [string, Json])[] => {
    const value = readOwnMember(body, name);
    if (value === undefined || (value === null && KEPT_BY_NULL.includes(name))) return [];
    if (isPassword(kind, name)) return [[name, maskPassword(name, value)]];
    return [[name, value]];
  });
  return Object.fromEntries(set);
}

function isPassword(kind: AppServerKind, name: string): boolean {
  return findMemberSchema(kind, name).format === 'password';
}

/** The one key that is stored; every other at the top is stored as its own mask, and lost. */
const KEPT_KEY = 'search_api_key';

function maskPassword(name: string, value: Json): Json {
  if (typeof value !== 'string' || value.trim() === '') return null;
  return name === KEPT_KEY ? value : MASK;
}

/** Source: the answer of release 1.11.0 to a key that is not a text; contract "search_api_key: blanks". */
function passwordProblem(kind: AppServerKind, body: JsonObject): string | undefined {
  for (const name of settableNames(kind).filter((one) => isPassword(kind, one))) {
    const value = readOwnMember(body, name) ?? null;
    if (value === null || typeof value === 'string') continue;
    const serializer = name === KEPT_KEY ? 'api_key_serializer' : '_serialize_secret_field';
    const failure = `'${pythonType(value)}' object has no attribute 'get_secret_value'`;
    return `Error serializing to JSON: PydanticSerializationError: Error calling function \`${serializer}\`: AttributeError: ${failure}`;
  }
  return undefined;
}

/** Reports whether the server fails on a diff: its model or version is present and not of its type. */
function failsOn(diff: JsonObject): boolean {
  const version = readOwnMember(diff, 'schema_version') ?? null;
  const model = readOwnMember(readObjectMember(diff, 'llm'), 'model') ?? null;
  return (
    (version !== null && typeof version !== 'bigint') ||
    (model !== null && typeof model !== 'string')
  );
}

function withLlm(agent: Json, llm: JsonObject): Json {
  return isJsonObject(agent) && Object.keys(llm).length > 0 ? { ...agent, llm } : agent;
}

/** The map of mcp servers is replaced whole. Source: contract "mcp_config: secrets left out", "mcp_config: null after a value". */
const REPLACED = new Set(['mcp_config']);

const NEWEST = 4n;

function patchAppAgent(
  kind: AppServerKind,
  loaded: JsonObject,
  body: JsonObject,
): Verdict | string {
  const diff = readObjectMember(body, 'agent_settings_diff');
  const version = readOwnMember(diff, 'schema_version') ?? null;
  if (typeof version === 'bigint' && version > NEWEST)
    return `AgentSettings schema_version ${version} is newer than supported version ${NEWEST}.`;
  const before = readObjectMember(loaded, 'agent_settings');
  const asked = readOwnMember(diff, 'agent_kind') ?? null;
  const isOther = asked !== null && asked !== readOwnMember(before, 'agent_kind');
  const { schema_version: _, ...rest } = applyMergePatch(isOther ? {} : before, diff, REPLACED);
  const merged: JsonObject = asked === 'llm' ? { ...rest, agent_kind: 'openhands' } : rest;
  const servers = readOwnMember(merged, 'mcp_config');
  const rewritten =
    servers === undefined ? merged : { ...merged, mcp_config: rewrittenServers(servers) };
  const refusals = checkAgentClasses(kind, rewritten);
  const named = refusals.length > 0 ? withoutModel(rewritten) : rewritten;
  const verdict = fit(
    createAppRecordReading(kind),
    findMemberSchema(kind, 'agent_settings'),
    named,
    [],
  );
  const whole = mergeVerdicts([verdict, ...refusals]);
  return whole.kind === 'good' ? verdict : whole;
}

/** Agent settings whose model is not looked at again: the class that holds it has refused it. */
function withoutModel(agent: JsonObject): JsonObject {
  const { model: _, ...llm } = readObjectMember(agent, 'llm');
  return { ...agent, llm };
}

/** Returns what the classes of the server refuse although each of its members fits. */
function checkAgentClasses(kind: AppServerKind, agent: JsonObject): readonly Verdict[] {
  const name = readOwnMember(agent, 'agent_kind') ?? 'openhands';
  const at = typeof name === 'string' ? name : '';
  const llm = readOwnMember(agent, 'llm') ?? null;
  const verdicts: Verdict[] = [];
  if (isJsonObject(llm) && (readOwnMember(llm, 'model') ?? '') === '')
    verdicts.push(refuseValue('model must be specified in LLM', [at, 'llm'], llm));
  for (const [key, entry] of Object.entries(readObjectMember(agent, 'mcp_config'))) {
    const place = [at, 'mcp_config', key];
    const fits =
      fit(createAppRecordReading(kind), { $ref: '#/$defs/MCPServer' }, entry, place).kind ===
      'good';
    const problem = isJsonObject(entry) && fits ? mcpProblem(entry) : undefined;
    if (problem !== undefined) verdicts.push(refuseValue(problem, place, entry));
  }
  return verdicts;
}

/** A version that is too new is stored, and the record cannot be read from then on. */
function patchAppConversation(kind: AppServerKind, loaded: JsonObject, body: JsonObject): Verdict {
  const diff = readObjectMember(body, 'conversation_settings_diff');
  const version = readOwnMember(diff, 'schema_version') ?? null;
  const { schema_version: _, ...merged } = applyMergePatch(
    readObjectMember(loaded, 'conversation_settings'),
    diff,
  );
  const verdict = fit(
    createAppRecordReading(kind),
    findMemberSchema(kind, 'conversation_settings'),
    merged,
    [],
  );
  if (verdict.kind !== 'good' || !isJsonObject(verdict.value) || version === null) return verdict;
  return { kind: 'good', value: { ...verdict.value, schema_version: version } };
}

/** Checks that a body is what the endpoint accepts: an object. */
export function checkObjectBody(body: Json): Verdict {
  if (body === null) return bad('missing', ['body'], 'Field required', null);
  if (isJsonObject(body)) return { kind: 'good', value: body };
  return bad('dict_type', ['body'], 'Input should be a valid dictionary', body);
}

/** Older names of a way to transport. */
const TRANSPORTS: Readonly<Record<string, string>> = { shttp: 'http' };

/**
 * The stored form of a map of mcp servers: without a wrapper around it, and each entry with its key in `auth`.
 * Source: contract "mcp_config: the wrapper mcpServers", "mcp_config: an Authorization header", "mcp_config: type shttp".
 */
export function rewrittenServers(value: Json): Json {
  if (!isJsonObject(value)) return value;
  const wrapped = readOwnMember(value, 'mcpServers') ?? null;
  const servers = isJsonObject(wrapped) ? wrapped : value;
  return Object.fromEntries(
    Object.entries(servers).map(([name, one]) => [name, isJsonObject(one) ? rewritten(one) : one]),
  );
}

function rewritten({ api_key: key, type, ...entry }: JsonObject): JsonObject {
  const named = typeof type === 'string' ? { transport: TRANSPORTS[type] ?? type } : {};
  return withAuth({ ...entry, ...named }, key);
}

function withAuth(entry: JsonObject, key: Json | undefined): JsonObject {
  if (typeof key === 'string') return { ...entry, auth: { strategy: 'api_key', value: key } };
  const sent = readOwnMember(entry, 'auth');
  if (sent === 'oauth') return { ...entry, auth: { strategy: 'oauth2' } };
  if (typeof sent === 'string') return { ...entry, auth: { strategy: 'bearer', value: sent } };
  const headers = readOwnMember(entry, 'headers') ?? null;
  if (sent !== undefined || !isJsonObject(headers)) return entry;
  const { Authorization: authorization, ...others } = headers;
  if (typeof authorization !== 'string') return entry;
  const [, token] = /^Bearer (.*)$/.exec(authorization) ?? [];
  const auth =
    token === undefined
      ? { strategy: 'header', headers: { Authorization: authorization } }
      : { strategy: 'bearer', value: token };
  return { ...entry, headers: others, auth };
}
