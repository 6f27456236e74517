import type { JournalEvent } from '../../model/watch.ts';

interface Waiting {
  readonly event: JournalEvent;
  readonly at: number;
}

/** States that wait at most; of more, the oldest are dropped. */
const MOST = 20;

/** Records of one environment on their way into the journal: in their order, each with the time at which it came about. */
export class Records {
  readonly #keep: (event: JournalEvent, at: number) => Promise<unknown>;
  #waiting: readonly Waiting[] = [];

  constructor(keep: (event: JournalEvent, at: number) => Promise<unknown>) {
    this.#keep = keep;
  }

  /** Takes a record that must not be lost while the journal cannot be written. */
  add(event: JournalEvent, at: number): void {
    const states = this.#waiting.filter((one) => one.event.kind === 'state');
    const dropped = event.kind === 'state' && states.length >= MOST ? states[0] : undefined;
    this.#waiting = [...this.#waiting.filter((one) => one !== dropped), { event, at }];
  }

  /** Drops states that wait: what was found is compared with what the journal says instead. */
  dropStates(): void {
    this.#waiting = this.#waiting.filter(({ event }) => event.kind !== 'state');
  }

  /** Resolves once everything is on the disk. Throws output-failed if the journal cannot be written; then it waits. */
  async flush(): Promise<void> {
    for (let [next] = this.#waiting; next !== undefined; [next] = this.#waiting) {
      const { event, at } = next;
      await this.#keep(event, at);
      this.#waiting = this.#waiting.filter((one) => one !== next);
    }
  }

  /** Keeps a record now, after those that wait, or not at all. Throws output-failed then. */
  async now(event: JournalEvent, at: number): Promise<void> {
    await this.flush();
    await this.#keep(event, at);
  }
}
