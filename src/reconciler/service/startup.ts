import { pause, type Retrying, type TimeLimits } from './retry.ts';
import { LONGEST_WAIT, seconds, ServiceError } from './service-error.ts';

/** How long a service that is starting is waited for, over all reads of one run. */
export interface Startup {
  /** Milliseconds in all. */
  readonly wait: number;
  /** Milliseconds that are left of them. */
  left: number;
  /** Receives what each read met in place of an answer, in a few words, and null once one is answered. */
  readonly onWait: (problem: string | null) => void;
}

const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 2_000;
/** What the last request has: with less time, its failure would say nothing of the service. */
const LAST_REQUEST = 500;

/**
 * A read that waits until the service is ready: as long as it fails as a service does that is starting, it is tried again,
 * after half a second to two, or when Retry-After says. What it waits does not count towards `limits`. A read that fails in
 * another way is left to `usual`. When the time is used up, the error is that of the last try.
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
  const message = `The service${later} ready within ${seconds(wait)}. ${last.message}`;
  return last.reworded({ message });
}
