import { onceFor } from '../../model/cache.ts';
import type { SetpointError } from '../../model/error.ts';
import { fieldNamed, fields } from '../../model/field.ts';
import { holdsMaskText, isSensitiveName, looksLikeToken } from '../../model/secret-words.ts';
import { MCP_DEFAULTS, MCP_LISTS, type McpList, isMcpList } from '../../model/mcp.ts';
import { Secret } from '../../model/secret.ts';
import type { ObservedState, Prediction, SecretState, SettingsWrite } from '../../model/state.ts';
import {
  isEmpty,
  isList,
  isRecord,
  filterMembers,
  createRecord,
  type Value,
  type ValueRecord,
  mapRecord,
} from '../../model/value.ts';
import { namesListed } from '../../model/wording.ts';
import type { Connection } from '../connect.ts';
import { readJsonReply, isNothingStored } from '../request.ts';
import { type Reply } from '../exchange.ts';
import { ServiceError } from '../service-error.ts';
import { createStatusError } from '../status-error.ts';
import { memberFacts } from '../../model/path-facts.ts';
import {
  createV0Dialect,
  findFlagField,
  inferV0Release,
  SETTINGS_PATH,
  SETTINGS_V0,
  TOKEN_NAMES,
} from './dialect.ts';
import { providerAddress } from '../../effects/app-server/settings.ts';
import { SETTINGS_TYPE, SETTINGS_V0 as EFFECTS } from '../../effects/settings-v0/index.ts';
import { shapeStored } from '../../effects/effects.ts';
import { readRecord, withMembers } from '../../effects/stored.ts';
import { predictRequest, type Storage } from '../predict.ts';
import { recordToStore } from './write.ts';
import { concealAddress, concealCommand, concealMember, sealValue } from '../conceal.ts';

/** The observed state in a reply to GET /api/settings, or an error that names what answered instead. */
export function readV0Settings(
  connection: Connection,
  place: string,
  reply: Reply,
): ObservedState | SetpointError {
  const { status } = reply;
  if (status !== 200 && status !== 404) return createStatusError(connection, place, reply);
  const read = readJsonReply(place, reply);
  if (status === 200) return 'error' in read ? read.error : readV0Record(place, read.json);
  if ('json' in read)
    return isNothingStored(read.json) ? EMPTY_STORE : createStatusError(connection, place, reply);
  return reply.body instanceof Uint8Array
    ? createStatusError(connection, place, reply)
    : read.error;
}

export const EMPTY_STORE: ObservedState = {
  dialect: SETTINGS_V0,
  release: null,
  stored: false,
  values: createRecord({}),
  secrets: new Map(),
  tokens: [],
  hidden: [],
  answer: createRecord({}),
};

/** How a service stores its settings: an answer shows a flag in place of each password, and no address that is the provider's own. */
export const V0_STORAGE: Storage = {
  effects: EFFECTS,
  places: new Map(),
  decode: (shown, { answer }) => {
    const settings = filterMembers(
      readRecord(shown, 'settings'),
      (name) => !isFlagOrToken(name, answer),
    );
    return withMembers(shown, { settings: shapeStored(EFFECTS, SETTINGS_TYPE, settings) });
  },
  encode: (record, stored) => {
    const settings = readRecord(stored, 'settings');
    const { shownAsNull } = createV0Dialect(record).fields.get('llm_base_url') ?? {};
    return observeV0Record(
      mapRecord(record, (value, name) => {
        const flag = findFlagField(name, value);
        if (flag !== null && flag !== name) return !isEmpty(settings[flag]);
        const isOwn = name === 'llm_base_url' && value === providerAddress(settings['llm_model']);
        const isHidden = fieldNamed(name)?.secret === true || (isOwn && shownAsNull !== undefined);
        return isHidden ? null : value;
      }),
    );
  },
};

/** Reports whether a member of an answer reports what is stored elsewhere. */
function isFlagOrToken(name: string, answer: ValueRecord): boolean {
  return (
    name === TOKEN_NAMES || name === 'secrets_store' || findFlagField(name, answer[name]) !== null
  );
}

function predictStore(write: SettingsWrite, observed: ObservedState): Prediction {
  const request = { method: 'POST', path: SETTINGS_PATH, body: recordToStore(write) };
  return predictRequest(V0_STORAGE, observed, request);
}

