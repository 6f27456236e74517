import {
  fieldAtNative,
  fieldNamed,
  MODEL_PART,
  NATIVE_PARTS,
  NATIVE_SERVERS,
} from '../../model/field.ts';
import { SetpointError } from '../../model/error.ts';
import { nativeSchema } from '../../model/native-schema.ts';
import type { Path } from '../../model/path.ts';
import { isMaskedSecret } from '../../model/secret-words.ts';
import type { ObservedState, Prediction, SecretState, SettingsWrite } from '../../model/state.ts';
import {
  isEmpty,
  isRecord,
  createRecord,
  type Value,
  readPath,
  type ValueRecord,
} from '../../model/value.ts';
import { type Ask, readJsonReply, isNothingStored } from '../request.ts';
import { type Reply } from '../exchange.ts';
import type { Connection } from '../connect.ts';
import { flatRecord, nativeState, unlikePlace, schemaVersion } from '../native.ts';
import { ServiceError } from '../service-error.ts';
import { createStatusError } from '../status-error.ts';
import {
  APP_SERVER,
  appServerWith,
  MASKED_PATH,
  PLACES,
  SETTINGS_PATH,
  TOKEN_NAMES,
} from './dialect.ts';
import {
  emptyStoreRelease,
  KNOWN_SCHEMA,
  describeNewerService,
  NEWEST,
  findAppServerRelease,
  tooOld,
} from './release.ts';
import { listsOf } from '../store-body.ts';
import { buildPostBody, readLlmProfiles, explainPostRefusal } from './write.ts';
import { APP_SERVER as EFFECTS } from '../../effects/app-server/index.ts';
import {
  ACTIVE,
  IS_STORED,
  providerAddress,
  withAddress,
} from '../../effects/app-server/settings.ts';
import { after, shapeStored } from '../../effects/effects.ts';
import { readRecord, withMembers, withPart } from '../../effects/stored.ts';
import { predictRequest, type Storage, withTokens } from '../predict.ts';
import { concealRecord } from '../conceal.ts';

/** The observed state in a reply to GET /api/v1/settings, or an error that names what answered instead. */
export async function readAppServerSettings(
  connection: Connection,
  place: string,
  reply: Reply,
  ask: Ask,
): Promise<ObservedState | SetpointError> {
  const { status } = reply;
  if (status === 500) return brokenStore(createStatusError(connection, place, reply));
  if (status !== 200 && status !== 404) return createStatusError(connection, place, reply);
  const read = readJsonReply(place, reply);
  if ('error' in read) return read.error;
  if (status === 404)
    return isNothingStored(read.json)
      ? observeEmptyStore(connection, place, ask)
      : createStatusError(connection, place, reply);
  const problem = unknownRecord(place, read.json);
  if (problem !== null || !isRecord(read.json))
    return problem ?? createStatusError(connection, place, reply);
  const record = concealAnswer(read.json);
  const found = readPath(record, NATIVE_SERVERS);
  const servers = isRecord(found) ? found : createRecord({});
  if (Object.keys(servers).length === 0 && !connection.asksSecrets)
    return observeAppServer(flat(record));
  const masked = await readMaskedServers(connection, servers, ask);
  if (masked instanceof SetpointError) return masked;
  const shown = readPath(masked, NATIVE_SERVERS);
  const answer = flat(withMasks(record, masked), isRecord(shown) ? shown : createRecord({}));
  return observeAppServer(answer, { shows: true });
}

/** A stored value of a wrong type makes every read fail; no request fixes it. */
function brokenStore(error: ServiceError): ServiceError {
  const hint =
    "Check the service's logs. If a stored value has a wrong type, the service cannot read its settings until the stored settings are fixed.";
  return error.reword({ hint });
}

/** The settings leave secrets out; with their masks it is known which server has any, and under which names. */
async function readMaskedServers(
  connection: Connection,
  servers: ValueRecord,
  ask: Ask,
): Promise<ValueRecord | SetpointError> {
  const { place, reply } = await ask(MASKED_PATH);
  if (reply.status !== 200) return createStatusError(connection, place, reply);
  const read = readJsonReply(place, reply);
  if ('error' in read) return read.error;
  const record = isRecord(read.json) ? concealAnswer(read.json) : createRecord({});
  const found = readPath(record, NATIVE_SERVERS);
  const names = (record: ValueRecord): string => JSON.stringify(Object.keys(record).toSorted());
  if (isRecord(found) && names(found) === names(servers)) return record;
  return new ServiceError(
    'contended',
    `${place} was answered with other mcp servers than the settings have.`,
    {
      retry: 'again',
    },
  );
}

