import type { Clock } from '../model/ports.ts';
import { createAbortError } from './fault-error.ts';
import { LONGEST_KEPT, LONGEST_WAIT, RequestNotSentError, type Refusal } from './service-error.ts';

/** A request that waits for its turn. */
export interface Waiting {
  /** Environments are served in the order in which they were opened. */
  readonly order: number;
  readonly place: string;
  /** A time of `Clock.monotonic`. */
  readonly deadline: number;
  /** The time a service may refuse everything before requests stop waiting, in milliseconds. */
  readonly patience: number;
  readonly signal: AbortSignal | undefined;
}

interface QueuedRequest {
  readonly waiting: Waiting;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

const KEPT = 0.75;
const LEAST_RATE = 0.1;
/** The growth of the rate in the first second after a pause, which doubles in each later one up to the most. */
const GROWTH = 0.03;
const MOST_GROWTH = 0.5;
/** The time in which the rate doubles until the first refusal shows the limit, and the period in which it is measured then. */
const SEARCH = 250;
const FIRST_PAUSE = 500;
/** After a measured rate was refused: a pause in which so many more would be sent, and the shortest. */
const PAUSED = 8;
const SHORTEST_PAUSE = 100;
const LONGEST_PAUSE = 8_000;
/** The time for the answer to the first request after a pause before others follow. */
const PROBE = 1_000;
/** The delay that a late timer may catch up, in milliseconds. */
const SLACK = 20;

/**
 * The pace of a run's requests to one origin that has refused some for too many. After a refusal all of them wait, as long as Retry-After
 * asks for within a day, or for half a second that doubles up to 8 s. Then one goes first; if it is accepted, the others follow at three
 * quarters of the rate before. Once a rate is known, the pause is shorter if that is high. The requests before the first refusal are a
 * burst that shows little of the limit: after it, the rate doubles four times a second until the next one. Later it grows slowly at first.
 * Source: behaviour 1.5.
 */
export class Pace {
  readonly #clock: Clock;
  readonly #random: () => number;
  #rate = Number.POSITIVE_INFINITY;
  #grownAt = Number.NEGATIVE_INFINITY;
  /** True if the last request had to wait. A rate that is not used up does not grow. */
  #held = false;
  /** The end of the pause, and the earliest time of the next request. */
  #opensAt = Number.NEGATIVE_INFINITY;
  #next = Number.NEGATIVE_INFINITY;
  #refusedAt = Number.NEGATIVE_INFINITY;
  /** The first of the refusals without a request that was taken in between. */
  #since: number | null = null;
  #refusals = 0;
  #last: Refusal = { status: 429, after: null };
  #probe: 'due' | 'sent' | null = null;
  #probedAt = Number.NEGATIVE_INFINITY;
  /** True if no rate was measured yet, with the times of requests in the measuring period. */
  #searching = true;
  readonly #lately: number[] = [];
  /** The requests since then; before that, in the second before the first refusal and since. */
  #taken = 0;
  readonly #queue: QueuedRequest[] = [];
  #sleeping: AbortController | null = null;
  #serving = false;

  constructor(clock: Clock, random: () => number) {
    this.#clock = clock;
    this.#random = random;
  }

  /** The number of requests that wait for their turn. */
  get waiting(): number {
    return this.#queue.length;
  }

  /** Resolves when the request may be sent. Rejects with a NotSent if it would have to wait too long, or if it is interrupted. */
  turn(waiting: Waiting): Promise<void> {
    this.#held = this.#queue.length > 0 || this.#wait() > 0;
    if (!this.#held) {
      this.#take();
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const { signal } = waiting;
      const ended = (): void => signal?.removeEventListener('abort', stop);
      const queued: QueuedRequest = {
        waiting,
        resolve: () => {
          ended();
          resolve();
        },
        reject: (error) => {
          ended();
          reject(error);
        },
      };
      const stop = (): void => {
        this.#queue.splice(this.#queue.indexOf(queued), 1);
        queued.reject(createAbortError(waiting.place, signal?.reason));
        this.#sleeping?.abort();
      };
      const after = this.#queue.findIndex((other) => other.waiting.order > waiting.order);
      this.#queue.splice(after === -1 ? this.#queue.length : after, 0, queued);
      signal?.addEventListener('abort', stop);
      if (signal?.aborted === true) stop();
      else this.#serve();
    });
  }