/** The observed state in a stored record whose secrets are wrapped. `saved`: the record is from a snapshot. */
export function observeV0Record(answer: ValueRecord, saved = false): ObservedState {
  const tokens = answer[TOKEN_NAMES];
  const secrets = readPasswordStates(answer);
  return {
    dialect: createV0Dialect(answer),
    release: inferV0Release(answer),
    stored: true,
    values: filterMembers(answer, isShownMember),
    secrets,
    tokens: isRecord(tokens) ? Object.keys(tokens) : [],
    hidden: listHiddenFields(answer, secrets, saved),
    answer,
    predict: predictStore,
    ...(saved ? { saved } : {}),
  };
}

/** Reports whether a member is a field that shows its stored value. */
function isShownMember(name: string, value: Value): boolean {
  const field = fieldNamed(name);
  if (field !== undefined) return field.readable;
  return name !== TOKEN_NAMES && findFlagField(name, value) === null;
}

/** Every password field of the specification, and what other flags report. */
function readPasswordStates(answer: ValueRecord): Map<string, SecretState> {
  const secrets = new Map<string, SecretState>();
  for (const { name, reads } of SETTINGS_V0.fields.values())
    if (reads === 'presence' || reads === 'nothing') secrets.set(name, 'not-reported');
  for (const member of Object.keys(answer)) {
    const value = answer[member];
    const field = typeof value === 'boolean' ? findFlagField(member, value) : null;
    if (field !== null) secrets.set(field, value === true ? 'stored' : 'not-stored');
  }
  return secrets;
}

/**
 * The fields of a later version that the service holds and does not show: the answer has a mask, or nothing although the
 * field's flag reports that one is stored. The masks of a snapshot are setpoint's own, and hide nothing.
 */
function listHiddenFields(
  answer: ValueRecord,
  secrets: ReadonlyMap<string, SecretState>,
  saved: boolean,
): string[] {
  const isHidden = (name: string): boolean => {
    if (fieldNamed(name) !== undefined) return false;
    const value = answer[name];
    if (!isShownMember(name, value ?? null)) return false;
    return isEmpty(value) ? secrets.get(name) === 'stored' : !saved && isMaskedValue(name, value);
  };
  const unanswered = [...secrets.keys()].filter((name) => !(name in answer));
  return [...Object.keys(answer), ...unanswered].filter(isHidden);
}

/** Asterisks and dots alone are a mask under every name; any other form of a mask under the name of a secret, or of a token. */
function isMaskedValue(name: string, value: Value | undefined): boolean {
  if (isList(value)) return value.some((item) => isMaskedValue(name, item));
  if (isRecord(value))
    return Object.entries(value).some(([key, member]) =>
      isMaskedValue(isSensitiveName(name) ? name : key, member),
    );
  const isMask = (text: string): boolean =>
    /^\s*[*•●]{3,}\s*$/.test(text) ||
    ((isSensitiveName(name) || looksLikeToken(text)) && holdsMaskText(text));
  return value instanceof Secret && value.fits(isMask);
}

/**
 * The observed state in the body of a 200, or an error that names what answered instead. No other request is needed to distinguish them:
 * settings-v0 has `llm_api_key_set` and no `agent_settings`, which the later dialect has; an agent server has
 * `llm_api_key_is_set` under the same path.
 */
export function readV0Record(place: string, body: Value): ObservedState | SetpointError {
  if (!isRecord(body)) {
    return new ServiceError(
      'not-this-service',
      `${place} was answered with JSON that is not an object, so these are not the settings of this service.`,
    );
  }
  if ('llm_api_key_is_set' in body) {
    return new ServiceError(
      'dialect-not-spoken',
      `${place} was answered with the agent-server API (it has llm_api_key_is_set), but server.dialect is settings-v0.`,
      { hint: 'Remove server.dialect so that setpoint detects it, or check server.url.' },
    );
  }
  if ('agent_settings' in body) {
    return new ServiceError(
      'dialect-not-spoken',
      `${place} was answered with the later API, /api/v1/settings (it has agent_settings), which this version of setpoint does not support.`,
    );
  }
  if (typeof body['llm_api_key_set'] !== 'boolean') {
    return new ServiceError(
      'not-this-service',
      `${place} was answered with an object that has no llm_api_key_set, so it is not the settings of this service.`,
    );
  }
  const lacking = SHOWN_ALWAYS.filter((name) => body[name] === undefined);
  if (lacking.length > 0) {
    return new ServiceError(
      'bad-response',
      `${place} was answered without ${namesListed(lacking, MOST_NAMED)}. A write would clear the missing values, so setpoint does not plan or write. Every release returns all of its settings.`,
      {
        hint: 'Look for what is between setpoint and the service, such as a filter or a cache, and changes its answers; or ask the service itself.',
      },
    );
  }
  const long = longList(body['mcp_config']);
  if (long !== undefined) {
    return new ServiceError(
      'bad-response',
      `${place} was answered with more than ${MOST_ENTRIES} entries in mcp_config.${long}.`,
      { hint: 'Remove unused entries on the service; setpoint reads no more.' },
    );
  }
  return observedIn(body);
}

