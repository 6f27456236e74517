import type { DialectField } from '../../model/dialect.ts';
import { fieldNamed, MODEL_PART, NATIVE_PARTS } from '../../model/field.ts';
import type { SetpointError } from '../../model/error.ts';
import type { Path } from '../../model/path.ts';
import { Secret } from '../../model/secret.ts';
import type {
  Caution,
  ObservedState,
  Prediction,
  SecretState,
  SettingsWrite,
} from '../../model/state.ts';
import {
  isEmpty,
  isRecord,
  createRecord,
  readPath,
  sameValue,
  type Value,
  type ValueRecord,
} from '../../model/value.ts';
import { type Ask, readJsonReply } from '../request.ts';
import { type Reply } from '../exchange.ts';
import type { Connection } from '../connect.ts';
import { listsOf } from '../store-body.ts';
import { flatRecord, nativeState } from '../native.ts';
import { type ServiceError } from '../service-error.ts';
import { createStatusError } from '../status-error.ts';
import { AGENT, agentServerWith, KEY_FLAG, PLACES, SETTINGS_PATH } from './dialect.ts';
import { describeNewerServer, recordProblem, findAgentServerRelease } from './form.ts';
import { buildPatchBody, explainPatchRefusal } from './write.ts';
import { readStoredName } from '../../effects/agent-server/settings.ts';
import { predictRequest, type Storage } from '../predict.ts';
import { withMembers } from '../../effects/stored.ts';
import { AGENT_SERVER as EFFECTS } from '../../effects/agent-server/index.ts';
import { concealRecord } from '../conceal.ts';
import { listPathedEntries } from '../../model/mcp.ts';

/** The observed state in a reply to GET /api/settings, or an error that names what answered instead. */
export async function readAgentServerSettings(
  connection: Connection,
  place: string,
  reply: Reply,
  ask: Ask,
): Promise<ObservedState | SetpointError> {
  if (reply.status === 500) return unanswerable(createStatusError(connection, place, reply));
  if (reply.status !== 200) return createStatusError(connection, place, reply);
  const read = readJsonReply(place, reply);
  if ('error' in read) return read.error;
  const problem = await recordProblem(place, read.json, ask);
  if (problem !== null || !isRecord(read.json))
    return problem ?? createStatusError(connection, place, reply);
  return observeAgentServer(normalizeAgentRecord(read.json));
}

/** Text that the server cannot answer makes every read fail; no request fixes it. */
function unanswerable(error: ServiceError): ServiceError {
  const hint =
    "Check the server's logs. If a stored text is invalid, the server cannot read its settings until the stored settings are fixed.";
  return error.reword({ hint });
}

/** The body of an answer under setpoint's own names, secrets wrapped. */
export function normalizeAgentRecord(body: ValueRecord): ValueRecord {
  return flatRecord(concealRecord(withoutClock(body), 'Settings'), PLACES, (name, value) =>
    name === 'mcp_config' ? listsOf(isRecord(value) ? value : createRecord({})) : value,
  );
}

/** How an Agent Server stores its settings. */
export const AGENT_STORAGE: Storage = {
  effects: EFFECTS,
  places: PLACES,
  encode: (record, stored) => {
    const key = readPath(stored, ['settings', ...MODEL_PART, 'api_key']);
    const answer = createRecord({ ...record, [KEY_FLAG]: !isEmpty(key) });
    return observeAgentServer(normalizeAgentRecord(answer));
  },
};

function predictPatch(write: SettingsWrite, observed: ObservedState): Prediction | null {
  const body = buildPatchBody(write);
  if ('problem' in body) return null;
  const given = write.fields['active_profile'];
  const name = given instanceof Secret ? given.compareWith((text) => text) : given;
  const record =
    name === undefined ? body.record : withMembers(body.record, { active_profile: name });
  const request = { method: 'PATCH', path: SETTINGS_PATH, body: record };
  const llm = observed.pointed?.get('active_profile')?.llm ?? null;
  if (typeof name !== 'string' || llm === null)
    return predictRequest(AGENT_STORAGE, observed, request);
  const profiles = createRecord({ [readStoredName(name)]: llm });
  return predictRequest(AGENT_STORAGE, observed, request, {
    llm_profiles: profiles,
  });
}

/** The observed state in a record under setpoint's own names. `saved`: the record is from a snapshot. */
export function observeAgentServer(answer: ValueRecord, saved = false): ObservedState {
  const settings = isRecord(answer[AGENT]) ? answer[AGENT] : createRecord({});
  const dialect = agentServerWith(settings['agent_kind'] === 'acp');
  const values = Object.entries(answer).flatMap(([name, value]): (readonly [string, Value])[] => {
    const field = dialect.fields.get(name);
    if (field !== undefined) return field.reads === 'value' ? [[name, value]] : [];
    const isKnown = name === KEY_FLAG || fieldNamed(name) !== undefined || NATIVE_PARTS.has(name);
    return isKnown || isEmpty(value) ? [] : [[name, value]];
  });
  const native = nativeState(answer, 'agent-server', true);
  const secrets = new Map<string, SecretState>([
    ['llm_api_key', answer[KEY_FLAG] === true ? 'stored' : 'not-stored'],
    ...native.secrets,
  ]);
  const isUntouched =
    native.untouched &&
    values.every(([name, value]) => isAsMade(dialect.fields.get(name), value)) &&
    [...secrets.values()].every((state) => state !== 'stored');
  const newer = describeNewerServer(answer);
  return {
    dialect,
    unwritable: explainPatchRefusal,
    predict: predictPatch,
    release: findAgentServerRelease(answer),
    ...(newer === null ? {} : { newer }),
    stored: true,
    values: createRecord([...values, ...native.values]),
    secrets,
    tokens: [],
    hidden: [],
    answer,
    ...(isUntouched ? { untouched: true } : {}),
    cautions: listCautions(answer),
    bare: bareServers(answer['mcp_config'] ?? null),
    ...(saved ? { saved } : {}),
  };
}

function isAsMade(field: DialectField | undefined, value: Value): boolean {
  return sameValue(value, field?.absent) || (value === null && field?.storesNull !== true);
}

/** The mcp servers that have a way to authenticate and no secret for it. */
function bareServers(config: Value): Path[] {
  return listPathedEntries(config)
    .filter(({ entry }) => entry['api_key'] === null)
    .map(({ path }) => [...path, 'api_key']);
}

/** A record without the time that the server answers, which changes at each read until the first write. */
function withoutClock(record: ValueRecord): ValueRecord {
  const settings = record['agent_settings'];
  const context = isRecord(settings) ? settings['agent_context'] : undefined;
  if (!isRecord(settings) || !isRecord(context)) return record;
  const { current_datetime: _, ...kept } = context;
  return { ...record, agent_settings: { ...settings, agent_context: kept } };
}

const LLM = ['agent_settings.llm'];

/** Lists the warnings that a plan on this answer must give. */
function listCautions(answer: ValueRecord): Caution[] {
  if (typeof answer['active_profile'] !== 'string') return [];
  const message =
    'The server has an active LLM profile (active_profile): once a profile is activated again, it replaces all of the llm, its key too.';
  return [{ warning: { code: 'active-profile', message, path: ['active_profile'] }, about: LLM }];
}
