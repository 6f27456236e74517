import { after, type Effects, shapeStored } from '../effects/effects.ts';
import {
  applyDifferences,
  listDifferences,
  NONE,
  readRecord,
  type Request,
  type Stored,
  withMembers,
  withPart,
} from '../effects/stored.ts';
import { fieldNamed, MODEL_PART, type FieldName } from '../model/field.ts';
import {
  listRecordEntries,
  MCP_LISTS,
  type McpList,
  OTHERS,
  USUAL_AUTH,
  USUAL_TRANSPORT,
} from '../model/mcp.ts';
import { type Path, pathNamed } from '../model/path.ts';
import { isMaskedSecret } from '../model/secret-words.ts';
import { Secret, UnseenSecret } from '../model/secret.ts';
import type { ObservedState, Prediction, SecretState } from '../model/state.ts';
import {
  isList,
  isRecord,
  assignPath,
  createRecord,
  filterMembers,
  isEmpty,
  mapRecord,
  readPath,
  type Value,
  type ValueRecord,
} from '../model/value.ts';
import type { Places } from './native.ts';

/** How the settings of one dialect are stored, and shown. */
export interface Storage {
  readonly effects: Effects;
  readonly places: Places;
  /** What is stored besides what the settings show as it is. */
  readonly decode?: (stored: Stored, observed: ObservedState) => Stored;
  /** The observed state in a record of settings, in the nesting of the server. */
  readonly encode: (record: ValueRecord, stored: Stored) => ObservedState;
}

/**
 * Predicts the effect of a request on observed settings. `parts`: what else is stored, such as profiles. `keys`: the secrets of the llm of
 * the settings, where they are known to be those of another place.
 */
export function predictRequest(
  storage: Storage,
  observed: ObservedState,
  request: Request,
  parts: Stored = NONE,
  keys: ValueRecord = NONE,
): Prediction {
  const { effects, places, encode } = storage;
  const shown = nestAnswer(observed, places);
  const before = readStored(storage, observed, parts, keys);
  const made = after(effects, before, request);
  const [was, is] = [readRecord(before, 'settings'), readRecord(made, 'settings')];
  return {
    // What a type has and the server does not show is none of its release. A server that has nothing stored yet shows nothing.
    differences: listDifferences(was, is).filter(
      ([place, value]) =>
        !observed.stored ||
        readPath(shown, place) !== undefined ||
        readPath(was, place) === undefined ||
        value instanceof UnseenSecret,
    ),
    expected: withRevealed(
      encode(applyDifferences(observed.stored ? shown : was, was, is), made),
      observed,
    ),
  };
}

/** Returns the stored state that the settings show, with the other `parts`. */
export function readStored(
  { effects, places, decode = (stored) => stored }: Storage,
  observed: ObservedState,
  parts: Stored,
  keys: ValueRecord = NONE,
): Stored {
  const stored = withTokens(nestAnswer(observed, places, 'without null'));
  const known = withMembers(parts, { settings: withKeys(stored, places, observed, keys) });
  return decode(shapeSettings(effects, known), observed);
}

/** A state with the secrets that the service has revealed in place of their masks. */
function withRevealed(expected: ObservedState, observed: ObservedState): ObservedState {
  if (observed.revealed === undefined) return expected;
  const values = mapRecord(expected.values, (value, name) =>
    fillMasks(value, observed.values[name]),
  );
  return { ...expected, values };
}

function fillMasks(value: Value, clear: Value | undefined): Value {
  if (isMaskedSecret(value)) return clear instanceof Secret ? clear : value;
  if (isRecord(value))
    return mapRecord(value, (one, key) => fillMasks(one, readRecord(clear)[key]));
  if (!isList(value) || !isList(clear)) return value;
  // Of those with one name the first counts.
  const named = new Map(clear.map((one) => [readRecord(one)['name'], one] as const).toReversed());
  return value.map((one) => {
    const { name } = readRecord(one);
    return fillMasks(one, name === undefined ? undefined : named.get(name));
  });
}

