import type { Clock } from '../../src/reconciler/model/ports.ts';

export interface FakeClock extends Clock {
  /** The requested waits, in milliseconds. */
  readonly waits: readonly number[];
}

/** A clock that sleeps in no time: its monotonic time is the real one, and the waits on top. */
export function fakeClock(now = Date.parse('2025-01-01T00:00:00Z')): FakeClock {
  const waits: number[] = [];
  let slept = 0;
  return {
    waits,
    now: () => now,
    monotonic: () => performance.now() + slept,
    sleep(milliseconds, signal) {
      waits.push(milliseconds);
      slept += milliseconds;
      return signal?.aborted === true ? Promise.reject(new Error('aborted')) : Promise.resolve();
    },
  };
}