/** A record with the masks of the secrets that are stored, where the settings have null, whether this version knows them or not. */
function withMasks(record: ValueRecord, masked: ValueRecord, within: Path = []): ValueRecord {
  const shown = Object.entries(masked).flatMap(([name, mask]): [string, Value][] => {
    const [path, value] = [[...within, name], record[name] ?? null];
    if (fieldAtNative(path) !== undefined) return [];
    if (isRecord(mask)) return isRecord(value) ? [[name, withMasks(value, mask, path)]] : [];
    return value === null && isMaskedSecret(mask) ? [[name, mask]] : [];
  });
  return withMembers(record, Object.fromEntries(shown));
}

async function observeEmptyStore(
  connection: Connection,
  place: string,
  ask: Ask,
): Promise<ObservedState | SetpointError> {
  const shown = await emptyStoreRelease(connection, place, ask);
  return 'code' in shown ? shown : { ...EMPTY_STORE, ...shown };
}

/** Explains why the body of a 200 is not a known record of this dialect; null if it is. */
function unknownRecord(place: string, body: Value): ServiceError | null {
  const settings = isRecord(body) ? body['agent_settings'] : undefined;
  if (!isRecord(body) || !isRecord(settings) || typeof body['llm_api_key_set'] !== 'boolean') {
    return new ServiceError(
      'not-this-service',
      `${place} was answered with JSON that has no agent_settings and llm_api_key_set, so it is not the settings of this service.`,
    );
  }
  const version = schemaVersion(body);
  if (version === null || version < KNOWN_SCHEMA) {
    return tooOld(
      place,
      `release 1.7 or 1.8 (agent_settings.schema_version is below ${KNOWN_SCHEMA})`,
    );
  }
  const kind = settings['agent_kind'];
  if (kind !== 'openhands' && kind !== 'acp') {
    return new ServiceError(
      'dialect-not-spoken',
      `${place} was answered with an agent_kind other than openhands and acp, whose settings have other fields.`,
      { hint: 'Set agent_settings.agent_kind to openhands or acp by other means.' },
    );
  }
  // A later release may have moved what it does not show: there every member must be where it was.
  const later = version > KNOWN_SCHEMA;
  const unlike = unlikePlace(body, PLACES, () => later);
  if (unlike === null) return null;
  const by = later ? ` by a release later than ${NEWEST}` : '';
  return new ServiceError(
    'dialect-not-spoken',
    `${place} was answered${by} with ${unlike.join('.')} in a form that this version of setpoint does not know.`,
    {
      hint: 'The service may be newer than this setpoint. Look for a newer setpoint.',
    },
  );
}

/** A record under setpoint's own names; its mcp servers are the masked ones, if it has any. */
function flat(record: ValueRecord, masked?: ValueRecord): ValueRecord {
  return flatRecord(record, PLACES, (name, value) =>
    name === 'mcp_config' ? listsOf(masked ?? (isRecord(value) ? value : createRecord({}))) : value,
  );
}

export const EMPTY_STORE: ObservedState = {
  dialect: APP_SERVER,
  unwritable: explainPostRefusal,
  release: null,
  stored: false,
  values: createRecord({}),
  secrets: new Map(),
  tokens: [],
  hidden: [],
  answer: createRecord({}),
};

