import type { Clock } from '../model/ports.ts';

/** Until when something may take, such as all that is done about one target's settings: a time of `Clock.monotonic`, in milliseconds. */
export interface TimeLimits {
  readonly deadline: number;
}

export const UNLIMITED: TimeLimits = { deadline: Number.POSITIVE_INFINITY };

/** What one request may still take, in milliseconds; zero or less when the time is used up. */
export function timeLeft(clock: Clock, limits: TimeLimits, timeout: number): number {
  return Math.min(timeout, limits.deadline - clock.monotonic());
}
