import type { Clock } from '../../reconciler/model/ports.ts';

/** Milliseconds between the beginnings of two reads that are asked for. */
const ASKED_APART = 1_000;
/** Reads before their time that a limit allows, such as after edits; one more after each of its intervals. */
const MOST_EARLY = 4;

/**
 * The reason why an environment is read before its time: a client `asked` for it, something of it `changed` (the files, a key, its service
 * is back, its edit may be written), or it was `written`.
 */
export type ReadReason = 'asked' | 'changed' | 'written';

/** Limits the reads of one environment before their time. `least` is the interval that it is limited to, in milliseconds; 0 without a limit. */
export class ReadLimit {
  readonly #clock: Pick<Clock, 'monotonic'>;
  #began = Number.NEGATIVE_INFINITY;
  #early = MOST_EARLY;
  #earlyAt = Number.NEGATIVE_INFINITY;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** Records the begin of a read, which counts as early before its time. */
  begin(least: number): void {
    const now = this.#clock.monotonic();
    if (now < this.#began + least) {
      this.#early = Math.max(0, this.#earlyNow(least) - 1);
      if (now - this.#earlyAt >= least) this.#earlyAt = now;
    }
    this.#began = now;
  }

  /** Returns when a read may begin that is wanted at a time. */
  allow(reason: ReadReason, least: number, at: number): number {
    const next = this.#computeEarliest(reason, least);
    return next <= this.#clock.monotonic() ? at : Math.max(at, next);
  }

  #computeEarliest(reason: ReadReason, least: number): number {
    switch (reason) {
      case 'asked':
        return this.computeRequestTime(least);
      case 'changed':
        return this.mayBeEarly(least) ? Number.NEGATIVE_INFINITY : this.#began + least;
      case 'written':
        return Number.NEGATIVE_INFINITY;
    }
  }

  /** Returns the time when a read that is requested now may begin. */
  computeRequestTime(least: number): number {
    return this.#began + Math.max(least, ASKED_APART);
  }

  /** Reports whether a read may begin now because something has changed. */
  mayBeEarly(least: number): boolean {
    const isInTime = least === 0 || this.#clock.monotonic() >= this.#began + least;
    return isInTime || this.#earlyNow(least) > 0;
  }

  /** Reports whether it would allow a read now as if there had been none. */
  isOver(least: number): boolean {
    return this.#clock.monotonic() >= this.computeRequestTime(least);
  }

  #earlyNow(least: number): number {
    const more = Math.floor((this.#clock.monotonic() - this.#earlyAt) / least);
    return Math.min(MOST_EARLY, this.#early + more);
  }
}
