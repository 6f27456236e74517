/** The reads of one environment that are under way at once, as many as browsers have with one host. */
export const READS_AT_ONCE = 6;

/** Places for reads of one environment: a read begins when a place is free, in the order in which they came. */
export class ReadSlots {
  #free = READS_AT_ONCE;
  readonly #waiting: (() => void)[] = [];

  async run<T>(read: () => Promise<T>): Promise<T> {
    if (this.#free === 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#free -= 1;
    try {
      return await read();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free += 1;
      else next();
    }
  }
}
