const WINDOW = 60_000;
const MOST_OF_ONE = 10;
const MOST_OF_ALL = 200;

/** Bounds how often a minute somebody may guess a token: of one address, and of all together. Times are milliseconds. */
export class Throttle {
  readonly #failures = new Map<string, number>();
  #total = 0;
  #began = Number.NEGATIVE_INFINITY;

  /** Seconds until an address may try again; 0 if it may now. */
  wait(address: string, now: number): number {
    this.#turn(now);
    const isFree = (this.#failures.get(address) ?? 0) < MOST_OF_ONE && this.#total < MOST_OF_ALL;
    return isFree ? 0 : Math.max(1, Math.ceil((this.#began + WINDOW - now) / 1000));
  }

  failed(address: string, now: number): void {
    this.#turn(now);
    this.#total += 1;
    this.#failures.set(address, (this.#failures.get(address) ?? 0) + 1);
  }

  #turn(now: number): void {
    if (now - this.#began < WINDOW) return;
    this.#began = now;
    this.#total = 0;
    this.#failures.clear();
  }
}
