import { asSetpointError, SetpointError } from '../model/error.ts';
import type { Actuator, Observer } from '../model/ports.ts';
import type { ObservedState } from '../model/state.ts';
import type { Connection } from './connect.ts';
import { DIALECTS } from './dialects.ts';
import { headerOf } from './exchange.ts';
import { faultError } from './fault-error.ts';
import { retrying, timeLeft, UNLIMITED, type TimeLimits } from './retry.ts';
import { ServiceError } from './service-error.ts';

/** The dialect that is tried first, and the only one so far. */
const FIRST = DIALECTS['settings-v0'];

/**
 * Reads the settings of a service, and tries again within the deadline if that may help. Throws a SetpointError that names the
 * request and its problem: unreachable, tls, timed-out, redirected, unauthorized, rate-limited, server-error, bad-response,
 * response-too-large, not-this-service, dialect-not-spoken, interrupted.
 */
export function settingsObserver(connection: Connection, limits: TimeLimits = UNLIMITED): Observer {
  const { clock, random } = connection;
  const place = connection.place('GET', FIRST.path);
  return {
    observe: retrying(
      (signal) => readSettings(connection, limits, signal),
      { clock, place, random },
      limits,
    ),
  };
}

/**
 * Writes the settings of a service, in the dialect in which they were observed: one request for each call. The error of a write
 * that did not take effect is a ServiceError if the service named a time to come back.
 */
export function settingsActuator(connection: Connection, limits: TimeLimits = UNLIMITED): Actuator {
  return {
    store: (write) => DIALECTS[write.observed.dialect.name].write(connection, write, limits),
  };
}

/** One GET of the settings. The error's `retry` is whether to try again. */
async function readSettings(
  connection: Connection,
  limits: TimeLimits,
  signal: AbortSignal | undefined,
): Promise<ObservedState> {
  const place = connection.place('GET', FIRST.path);
  const timeout = timeLeft(connection.clock, limits, connection.timeout);
  if (timeout <= 0) {
    throw new ServiceError('timed-out', `${place} was not sent: the time for it is used up.`);
  }
  const answer = await connection.send({
    method: 'GET',
    path: FIRST.path,
    body: null,
    timeout,
    signal,
    wantsBody: (status) => status === 200 || status === 404,
  });
  if (answer.kind === 'fault') throw faultError(place, answer.fault, connection.proxied);
  const state = FIRST.read(connection, place, answer);
  if (state instanceof SetpointError) throw state;
  return state;
}

/** What one GET of the settings shows of a service, whatever it answers. */
export interface Probe {
  /** The status of the answer; null if there was none. */
  readonly status: number | null;
  /** How far the service's clock is ahead of this machine's, in milliseconds; null if the answer has no Date header. */
  readonly ahead: number | null;
  /** The settings, or why they could not be read. */
  readonly outcome: ObservedState | SetpointError;
}

/** One GET of the settings, sent once and never tried again. Never throws for what a service can do. */
export async function probe(
  connection: Connection,
  limits: TimeLimits,
  signal?: AbortSignal,
): Promise<Probe> {
  let answered: Pick<Probe, 'status' | 'ahead'> = { status: null, ahead: null };
  const { clock } = connection;
  const watched: Connection = {
    ...connection,
    send: async (request) => {
      const before = clock.now();
      const answer = await connection.send(request);
      if (answer.kind === 'reply') {
        const date = Date.parse(headerOf(answer.headers, 'date') ?? '');
        answered = { status: answer.status, ahead: aheadBy(date, before, clock.now()) };
      }
      return answer;
    },
  };
  const outcome = await readSettings(watched, limits, signal).catch(asSetpointError);
  return { ...answered, outcome };
}

/** A Date header is cut off to the second, and was written at some time of the exchange: within that, clocks agree. */
function aheadBy(date: number, before: number, after: number): number | null {
  if (Number.isNaN(date)) return null;
  const [least, most] = [date - after, date + 1000 - before];
  if (least > 0) return least;
  return most < 0 ? most : 0;
}
