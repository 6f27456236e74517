import { placeOfName } from '../../reconciler/model/shard.ts';
import { usageError, SetpointError } from '../../reconciler/model/error.ts';
import type {
  Suspension,
  WatchState,
  JournalRecord,
  NoticeEvent,
} from '../../reconciler/model/watch.ts';
import type { Target } from '../../reconciler/desired/target.ts';
import { watchSettings, untilFirstRead } from './schedule.ts';
import type { ReadQueue } from './read-queue.ts';
import { applyFact, notReadState, restoreState } from './environment-state.ts';
import type { Memory } from './journal/journal-reader.ts';
import { ReadLimit } from './read-limit.ts';
import { EnvironmentWatcher, type WatchTools } from './watched.ts';
import type { Clock } from '../../reconciler/model/ports.ts';
import { isLockRefused, type Locks } from './locks/locks.ts';
import type { Departed, NotifiedStates } from './notices/notified-states.ts';

/** After the files changed, known environments are read within this time, in milliseconds. */
const SOON = 5_000;

/** The time that an environment counts as new, in milliseconds: the one it replaces may be removed after it was added. */
const NEW = 120_000;

/** Locks that are tried again at a time. */
const MOST_LOCKS = 50;

/** The environments that a controller watches, with what the journal remembers of them. */
export class Fleet {
  readonly #tools: WatchTools;
  #watched: ReadonlyMap<string, EnvironmentWatcher> = new Map();
  readonly #queue: ReadQueue<EnvironmentWatcher>;
  #remembered = new Map<string, WatchState>();
  /** The time when each environment appeared that was not watched before, or was unknown at the start, on the monotonic clock. */
  readonly #appeared = new Map<string, number>();
  /** The limits of those that are gone: they are not over because it comes back. */
  readonly #limits = new Map<string, Pick<EnvironmentWatcher, 'limit' | 'least'>>();

  /** The edit of the files that was taken last, and when its last part was, on the monotonic clock. */
  #edit: { readonly at: string; readonly last: number } | null = null;

  constructor(tools: WatchTools, queue: ReadQueue<EnvironmentWatcher>) {
    this.#tools = tools;
    this.#queue = queue;
  }

  restore({ environments }: Pick<Memory, 'environments'>): void {
    this.#remembered = new Map(environments);
  }

