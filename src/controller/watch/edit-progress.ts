import type { Waits, WatchState } from '../../reconciler/model/watch.ts';
import { namesListed } from '../../reconciler/model/wording.ts';
import { computeFailureLimit } from '../../reconciler/operations/parallel.ts';
import { isHealable } from './healing.ts';

/** The number of environments added to an edit for each verified one, where no rings are declared. */
const GROWTH = 10;
/** Environments that a reason names. */
const MOST_NAMED = 3;

/**
 * The progress of an edit in a healed environment. `settled`: its write failed, and another one made it as declared; `blocked`: it waits
 * for something else than the others; `unread`: it was not read since the edit; `untouched`: the edit does not concern it.
 */
type Stage =
  | 'blocked'
  | 'failed'
  | 'open'
  | 'settled'
  | 'unread'
  | 'untouched'
  | 'verified'
  | 'waiting';

/** Names of environments by their stage. */
class Stages {
  readonly #names = new Map<Stage, Set<string>>();

  of(stage: Stage): ReadonlySet<string> {
    return this.#names.get(stage) ?? NONE;
  }

  count(...stages: readonly Stage[]): number {
    return stages.reduce((sum, stage) => sum + this.of(stage).size, 0);
  }

  get isEmpty(): boolean {
    return [...this.#names.values()].every(({ size }) => size === 0);
  }

  add(name: string, stage: Stage): void {
    const names = this.#names.get(stage) ?? new Set();
    this.#names.set(stage, names.add(name));
  }

  remove(name: string, stage: Stage): void {
    this.#names.get(stage)?.delete(name);
  }
}

const NONE: ReadonlySet<string> = new Set();

/** The ring of an environment, by its label; null without one. */
type Ring = string | null;

interface ProgressOptions {
  /** The time that an environment must stay as declared, in milliseconds. */
  readonly soak: number;
  /** The number of environments reached by the edit that may fail, or their share such as 10%. */
  readonly maxFailures: number | string;
}

/** The progress of one edit, counted as the states of environments change. A change reads no other environment. */
export class EditProgress {
  readonly #edit: string;
  readonly #options: ProgressOptions;
  readonly #all = new Stages();
  readonly #rings = new Map<Ring, Stages>();
  readonly #places = new Map<string, { readonly ring: Ring; readonly stage: Stage }>();
  /** Environments that wait for others, by ring. */
  readonly #asking = new Map<Ring, Set<string>>();
  #hasMoved = false;

  constructor(edit: string, options: ProgressOptions) {
    this.#edit = edit;
    this.#options = options;
  }

  /** Takes the state of an environment; `isWriting`: it is being written, or is about to be. `now` is in milliseconds since 1970. */
  put(state: WatchState, isWriting: boolean, now: number): void {
    const { name, settings } = state;
    const before = this.#places.get(name);
    if (settings.mode !== 'heal') return this.remove(name);
    const [ring, stage] = [readRing(state), this.#computeStage(state, isWriting, now)];
    if (before?.ring === ring && before.stage === stage) return;
    this.#place(name, ring, stage);
  }

  #place(name: string, ring: Ring, stage: Stage): void {
    this.#take(name, this.#places.get(name));
    this.#places.set(name, { ring, stage });
    this.#all.add(name, stage);
    const stages = this.#rings.get(ring) ?? new Stages();
    this.#rings.set(ring, stages);
    stages.add(name, stage);
    this.#hasMoved = true;
  }

  remove(name: string): void {
    const before = this.#places.get(name);
    if (before === undefined) return;
    this.#take(name, before);
    this.#places.delete(name);
    this.#asking.get(before.ring)?.delete(name);
    this.#hasMoved = true;
  }

  #take(name: string, place: { readonly ring: Ring; readonly stage: Stage } | undefined): void {
    if (place === undefined) return;
    this.#all.remove(name, place.stage);
    const stages = this.#rings.get(place.ring);
    stages?.remove(name, place.stage);
    if (stages?.isEmpty === true) this.#rings.delete(place.ring);
  }

  /** Returns why the edit must not be written to an environment yet, which is then among the `ready` ones once it may be; null if it may be now. */
  ask(state: WatchState): Waits | null {
    const ring = readRing(state);
    const why = this.#whyWait(ring);
    const asking = this.#asking.get(ring) ?? new Set();
    if (why === null) asking.delete(state.name);
    else this.#asking.set(ring, asking.add(state.name));
    return why;
  }

