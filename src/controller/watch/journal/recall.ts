import type { Journal } from './journal.ts';
import type { Memory } from './memory.ts';

/** What a journal says of environments by now. Those that ask at the same time share one reading, which begins after they asked. */
export class Recall {
  readonly #journal: Journal;
  #reading: Promise<unknown> = Promise.resolve();
  #next: Promise<Memory> | null = null;

  constructor(journal: Journal) {
    this.#journal = journal;
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
