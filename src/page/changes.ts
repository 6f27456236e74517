import type { Watching } from '../watch/watching.ts';

/** Tells streams that something has changed, and counts new records of the journal by environment. */
export class Changes {
  readonly #records = new Map<string, number>();
  readonly #listeners = new Set<() => void>();
  readonly #end: () => void;

  constructor(watching: Watching) {
    this.#end = watching.subscribe((state, { kind }) => {
      if (kind !== 'read') this.#records.set(state.name, this.historyCountOf(state.name) + 1);
      for (const listener of this.#listeners) listener();
    });
  }

  /** How many records about an environment the journal has got since the start of the page. */
  historyCountOf(name: string): number {
    return this.#records.get(name) ?? 0;
  }

  /** Calls back whenever something changes; what it returns ends that. */
  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    this.#end();
    this.#listeners.clear();
  }
}
