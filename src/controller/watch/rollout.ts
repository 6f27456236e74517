import type { Waits, WatchState } from '../../reconciler/model/watch.ts';
import type { Clock } from '../../reconciler/model/ports.ts';
import { EditProgress } from './edit-progress.ts';

/** The time that an environment must stay as declared after an edit was written to it before the next ones follow, in milliseconds. */
export const SOAK = 60_000;
/** The share of the environments reached by an edit that may fail before it reaches no more. */
export const MAX_FAILURES = '10%';
/** The number of edits whose progress is counted; beyond that, the oldest is counted again when an environment asks. */
const MOST_EDITS = 4;

interface RolloutTools {
  readonly clock: Pick<Clock, 'now'>;
  readonly states: () => readonly WatchState[];
  readonly isWatched: (name: string) => boolean;
  /** Has an environment read now. */
  readonly wake: (name: string) => void;
  /** See SOAK; 0 lets an edit reach all at once. */
  readonly soak: number;
  /** See MAX_FAILURES: a share, or a number. */
  readonly maxFailures: number | string;
}

/** Lets an edit of the files reach the environments ring by ring, or first one, then ten times as many as are verified. Drift is put back everywhere at once. */
export class Rollouts {
  readonly #tools: RolloutTools;
  /** Environments that are being written, or are read again because they may be. */
  readonly #writing = new Set<string>();
  readonly #edits = new Map<string, EditProgress>();

  constructor(tools: RolloutTools) {
    this.#tools = tools;
  }

  /** The time that an environment must stay as declared until an edit is verified, in milliseconds. */
  get soak(): number {
    return this.#tools.soak;
  }

  /** Returns why an edit must not be written to an environment yet; null if it may be, which counts as being written until `end`. */
  begin(state: WatchState): Waits | null {
    this.#writing.delete(state.name);
    this.update(state);
    const why = this.#whyWait(state);
    if (why === null) this.#writing.add(state.name);
    this.update(state);
    return why;
  }

  end(state: WatchState): void {
    this.#writing.delete(state.name);
    this.update(state);
  }

  /** Takes a state that has changed. */
  update(state: WatchState): void {
    if (this.#edits.size === 0 || !this.#tools.isWatched(state.name)) return;
    const now = this.#tools.clock.now();
    for (const progress of this.#edits.values())
      progress.put(state, this.#writing.has(state.name), now);
  }

  /** Forgets an environment that is not watched any more. */
  remove(name: string): void {
    this.#writing.delete(name);
    for (const progress of this.#edits.values()) progress.remove(name);
  }

  /**
   * Records that an environment was read. Those that may follow it are read; returns the milliseconds until it is to be read for
   * verification, null if it is not.
   */
  after(state: WatchState): number | null {
    this.end(state);
    for (const [edit, progress] of this.#edits) {
      for (const name of progress.ready()) {
        this.#writing.add(name);
        this.#tools.wake(name);
      }
      // Its progress is counted anew if it is asked for again.
      if (progress.isOver) this.#edits.delete(edit);
    }
    const { rollout } = state;
    if (rollout === null) return null;
    const { clock, soak } = this.#tools;
    const left = Date.parse(rollout.at) + soak - clock.now();
    return left > 0 && left <= soak ? left : null;
  }

  #whyWait(state: WatchState): Waits | null {
    const { edit, rollout, settings } = state;
    if (this.#tools.soak === 0 || edit === null) return null;
    // A written one already has its own limits, and one approved by its digest was reviewed on its own.
    if (rollout?.edit === edit || settings.approvals !== undefined) return null;
    return this.#openProgress(edit).ask(state);
  }

  #openProgress(edit: string): EditProgress {
    const known = this.#edits.get(edit);
    if (known !== undefined) return known;
    const { states, clock, soak, maxFailures } = this.#tools;
    const progress = new EditProgress(edit, { soak, maxFailures });
    const now = clock.now();
    for (const state of states()) progress.put(state, this.#writing.has(state.name), now);
    this.#edits.set(edit, progress);
    const [oldest] = this.#edits.keys();
    if (oldest !== undefined && this.#edits.size > MOST_EDITS) this.#edits.delete(oldest);
    return progress;
  }
}
