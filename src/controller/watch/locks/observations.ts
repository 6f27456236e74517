import type { Clock } from '../../../reconciler/model/ports.ts';
import type { ClaimStore, Sign } from './claims.ts';

interface Seen {
  readonly sign: Sign;
  /** When the heartbeat was seen in this state first (at the latest), and last (at the earliest); on the monotonic clock. */
  readonly since: number;
  readonly last: number;
}

/** Observations that are kept; one that is dropped only makes a take-over later. */
const MOST = 1000;

/** What this process has seen of other holders, by its own monotonic clock, so that it waits once for all that a dead one held. */
export class Observations {
  readonly #store: Pick<ClaimStore<unknown>, 'bury' | 'pace' | 'sign'>;
  readonly #clock: Clock;
  readonly #seen = new Map<string, Seen>();
  readonly #dead = new Set<string>();
  readonly #retired = new Map<string, number>();
  readonly #asked = new Map<string, Promise<number>>();

  constructor(store: Pick<ClaimStore<unknown>, 'bury' | 'pace' | 'sign'>, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** A former name of this process, which is not used any more from now on. */
  retire(holder: string): void {
    this.#retired.set(holder, this.#clock.monotonic());
    dropOldest(this.#retired);
  }

  isRetired(holder: string): boolean {
    return this.#retired.has(holder);
  }

  /** Milliseconds until a holder can be taken for dead, if it does not move; 0 once it is dead, which is final. */
  async untilDead(holder: string): Promise<number> {
    if (this.#dead.has(holder)) return 0;
    const asked = this.#asked.get(holder) ?? this.#ask(holder);
    this.#asked.set(holder, asked);
    try {
      return await asked;
    } finally {
      this.#asked.delete(holder);
    }
  }

  async #ask(holder: string): Promise<number> {
    const former = this.#seen.get(holder);
    const now = this.#clock.monotonic();
    const retired = this.#retired.get(holder);
    if (retired !== undefined) {
      // What it was sending when it was over may still arrive.
      const left = retired + this.#store.pace.ttl - now;
      return left > 0 ? left : this.#bury(holder, { kind: 'ended' });
    }
    // Thousands of locks may have one holder: it is looked at once in the time in which a heartbeat moves, and when its time is up.
    const isRecent = former !== undefined && now - former.last < this.#store.pace.renewEvery;
    if (isRecent && this.#left(former, now) > 0) return this.#left(former, now);
    const seen = await this.#look(holder, former);
    const left = this.#left(seen, seen.last);
    return left > 0 ? left : this.#bury(holder, seen.sign);
  }

  async #bury(holder: string, sign: Sign): Promise<number> {
    if (await this.#store.bury(holder, sign)) {
      this.#dead.add(holder);
      dropOldest(this.#dead);
    }
    this.#seen.delete(holder);
    return this.#dead.has(holder) ? 0 : this.#store.pace.ttl;
  }

  #left({ sign, since }: Seen, now: number): number {
    if (sign.kind === 'ended') return 0;
    return since + (sign.kind === 'alive' ? sign.ttl : this.#store.pace.ttl) - now;
  }

  async #look(holder: string, former: Seen | undefined): Promise<Seen> {
    const last = this.#clock.monotonic();
    const sign = await this.#store.sign(holder);
    const moved = former === undefined || (sign.kind === 'alive' && !same(sign, former.sign));
    const seen = { sign, since: moved ? this.#clock.monotonic() : former.since, last };
    this.#seen.delete(holder);
    this.#seen.set(holder, seen);
    dropOldest(this.#seen);
    return seen;
  }
}

function same(one: Sign, other: Sign): boolean {
  return one.kind === 'alive' && other.kind === 'alive' && one.text === other.text;
}

function dropOldest(kept: Map<string, unknown> | Set<string>): void {
  for (const key of kept.keys()) {
    if (kept.size <= MOST) break;
    kept.delete(key);
  }
}
