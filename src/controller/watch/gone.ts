import { asSetpointError } from '../../reconciler/model/error.ts';
import type { Fleet } from './fleet.ts';
import type { Locks } from './locks/locks.ts';
import type { Recorder } from './recorder.ts';
import type { CurrentFiles, SettingsSource } from './source.ts';
import type { WatchOptions } from './watch-options.ts';

/** The time that an environment must be gone before its state is removed, in milliseconds: it may be created again. */
const GONE_FOR = 600_000;
/** Milliseconds between two removals of locks. */
const LOCKS_EVERY = 600_000;
/** Names in one line of the journal. */
const NAMES_PER_LINE = 1_000;

interface Tools extends Pick<WatchOptions, 'clock'> {
  readonly files: Pick<CurrentFiles, 'areTaken'>;
  readonly source: Pick<SettingsSource, 'isGone'>;
  readonly locks: Pick<Locks, 'removeGone'>;
  readonly fleet: Pick<Fleet, 'forget' | 'remembered'> & {
    readonly isWatched: (name: string) => boolean;
  };
  readonly recorder: Pick<Recorder, 'forget' | 'warn'>;
}

/**
 * Removes the state and the locks of environments that are gone, also since before this process. Only a source that can distinguish these from environments of
 * other controllers has any.
 */
export class GoneEnvironments {
  readonly #tools: Tools;
  /** The time when each was first missing, on the monotonic clock. */
  readonly #since = new Map<string, number>();
  #locksDue = Number.NEGATIVE_INFINITY;
  /** The last problem of the locks that was reported. */
  #problem = '';

  constructor(tools: Tools) {
    this.#tools = tools;
  }

  /** Removes what is due. Never throws: a journal that cannot be written is a condition, and locks are tried again. */
  async remove(): Promise<void> {
    const { files, source } = this.#tools;
    if (source.isGone === undefined || !files.areTaken) return;
    await this.#removeStates();
    await this.#removeLocks();
  }

  async #removeStates(): Promise<void> {
    const { clock, fleet, recorder } = this.#tools;
    const now = clock.monotonic();
    const gone = new Set(fleet.remembered.filter((name) => this.#isGone(name)));
    for (const name of this.#since.keys()) if (!gone.has(name)) this.#since.delete(name);
    for (const name of gone) if (!this.#since.has(name)) this.#since.set(name, now);
    const due = [...gone].filter((name) => now - (this.#since.get(name) ?? now) >= GONE_FOR);
    for (let from = 0; from < due.length; from += NAMES_PER_LINE) {
      // Some may have been created meanwhile.
      const names = due.slice(from, from + NAMES_PER_LINE).filter((name) => this.#isGone(name));
      const isWritten = await recorder.forget(names).then(
        () => true,
        () => false,
      );
      if (!isWritten) return;
      fleet.forget(names);
    }
  }

  async #removeLocks(): Promise<void> {
    const { clock, locks, recorder } = this.#tools;
    if (clock.monotonic() < this.#locksDue) return;
    this.#locksDue = clock.monotonic() + LOCKS_EVERY;
    try {
      await locks.removeGone?.((name) => this.#isGone(name));
      this.#problem = '';
    } catch (thrown) {
      const { message, hint } = asSetpointError(thrown);
      const text = `Locks of removed environments cannot be deleted. ${message} ${hint ?? ''}`;
      if (text !== this.#problem) recorder.warn(text.trim());
      this.#problem = text;
    }
  }

  #isGone(name: string): boolean {
    const { fleet, source } = this.#tools;
    return !fleet.isWatched(name) && source.isGone?.(name) === true;
  }
}
