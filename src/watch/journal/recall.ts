import type { Journal } from './journal.ts';
import type { Memory } from './journal-lines.ts';

/** What a journal says of environments by now. Those that ask at the same time share one reading, which begins after they asked. */
export class Recall {
  readonly #journal: Journal;
  #reading: Promise<unknown> = Promise.resolve();
  #next: Promise<Memory> | null = null;
  #stamp: string | null = null;

  constructor(journal: Journal) {
    this.#journal = journal;
  }

  /** Takes that everything is known by now. */
  async mark(): Promise<void> {
    this.#stamp = await this.#journal.stamp();
  }

  /** Whether nothing was appended since then. */
  async isSame(): Promise<boolean> {
    return (await this.#journal.stamp()) === this.#stamp;
  }

  async now(): Promise<Memory> {
    this.#next ??= this.#reading.then(() => {
      this.#next = null;
      const reading = this.#journal.remember();
      this.#reading = reading.catch(() => {});
      return reading.then(({ memory }) => memory);
    });
    return this.#next;
  }
}
