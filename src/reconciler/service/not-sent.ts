import { LONGEST_WAIT, RATE_HINT, seconds, ServiceError } from './service-error.ts';

/** A refusal for too many requests: its status, and the wait that it asks for, in milliseconds; null if it names none. */
export interface Refusal {
  readonly status: number;
  readonly after: number | null;
}

/**
 * Why a request was not sent: a read would have to wait too long; a write does not wait; or everything has been refused for
 * this time, in milliseconds.
 */
type Why = 'read' | 'write' | number;

/**
 * The error of a request that was not sent because the service has refused others of this run for too many. `wait` is what is
 * left of the pause, in milliseconds.
 */
export class NotSent extends ServiceError {
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
  if (typeof why === 'number') return `, and has refused all of them for ${seconds(why)}`;
  if (requested > 0) return `, and asks to wait for ${seconds(requested)}`;
  return why === 'read' ? ', and the time for this environment is used up' : '';
}