  /** Takes over what the files declare: new environments are read within a minute, few of them at once, known ones soon. Returns those that are gone. */
  take(targets: readonly Target[]): readonly EnvironmentWatcher[] {
    const { clock, interval, random } = this.#tools;
    const now = clock.monotonic();
    const before = this.#watched;
    const next = new Map<string, EnvironmentWatcher>();
    const isAdded = before.size > 0;
    const at = this.#recordEdit(now);
    const count = targets.filter(({ name }) => !before.has(name)).length;
    for (const target of targets) {
      const every = watchSettings(target, interval).interval ?? interval;
      const known = before.get(target.name);
      if (known === undefined && (before.size > 0 || !this.#remembered.has(target.name)))
        this.#appeared.set(target.name, now);
      const watched =
        known ??
        this.#newWatched(target, now + untilFirstRead(every, count, placeOfName(target.name)));
      next.set(target.name, watched);
    }
    for (const [name, at] of this.#appeared)
      if (!next.has(name) || now - at > NEW) this.#appeared.delete(name);
    this.#watched = next;
    for (const target of targets) {
      const isKnown = before.has(target.name);
      const watched = this.requireEnvironment(target.name);
      const isOther = watched.declare(target, { at, isAdded: isAdded && !isKnown });
      if (isKnown && isOther) watched.readAt(now + random() * SOON, 'changed');
    }
    this.#queue.reset(next.values());
    const gone = [...before.values()].filter(({ name }) => !next.has(name));
    for (const [name, { limit, least }] of this.#limits)
      if (next.has(name) || limit.isOver(least)) this.#limits.delete(name);
    // They may come back.
    for (const { name, state, limit, least } of gone) {
      this.#tools.rollouts.remove(name);
      this.#remembered.set(name, state);
      if (least > 0) this.#limits.set(name, { limit, least });
    }
    return gone;
  }

  /** Returns the time of the edit that is being taken: an edit soon after another belongs to it. */
  #recordEdit(now: number): string {
    const { moment, joins } = this.#tools;
    const isNext = this.#edit === null || now - this.#edit.last > joins;
    this.#edit = { at: isNext ? moment().at : (this.#edit?.at ?? ''), last: now };
    return this.#edit.at;
  }

  states(): readonly WatchState[] {
    return [...this.#watched.values()].map(({ state }) => state);
  }

  find(name: string): EnvironmentWatcher | undefined {
    return this.#watched.get(name);
  }

  /** Returns the known state of an environment that is not watched. */
  describeUnwatched(name: string): WatchState {
    return this.#withRemembered(notReadState(name, this.#tools.moment().at));
  }

  /** The environments that the journal has records of, watched or not. */
  get remembered(): readonly string[] {
    return [...this.#remembered.keys()];
  }

  isWatched(name: string): boolean {
    return this.#watched.has(name);
  }

  /** Reports whether an environment that is not watched was suspended when it was. */
  isSuspended(name: string): boolean {
    return (this.#remembered.get(name)?.suspended ?? null) !== null;
  }

  /** Removes the state of environments that are gone. */
  forget(names: readonly string[]): void {
    for (const name of names) this.#remembered.delete(name);
  }

  /** Throws a usage error if there is none. */
  requireEnvironment(name: string): EnvironmentWatcher {
    const watched = this.find(name);
    if (watched !== undefined) return watched;
    throw usageError(
      `No environment is named ${JSON.stringify(name)}.`,
      'Look at the list of environments.',
    );
  }

  /** Lists the new environments at the server of one that is gone, in the same namespace if they have one. */
  listNewAtSameServer(gone: string): readonly string[] {
    const { origin } = this.describeUnwatched(gone);
    if (origin === null) return [];
    return [...this.#appeared.keys()].filter((name) => {
      const watched = this.#watched.get(name);
      return (
        watched?.declaredOrigin === origin && parseNameNamespace(name) === parseNameNamespace(gone)
      );
    });
  }

  /** Those that were given the server which another one had when it was read last, and has no more, in the same namespace if they have one. */
  movedToServerOf(name: string): readonly string[] {
    const left = this.#watched.get(name);
    const declared = left?.declaredOrigin ?? null;
    const origin = left?.state.origin ?? null;
    if (declared === null || origin === null || declared === origin) return [];
    return [...this.#watched.values()]
      .filter((one) => one.state.origin !== origin && one.declaredOrigin === origin)
      .map((one) => one.name)
      .filter((one) => one !== name && parseNameNamespace(one) === parseNameNamespace(name));
  }

  suspend(of: (name: string) => Suspension | null): void {
    for (const { name, records } of this.#watched.values())
      records.know({ kind: 'set', suspended: of(name) });
  }

  /** Tries again to take locks that could not be taken, or were lost, until one still cannot be. */
  async lookAtLocks(): Promise<void> {
    let tries = MOST_LOCKS;
    for (const watched of this.#watched.values()) {
      const isTaken = await watched.lookAtLock();
      if (isTaken !== null) tries -= 1;
      if (isTaken === false || tries === 0) return;
    }
  }

  async lookAtClock(): Promise<void> {
    for (const watched of this.#watched.values()) await watched.lookAtClock();
  }

  /** Lets healing go on. */
  resume(names: readonly string[]): void {
    for (const name of names) {
      this.find(name)?.records.know({ kind: 'resumed' });
      const gone = this.#remembered.get(name);
      if (gone !== undefined) this.#remembered.set(name, applyFact(gone, { kind: 'resumed' }));
    }
  }

  #newWatched(target: Target, due: number): EnvironmentWatcher {
    const { moment, interval, clock } = this.#tools;
    const fresh = notReadState(target.name, moment().at, watchSettings(target, interval));
    const state = this.#withRemembered(fresh);
    const limit = this.#limits.get(target.name)?.limit ?? new ReadLimit(clock);
    const waits = (one: EnvironmentWatcher): void => this.#queue.add(one);
    return new EnvironmentWatcher(state, target, { due, limit }, this.#tools, waits);
  }

  #withRemembered(state: WatchState): WatchState {
    const known = this.#remembered.get(state.name);
    return known === undefined ? state : restoreState(state, known, this.#tools.moment());
  }
}

/** Returns the namespace in a name from Kubernetes; empty for names from files. */
function parseNameNamespace(name: string): string {
  return name.slice(0, Math.max(0, name.indexOf('/')));
}

/** The time that a declared environment must be unwatched, in milliseconds: another controller may be about to take it. */
const ELSEWHERE = 20_000;
/** The time that an environment is left alone after another holder of its lock was found. */
const HELD = 60_000;

interface Tools {
  readonly locks: Pick<Locks, 'take'>;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly fleet: Pick<Fleet, 'describeUnwatched'> & { readonly find: (name: string) => unknown };
  /** The names that the files declare, also of other shards and of those that were not chosen; null as long as there are no files. */
  readonly declared: () => ReadonlySet<string> | null;
  /** The current content of the journal. */
  readonly recall: { readonly now: () => Promise<Pick<Memory, 'notified'>> };
  readonly notified: NotifiedStates;
}

/**
 * Environments that this controller does not watch any more: they left the files, or belong to another shard or choice. The controller that
 * takes the lock of one reports its end: then no other controller watches it.
 */
export class DepartedEnvironments {
  readonly #tools: Tools;
  /** The time from which each is reported, on the monotonic clock. */
  readonly #from = new Map<string, number>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(tools: Tools) {
    this.#tools = tools;
  }

  /** A departed environment that receivers were notified of; null while it is watched, or may be. */
  of(name: string): Departed | null {
    const { fleet, clock, declared } = this.#tools;
    if (fleet.find(name) !== undefined) {
      this.#from.delete(name);
      return null;
    }
    const names = declared();
    if (names === null) return null;
    const isDeclared = names.has(name);
    const now = clock.monotonic();
    const from = this.#from.get(name) ?? now + (isDeclared ? ELSEWHERE : 0);
    this.#from.set(name, from);
    if (now < from) return null;
    return { state: fleet.describeUnwatched(name), end: isDeclared ? 'not-watched' : 'left-files' };
  }

  /** Stores a notice about one. Throws lock-lost if another controller watches it, or has reported its end. */
  keep(
    event: NoticeEvent,
    append: (event: NoticeEvent) => Promise<JournalRecord>,
  ): Promise<JournalRecord> {
    const kept = this.#last.then(() =>
      event.result === 'begun' ? this.#beginNotice(event, append) : append(event),
    );
    this.#last = kept.catch(() => {});
    return kept;
  }

  async #beginNotice(
    event: NoticeEvent,
    append: (event: NoticeEvent) => Promise<JournalRecord>,
  ): Promise<JournalRecord> {
    const { locks, recall, notified, clock } = this.#tools;
    const { environment, receiver } = event;
    const lock = await locks.take(environment);
    if (isLockRefused(lock)) {
      this.#from.set(environment, clock.monotonic() + HELD);
      throw new SetpointError('lock-lost', `${environment} is watched by ${lock.heldBy}.`);
    }
    try {
      notified.renew(environment, (await recall.now()).notified);
      if (!notified.listOpen(receiver).includes(environment))
        throw new SetpointError('lock-lost', `The end of ${environment} was reported elsewhere.`);
      return await append(event);
    } finally {
      await lock.release(this.#tools.declared()?.has(environment) === false);
    }
  }
}
