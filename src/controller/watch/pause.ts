import type { Clock } from '../../reconciler/model/ports.ts';

/** The pause between two turns of a loop. Something that happens ends it early, also if it happens before the pause begins. */
export class Pause {
  readonly #clock: Clock;
  #isOver = false;
  #sleep: AbortController | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves after as many milliseconds, or when the pause is ended. */
  async rest(milliseconds: number): Promise<void> {
    if (!this.#isOver && milliseconds > 0) {
      this.#sleep = new AbortController();
      await this.#clock.sleep(milliseconds, this.#sleep.signal);
      this.#sleep = null;
    }
    this.#isOver = false;
  }

  end(): void {
    this.#isOver = true;
    // Without a reason, an error with a stack is made each time.
    this.#sleep?.abort('over');
  }
}
