import { SetpointError } from '../model/error.ts';
import type { ObservedState } from '../model/state.ts';
import type { Connection } from './connect.ts';
import { EMPTY_STORE, isEmptyStore, settingsIn, SETTINGS_PATH } from './dialect.ts';
import { faultError } from './fault-error.ts';
import { jsonOf, type Reply } from './json-reply.ts';
import { timeLeft, type TimeLimits } from './limits.ts';
import { ServiceError } from './service-error.ts';
import { statusError } from './status-error.ts';

/** One GET /api/settings. Its errors tell by `retry` whether to ask again. */
export async function look(
  connection: Connection,
  limits: TimeLimits,
  signal: AbortSignal | undefined,
): Promise<ObservedState> {
  const place = connection.place('GET', SETTINGS_PATH);
  const timeout = timeLeft(connection.clock, limits, connection.timeout);
  if (timeout <= 0) {
    throw new ServiceError('timed-out', `${place} was not sent: the time for it is used up.`);
  }
  const answer = await connection.send({
    method: 'GET',
    path: SETTINGS_PATH,
    body: null,
    timeout,
    signal,
    wantsBody: (status) => status === 200 || status === 404,
  });
  if (answer.kind === 'fault') throw faultError(place, answer.fault, connection.proxied);
  const state = read(connection, place, answer);
  if (state instanceof SetpointError) throw state;
  return state;
}

function read(connection: Connection, place: string, reply: Reply): ObservedState | SetpointError {
  if (reply.status !== 200 && reply.status !== 404) return statusError(connection, place, reply);
  const read = jsonOf(place, reply);
  if (reply.status === 200) return 'error' in read ? read.error : settingsIn(place, read.json);
  if ('json' in read) {
    return isEmptyStore(read.json) ? EMPTY_STORE : statusError(connection, place, reply);
  }
  return reply.body instanceof Uint8Array ? statusError(connection, place, reply) : read.error;
}
