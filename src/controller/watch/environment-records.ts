import type { Clock } from '../../reconciler/model/ports.ts';
import type {
  JournalEvent,
  JournalRecord,
  Moment,
  WatchState,
} from '../../reconciler/model/watch.ts';
import { applyFact, restoreState, type Fact } from './environment-state.ts';

export interface RecordTools {
  /** Writes an event to the journal; resolves once it is on the disk. Throws output-failed if it cannot be written. */
  readonly append: (event: JournalEvent, at: number) => Promise<JournalRecord>;
  /** Passes a record on that is on the disk. */
  readonly tell: (state: WatchState, record: JournalRecord) => void;
  /** Receives each state that is another one than before, except for the time of the next read. */
  readonly changed: (state: WatchState) => void;
}

interface Waiting {
  readonly event: JournalEvent;
  readonly at: number;
}

/** States that wait at most; of more, the oldest are dropped. */
const MOST = 20;

/** From how many milliseconds on the clock was set, and did not only drift. */
export const CLOCK_SET = 10_000;

/** The state of one environment, and its records on their way into the journal: in their order, each with the time at which it came about. */
export class EnvironmentRecords {
  readonly #tools: RecordTools;
  #state: WatchState;
  #nextRead: () => number | null = () => null;
  /** The time that the state has as that of its next read; undefined until it has one of `#nextRead`. */
  #nextAt: number | null | undefined;
  #waiting: readonly Waiting[] = [];
  #last: Promise<unknown> = Promise.resolve();

  constructor(state: WatchState, tools: RecordTools) {
    this.#state = state;
    this.#tools = tools;
  }

  get state(): WatchState {
    const at = this.#nextRead();
    if (at === this.#nextAt) return this.#state;
    this.#nextAt = at;
    const nextRead = at === null ? null : new Date(at).toISOString();
    this.#state = { ...this.#state, nextRead };
    return this.#state;
  }

  /** Takes after how many milliseconds it is read next. If the clock is set meanwhile, the time of day at which that is moves with it. */
  readNext(wait: number, clock: Pick<Clock, 'now' | 'monotonic'>): void {
    const ahead = clock.now() - clock.monotonic();
    const at = clock.now() + wait;
    this.#nextRead = () => {
      const by = clock.now() - clock.monotonic() - ahead;
      return Math.abs(by) < CLOCK_SET ? at : at + by;
    };
  }

  /** Takes an event that is not stored in the journal, or that is in it already. */
  know(fact: Fact): void {
    this.#set(applyFact(this.#state, fact));
  }

  /** Uses the current records of the journal. Waiting states are dropped: findings are compared with those records instead. */
  restore(known: WatchState, now: Moment): void {
    this.#set(restoreState(this.#state, known, now));
    this.#waiting = this.#waiting.filter(({ event }) => event.kind !== 'state');
  }

  #set(state: WatchState): void {
    if (state === this.#state) return;
    this.#state = state;
    this.#tools.changed(state);
  }

  /** True if everything is on the disk. */
  get areKept(): boolean {
    return this.#waiting.length === 0;
  }

  /** Takes an event. It must not be lost while the journal cannot be written, and the holder of the lock stores it. */
  add(event: JournalEvent, at: number): void {
    this.know(createJournalRecord(event, at));
    if (this.#state.heldBy !== null) return;
    const states = this.#waiting.filter((one) => one.event.kind === 'state');
    const dropped = event.kind === 'state' && states.length >= MOST ? states[0] : undefined;
    this.#waiting = [...this.#waiting.filter((one) => one !== dropped), { event, at }];
  }

  /** Resolves once everything is on the disk. Throws output-failed if the journal cannot be written; then it waits. */
  flush(): Promise<void> {
    return this.#inTurn(() => this.#keepWaiting());
  }

  /** Keeps an event now, after those that wait, or not at all: it comes about once it is on the disk. Throws output-failed if it cannot be. */
  now(event: JournalEvent, at: number): Promise<JournalRecord> {
    return this.#inTurn(async () => {
      await this.#keepWaiting();
      const record = await this.#tools.append(event, at);
      this.know(record);
      this.#tools.tell(this.state, record);
      return record;
    });
  }

  async #keepWaiting(): Promise<void> {
    for (let [next] = this.#waiting; next !== undefined; [next] = this.#waiting) {
      const record = await this.#tools.append(next.event, next.at);
      this.#tools.tell(this.state, record);
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

/** Moves the times of heals with the clock of the machine if that is set: their age counts. */
export class HealTimes {
  readonly #records: EnvironmentRecords;
  readonly #clock: Clock;
  /** By how much the time of day was ahead of the monotonic clock when it was looked at. */
  #ahead = 0;

  constructor(records: EnvironmentRecords, clock: Clock) {
    this.#records = records;
    this.#clock = clock;
    this.fit();
  }

  /** Marks the times as those of the current clock. */
  fit(): void {
    this.#ahead = this.#clock.now() - this.#clock.monotonic();
  }

  /** Throws output-failed if it cannot be written that they have moved. */
  async move(): Promise<void> {
    const now = this.#clock.now();
    const ahead = now - this.#clock.monotonic();
    const by = Math.round(ahead - this.#ahead);
    if (Math.abs(by) < CLOCK_SET) return;
    const { name, heals } = this.#records.state;
    if (heals.length > 0)
      await this.#records.now({ kind: 'clock-set', environment: name, by }, now);
    this.#ahead = ahead;
  }
}

/** An event as the journal has it. */
export function createJournalRecord(event: JournalEvent, at: number): JournalRecord {
  return { v: 1, at: new Date(at).toISOString(), ...event };
}
