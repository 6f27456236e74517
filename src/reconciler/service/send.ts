import type { SetpointError } from '../model/error.ts';
import type { WriteFailure } from '../model/ports.ts';
import { isRecord, type ValueRecord } from '../model/value.ts';
import type { Connection } from './connect.ts';
import type { Method } from './exchange.ts';
import { faultError } from './fault-error.ts';
import { jsonOf, type Reply } from './ask.ts';
import { timeLeft, UNLIMITED, type TimeLimits } from './retry.ts';
import { ServiceError } from './service-error.ts';
import { statusError } from './status-error.ts';

interface Sending {
  readonly method: Exclude<Method, 'GET'>;
  readonly path: string;
  readonly body: string | null;
  /** Milliseconds; an answer must begin within `headersTimeout` (default: 10 s). */
  readonly timeout: number;
  readonly headersTimeout?: number;
  readonly limits?: TimeLimits;
  /** Statuses that refuse what was sent. Default: 422. */
  readonly refusals?: readonly number[];
  /** The error for such a status, if there is more to say than the status. */
  readonly refused?: (place: string, reply: Reply) => SetpointError;
}

/** `done`: the service confirmed it, with the object that it answered. */
export type SendAnswer = { readonly kind: 'done'; readonly answer: ValueRecord } | WriteFailure;

/**
 * Sends one request that changes something, once, and reports whether it took effect. A status alone is no proof of success: the body may have been cut,
 * or written by something in between. A request under way is ended by its own deadline alone.
 */
export async function sendOnce(connection: Connection, request: Sending): Promise<SendAnswer> {
  const { method, path, body, refused, refusals = [422] } = request;
  const place = connection.place(method, path);
  const timeout = timeLeft(connection.clock, request.limits ?? UNLIMITED, request.timeout);
  if (timeout <= 0) {
    return notApplied(
      new ServiceError('timed-out', `${place} was not sent: the time for it is used up.`),
      false,
    );
  }
  const limited = connection.turns.write(place);
  if (limited !== null) return notApplied(limited, false);
  const answer = await connection.send({
    method,
    path,
    body,
    timeout,
    ...(request.headersTimeout === undefined ? {} : { headersTimeout: request.headersTimeout }),
    wantsBody: (status) => [200, 201, 404, 422].includes(status),
  });
  if (answer.kind === 'fault') {
    const error = faultError(place, answer.fault, connection.proxied);
    return answer.fault.phase === 'connect' ? notApplied(error, false) : ambiguous(error);
  }
  const { status } = answer;
  if (status === 200 || status === 201) return confirmed(place, answer);
  if (refusals.includes(status) && refused !== undefined)
    return notApplied(refused(place, answer), true);
  const error = statusError(connection, place, answer);
  return status < 300 || status === 408 || status >= 500
    ? ambiguous(error)
    : notApplied(error, true);
}

function confirmed(place: string, reply: Reply): SendAnswer {
  const read = jsonOf(place, reply);
  if ('error' in read) return ambiguous(read.error);
  if (isRecord(read.json)) return { kind: 'done', answer: read.json };
  return ambiguous(
    new ServiceError('bad-response', `${place} was answered with JSON that is not an object.`),
  );
}

function notApplied(error: SetpointError, reached: boolean): WriteFailure {
  const retry = error instanceof ServiceError && error.retry === 'again';
  return { kind: 'not-applied', retry, reached, error };
}

export function ambiguous(error: SetpointError): WriteFailure {
  return { kind: 'ambiguous', error };
}