/** The members that every release shows of stored settings, whatever they hold; passwords and flags are no part of what a write carries. */
const SHOWN_ALWAYS: readonly string[] = fields()
  .filter(({ readable }) => readable)
  .map(({ name }) => name);

const MOST_NAMED = 3;

const observedIn = onceFor((body: ValueRecord) =>
  observeV0Record(concealV0Record(expandBareUrls(body))),
);

/** An mcp entry written as a bare url is the entry of that url with its defaults. Source: behaviour 1.3. */
function expandBareUrls(record: ValueRecord): ValueRecord {
  const config = record['mcp_config'];
  if (!isRecord(config)) return record;
  const lists = URL_LISTS.flatMap((list) => {
    const entries = config[list];
    return isList(entries)
      ? [
          [
            list,
            entries.map((entry) =>
              typeof entry === 'string' ? expandBareUrl(list, entry) : entry,
            ),
          ] as const,
        ]
      : [];
  });
  const spelled = createRecord([...Object.entries(config), ...lists]);
  return createRecord({ ...record, mcp_config: spelled });
}

const URL_LISTS = ['sse_servers', 'shttp_servers'] as const;

function expandBareUrl(list: McpList, url: string): ValueRecord {
  return createRecord({ url, ...MCP_DEFAULTS[list] });
}

/** Entries that one mcp list may have. */
const MOST_ENTRIES = 2000;

function longList(config: Value | undefined): string | undefined {
  if (!isRecord(config)) return undefined;
  return MCP_LISTS.find((list) => {
    const entries = config[list];
    return isList(entries) && entries.length > MOST_ENTRIES;
  });
}

/**
 * Wraps what must not be seen of an answer: password fields, everything in secrets_store, all of mcp_config but the members
 * that are known to hold no secret, urls that carry userinfo, a query or a fragment, and fields of a later version.
 */
export function concealV0Record(record: ValueRecord): ValueRecord {
  return mapRecord(record, (value, name) => {
    const field = fieldNamed(name);
    if (field?.secret === true) return value === '' ? value : sealValue(value);
    if (name === 'secrets_store' || isFlagged(record, name)) return sealValue(value);
    if (name === 'mcp_config' && isRecord(value)) return mapRecord(value, concealList);
    return name === TOKEN_NAMES ? value : concealMember(value, memberFacts('Settings', name));
  });
}

/** A flag reports whether a secret is stored: a field of a later version that has one is a secret, whatever its name. */
function isFlagged(record: ValueRecord, name: string): boolean {
  return fieldNamed(name) === undefined && typeof record[`${name}_set`] === 'boolean';
}

function concealList(value: Value, name: string): Value {
  if (!isMcpList(name) || !isList(value)) return sealValue(value);
  return value.map((entry) => {
    if (isRecord(entry))
      return mapRecord(entry, (member, key) => concealSetting(name, member, key));
    // Something that is not an entry may be a command line, with secrets among its arguments.
    return sealValue(entry);
  });
}

/** A member of an mcp entry: what is not known to be harmless is masked. */
function concealSetting(list: McpList, value: Value, name: string): Value {
  if (name === 'url' && list !== 'stdio_servers') return concealAddress(value);
  if (name === 'timeout' && typeof value === 'number') return value;
  if (list !== 'stdio_servers' || typeof value !== 'string') return sealValue(value);
  if (name === 'command') return concealCommand(value);
  return name === 'name' ? value : sealValue(value);
}
