import { LONGEST_KEPT } from '../../../reconciler/service/service-error.ts';
import type { SentAlerts } from './alerts.ts';
import { ControllerNews } from './controller-news.ts';
import type { Due } from './decide.ts';
import { FORMS } from './receivers.ts';
import { type Receiver } from './receiver.ts';
import type { SendResult } from './send.ts';

/** The time for collecting notices before the first is sent, and the shortest time between two messages to one receiver. */
const GATHER = 10_000;
export const SPACING = 60_000;
/** The time that a refused notice waits. It is tried again, since the cause may be fixed by then. */
const REFUSED_PAUSE = 60 * 60_000;

/** The next turn of a receiver, and the notices that it has not accepted yet. Times are on the monotonic clock. */
export class Turns {
  readonly receiver: Receiver;
  busy = false;
  /** The news about the controller itself. */
  readonly news: ControllerNews;
  notBefore = Number.NEGATIVE_INFINITY;
  /** The alerts that Alertmanager was sent, by environment, and when they are sent again. */
  sent: SentAlerts = new Map();
  resendAt = Number.NEGATIVE_INFINITY;
  #since: number | null = null;
  #failures = 0;
  /** The time when each refused notice is tried again. */
  #refused = new Map<string, number>();

  constructor(receiver: Receiver) {
    this.receiver = receiver;
    this.news = new ControllerNews(receiver);
  }

  /**
   * The due notices to send now: all of them, or none while more are collected or it is too early. Refused ones wait, and do not go with
   * others: if one of them is the reason, it must not delay the others.
   */
  toSend(due: readonly Due[], now: number): readonly Due[] {
    const refused = new Map<string, number>();
    const fresh: Due[] = [];
    const again: Due[] = [];
    for (const one of due) {
      const key = noticeKey(one);
      const until = this.#refused.get(key);
      if (until === undefined) fresh.push(one);
      else {
        refused.set(key, until);
        if (now >= until) again.push(one);
      }
    }
    // States that are no longer due are forgotten, so that one that comes back is tried again.
    this.#refused = refused;
    const left = fresh.length > 0 ? fresh : again;
    if (left.length === 0) this.#since = null;
    else this.#since ??= now;
    const isTime = this.#since !== null && now - this.#since >= GATHER && now >= this.notBefore;
    return isTime ? left : [];
  }

  recordResult(due: readonly Due[], result: SendResult, now: number): void {
    this.#since = null;
    if (result.kind !== 'not-taken') {
      this.#failures = 0;
      this.pause(now, SPACING);
      return;
    }
    this.#failures += 1;
    for (const one of due) {
      if (result.again) this.#refused.delete(noticeKey(one));
      else this.#refused.set(noticeKey(one), now + REFUSED_PAUSE);
    }
    const { longestPause } = FORMS[this.receiver.to.form];
    const pause = Math.min(longestPause, GATHER * 2 ** Math.min(this.#failures, 10));
    this.pause(now, Math.max(pause, Math.min(result.after ?? 0, LONGEST_KEPT)));
  }

  pause(now: number, time: number): void {
    this.notBefore = now + time;
  }
}

function noticeKey({ state, event, digest }: Due): string {
  return JSON.stringify([state.name, event, digest]);
}
