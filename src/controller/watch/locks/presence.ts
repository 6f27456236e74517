import { uptime } from 'node:os';
import { SetpointError } from '../../../reconciler/model/error.ts';
import type { Clock } from '../../../reconciler/model/ports.ts';
import type { ClaimStore } from './claims.ts';

/**
 * The time a holder judges itself by. The monotonic clock stands still while a machine sleeps, and the system's uptime does not, so
 * the longer of both counts; neither follows the clock on the wall.
 */
export interface OwnTime {
  readonly clock: Clock;
  /** Milliseconds since the machine started, its sleep included. */
  readonly sinceBoot: () => number;
}

export function ownTime(clock: Clock): OwnTime {
  return { clock, sinceBoot: () => uptime() * 1000 };
}

/** Starts to measure; the function returned tells the milliseconds since then. */
export function stopwatch({ clock, sinceBoot }: OwnTime): () => number {
  const [monotonic, boot] = [clock.monotonic(), sinceBoot()];
  return () => Math.max(clock.monotonic() - monotonic, sinceBoot() - boot);
}

/**
 * A process among the holders of a store, by one heartbeat. It is over once it could not renew the heartbeat for so long that others
 * may take it for dead, or found it taken away; it never comes back under the same name.
 */
export class Presence<Version> {
  readonly holder: string;
  readonly #store: ClaimStore<Version>;
  readonly #time: OwnTime;
  readonly #over = new AbortController();
  #sinceBeat: () => number;
  #beating: Promise<void> = Promise.resolve();
  #failure: unknown;

  private constructor(
    store: ClaimStore<Version>,
    time: OwnTime,
    holder: string,
    since: () => number,
  ) {
    this.#store = store;
    this.#time = time;
    this.holder = holder;
    this.#sinceBeat = since;
  }

  static async begin<Version>(
    store: ClaimStore<Version>,
    time: OwnTime,
  ): Promise<Presence<Version>> {
    const since = stopwatch(time);
    const presence = new Presence(store, time, await store.begin(), since);
    void presence.#keepBeating();
    void presence.#keepJudging();
    return presence;
  }

  /** Aborts when this process can no longer be sure of what it holds, with a SetpointError (lock-lost) as the reason. */
  get over(): AbortSignal {
    return this.#over.signal;
  }

  /** Renews the heartbeat now. Throws the reason if this presence is over, or what the store threw. */
  async beat(): Promise<void> {
    const beating = this.#beating.then(() => this.#beatOnce());
    this.#beating = beating.catch(() => {});
    await beating;
  }

  /** Ends the heartbeat, so that others need not wait. */
  async end(): Promise<void> {
    if (this.#over.signal.aborted) return;
    this.#finish('This process has released its locks.');
    await this.#beating;
    await this.#store.end(this.holder);
  }

  /** Whether it can still be sure, asked of the clock: timers may be late. */
  judge(): boolean {
    const { lostAfter } = this.#store.pace;
    if (!this.#over.signal.aborted && this.#sinceBeat() >= lostAfter) {
      const seconds = Math.round(this.#sinceBeat() / 1000);
      this.#finish(`The locks could not be renewed for ${seconds} s.`);
    }
    return !this.#over.signal.aborted;
  }

  async #beatOnce(): Promise<void> {
    if (!this.judge()) throw this.#over.signal.reason;
    const since = stopwatch(this.#time);
    if (!(await this.#store.beat(this.holder))) {
      this.#finish('Another controller took this one for dead, or somebody removed its locks.');
    }
    if (!this.judge()) throw this.#over.signal.reason;
    this.#sinceBeat = since;
    this.#failure = undefined;
    this.judge();
  }

  async #keepBeating(): Promise<void> {
    while (!this.#over.signal.aborted) {
      await this.#time.clock.sleep(this.#store.pace.renewEvery, this.#over.signal);
      if (this.#over.signal.aborted) return;
      await this.beat().catch((thrown: unknown) => {
        this.#failure = thrown;
      });
    }
  }

  /** A beat may hang, and must not hide that time is up. After a sleep of the machine timers are late by all of it. */
  async #keepJudging(): Promise<void> {
    while (this.judge()) {
      const left = this.#store.pace.lostAfter - this.#sinceBeat();
      await this.#time.clock.sleep(Math.min(Math.max(1, left), 1000), this.#over.signal);
    }
  }

  #finish(message: string): void {
    if (this.#over.signal.aborted) return;
    const why = this.#failure instanceof SetpointError ? ` ${this.#failure.message}` : '';
    this.#over.abort(new SetpointError('lock-lost', `${message}${why}`, { cause: this.#failure }));
  }
}
