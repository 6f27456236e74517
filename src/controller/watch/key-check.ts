import { isPassing } from './schedule.ts';

/** The interval for checking a key from files only while its environment cannot be read, in milliseconds. */
const EVERY = 5_000;

/** Notices that the key of a server that refuses it was changed: the environment is then read at once, whatever the back-off. */
export class KeyCheck {
  readonly #digestNow: () => Promise<string | null>;
  /** The digest of the key that the last read used; null if it cannot change, undefined as long as reads succeed. */
  #digest: string | null | undefined;

  /** `digestNow` resolves to a digest of the current key; null if it cannot change. */
  constructor(digestNow: () => Promise<string | null>) {
    this.#digestNow = digestNow;
  }

  /** Reports whether the key is the refused one; the current one counts from then on. */
  async isSame(): Promise<boolean> {
    const before = this.#digest;
    this.#digest = await this.#digestNow();
    return this.#digest === before;
  }

  /**
   * Adds how a read ended, by the code of its error. Resolves to in how many milliseconds the key is looked at; null if it is not. `every` is how often, if
   * another program or the API server is asked for it; null if it comes from files alone.
   */
  async after(code: string | null, every: number | null): Promise<number | null> {
    if (code === null || isPassing(code)) this.#digest = undefined;
    else this.#digest ??= await this.#digestNow().catch(() => null);
    return this.#digest === undefined || this.#digest === null ? null : (every ?? EVERY);
  }
}
