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
