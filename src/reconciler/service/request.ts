import { isJsonReply, type Reply, readHeader, type Method } from './exchange.ts';
import {
  NO_ROUTE_YET,
  requestError,
  ServiceError,
  LONGEST_WAIT,
  RequestNotSentError,
  formatWait,
} from './service-error.ts';
import { createStatusError } from './status-error.ts';
import type { Connection } from './connect.ts';
import { createFaultError, createAbortError } from './fault-error.ts';
import { onceFor } from '../model/cache.ts';
import type { SetpointError } from '../model/error.ts';
import { readPath, type Value, isRecord, type ValueRecord } from '../model/value.ts';
import type { Path } from '../model/path.ts';
import { decode } from './json.ts';
import type { WriteFailure, Clock } from '../model/ports.ts';

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
  const ask: Ask = async (path, headers) => {
    const [bare = path] = path.split('?');
    const place = connection.place('GET', bare);
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
    if (answer.kind === 'fault') throw createFaultError(place, answer.fault, connection.proxied);
    return { place, reply: answer };
  };
  return (path, headers) => connection.slots.run(() => ask(path, headers));
}

/** The JSON of a reply, or the error that names its problem: another content type, a text that is cut off or too deep. */
export function readJsonReply(place: string, reply: Reply): ReadReply {
  if (!isJsonReply(reply)) return { error: notJson(place, reply) };
  if (!(reply.body instanceof Uint8Array)) return { error: createFaultError(place, reply.body) };
  const decoding = decoded(reply.body);
  if (decoding.kind === 'value') return { json: decoding.value };
  switch (decoding.problem) {
    case 'not-json':
      return {
        error: new ServiceError(
          'bad-response',
          requestError('the answer is JSON that is cut off or malformed', place),
          { retry: 'once' },
        ),
      };
    case 'too-deep':
      return {
        error: new ServiceError(
          'bad-response',
          requestError('the answer is JSON that is nested more than 64 deep', place),
        ),
      };
    case 'duplicate-key':
      return {
        error: new ServiceError(
          'bad-response',
          requestError('the answer is JSON that has a key twice in one object', place),
        ),
      };
  }
}

type ReadReply = { readonly json: Value } | { readonly error: SetpointError };

const decoded = onceFor(decode);

/** A 404 that is not JSON comes from a proxy, which may have no way to the service yet. */
function notJson(place: string, { status, headers }: Reply): ServiceError {
  const contentType = readHeader(headers, 'content-type') ?? '';
  return new ServiceError(
    'not-this-service',
    requestError(
      `the answer is ${describeContentType(contentType)} instead of JSON (status ${status})`,
      place,
    ),
    {
      hint: 'Check server.url and its path prefix; a sign-in page in front of the service, or a service without this path, answers like this.',
      starting: status === 404 ? NO_ROUTE_YET : null,
    },
  );
}

/** Only what is known beforehand is named: a header may hold anything. */
function describeContentType(contentType: string): string {
  const [essence = ''] = contentType.toLowerCase().split(';', 1);
  switch (essence.trim()) {
    case '':
      return 'without a content type';
    case 'text/html':
    case 'application/xhtml+xml':
      return 'an HTML page';
    case 'text/plain':
    case 'text/xml':
    case 'application/xml':
    case 'application/octet-stream':
    case 'text/event-stream':
      return essence.trim();
    default:
      return 'of another content type';
  }
}

/** The request that names the release of a dialect: the path of a GET, and the place in its answer. */
export interface ReleaseNaming {
  readonly path: string;
  readonly at: Path;
}

/** The description of its API has a server's release, and asks no key. */
export const OPENAPI: ReleaseNaming = { path: '/openapi.json', at: ['info', 'version'] };

/** The release that a service names if it is asked; null if it names none. Throws a SetpointError if there is no answer. */
export async function requestRelease(
  ask: Ask,
  { path, at }: ReleaseNaming,
): Promise<string | null> {
  const { place, reply } = await ask(path);
  const read = reply.status === 200 ? readJsonReply(place, reply) : null;
  const named = read !== null && 'json' in read ? readPath(read.json, at) : undefined;
  return typeof named === 'string' && RELEASE.test(named) ? named : null;
}

