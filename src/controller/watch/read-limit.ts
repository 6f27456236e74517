import type { Clock } from '../../reconciler/model/ports.ts';

/** Milliseconds between the beginnings of two reads that are asked for. */
const ASKED_APART = 1_000;
/** Reads before their time that a limit allows, such as after edits; one more after each of its intervals. */
const MOST_EARLY = 4;

/** Holds the reads of one environment before their time to the interval that it is limited to. `least` is that, in milliseconds; 0 without a limit. */
export class ReadLimit {
  readonly #clock: Pick<Clock, 'monotonic'>;
  #began = Number.NEGATIVE_INFINITY;
  #early = MOST_EARLY;
  #earlyAt = Number.NEGATIVE_INFINITY;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** Takes that a read begins. */
  begin(): void {
    this.#began = this.#clock.monotonic();
  }

  /** When a read may begin that is asked for now. */
  asked(least: number): number {
    return this.#began + Math.max(least, ASKED_APART);
  }

  /** Whether a read may be made before its time without being asked for, such as after an edit; it counts as made. */
  mayBeEarly(least: number): boolean {
    const now = this.#clock.monotonic();
    if (least === 0 || now >= this.#began + least) return true;
    const more = Math.floor((now - this.#earlyAt) / least);
    if (more > 0) {
      this.#early = Math.min(MOST_EARLY, this.#early + more);
      this.#earlyAt = now;
    }
    if (this.#early === 0) return false;
    this.#early -= 1;
    return true;
  }

  /** The same as a time: `at`, or when the limit allows the next read. */
  early(least: number, at: number): number {
    return this.mayBeEarly(least) ? at : Math.max(at, this.#began + least);
  }

  /** Whether it would let a read through now as if there had been none. */
  isOver(least: number): boolean {
    return this.#clock.monotonic() >= this.asked(least);
  }
}
