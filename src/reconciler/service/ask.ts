import type { Connection } from './connect.ts';
import { faultError } from './fault-error.ts';
import type { Reply } from './json-reply.ts';
import { timeLeft, type TimeLimits } from './retry.ts';
import { ServiceError } from './service-error.ts';

/** Sends one GET, once. Throws a SetpointError if there is no answer. */
export type Ask = (
  path: string,
  headers?: Readonly<Record<string, string>>,
) => Promise<{ readonly place: string; readonly reply: Reply }>;

/** GETs within the time limits; the bodies of 200 and 404 are read. */
export function askFor(
  connection: Connection,
  limits: TimeLimits,
  signal: AbortSignal | undefined,
): Ask {
  return async (path, headers) => {
    const place = connection.place('GET', path);
    await connection.turns.read({ place, deadline: limits.deadline, signal });
    const timeout = timeLeft(connection.clock, limits, connection.timeout);
    if (timeout <= 0) {
      throw new ServiceError('timed-out', `${place} was not sent: the time for it is used up.`);
    }
    const answer = await connection.send({
      method: 'GET',
      path,
      body: null,
      ...(headers === undefined ? {} : { headers }),
      timeout,
      signal,
      wantsBody: (status) => status === 200 || status === 404,
    });
    if (answer.kind === 'fault') throw faultError(place, answer.fault, connection.proxied);
    return { place, reply: answer };
  };
}
