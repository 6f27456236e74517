import type { SetpointError } from '../model/error.ts';
import type { Actuator, WriteAnswer } from '../model/ports.ts';
import { isRecord, secretsIn, type ValueRecord } from '../model/value.ts';
import type { Connection } from './connect.ts';
import { SETTINGS_PATH } from './dialect.ts';
import { encode } from './encode.ts';
import { faultError } from './fault-error.ts';
import { jsonOf, type Reply } from './json-reply.ts';
import { timeLeft, UNLIMITED, type SettingsLimits } from './limits.ts';
import { refusedPlaces } from './refused-places.ts';
import { ServiceError } from './service-error.ts';
import { statusError } from './status-error.ts';

/**
 * Writes the settings of a service: one POST of the whole record for each call. A write under way is ended by its own
 * deadline alone. The error of a write that did not take effect is a ServiceError where the service said when to come back.
 */
export function settingsActuator(
  connection: Connection,
  limits: SettingsLimits = UNLIMITED,
): Actuator {
  return { store: (record) => store(connection, limits, record) };
}

async function store(
  connection: Connection,
  limits: SettingsLimits,
  record: ValueRecord,
): Promise<WriteAnswer> {
  const place = connection.place('POST', SETTINGS_PATH);
  const timeout = timeLeft(connection.clock, limits, connection.timeout);
  if (timeout <= 0) {
    return notApplied(
      new ServiceError('timed-out', `${place} was not sent: the time for it is used up.`),
    );
  }
  const answer = await connection.send({
    method: 'POST',
    path: SETTINGS_PATH,
    body: encode(record),
    timeout,
    wantsBody: (status) => status === 200 || status === 422,
  });
  if (answer.kind === 'fault') {
    const error = faultError(place, answer.fault, connection.proxied);
    return answer.fault.phase === 'connect' ? notApplied(error) : ambiguous(error);
  }
  const { status } = answer;
  if (status === 200) return confirmed(place, answer);
  if (status === 422) return notApplied(refused(connection, place, answer, record));
  const error = statusError(connection, place, answer);
  return status < 300 || status === 408 || status >= 500 ? ambiguous(error) : notApplied(error);
}

/** A status alone is no proof: the body may have been cut, or written by something in between. */
function confirmed(place: string, reply: Reply): WriteAnswer {
  const read = jsonOf(place, reply);
  if ('error' in read) return ambiguous(read.error);
  if (isRecord(read.json)) return { kind: 'stored' };
  return ambiguous(
    new ServiceError('bad-response', `${place} was answered with JSON that is no object.`),
  );
}

function refused(
  connection: Connection,
  place: string,
  reply: Reply,
  record: ValueRecord,
): ServiceError {
  const read = jsonOf(place, reply);
  const secrets = [...connection.secrets, ...secretsIn(record)];
  const places = 'json' in read ? refusedPlaces(read.json, secrets) : '';
  const told = places === '' ? '' : `: ${places}`;
  return new ServiceError(
    'settings-refused',
    `${place} was refused as invalid (status 422)${told}.`,
  );
}

function notApplied(error: SetpointError): WriteAnswer {
  const retry = error instanceof ServiceError && error.retry === 'again';
  return { kind: 'not-applied', retry, error };
}

function ambiguous(error: SetpointError): WriteAnswer {
  return { kind: 'ambiguous', error };
}
