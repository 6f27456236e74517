import type { Clock } from '../model/ports.ts';
import { headerOf, type WireAnswer } from './exchange.ts';
import type { NotSent, Refusal } from './not-sent.ts';
import { Pace, type Waiting } from './pace.ts';
import { retryAfter } from './service-error.ts';

/** The request of an environment, as its turn is asked for. */
type Asking = Omit<Waiting, 'order' | 'patience'>;

/** The turns of one environment's requests. */
export interface Turns {
  /** Waits for the turn of a read. Rejects with a NotSent, or with the error of an interruption. */
  read(asking: Asking): Promise<void>;
  /** Why a write is not sent now; null if it may be. */
  write(place: string): NotSent | null;
  /** Tells of a request: what it returns takes the answer. */
  sent(): (answer: WireAnswer) => void;
}

/** The paces of one run, one for each origin that has refused a request for too many. Others see no wait. */
export class Paces {
  readonly #paces = new Map<string, Pace>();
  readonly #recent = new RecentCounts();
  #opened = 0;

  /** The turns of an environment, which come before those of environments that are opened later. */
  open(
    origin: string,
    { clock, random, patience }: Pick<Waiting, 'patience'> & { clock: Clock; random: () => number },
  ): Turns {
    const order = this.#opened++;
    return {
      read: async (asking) => this.#paces.get(origin)?.turn({ ...asking, order, patience }),
      write: (place) => this.#paces.get(origin)?.writeTurn(place) ?? null,
      sent: () => {
        const sentAt = clock.monotonic();
        return (answer) => {
          const refusal = refusalIn(answer, clock);
          const pace = this.#paces.get(origin);
          if (refusal === null) {
            if (answer.kind === 'fault') return pace?.lost(sentAt);
            this.#recent.add(origin, clock.monotonic());
            return pace?.taken(sentAt);
          }
          const limited = pace ?? new Pace(clock, random);
          this.#paces.set(origin, limited);
          limited.refused(sentAt, refusal, this.#recent.of(origin, clock.monotonic()));
        };
      },
    };
  }
}

/** 429, or 503 with the time to come back; null for any other answer. */
function refusalIn(answer: WireAnswer, clock: Clock): Refusal | null {
  if (answer.kind === 'fault' || (answer.status !== 429 && answer.status !== 503)) return null;
  const { status, headers } = answer;
  const after = retryAfter(
    headerOf(headers, 'retry-after'),
    headerOf(headers, 'date'),
    clock.now(),
  );
  return status === 503 && after === null ? null : { status, after };
}

const SECOND = 1_000;

/** How many requests of each origin were taken in about the last second. It holds the origins of two seconds at most. */
class RecentCounts {
  #now = new Map<string, number>();
  #before = new Map<string, number>();
  #from = Number.NEGATIVE_INFINITY;

  add(origin: string, at: number): void {
    this.#turn(at);
    this.#now.set(origin, (this.#now.get(origin) ?? 0) + 1);
  }

  of(origin: string, at: number): number {
    this.#turn(at);
    const left = 1 - (at - this.#from) / SECOND;
    return (this.#now.get(origin) ?? 0) + (this.#before.get(origin) ?? 0) * left;
  }

  #turn(at: number): void {
    const passed = at - this.#from;
    if (passed < SECOND) return;
    this.#before = passed < 2 * SECOND ? this.#now : new Map();
    this.#now = new Map();
    this.#from = passed < 2 * SECOND ? this.#from + SECOND : at;
  }
}
