import type { Clock } from '../../reconciler/model/ports.ts';

export interface ChoreOptions {
  readonly clock: Clock;
  /** Milliseconds from the end of one time to the next. */
  readonly every: number;
  /** Never throws. */
  readonly work: () => Promise<void>;
  /** Told that the work takes too long, while it goes on; and whenever it has ended, that it does not. */
  readonly late: (isLate: boolean) => void;
}

/** How long work may take before that is a problem, in milliseconds. */
const LATE = 15_000;
/** How long others wait for work that has just begun, in milliseconds: it is usually done by then. */
const GRACE = 500;

/** Waits for work, for as many milliseconds at most; whether it has ended by then. The work goes on. */
export async function endsWithin(most: number, work: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), most);
  });
  const ended = work.then(() => true);
  try {
    return await Promise.race([ended, over]);
  } finally {
    clearTimeout(timer);
  }
}

/** Work that is done again and again beside the reads, once at a time: a disk or a server that hangs delays nothing else. */
export class Chore {
  readonly #options: ChoreOptions;
  #due = Number.NEGATIVE_INFINITY;
  #running: Promise<void> | null = null;

  constructor(options: ChoreOptions) {
    this.#options = options;
  }

  get isRunning(): boolean {
    return this.#running !== null;
  }

  /** Has it done as soon as it can be, also if it is being done now. */
  soon(): void {
    this.#due = Number.NEGATIVE_INFINITY;
  }

  /** Begins the work if it is due. Resolves once it is done, or goes on beside. */
  async look(): Promise<void> {
    if (this.#running !== null || this.#options.clock.monotonic() < this.#due) return;
    await endsWithin(GRACE, this.begin());
  }

  /** Begins the work, unless it goes on already. Resolves once it is done. */
  begin(): Promise<void> {
    this.#running ??= this.#do();
    return this.#running;
  }

  async #do(): Promise<void> {
    const { clock, every, work, late } = this.#options;
    const lateness = setTimeout(() => late(true), LATE).unref();
    this.#due = Number.POSITIVE_INFINITY;
    try {
      await work();
    } finally {
      clearTimeout(lateness);
      late(false);
      this.#running = null;
      this.#due = Math.min(this.#due, clock.monotonic() + every);
    }
  }
}

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
