import { asSetpointError } from '../../reconciler/model/error.ts';
import type { Fleet } from './fleet.ts';
import type { Locks } from './locks/locks.ts';
import type { Recorder } from './recorder.ts';
import type { CurrentFiles, SettingsSource } from './source.ts';
import type { WatchOptions } from './watch-options.ts';

/** The time that an environment must be gone before its state is removed, in milliseconds: it may be created again, or a file may be reverted. */
const GONE_FOR = 600_000;
const GONE_FROM_FILES_FOR = 86_400_000;
/** Milliseconds between two removals of locks. */
const LOCKS_EVERY = 600_000;
/** Names in one line of the journal. */
const NAMES_PER_LINE = 1_000;

interface Tools extends Pick<WatchOptions, 'clock'> {
  readonly files: Pick<CurrentFiles, 'areTaken' | 'isUndeclared'>;
  readonly source: Pick<SettingsSource, 'isGone'>;
  readonly locks: Pick<Locks, 'removeGone'>;
  readonly fleet: Pick<Fleet, 'forget' | 'isSuspended' | 'isWatched' | 'remembered'>;
  readonly recorder: Pick<Recorder, 'forget' | 'warn'>;
}

/**
 * Removes the state and the locks of environments that are gone, also since before this process: of those that its journal has. A source that can distinguish
 * them from environments of other controllers has also locks removed that no journal names. A suspension outlives its environment, and its state.
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
    const { clock, files, source } = this.#tools;
    if (!files.areTaken) return;
    await this.#removeStates();
    if (source.isGone === undefined || clock.monotonic() < this.#locksDue) return;
    this.#locksDue = clock.monotonic() + LOCKS_EVERY;
    await this.#removeLocks([]);
  }

  async #removeStates(): Promise<void> {
    const { clock, fleet, recorder, source } = this.#tools;
    const now = clock.monotonic();
    const after = source.isGone === undefined ? GONE_FROM_FILES_FOR : GONE_FOR;
    const gone = new Set(fleet.remembered.filter((name) => this.#isGone(name)));
    for (const name of this.#since.keys()) if (!gone.has(name)) this.#since.delete(name);
    for (const name of gone) if (!this.#since.has(name)) this.#since.set(name, now);
    const due = [...gone].filter((name) => now - (this.#since.get(name) ?? now) >= after);
    for (let from = 0; from < due.length; from += NAMES_PER_LINE) {
      // Some may have been created meanwhile.
      const names = due.slice(from, from + NAMES_PER_LINE).filter((name) => this.#isGone(name));
      await this.#removeLocks(names);
      const isWritten = await recorder.forget(names).then(
        () => true,
        () => false,
      );
      if (!isWritten) return;
      fleet.forget(names);
    }
  }

  async #removeLocks(names: readonly string[]): Promise<void> {
    const { locks, recorder } = this.#tools;
    try {
      await locks.removeGone?.((name) => this.#isGone(name), names);
      this.#problem = '';
    } catch (thrown) {
      const { message, hint } = asSetpointError(thrown);
      const text = `Locks of removed environments cannot be deleted. ${message} ${hint ?? ''}`;
      if (text !== this.#problem) recorder.warn(text.trim());
      this.#problem = text;
    }
  }

  #isGone(name: string): boolean {
    const { files, fleet, source } = this.#tools;
    if (fleet.isWatched(name)) return false;
    if (source.isGone !== undefined) return source.isGone(name);
    return files.isUndeclared(name) && !fleet.isSuspended(name);
  }
}
