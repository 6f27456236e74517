import type { ReadMark } from '../../reconciler/model/watch.ts';
import { WATCH_STATUSES, type WatchStatus } from '../../reconciler/model/verdict.ts';

/** The number of reads with stored findings. */
const MOST_READS = 100;

/** Reads, each packed into one number: thousands of environments have a hundred each. */
export class ReadMarks implements Iterable<ReadMark> {
  readonly #packed: readonly number[];

  private constructor(packed: readonly number[]) {
    this.#packed = packed;
  }

  /** The last reads after one more, which ended at that time. */
  static after(before: Iterable<ReadMark>, at: number, status: WatchStatus): ReadMarks {
    const packed =
      before instanceof ReadMarks
        ? before.#packed
        : Array.from(before, (mark) => packReadMark(Date.parse(mark.at), mark.status));
    return new ReadMarks([...packed.slice(1 - MOST_READS), packReadMark(at, status)]);
  }

  *[Symbol.iterator](): Generator<ReadMark> {
    for (const mark of this.#packed) {
      const status = WATCH_STATUSES[mark % MOST_STATUSES] ?? 'not-read';
      yield { at: new Date(Math.floor(mark / MOST_STATUSES)).toISOString(), status };
    }
  }
}

/** More than there are. */
const MOST_STATUSES = 16;

function packReadMark(at: number, status: WatchStatus): number {
  return Math.trunc(at) * MOST_STATUSES + WATCH_STATUSES.indexOf(status);
}
