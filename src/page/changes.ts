import type { Watching } from '../watch/watching.ts';
import { keyOf } from './parts.ts';

/** Which environment has changed when, counted from the start of the page. */
export class Changes {
  readonly #latest = new Map<string, number>();
  readonly #records = new Map<string, number>();
  readonly #listeners = new Set<() => void>();
  readonly #end: () => void;
  #count = 0;

  constructor(watching: Watching) {
    this.#end = watching.subscribe((state, { kind }) => {
      this.#count += 1;
      this.#latest.set(state.name, this.#count);
      if (kind !== 'read') this.#records.set(state.name, this.#count);
      for (const listener of this.#listeners) listener();
    });
  }

  /** The same as long as nothing has changed in an environment. */
  keyOf(name: string): string {
    return String(this.#latest.get(name) ?? 0);
  }

  /** The same as long as the journal has nothing new about an environment. */
  historyKeyOf(name: string): string {
    return keyOf(name, this.#records.get(name) ?? 0);
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
