import { formatPath } from '../../reconciler/model/path.ts';
import type { Change, EnvironmentPlan } from '../../reconciler/model/plan.ts';
import type { Json } from '../../reconciler/model/value.ts';
import { APART } from './schedule.ts';

/**
 * The findings that earlier reads have confirmed of a difference: `paths` that each of them has differed before, whatever its values;
 * `difference` that something has in three reads in a row; `no` that another client may just be writing.
 */
export type ConfirmationLevel = 'difference' | 'no' | 'paths';

/** Reads in a row that find a difference, whatever it is, after which no further one is waited for. */
const READS = 3;

/** Confirms what differs by the reads in a row that found it. Times are in milliseconds of the monotonic clock. */
export class Confirmation {
  /** Since when each path differs. */
  #since: ReadonlyMap<string, number> = new Map();
  #first: number | null = null;
  #reads = 0;

  /** Forgets all: other reads may have found something else. */
  reset(): void {
    this.#since = new Map();
    this.#first = null;
    this.#reads = 0;
  }

  /** Adds a read that ended at a time. */
  after(
    { changes, error }: Pick<EnvironmentPlan, 'changes' | 'error'>,
    at: number,
  ): ConfirmationLevel {
    if (error !== null || changes.length === 0) {
      this.reset();
      return 'no';
    }
    const before = this.#since;
    const first = this.#first ?? at;
    this.#since = new Map(
      changes.map((change) => [formatChangeKey(change), before.get(formatChangeKey(change)) ?? at]),
    );
    this.#first = first;
    this.#reads += 1;
    if ([...this.#since.values()].every((since) => at - since >= APART)) return 'paths';
    return this.#reads >= READS && at - first >= 2 * APART ? 'difference' : 'no';
  }
}

/** Returns a key of a change that stays the same for the same path. */
export function formatChangeKey({
  resource,
  path,
}: Pick<Change<Json>, 'path' | 'resource'>): string {
  return `${resource} ${formatPath(path)}`;
}
