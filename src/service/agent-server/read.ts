import { fieldNamed } from '../../model/field.ts';
import { isMasked } from '../../model/mask.ts';
import type { SetpointError } from '../../model/error.ts';
import { formatPath, type Path } from '../../model/path.ts';
import { Secret } from '../../model/secret.ts';
import type { ObservedState, SecretState } from '../../model/state.ts';
import {
  isList,
  isRecord,
  recordOf,
  sameValue,
  type Value,
  type ValueRecord,
} from '../../model/value.ts';
import type { Ask } from '../ask.ts';
import type { Connection } from '../connect.ts';
import { jsonOf, type Reply } from '../json-reply.ts';
import { listsOf } from '../mcp-servers.ts';
import { flatRecord } from '../places.ts';
import { ServiceError } from '../service-error.ts';
import { statusError } from '../status-error.ts';
import { cautionsOf } from './cautions.ts';
import { conceal } from './conceal.ts';
import { AGENT, agentServerWith, KEY_FLAG, PLACES } from './dialect.ts';
import { recordProblem } from './form.ts';
import { setPart, withoutClock } from './native.ts';
import { newerThanKnown, releaseOf } from './release.ts';

/** The observed state in a reply to GET /api/settings, or an error that names what answered instead. */
export async function settingsIn(
  connection: Connection,
  place: string,
  reply: Reply,
  ask: Ask,
): Promise<ObservedState | SetpointError> {
  if (reply.status === 500) return unreadable(statusError(connection, place, reply));
  if (reply.status !== 200) return statusError(connection, place, reply);
  const read = jsonOf(place, reply);
  if ('error' in read) return read.error;
  const problem = await recordProblem(place, read.json, ask);
  if (problem !== null || !isRecord(read.json))
    return problem ?? statusError(connection, place, reply);
  return observedState(recordIn(read.json));
}

/** Text that the server cannot answer makes every read fail; no request mends it. */
function unreadable({ code, message, retry, retryAfter }: ServiceError): ServiceError {
  const hint =
    "Check the server's logs. If it holds text that it cannot answer, it cannot read its settings until they are mended where they are stored.";
  return new ServiceError(code, message, { hint, retry, retryAfter });
}

/** The body of an answer under setpoint's own names, secrets wrapped. */
export function recordIn(body: ValueRecord): ValueRecord {
  return flatRecord(conceal(withoutClock(body)), PLACES, (name, value) =>
    name === 'mcp_config' ? listsOf(isRecord(value) ? value : recordOf([])) : value,
  );
}

/** The observed state in a record under setpoint's own names. `saved`: the record is from a snapshot. */
export function observedState(answer: ValueRecord, saved = false): ObservedState {
  const settings = isRecord(answer[AGENT]) ? answer[AGENT] : recordOf([]);
  const condenser = isRecord(settings['condenser']) ? settings['condenser'] : recordOf([]);
  const dialect = agentServerWith({
    acp: settings['agent_kind'] === 'acp',
    bareCondenser: condenser['condenser_kind'] === 'no_op',
  });
  const values = Object.entries(answer).flatMap(([name, value]): (readonly [string, Value])[] => {
    const field = dialect.fields.get(name);
    if (field !== undefined) return field.reads === 'value' ? [[name, value]] : [];
    const set = name === KEY_FLAG || fieldNamed(name) !== undefined ? null : setPart(name, value);
    return set === null ? [] : [[name, set]];
  });
  const secrets = secretsOf(answer);
  const isUntouched =
    values.every(([name, value]) => isAsMade(dialect.fields.get(name)?.absent, value)) &&
    [...secrets.values()].every((state) => state !== 'stored');
  const newer = newerThanKnown(answer);
  return {
    dialect,
    release: releaseOf(answer),
    ...(newer === null ? {} : { newer }),
    stored: true,
    values: recordOf(values),
    secrets,
    tokens: [],
    hidden: [],
    answer,
    ...(isUntouched ? { untouched: true } : {}),
    cautions: cautionsOf(answer),
    ...(saved ? { saved } : {}),
  };
}

function isAsMade(absent: Value | undefined, value: Value): boolean {
  return value === null || sameValue(value, absent);
}

/** The secrets that are stored: the key by its flag, the others by their masks. */
function secretsOf(answer: ValueRecord): Map<string, SecretState> {
  const secrets = new Map<string, SecretState>();
  const flag = answer[KEY_FLAG];
  secrets.set(
    'llm_api_key',
    typeof flag === 'boolean' ? (flag ? 'stored' : 'not-stored') : 'not-reported',
  );
  for (const path of maskedPaths(answer[AGENT] ?? null, [AGENT]))
    secrets.set(formatPath(path), 'stored');
  return secrets;
}

function maskedPaths(value: Value, path: Path): Path[] {
  if (value instanceof Secret) return isMasked(value) ? [path] : [];
  if (isList(value))
    return value.flatMap((item, index) => maskedPaths(item, [...path, String(index)]));
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([key, member]) => maskedPaths(member, [...path, key]));
}