/** `1.11.0`, `1.2.0rc1`, `1.57.0+local`: the answer of a server is shown unchanged here, so nothing else may be in it. */
const RELEASE = /^\d{1,5}(\.\d{1,5}){1,3}([-+.]?[A-Za-z0-9]{1,12}){0,3}$/;

/** Reports whether a 404 means an empty store: its body has this sentence. */
export function isNothingStored(body: Value): boolean {
  return isRecord(body) && body['error'] === 'Settings not found';
}

/** A removal may be answered without a body. */
const NO_ANSWER: ValueRecord = {};

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
  /** The error for such a status, if more is known than the status; null if not. */
  readonly refused?: (place: string, reply: Reply) => SetpointError | null;
}

/** `done`: the service confirmed it, with the object that it answered. */
type SendAnswer = { readonly kind: 'done'; readonly answer: ValueRecord } | WriteFailure;

/**
 * Sends one request that changes something, once, and reports whether it took effect. A status alone does not prove success: the body may
 * have been cut, or written by something in between. A request under way is ended by its own deadline alone.
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
    wantsBody: (status) => [200, 201, 404, 422, ...refusals].includes(status),
  });
  if (answer.kind === 'fault') {
    const error = createFaultError(place, answer.fault, connection.proxied);
    return answer.fault.phase === 'connect' ? notApplied(error, false) : toAmbiguousWrite(error);
  }
  const { status } = answer;
  if (status === 200 || status === 201) return confirmWrite(place, answer);
  if (status === 204 && method === 'DELETE') return { kind: 'done', answer: NO_ANSWER };
  const refusal = refusals.includes(status) ? refused?.(place, answer) : null;
  if (refusal !== null && refusal !== undefined) return notApplied(refusal, true);
  const error = createStatusError(connection, place, answer);
  return status < 300 || status === 408 || status >= 500
    ? toAmbiguousWrite(error)
    : notApplied(error, true);
}

function confirmWrite(place: string, reply: Reply): SendAnswer {
  const read = readJsonReply(place, reply);
  if ('error' in read) return toAmbiguousWrite(read.error);
  if (isRecord(read.json)) return { kind: 'done', answer: read.json };
  return toAmbiguousWrite(
    new ServiceError(
      'bad-response',
      requestError('the answer is JSON that is not an object', place),
    ),
  );
}

function notApplied(error: SetpointError, reached: boolean): WriteFailure {
  const retry = error instanceof ServiceError && error.retry === 'again';
  return { kind: 'not-applied', retry, reached, error };
}

export function toAmbiguousWrite(error: SetpointError): WriteFailure {
  return { kind: 'ambiguous', error };
}

/** Until when something may take, such as all that is done about one target's settings: a time of `Clock.monotonic`, in milliseconds. */
export interface TimeLimits {
  readonly deadline: number;
}

export const UNLIMITED: TimeLimits = { deadline: Number.POSITIVE_INFINITY };

/** Returns the time left for one request, in milliseconds; zero or less when the time is used up. */
export function timeLeft(clock: Clock, limits: TimeLimits, timeout: number): number {
  return Math.min(timeout, limits.deadline - clock.monotonic());
}

/** `random` is from 0 to 1; `place` is the request as messages name it. */
interface Retrying {
  readonly clock: Clock;
  readonly place: string;
  readonly random: () => number;
  /** The maximum number of attempts, not counting refusals for too many requests. Default: four. */
  readonly tries?: number | undefined;
}

const TRIES = 4;
const FIRST_WAIT = 500;
const LONGEST_BACKOFF = 8_000;

/**
 * A request that is tried again if its error shows that this may help: four times in all by default, after a wait of random length (up to
 * 0.5 s, then 1 s, then 2 s), or the one that Retry-After gives. One that was refused for too many requests waits for its turn again (see
 * Pace) while there is time. It never waits past the deadline.
 */
