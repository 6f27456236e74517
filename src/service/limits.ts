import type { Clock } from '../model/ports.ts';

/** How long all that is done about one target's settings may take: a time of `Clock.monotonic`, in milliseconds. */
export interface SettingsLimits {
  readonly deadline: number;
}

export const UNLIMITED: SettingsLimits = { deadline: Number.POSITIVE_INFINITY };

/** What one request may still take, in milliseconds; zero or less when the time is used up. */
export function timeLeft(clock: Clock, limits: SettingsLimits, timeout: number): number {
  return Math.min(timeout, limits.deadline - clock.monotonic());
}
