import type { RequestCount } from '../watching.ts';

/** Counts requests by their method and the status of the answer. */
export class RequestCounts {
  readonly #counts = new Map<string, RequestCount>();

  add(method: string, status: number | null): void {
    const key = `${method} ${status}`;
    const count = (this.#counts.get(key)?.count ?? 0) + 1;
    this.#counts.set(key, { method, status, count });
  }

  list(): readonly RequestCount[] {
    return [...this.#counts.values()];
  }
}

export interface NoticeCount {
  readonly receiver: string;
  readonly result: 'sent' | 'failed';
  readonly count: number;
}

/** Counts the notices that each receiver has got, and those that it has not, or may not have. */
export class NoticeCounts {
  readonly #counts: Map<string, { sent: number; failed: number }>;

  constructor(receivers: readonly string[]) {
    this.#counts = new Map(receivers.map((name) => [name, { sent: 0, failed: 0 }]));
  }

  add(receiver: string, result: NoticeCount['result'], count: number): void {
    const counts = this.#counts.get(receiver);
    if (counts !== undefined) counts[result] += count;
  }

  /** Both results of every receiver, also those that have not come about. */
  list(): readonly NoticeCount[] {
    return [...this.#counts].flatMap(([receiver, { sent, failed }]) => [
      { receiver, result: 'sent' as const, count: sent },
      { receiver, result: 'failed' as const, count: failed },
    ]);
  }
}
