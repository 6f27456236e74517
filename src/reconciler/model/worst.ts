/** The worst of many: at most `limit` are held, the rest is counted. */
export class Worst<T> {
  readonly #limit: number;
  #held: { readonly one: T; readonly gravity: readonly number[] }[] = [];
  #count = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Of two, the one with the greater first number that differs is worse. */
  add(one: T, gravity: readonly number[]): void {
    this.#count += 1;
    this.#held.push({ one, gravity });
    // Now and then, so that the sorting costs little for each.
    if (this.#held.length >= 2 * this.#limit) this.#cut();
  }

  /** The worst first, those alike in the order in which they came; and how many more there were. */
  list(): { readonly held: readonly T[]; readonly more: number } {
    this.#cut();
    return { held: this.#held.map(({ one }) => one), more: this.#count - this.#held.length };
  }

  #cut(): void {
    this.#held = this.#held
      .toSorted((one, other) => compared(other.gravity, one.gravity))
      .slice(0, this.#limit);
  }
}

/** Negative if the first is less grave. */
export function compared(one: readonly number[], other: readonly number[]): number {
  const index = one.findIndex((number, at) => number !== other[at]);
  return index === -1 ? 0 : (one[index] ?? 0) - (other[index] ?? 0);
}