/** How an app-server stores its settings: with the address of the provider, of which it shows none, and the llm of each profile. */
export const APP_STORAGE: Storage = {
  effects: EFFECTS,
  places: PLACES,
  decode: (shown, observed) => {
    if (!observed.stored)
      return after(EFFECTS, shown, {
        method: 'POST',
        path: SETTINGS_PATH,
        body: createRecord({}),
      });
    const { active = null } = observed.profiles ?? {};
    const key = readPath(shown, ['settings', ...MODEL_PART, 'api_key']) ?? null;
    const llms = Object.entries(
      readRecord(withTokens(observed.profiles?.llms ?? createRecord({}))),
    );
    const profiles = llms.map(([name, llm]): [string, Value] => {
      const made = readRecord(shapeStored(EFFECTS, LLM, llm));
      // A profile is active only as long as the llm is its own: then both have the same key.
      return [name, name === active ? withMembers(made, { api_key: key }) : made];
    });
    const whole = createRecord([...profiles, ...Object.entries(readRecord(shown, 'llm_profiles'))]);
    return withAddress(
      withMembers(shown, {
        llm_profiles: whole,
        [ACTIVE]: active,
        [IS_STORED]: true,
      }),
    );
  },
  encode: (record, stored) => {
    const settings = readRecord(stored, 'settings');
    const { model, base_url: address, api_key: key } = readRecord(settings, ...MODEL_PART);
    const base_url = address === providerAddress(model) ? null : (address ?? null);
    const shown = isEmpty(address) ? record : withPart(record, MODEL_PART, { base_url });
    const profiles = readRecord(record, 'llm_profiles');
    const answer = withMembers(shown, {
      llm_api_key_set: !isEmpty(key),
      search_api_key_set: !isEmpty(settings['search_api_key']),
      ...(Object.keys(profiles).length === 0
        ? {}
        : {
            llm_profiles: withMembers(profiles, {
              active: stored[ACTIVE] ?? null,
            }),
          }),
    });
    return observeAppServer(flat(answer), { shows: true });
  },
};

const LLM = { $ref: '#/$defs/LLM' };

function predictPost(write: SettingsWrite, observed: ObservedState): Prediction | null {
  const body = buildPostBody(write);
  if ('problem' in body) return null;
  const request = { method: 'POST', path: SETTINGS_PATH, body: body.record };
  return predictRequest(APP_STORAGE, observed, request);
}

/**
 * The observed state in a record under setpoint's own names. `saved`: the record is from a snapshot. `shows`: it has the mask of each
 * secret that is stored.
 */
export function observeAppServer(
  answer: ValueRecord,
  { saved = false, shows = false }: { readonly saved?: boolean; readonly shows?: boolean } = {},
): ObservedState {
  const kind = readPath(answer, ['agent_settings', 'agent_kind']);
  const dialect = appServerWith(kind === 'acp');
  const { served = [] } = nativeSchema('app-server') ?? {};
  const values = Object.entries(answer).flatMap(([name, value]): (readonly [string, Value])[] => {
    const field = APP_SERVER.fields.get(name);
    if (field !== undefined && !dialect.fields.has(name)) return [];
    if (field !== undefined) return field.reads === 'value' ? [[name, value]] : [];
    const isKnown = isFlag(name, value) || NATIVE_PARTS.has(name) || served.includes(name);
    return isKnown || isEmpty(value) ? [] : [[name, value]];
  });
  const native = nativeState(answer, 'app-server', shows);
  const tokens = answer[TOKEN_NAMES];
  const newer = describeNewerService(answer);
  const profiles = readLlmProfiles(answer);
  return {
    dialect,
    unwritable: explainPostRefusal,
    predict: predictPost,
    release: findAppServerRelease(answer),
    stored: true,
    values: createRecord([...values, ...native.values]),
    secrets: new Map([...readSecretFlags(answer), ...native.secrets]),
    tokens: isRecord(tokens) ? Object.keys(tokens) : [],
    hidden: [],
    answer,
    ...(profiles === undefined ? {} : { profiles }),
    ...(newer === null ? {} : { newer }),
    ...(saved ? { saved } : {}),
  };
}

function isFlag(name: string, value: Value): value is boolean {
  return name.endsWith('_set') && typeof value === 'boolean';
}

/** Every secret of the specification, and what other flags report. */
function readSecretFlags(answer: ValueRecord): Map<string, SecretState> {
  const secrets = new Map<string, SecretState>();
  for (const { name } of APP_SERVER.fields.values())
    if (fieldNamed(name)?.secret === true) secrets.set(name, 'not-reported');
  for (const [member, value] of Object.entries(answer))
    if (isFlag(member, value))
      secrets.set(member.replace(/_set$/, ''), value ? 'stored' : 'not-stored');
  return secrets;
}

const TERMS = {
  // A flag reports whether a secret is stored.
  isSecret: (record: ValueRecord, name: string) => typeof record[`${name}_set`] === 'boolean',
  harmless: new Set([TOKEN_NAMES]),
} as const;

/** An answer with its secrets wrapped. */
export function concealAnswer(record: ValueRecord): ValueRecord {
  return concealRecord(record, 'Settings', TERMS);
}
