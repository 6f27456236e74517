import { SetpointError, type ErrorCode } from '../model/error.ts';

/** Whether the same request may be tried again: as often as budgets allow, a single time, or not at all. */
export type Retry = 'again' | 'once' | 'never';

export interface ServiceErrorOptions {
  readonly hint?: string | undefined;
  readonly cause?: Error | undefined;
  readonly retry?: Retry;
  readonly retryAfter?: number | null;
}

/**
 * What went wrong between here and the service. `retryAfter` is how long the service asked to be left alone, in
 * milliseconds, or null. `cause` is a stand-in with a class name and a code: no text of the other side is in it.
 */
export class ServiceError extends SetpointError {
  readonly retry: Retry;
  readonly retryAfter: number | null;

  constructor(code: ErrorCode, message: string, options: ServiceErrorOptions = {}) {
    const { hint, cause, retry = 'never', retryAfter = null } = options;
    super(code, message, { cause, ...(hint === undefined ? {} : { hint }) });
    this.retry = retry;
    this.retryAfter = retryAfter;
  }
}

const IMF_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** A wait that no run sits out: whoever is asked for more gives up at once and says so. */
export const LONGEST_WAIT = 60_000;

const ABSURD = 999_999_999_000;

/**
 * How long a service asks to be left alone, in milliseconds (RFC 9110, 10.2.3): seconds, or a date. A date counts from the
 * date of the same answer, so that a clock that is off here or there does not matter. Null where there is no such header or
 * no sense in it; a date that has passed is zero.
 */
export function retryAfter(
  value: string | undefined,
  date: string | undefined,
  now: number,
): number | null {
  const text = value?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(text)) return Math.min(Number(text) * 1000, ABSURD);
  const until = dateOf(text);
  if (until === null) return null;
  return Math.min(Math.max(0, until - (dateOf(date?.trim() ?? '') ?? now)), ABSURD);
}

/** A wait in words. */
export function seconds(milliseconds: number): string {
  return `${Math.round(milliseconds / 100) / 10} s`;
}

function dateOf(text: string): number | null {
  if (!IMF_DATE.test(text)) return null;
  const time = Date.parse(text);
  return Number.isNaN(time) ? null : time;
}
