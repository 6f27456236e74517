import { formatCount, namesListed } from '../../reconciler/model/wording.ts';
import type { Clock } from '../../reconciler/model/ports.ts';
import type { Conditions } from './conditions.ts';
import { NONE_LATE, type LateGroup, type Lateness } from './read-queue.ts';

/** The shortest and longest wait of an environment for its turn, in milliseconds: half of its interval, within these. */
const LEAST_LATE = 15_000;
const MOST_LATE = 120_000;
/** The interval of the check, that of new numbers in a message, and the time without a late read until it is over, in milliseconds. */
const EVERY = 5_000;
const RENEWED = 60_000;
const CALM = 30_000;
/** Groups that a message names. */
const MOST_NAMED = 5;

interface LateOptions {
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly conditions: Pick<Conditions, 'set'>;
  readonly lateness: () => Lateness;
  /** The name of the groups in messages, such as namespaces; null if they are not named. */
  readonly groupName: string | null;
}

/** Returns how long an environment of an interval may wait for its turn until it is late, in milliseconds. */
export function mayWait(interval: number): number {
  return Math.max(LEAST_LATE, Math.min(MOST_LATE, interval / 2));
}

/** Detects environments that are read later than they should be, which is a condition of the controller. */
export class LateReads {
  readonly #options: LateOptions;
  #lookedAt = Number.NEGATIVE_INFINITY;
  /** Which conditions hold, since when nothing of them was seen, and when their message was made. */
  readonly #held = new Map<'' | 'slow', { seenAt: number; toldAt: number }>();
  #found: Lateness = { prompt: NONE_LATE, slow: NONE_LATE, hanging: 0 };

  constructor(options: LateOptions) {
    this.#options = options;
  }

  /** The number of late reads as of the last look, and the number that hang. */
  get counts(): { readonly late: number; readonly hanging: number } {
    const { prompt, slow, hanging } = this.#found;
    return { late: prompt.count + slow.count, hanging };
  }

  /** Looks again, unless it has just done so. */
  look(): void {
    const now = this.#options.clock.monotonic();
    if (now - this.#lookedAt < EVERY) return;
    this.#lookedAt = now;
    this.#found = this.#options.lateness();
    const { prompt, slow, hanging } = this.#found;
    this.#set('', prompt, now, () => this.#text(prompt, hanging, false));
    this.#set('slow', slow, now, () => {
      const text = this.#text(slow, hanging, true);
      return prompt.count > 0 ? text : `${text} Environments of other services are read on time.`;
    });
  }

  #set(part: '' | 'slow', { count }: LateGroup, now: number, text: () => string): void {
    const { conditions } = this.#options;
    const held = this.#held.get(part);
    if (count === 0) {
      if (held === undefined || now - held.seenAt < CALM) return;
      this.#held.delete(part);
      return conditions.set('reads', null, part);
    }
    const isTold = held !== undefined && now - held.toldAt < RENEWED;
    this.#held.set(part, { seenAt: now, toldAt: isTold ? held.toldAt : now });
    if (!isTold) conditions.set('reads', text(), part);
  }

  #text(late: LateGroup, hanging: number, isSlow: boolean): string {
    const who = isSlow ? `${late.count} of slow services` : String(late.count);
    const waits = `${who} ${late.count === 1 ? 'waits' : 'wait'} for a turn${this.#about(late)}.`;
    if (hanging > 0)
      return `${formatCount(hanging, 'environment')} ${hanging === 1 ? 'hangs' : 'hang'}, ${waits}`;
    const advice = 'Give the controller more processor time, or raise --parallel.';
    return `No environment hangs, ${waits}${isSlow ? '' : ` ${advice}`}`;
  }

  /** Describes the longest wait and the groups, the worst first. */
  #about({ longest, groups }: LateGroup): string {
    const { groupName } = this.#options;
    const longestText = `, one for ${Math.round(longest / 1_000)} s`;
    if (groupName === null) return longestText;
    const names = [...groups]
      .toSorted(([, one], [, other]) => other - one)
      .map(([name, count]) => `${name} (${count})`);
    return `${longestText}, by ${groupName}: ${namesListed(names, MOST_NAMED)}`;
  }
}
