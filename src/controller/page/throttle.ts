const WINDOW = 60_000;
const MOST = 10;
/** Addresses that are counted at once; of more, the oldest is forgotten. */
const MOST_ADDRESSES = 10_000;

/** Counts the wrong tokens of an address in a minute. Times are milliseconds. */
export class Throttle {
  readonly #failures = new Map<string, number>();
  #began = Number.NEGATIVE_INFINITY;

  /** Counts one more; in how many seconds the address may try again, 0 if it may now. */
  failed(address: string, now: number): number {
    if (now - this.#began >= WINDOW) {
      this.#began = now;
      this.#failures.clear();
    }
    const count = (this.#failures.get(address) ?? 0) + 1;
    const [oldest] = this.#failures.keys();
    if (count === 1 && this.#failures.size >= MOST_ADDRESSES && oldest !== undefined)
      this.#failures.delete(oldest);
    this.#failures.set(address, count);
    return count <= MOST ? 0 : Math.max(1, Math.ceil((this.#began + WINDOW - now) / 1000));
  }
}