  /** A write does not wait: what it is based on would grow old. Null if it may be sent now, ahead of those that wait. */
  writeTurn(place: string): RequestNotSentError | null {
    const wait = this.#opensAt - this.#clock.monotonic();
    if (wait > 0) return new RequestNotSentError(place, this.#last, wait, 'write');
    this.#take();
    return null;
  }

  /** A request that was sent at that time was taken: it got an answer other than a refusal. */
  recordAnswer(sentAt: number): void {
    this.#taken += 1;
    if (sentAt <= this.#refusedAt) {
      // It was under way when the first was refused.
      if (this.#probedAt === Number.NEGATIVE_INFINITY) this.#rate = KEPT * this.#taken;
      return;
    }
    this.#since = null;
    this.#refusals = 0;
    if (this.#searching) this.#lately.push(this.#clock.monotonic());
    this.#grow();
    this.#endProbe();
  }

  /** A request that was sent at that time got no answer at all. */
  recordLoss(sentAt: number): void {
    if (sentAt > this.#refusedAt) this.#endProbe();
  }

  /** A request that was sent at that time was refused; `recent` of them were taken in the second before. */
  recordRefusal(sentAt: number, refusal: Refusal, recent: number): void {
    const now = this.#clock.monotonic();
    let pause = Math.min(refusal.after ?? 0, LONGEST_KEPT);
    // Requests that were under way when the first was refused add no information.
    if (sentAt > this.#refusedAt) {
      if (this.#refusals === 0) {
        const measured = this.#measureRate(now, recent);
        this.#rate = Math.max(LEAST_RATE, KEPT * Math.min(this.#rate, Math.max(1, measured)));
        this.#taken = recent;
      }
      const backoff = Math.min(LONGEST_PAUSE, this.#firstPause() * 2 ** this.#refusals);
      pause = Math.max(pause, (backoff * (1 + this.#random())) / 2);
      this.#refusals += 1;
      this.#refusedAt = now;
      this.#since ??= now;
      this.#probe = 'due';
    }
    if (now + pause > this.#opensAt) {
      this.#opensAt = now + pause;
      this.#last = refusal;
    }
    this.#sleeping?.abort();
  }

  #wait(): number {
    return Math.max(this.#opensAt, this.#next) - this.#clock.monotonic();
  }

  #take(): void {
    const now = this.#clock.monotonic();
    this.#next = Math.max(now - SLACK, this.#next) + 1000 / this.#rate;
    if (this.#probe !== 'due') return;
    this.#probe = 'sent';
    this.#next = now + PROBE;
    this.#probedAt = now;
    this.#grownAt = now;
    this.#taken = 0;
  }

  #endProbe(): void {
    if (this.#probe !== 'sent') return;
    this.#probe = null;
    this.#next = Math.max(this.#clock.monotonic(), this.#probedAt + 1000 / this.#rate);
    this.#sleeping?.abort();
  }

  #grow(): void {
    const now = this.#clock.monotonic();
    const growth = GROWTH * 2 ** ((now - this.#probedAt) / 1000);
    const passed = now - this.#grownAt;
    this.#grownAt = now;
    if (!this.#held) return;
    if (this.#searching) this.#rate *= 2 ** Math.min(1, passed / SEARCH);
    else this.#rate *= 1 + Math.min(MOST_GROWTH, growth) * Math.min(1, passed / 1000);
  }

  #firstPause(): number {
    if (this.#searching) return FIRST_PAUSE;
    return Math.min(FIRST_PAUSE, Math.max(SHORTEST_PAUSE, (PAUSED * 1000) / this.#rate));
  }

  /** The requests of a second that were taken right before a refusal. A search ends with it, unless it has not begun. */
  #measureRate(now: number, recent: number): number {
    const passed = now - this.#probedAt;
    if (this.#searching && this.#lately.length > 0) {
      this.#searching = false;
      const taken = this.#lately.filter((at) => at > now - SEARCH).length;
      this.#lately.length = 0;
      return (taken * 1000) / Math.min(SEARCH, passed);
    }
    return passed < 1000 ? (this.#taken * 1000) / passed : recent;
  }

  #serve(): void {
    if (this.#serving) {
      this.#sleeping?.abort();
      return;
    }
    this.#serving = true;
    this.#serveAll().catch((thrown: unknown) => {
      this.#serving = false;
      for (const { reject } of this.#queue.splice(0)) reject(thrown);
    });
  }

  async #serveAll(): Promise<void> {
    for (;;) {
      this.#giveUp();
      const [first] = this.#queue;
      if (first === undefined) {
        this.#serving = false;
        return;
      }
      const wait = this.#wait();
      if (wait <= 0) {
        this.#queue.shift();
        this.#take();
        first.resolve();
        continue;
      }
      const now = this.#clock.monotonic();
      const soonest = Math.min(...this.#queue.map(({ waiting }) => waiting.deadline - now), wait);
      const sleeping = new AbortController();
      this.#sleeping = sleeping;
      try {
        await this.#clock.sleep(soonest, sleeping.signal);
      } catch (thrown) {
        if (!sleeping.signal.aborted) throw thrown;
      }
      this.#sleeping = null;
    }
  }

  /** Turns away what would wait too long. */
  #giveUp(): void {
    const now = this.#clock.monotonic();
    const pause = this.#opensAt - now;
    const refusing = this.#since === null ? 0 : now - this.#since;
    for (let index = this.#queue.length - 1; index >= 0; index -= 1) {
      const queued = this.#queue[index];
      if (queued === undefined) continue;
      const { deadline, patience, place } = queued.waiting;
      const exhausted = pause > 0 && refusing >= patience;
      if (!exhausted && pause <= LONGEST_WAIT && deadline > Math.max(now, this.#opensAt)) continue;
      this.#queue.splice(index, 1);
      const why = exhausted ? refusing : 'read';
      queued.reject(new RequestNotSentError(place, this.#last, Math.max(0, pause), why));
    }
  }
}