  /** Those that have asked and may be written now; each counts as being written from then on. */
  *ready(): Generator<string> {
    if (!this.#hasMoved) return;
    this.#hasMoved = false;
    for (const [ring, names] of this.#asking)
      for (const name of names) {
        if (this.#whyWait(ring) !== null) break;
        names.delete(name);
        this.#place(name, ring, 'open');
        yield name;
      }
  }

  /** Whether it is written to no environment, and waits in none. */
  get isOver(): boolean {
    return this.#all.count('open', 'waiting') === 0;
  }

  #whyWait(ring: Ring): Waits | null {
    const { maxFailures } = this.#options;
    const [failed, open] = [this.#all.of('failed'), this.#all.of('open')];
    const written = this.#all.count('failed', 'open', 'settled', 'verified');
    if (failed.size > computeFailureLimit(maxFailures, written))
      return {
        words: `the edit stopped: ${failed.size} of ${written} failed or differ again (${formatNames(failed)})`,
        isStopped: true,
      };
    const below = [...this.#rings.keys()].filter((one) => compareRings(one, ring) < 0);
    const reached = below.filter((one) => {
      const stages = this.#rings.get(one);
      return stages !== undefined && stages.count(...TOUCHED) > 0;
    });
    if (reached.length > 0) return this.#whyWaitFor(reached.toSorted(compareRings));
    if (ring !== null && below.length === 0) return null;
    // Where the write failed, another one made it as declared: that does not show that the edit works.
    if (open.size < Math.max(1, this.#all.count('verified') * GROWTH)) return null;
    return waitsFor(`until ${formatNames(open)} ${open.size === 1 ? 'is' : 'are'} verified`);
  }

  /** A ring with some that are verified does not wait for those of it that cannot be written. */
  #whyWaitFor(rings: readonly Ring[]): Waits | null {
    for (const ring of rings) {
      const stages = this.#rings.get(ring) ?? new Stages();
      const [blocked, waited] = [stages.of('blocked'), stages.count(...WAITED)];
      if (waited === 0) continue;
      const areBlocked = blocked.size === waited;
      if (areBlocked && stages.count('settled', 'verified') > 0) continue;
      const isBlocked = blocked.size > 0 && blocked.size === waited - stages.count('unread');
      const why = isBlocked ? `, where ${formatNames(blocked)} cannot be written` : '';
      return waitsFor(`for ring ${ring ?? ''}${why}`);
    }
    return null;
  }

  #computeStage(state: WatchState, isWriting: boolean, now: number): Stage {
    const { rollout, found, suspended, stopped, heldBy, lastRead } = state;
    const edit = this.#edit;
    if (!isEditOfState(state, edit)) return isUnread(lastRead, edit) ? 'unread' : 'untouched';
    if (isWriting) return 'open';
    if (rollout?.edit !== edit) {
      const isBlocked = suspended !== null || stopped !== null || heldBy !== null;
      return isBlocked || !isHealable(found) ? 'blocked' : 'waiting';
    }
    if (rollout.result === 'begun') return 'open';
    if (found !== 'in-sync' && found !== 'unknown') return 'failed';
    const at = Date.parse(rollout.at);
    // If the clock was set back, it was written some time ago.
    const isVerified =
      now < at || (lastRead !== null && Date.parse(lastRead) >= at + this.#options.soak);
    if (!isVerified) return 'open';
    return rollout.result === 'done' ? 'verified' : 'settled';
  }
}

/** Stages of those that a later ring waits for. */
const WAITED: readonly Stage[] = ['blocked', 'failed', 'open', 'unread', 'waiting'];
const TOUCHED: readonly Stage[] = [...WAITED, 'settled', 'verified'];

function waitsFor(what: string): Waits {
  return { words: `waits ${what}`, isStopped: false };
}

function formatNames(names: ReadonlySet<string>): string {
  return namesListed([...names], MOST_NAMED);
}

/** Reports whether an edit concerns an environment. The declaration of an unreadable environment may have changed with it. */
function isEditOfState({ edit, rollout, found, declaredAt }: WatchState, one: string): boolean {
  if (edit === one || rollout?.edit === one) return true;
  return found === 'error' && declaredAt !== null && declaredAt >= one;
}

function isUnread(lastRead: string | null, edit: string): boolean {
  return lastRead === null || Date.parse(lastRead) < Date.parse(edit);
}

function readRing({ labels }: WatchState): Ring {
  return labels['ring'] ?? null;
}

const ORDER = new Intl.Collator('en', { numeric: true });

/** Less than 0 if one ring comes before another; those without a ring come last. */
function compareRings(one: Ring, other: Ring): number {
  if (one === null || other === null) return Number(one === null) - Number(other === null);
  return ORDER.compare(one, other);
}
