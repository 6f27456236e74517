import type { JournalEvent, JournalRecord } from '../../../reconciler/model/watch.ts';

interface Waiting {
  readonly event: JournalEvent;
  readonly at: number;
}

/** States that wait at most; of more, the oldest are dropped. */
const MOST = 20;

/** Records of one environment on their way into the journal: in their order, each with the time at which it came about. */
export class Records {
  readonly #keep: (event: JournalEvent, at: number) => Promise<JournalRecord>;
  #waiting: readonly Waiting[] = [];
  #last: Promise<unknown> = Promise.resolve();

  constructor(keep: (event: JournalEvent, at: number) => Promise<JournalRecord>) {
    this.#keep = keep;
  }

  /** Whether everything is on the disk. */
  get areKept(): boolean {
    return this.#waiting.length === 0;
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
  flush(): Promise<void> {
    return this.#inTurn(() => this.#keepWaiting());
  }

  /** Keeps a record now, after those that wait, or not at all. Throws output-failed then. */
  now(event: JournalEvent, at: number): Promise<JournalRecord> {
    return this.#inTurn(async () => {
      await this.#keepWaiting();
      return this.#keep(event, at);
    });
  }

  async #keepWaiting(): Promise<void> {
    for (let [next] = this.#waiting; next !== undefined; [next] = this.#waiting) {
      const { event, at } = next;
      await this.#keep(event, at);
      this.#waiting = this.#waiting.filter((one) => one !== next);
    }
  }

  /** Turns of an environment and its notices keep records at the same time. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => {});
    return done;
  }
}
