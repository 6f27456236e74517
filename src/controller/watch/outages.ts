import type { EnvironmentPlan } from '../../reconciler/model/plan.ts';
import type { Clock } from '../../reconciler/model/ports.ts';
import { isOutage, untilCheck } from './schedule.ts';

/** Origins that are checked at a time. If more are down, it is likely the network of the controller: reads as usual are enough. */
const MOST_CHECKED = 32;

/** When a service is back, its environments are read within this time, in milliseconds. */
const BACK_WITHIN = 10_000;

/**
 * Which environments could not be read because their origin is down. The first of each origin checks whether it is back, by a cheap read, so that an
 * origin with hundreds of environments is asked once; when one of them is answered, the others are read.
 */
export class Outages<T> {
  readonly #down = new Map<string, Set<T>>();
  readonly #placeOf = new Map<T, string>();

  /** Takes what a read of one found; returns those that have waited for its origin, if that has answered. */
  after(one: T, { origin, error }: Pick<EnvironmentPlan, 'origin' | 'error'>): readonly T[] {
    const place = origin !== null && URL.canParse(origin) ? new URL(origin).origin : '';
    if (this.#placeOf.get(one) !== place) this.leave(one);
    if (place === '') return [];
    const waiting = this.#down.get(place) ?? new Set<T>();
    if (error !== null && isOutage(error.code)) {
      this.#down.set(place, waiting.add(one));
      this.#placeOf.set(one, place);
      return [];
    }
    for (const other of waiting) this.#placeOf.delete(other);
    this.#down.delete(place);
    waiting.delete(one);
    return [...waiting];
  }

  /** Whether one is to check again and again whether its origin is back. */
  checks(one: T): boolean {
    let rank = 0;
    for (const [first] of this.#down.values()) {
      if (rank === MOST_CHECKED) return false;
      if (first === one) return true;
      rank += 1;
    }
    return false;
  }

  /** Forgets one that is watched no more, or elsewhere. */
  leave(one: T): void {
    const place = this.#placeOf.get(one) ?? '';
    const waiting = this.#down.get(place);
    this.#placeOf.delete(one);
    waiting?.delete(one);
    if (waiting?.size === 0) this.#down.delete(place);
  }
}

/** What the turns of all environments share. `random` is from 0 to 1. */
export interface OutageTools {
  readonly outages: Outages<{ due: number }>;
  readonly clock: Clock;
  readonly random: () => number;
}

/** When one environment has its next turn: it is read, or before that it is checked whether its service is back. Times are of the monotonic clock. */
export class NextTurn {
  readonly #of: { due: number };
  readonly #tools: OutageTools;
  #due: number;
  #readDue: number;
  /** Since its service is down. */
  #checks = 0;

  constructor(of: { due: number }, due: number, tools: OutageTools) {
    this.#of = of;
    this.#tools = tools;
    this.#due = due;
    this.#readDue = due;
  }

  get due(): number {
    return this.#due;
  }

  /** When it is read. */
  set due(due: number) {
    this.#readDue = due;
    this.#due = due;
  }

  /** Whether the turn of now is a check. */
  get isCheck(): boolean {
    return this.#tools.clock.monotonic() < this.#readDue && this.#tools.outages.checks(this.#of);
  }

  /** Takes what a read found. If that was an answer, those that have waited for it are read. */
  found(plan: Pick<EnvironmentPlan, 'origin' | 'error'>): void {
    const { clock, outages, random } = this.#tools;
    for (const other of outages.after(this.#of, plan))
      other.due = Math.min(other.due, clock.monotonic() + random() * BACK_WITHIN);
    if (!outages.checks(this.#of)) this.#checks = 0;
  }

  /** After a turn: it is read again in `wait` milliseconds; null if it was not read, because its service is still down. */
  after(wait: number | null): void {
    const { clock, outages, random } = this.#tools;
    if (wait === null) this.#checks += 1;
    else this.#readDue = clock.monotonic() + wait;
    const isChecking = outages.checks(this.#of);
    const check = isChecking ? untilCheck(this.#checks, random()) : Number.POSITIVE_INFINITY;
    this.#due = Math.min(this.#readDue, clock.monotonic() + check);
  }

  leave(): void {
    this.#tools.outages.leave(this.#of);
  }
}