/** Settings with the members that their types have, so that only a request makes a difference. */
function shapeSettings(effects: Effects, stored: Stored): Stored {
  const settings = readRecord(stored, 'settings');
  const parts = Object.entries(effects.settings).flatMap(([name, node]) =>
    isRecord(settings[name]) ? [[name, shapeStored(effects, node, settings[name])] as const] : [],
  );
  return withMembers(stored, {
    settings: withMembers(settings, Object.fromEntries(parts)),
  });
}

/**
 * The record of an answer in the nesting of the server: fields at their places, and mcp servers by their names. A field that is null may be
 * one that a part of this kind does not have.
 */
function nestAnswer(
  { answer }: ObservedState,
  places: Places,
  nulls?: 'without null',
): ValueRecord {
  const others = filterMembers(answer, (name) => !places.has(name as FieldName));
  return [...places].reduce((record, [name, place]) => {
    const value = name === 'mcp_config' ? nestServers(answer[name]) : (answer[name] ?? null);
    const isHere = place.length === 1 || isRecord(readPath(record, place.slice(0, -1)));
    const isLeft = value === null && (!isHere || (nulls !== undefined && place.length > 1));
    return isLeft ? record : assignPath(record, place, value);
  }, others);
}

/** The servers that lists were made of; null for none. */
function nestServers(config: Value | undefined): Value {
  if (!isRecord(config)) return null;
  const listed = MCP_LISTS.flatMap((list) =>
    listRecordEntries(config[list]).map((entry) => nestServer(list, entry)),
  );
  const servers = [...Object.entries(readRecord(config, OTHERS)), ...listed];
  return servers.length === 0 ? null : createRecord(servers);
}

function nestServer(list: McpList, entry: ValueRecord): readonly [string, Value] {
  const { name, api_key: value, auth, transport = USUAL_TRANSPORT[list], ...members } = entry;
  const how = value === undefined ? auth : withMembers(readRecord(auth ?? USUAL_AUTH), { value });
  const own = how === undefined ? { transport } : { transport, auth: how };
  return [typeof name === 'string' ? name : '', withMembers(createRecord(members), own)];
}

/** Settings with a token for each secret that is stored and not shown. `keys`: those of the llm. */
function withKeys(
  settings: ValueRecord,
  places: Places,
  { secrets, hidden }: ObservedState,
  keys: ValueRecord,
): ValueRecord {
  const isStored = ([name, state]: readonly [string, SecretState]): boolean =>
    state === 'stored' || (state === 'not-reported' && fieldNamed(name) !== undefined);
  const reported = [...secrets].filter(isStored).map(([name]) => name);
  const empty = [...reported, ...hidden]
    .map((name) => places.get(name as FieldName) ?? pathNamed(name))
    .filter((place) => {
      const isHere = place.length === 1 || isRecord(readPath(settings, place.slice(0, -1)));
      return isHere && isEmpty(readPath(settings, place));
    });
  const known = assignTokens(settings, empty);
  return isRecord(readPath(known, MODEL_PART)) ? withPart(known, MODEL_PART, keys) : known;
}

/** A record with a token at each of these paths. A service may have thousands: each record is copied once. */
function assignTokens(record: ValueRecord, paths: readonly Path[]): ValueRecord {
  const byMember = new Map<string, Path[]>();
  for (const [member = '', ...inner] of paths) {
    const below = byMember.get(member);
    if (below === undefined) byMember.set(member, [inner]);
    else below.push(inner);
  }
  const assigned = [...byMember].map(([member, below]): [string, Value] => {
    const inner = record[member];
    return isRecord(inner) && below.every((path) => path.length > 0)
      ? [member, assignTokens(inner, below)]
      : [member, new UnseenSecret()];
  });
  return createRecord([...Object.entries(record), ...assigned]);
}

/** A record with a token in place of each secret that the service does not show. */
export function withTokens(record: ValueRecord): ValueRecord {
  return mapRecord(record, toTokens);
}

function toTokens(value: Value): Value {
  if (isList(value)) return value.map(toTokens);
  if (isRecord(value)) return withTokens(value);
  const secret = typeof value === 'string' ? new Secret(value) : value;
  return secret instanceof Secret && isMaskedSecret(secret) ? new UnseenSecret() : value;
}
