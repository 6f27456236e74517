import type { Value } from '../../model/value.ts';
import type { Connection } from '../connect.ts';
import { createFaultError } from '../fault-error.ts';
import { readHeader } from '../exchange.ts';
import { readJsonReply, retrying, timeLeft, type TimeLimits } from '../request.ts';
import { ServiceError } from '../service-error.ts';
import { createStatusError } from '../status-error.ts';

const LARGEST_LIST = 8 * 1_048_576;

/** Returns the timeouts of a list and of a start: three and six times that of a request to the settings. Milliseconds. */
export function listTimeout({ timeout }: Connection): number {
  return Math.min(90_000, 3 * timeout);
}

export function startTimeout({ timeout }: Connection): number {
  return Math.min(180_000, 6 * timeout);
}

/** The deadline of a list with all its pages and what is tried again. */
export function listLimits(connection: Connection, within = Number.POSITIVE_INFINITY): TimeLimits {
  const longest = 4 * listTimeout(connection);
  return { deadline: connection.clock.monotonic() + Math.min(within, longest) };
}

export interface V1Answer {
  readonly status: number;
  readonly json: Value;
  /** Bytes of the body, unpacked. */
  readonly size: number;
  /** The time of the service, in milliseconds since 1970; this machine's if there is no Date header. */
  readonly at: number;
}

/** One GET of /api/v1, tried again if that may help. `also` is a status next to 200 that is not an error. */
export function getV1(
  connection: Connection,
  path: string,
  limits: TimeLimits,
  signal: AbortSignal | undefined,
  also?: number,
): Promise<V1Answer> {
  const { clock, random } = connection;
  const [bare = path] = path.split('?');
  const place = connection.place('GET', bare);
  const ask = async (given?: AbortSignal): Promise<V1Answer> => {
    await connection.turns.read({ place, deadline: limits.deadline, signal: given });
    const timeout = timeLeft(clock, limits, listTimeout(connection));
    if (timeout <= 0)
      throw new ServiceError('timed-out', `${place} was not sent: the time for it is used up.`);
    const answer = await connection.send({
      method: 'GET',
      path,
      body: null,
      timeout,
      headersTimeout: timeout,
      largestBody: LARGEST_LIST,
      signal: given,
      wantsBody: (status) => status === 200,
    });
    if (answer.kind === 'fault') throw createFaultError(place, answer.fault, connection.proxied);
    const { status, headers } = answer;
    const date = Date.parse(readHeader(headers, 'date') ?? '');
    const at = Number.isNaN(date) ? clock.now() : date;
    if (status === also) return { status, json: null, size: 0, at };
    if (status !== 200) throw createStatusError(connection, place, answer);
    const read = readJsonReply(place, answer);
    if ('error' in read) throw read.error;
    const size = answer.body instanceof Uint8Array ? answer.body.length : 0;
    return { status, json: read.json, size, at };
  };
  return retrying(ask, { clock, place, random }, limits)(signal);
}
