import { type ErrorCode, SetpointError } from '../model/error.ts';

/** The advice to repeat a request: as often as the time allows, once, or never. */
export type Retry = 'again' | 'once' | 'never';

export interface ServiceErrorOptions {
  readonly hint?: string | undefined;
  readonly cause?: Error | undefined;
  readonly retry?: Retry;
  readonly retryAfter?: number | null;
  readonly starting?: string | null;
}

type Words = Pick<SetpointError, 'message' | 'hint'>;

/**
 * An error of a request to the service. `retryAfter` is the wait that the service requested, in milliseconds, or null. `starting`
 * is what happened, in a few words, if a service that is starting, or the proxy in front of it, fails like this; else null.
 * `cause` has the class name and code of the foreign error, and none of its text.
 */
export class ServiceError extends SetpointError {
  readonly retry: Retry;
  readonly retryAfter: number | null;
  readonly starting: string | null;

  constructor(code: ErrorCode, message: string, options: ServiceErrorOptions = {}) {
    const { hint, cause, retry = 'never', retryAfter = null, starting = null } = options;
    super(code, message, { cause, ...(hint === undefined ? {} : { hint }) });
    this.retry = retry;
    this.retryAfter = retryAfter;
    this.starting = starting;
  }

  /** Returns the same error in other words. */
  reword({ message = this.message, hint = this.hint }: Partial<Words>): ServiceError {
    const cause = this.cause instanceof Error ? this.cause : undefined;
    const { retry, retryAfter, starting } = this;
    return new ServiceError(this.code, message, { hint, cause, retry, retryAfter, starting });
  }
}

/** A message about a request: the cause, which a narrow column must not cut off, then the request. */
export function requestError(cause: string, place: string): string {
  return `${cause.charAt(0).toUpperCase()}${cause.slice(1)}: ${place}.`;
}

const IMF_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** The longest wait, in milliseconds: a request that would have to wait longer fails at once. */
export const LONGEST_WAIT = 60_000;
/** The longest wait that a controller keeps, in milliseconds: one that asks for years has a wrong clock, and would never be asked again. */
export const LONGEST_KEPT = 24 * 3_600_000;

/** The remedy if a service refuses requests for too many. */
export const RATE_HINT =
  'Try again later, give each environment more time with --timeout, or choose fewer of them with -e.';

const ABSURD = 999_999_999_000;

/**
 * The wait of a Retry-After header, in milliseconds (RFC 9110, 10.2.3): seconds, or a date. A date counts from the Date header of
 * the same answer, so clocks need not agree. Null if there is no such header or it is invalid; a date in the past is zero.
 */
export function retryAfter(
  value: string | undefined,
  date: string | undefined,
  now: number,
): number | null {
  const text = value?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(text)) return Math.min(Number(text) * 1000, ABSURD);
  const until = parseHttpDate(text);
  if (until === null) return null;
  return Math.min(Math.max(0, until - (parseHttpDate(date?.trim() ?? '') ?? now)), ABSURD);
}

/** A wait in words. */
export function formatWait(milliseconds: number): string {
  const tenths = Math.round(milliseconds / 100);
  return tenths === 0 && milliseconds > 0 ? `${Math.ceil(milliseconds)} ms` : `${tenths / 10} s`;
}

function parseHttpDate(text: string): number | null {
  if (!IMF_DATE.test(text)) return null;
  const time = Date.parse(text);
  return Number.isNaN(time) ? null : time;
}

/** A refusal for too many requests: its status, and the wait that it asks for, in milliseconds; null if it names none. */
export interface Refusal {
  readonly status: number;
  readonly after: number | null;
}

/**
 * The reason why a request was not sent: a read would have to wait too long; a write does not wait; or everything has been refused for this
 * time, in milliseconds.
 */
type Why = 'read' | 'write' | number;

/**
 * The error of a request that was not sent because the service has refused others of this run for too many. `wait` is what is
 * left of the pause, in milliseconds.
 */
export class RequestNotSentError extends ServiceError {
  constructor(place: string, { status, after }: Refusal, wait: number, why: Why) {
    const limits = status === 429;
    const problem = limits ? 'the service limits requests' : 'the service is not available';
    super(
      limits ? 'rate-limited' : 'server-error',
      `${place} was not sent: ${problem}${moreWords(after === null ? 0 : wait, why)} (status ${status}).`,
      {
        hint: limits ? RATE_HINT : undefined,
        retry: why === 'write' && wait <= LONGEST_WAIT ? 'again' : 'never',
        retryAfter: wait,
        starting: `status ${status}`,
      },
    );
  }
}

function moreWords(requested: number, why: Why): string {
  if (typeof why === 'number') return `, and has refused all of them for ${formatWait(why)}`;
  if (requested > 0) return `, and asks to wait for ${formatWait(requested)}`;
  return why === 'read' ? ', and the time for this environment is used up' : '';
}

/** The finding if the proxy in front of a starting service has no route to it yet. */
export const NO_ROUTE_YET = 'a proxy answers that nothing is there (status 404)';
