/** Something that is due at a time, in milliseconds of the monotonic clock. */
export interface Dated {
  readonly due: number;
}

interface Entry<T> {
  readonly due: number;
  readonly of: T;
}

/**
 * Who is due next, among thousands: a heap. Whoever is due at another time is added again, and counts by its time of now: what is left of
 * before is dropped when it is reached.
 */
export class Agenda<T extends Dated> {
  #heap: Entry<T>[] = [];

  /** Begins anew with these. */
  reset(all: Iterable<T>): void {
    this.#heap = Array.from(all, (of) => ({ due: of.due, of })).toSorted(
      (one, other) => one.due - other.due,
    );
  }

  add(of: T): void {
    const heap = this.#heap;
    const entry = { due: of.due, of };
    let place = heap.length;
    heap.push(entry);
    while (place > 0) {
      const above = (place - 1) >> 1;
      const other = heap[above];
      if (other === undefined || other.due <= entry.due) break;
      heap[place] = other;
      place = above;
    }
    heap[place] = entry;
  }

  /** The first one of now, of those that fit. Those that do not are dropped, and are to be added again once they do. */
  first(fits: (of: T) => boolean): T | undefined {
    for (;;) {
      const [top] = this.#heap;
      if (top === undefined) return undefined;
      if (top.due === top.of.due && fits(top.of)) return top.of;
      this.shift();
    }
  }

  /** Takes the first entry away. */
  shift(): void {
    const heap = this.#heap;
    const entry = heap.pop();
    if (entry === undefined || heap.length === 0) return;
    let place = 0;
    for (;;) {
      const [left, right] = [heap[2 * place + 1], heap[2 * place + 2]];
      if (left === undefined) break;
      const isRight = right !== undefined && right.due < left.due;
      const child = isRight ? right : left;
      if (child.due >= entry.due) break;
      heap[place] = child;
      place = 2 * place + (isRight ? 2 : 1);
    }
    heap[place] = entry;
  }
}
