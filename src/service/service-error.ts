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
