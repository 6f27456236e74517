import type { Clock } from '../model/ports.ts';
import { interruption } from './fault-error.ts';
import { LONGEST_WAIT, NotSent, seconds, ServiceError } from './service-error.ts';

/** Until when something may take, such as all that is done about one target's settings: a time of `Clock.monotonic`, in milliseconds. */
export interface TimeLimits {
  readonly deadline: number;
}

export const UNLIMITED: TimeLimits = { deadline: Number.POSITIVE_INFINITY };

/** What one request may still take, in milliseconds; zero or less when the time is used up. */
export function timeLeft(clock: Clock, limits: TimeLimits, timeout: number): number {
  return Math.min(timeout, limits.deadline - clock.monotonic());
}

/** `random` is from 0 to 1; `place` is the request as messages name it. */
export interface Retrying {
  readonly clock: Clock;
  readonly place: string;
  readonly random: () => number;
  /** How often it is sent at most, if it fails otherwise than by being refused for too many requests. Default: four times. */
  readonly tries?: number | undefined;
}

const TRIES = 4;
const FIRST_WAIT = 500;
const LONGEST_BACKOFF = 8_000;

/**
 * A request that is tried again if its error shows that this may help: four times in all unless told otherwise, after a wait of random length (up to
 * 0.5 s, then 1 s, then 2 s), or the one that Retry-After gives. One that was refused for too many requests asks for its turn
 * again (see Pace) as long as there is time. It never waits past the deadline.
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
        if (thrown instanceof NotSent && refused !== null) throw counted(refused, tries - 1);
        if (thrown.retry === 'never') throw counted(thrown, tries);
        if (thrown.code === 'rate-limited') {
          refused = thrown;
          continue;
        }
        if (thrown.retry === 'once') seldom += 1;
        if (tries >= most || seldom > 1) throw counted(thrown, tries);
        const backoff = random() * Math.min(LONGEST_BACKOFF, FIRST_WAIT * 2 ** (tries - 1));
        const wait = Math.max(backoff, thrown.retryAfter ?? 0);
        if (clock.monotonic() + wait >= limits.deadline) throw counted(thrown, tries);
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
  if (signal?.aborted === true) throw interruption(place, signal.reason);
}

/** The same error with the number of attempts. */
function counted(error: ServiceError, tries: number): ServiceError {
  if (tries === 1) return error;
  return error.reworded({ message: `${error.message.slice(0, -1)}, ${tries} tries in all.` });
}

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