export function retrying<T>(
  ask: (signal?: AbortSignal) => Promise<T>,
  { clock, place, random, tries: most = TRIES }: Retrying,
  limits: TimeLimits,
): (signal?: AbortSignal) => Promise<T> {
  return answered;

  async function answered(signal?: AbortSignal): Promise<T> {
    let seldom = 0;
    let refused: ServiceError | null = null;
    for (let tries = 1; ; tries += 1) {
      try {
        return await ask(signal);
      } catch (thrown) {
        if (!(thrown instanceof ServiceError)) throw thrown;
        if (thrown instanceof RequestNotSentError && refused !== null)
          throw addAttemptCount(refused, tries - 1);
        if (thrown.retry === 'never') throw addAttemptCount(thrown, tries);
        if (thrown.code === 'rate-limited') {
          refused = thrown;
          continue;
        }
        if (thrown.retry === 'once') seldom += 1;
        if (tries >= most || seldom > 1) throw addAttemptCount(thrown, tries);
        const backoff = random() * Math.min(LONGEST_BACKOFF, FIRST_WAIT * 2 ** (tries - 1));
        const wait = Math.max(backoff, thrown.retryAfter ?? 0);
        if (clock.monotonic() + wait >= limits.deadline) throw addAttemptCount(thrown, tries);
        await pause(wait, { clock, place }, signal);
      }
    }
  }
}

/** Waits, in milliseconds, unless it is interrupted: that is an error which names the request that was to follow. */
export async function pause(
  wait: number,
  { clock, place }: Pick<Retrying, 'clock' | 'place'>,
  signal: AbortSignal | undefined,
): Promise<void> {
  try {
    await clock.sleep(wait, signal);
  } catch (thrown) {
    if (signal?.aborted !== true) throw thrown;
  }
  if (signal?.aborted === true) throw createAbortError(place, signal.reason);
}

/** Returns the same error with the number of attempts. */
function addAttemptCount(error: ServiceError, tries: number): ServiceError {
  if (tries === 1) return error;
  return error.reword({ message: `${error.message.slice(0, -1)}, ${tries} tries in all.` });
}

/** The wait for a service that is starting, over all reads of one run. */
export interface Startup {
  /** Milliseconds in all. */
  readonly wait: number;
  /** Milliseconds that are left of them. */
  left: number;
  /** Receives the problem of each read without an answer, in a few words, and null once one is answered. */
  readonly onWait: (problem: string | null) => void;
}

const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 2_000;
/** The minimum time of the last request: with less, its failure would not be meaningful. */
const LAST_REQUEST = 500;

/**
 * A read that waits until the service is ready: while it fails like a service that is starting, it is tried again, after half a second to
 * two, or at the time of Retry-After. Its waits do not count towards `limits`. A read that fails in another way is left to `usual`. When
 * the time is used up, the error is that of the last try.
 */
export function throughStartup<T>(
  ask: (signal: AbortSignal | undefined, limits: TimeLimits) => Promise<T>,
  usual: (signal?: AbortSignal) => Promise<T>,
  startup: Startup,
  limits: { deadline: number },
  retrying: Pick<Retrying, 'clock' | 'place'>,
): (signal?: AbortSignal) => Promise<T> {
  const { clock } = retrying;
  return async (signal) => {
    const begun = clock.monotonic();
    const until = begun + startup.left;
    const own = limits.deadline;
    const waited = (): void => {
      const spent = clock.monotonic() - begun;
      startup.left = Math.max(0, startup.left - spent);
      limits.deadline = own + spent;
    };
    for (let [tries, next] = [1, FIRST_PAUSE]; ; tries += 1) {
      try {
        const answered = await ask(signal, tries === 1 ? limits : { deadline: until });
        if (tries > 1) {
          waited();
          startup.onWait(null);
        }
        return answered;
      } catch (thrown) {
        if (!(thrown instanceof ServiceError)) throw thrown;
        if (thrown.starting === null) {
          waited();
          return usual(signal);
        }
        startup.onWait(thrown.starting);
        const requested = thrown.retryAfter ?? 0;
        const left = until - LAST_REQUEST - clock.monotonic();
        if (left <= 0 || requested > left) {
          waited();
          throw notReady(thrown, startup);
        }
        await pause(Math.max(requested, Math.min(next, left)), retrying, signal);
        next = Math.min(LONGEST_PAUSE, next * 1.5);
      }
    }
  };
}

/** The last error, with the time for which the service was waited for. */
function notReady(last: ServiceError, { wait }: Startup): ServiceError {
  const later = (last.retryAfter ?? 0) > LONGEST_WAIT ? ' will not be' : ' was not';
  const message = `The service${later} ready within ${formatWait(wait)}. ${last.message}`;
  return last.reword({ message });
}
