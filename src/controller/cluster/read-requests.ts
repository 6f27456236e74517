import type { Clock } from '../../reconciler/model/ports.ts';
import { ASKING } from './stored-object.ts';
import type { TargetResource } from './target-resource.ts';

/** The interval for reading an object that is requested and not watched, in milliseconds: its outside content may be right by now. */
const ASKED_AGAIN = 5_000;

interface ReadRequestOptions {
  readonly clock: Pick<Clock, 'monotonic' | 'sleep'>;
  /** Aborts when the controller stops. */
  readonly signal: AbortSignal;
  readonly exists: (key: string) => boolean;
  /** In how many milliseconds a watched object may be read; null if it is not watched. */
  readonly untilReadable: (key: string) => number | null;
  /** Reads again what an object names outside of itself. */
  readonly readOutside: (key: string) => Promise<void>;
  readonly readNow: (key: string) => void;
}

/** The reads that annotations of objects ask for: made as soon as the policy of each allows, one for all that asked until then. */
export class ReadRequests {
  readonly #options: ReadRequestOptions;
  /** The request, and the time from which a read answers it, on the monotonic clock. */
  readonly #asked = new Map<string, { readonly value: string; readonly at: number }>();
  readonly #handled = new Map<string, string>();
  /** The objects that wait for their policy, and the time of the last read of each object. */
  readonly #held = new Set<string>();
  readonly #readAt = new Map<string, number>();
  /** The requests in the annotations of each object at the last look: one of them may be unchanged. */
  readonly #taken = new Map<string, readonly string[]>();

  constructor(options: ReadRequestOptions) {
    this.#options = options;
  }

  /** Reads an object whose annotation asks for it. */
  take(key: string, { metadata, status }: TargetResource): void {
    const values = ASKING.flatMap((name) => metadata.annotations?.[name] ?? []);
    if (values.length === 0) return;
    const last = status?.['lastHandledReconcileAt'];
    const taken = this.#taken.get(key) ?? values.filter(() => values.some((one) => one === last));
    this.#taken.set(key, values);
    const value = values.find((one) => !taken.includes(one));
    if (value === undefined) return;
    // It is answered by a read that begins after what the object names was read.
    this.#asked.set(key, { value, at: Number.POSITIVE_INFINITY });
    this.#read(key);
  }

  /** Records the end of a read that took some seconds. */
  recordEnd(key: string, seconds: number): void {
    const asked = this.#asked.get(key);
    if (asked === undefined || this.#options.clock.monotonic() - seconds * 1000 < asked.at) return;
    this.#handled.set(key, asked.value);
    this.#asked.delete(key);
  }

  /** The request that was answered last; null if none was. */
  findHandled(key: string): string | null {
    return this.#handled.get(key) ?? null;
  }

  forget(key: string): void {
    for (const known of [this.#asked, this.#handled, this.#taken, this.#readAt]) known.delete(key);
  }

  #read(key: string): void {
    const { clock, signal, exists, untilReadable, readOutside, readNow } = this.#options;
    if (signal.aborted || this.#held.has(key) || !exists(key)) return;
    const now = clock.monotonic();
    const again = (this.#readAt.get(key) ?? Number.NEGATIVE_INFINITY) + ASKED_AGAIN;
    const wait = untilReadable(key) ?? again - now;
    if (wait > 0) {
      this.#held.add(key);
      const read = (): void => {
        if (this.#held.delete(key)) this.#read(key);
      };
      clock.sleep(wait, signal).then(read, () => {});
      return;
    }
    this.#readAt.set(key, now);
    void readOutside(key).then(() => {
      const asked = this.#asked.get(key);
      if (asked !== undefined) this.#asked.set(key, { ...asked, at: clock.monotonic() });
      readNow(key);
    });
  }
}
