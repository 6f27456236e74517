import type { Alert } from './alertmanager.ts';
import type { Due } from './decide.ts';
import type { Receiver } from './receiver.ts';
import type { SendResult } from './send.ts';

/** How long notices are collected before the first is sent, and the least time between two messages to one receiver. */
const GATHER = 10_000;
export const SPACING = 60_000;
/** How long is waited after a receiver did not take a message: doubled each time, at most as long as this. */
const LONGEST_PAUSE = 10 * 60_000;
/** How often the same notice is tried. */
const MOST_TRIES = 8;

/** When a receiver is told next, and what it has not taken yet. Times are on the monotonic clock. */
export class Turns {
  readonly receiver: Receiver;
  busy = false;
  isFailing = false;
  notBefore = Number.NEGATIVE_INFINITY;
  /** Of Alertmanager: what fires there, and when that is sent again. */
  firing: ReadonlyMap<string, Alert> = new Map();
  resendAt = Number.NEGATIVE_INFINITY;
  #since: number | null = null;
  #failures = 0;
  #tries = new Map<string, number>();

  constructor(receiver: Receiver) {
    this.receiver = receiver;
  }

  /** What of the notices that are due is sent now: all of them, or none while more are collected or it is too early. */
  toSend(due: readonly Due[], now: number): readonly Due[] {
    const tries = new Map<string, number>();
    for (const one of due) tries.set(keyOf(one), this.#tries.get(keyOf(one)) ?? 0);
    // What is no longer due is forgotten, so that a state that comes back is tried again.
    this.#tries = tries;
    const left = due.filter((one) => (tries.get(keyOf(one)) ?? 0) < MOST_TRIES);
    if (left.length === 0) this.#since = null;
    else this.#since ??= now;
    const isTime = this.#since !== null && now - this.#since >= GATHER && now >= this.notBefore;
    return isTime ? left : [];
  }

  ended(due: readonly Due[], result: SendResult, now: number): void {
    this.#since = null;
    if (result.kind !== 'not-taken') {
      this.#failures = 0;
      this.pause(now, SPACING);
      return;
    }
    this.#failures += 1;
    const tries = result.again ? 1 : MOST_TRIES;
    for (const one of due) this.#tries.set(keyOf(one), (this.#tries.get(keyOf(one)) ?? 0) + tries);
    const pause = Math.min(LONGEST_PAUSE, GATHER * 2 ** Math.min(this.#failures, 10));
    this.pause(now, Math.max(pause, result.after ?? 0));
  }

  pause(now: number, time: number): void {
    this.notBefore = now + time;
  }
}

function keyOf({ state, event, digest }: Due): string {
  return JSON.stringify([state.name, event, digest]);
}
