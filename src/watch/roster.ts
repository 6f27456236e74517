import { usageError } from '../model/error.ts';
import type { Clock } from '../model/ports.ts';
import type { JournalRecord } from '../model/watch.ts';
import type { Target } from '../desired/target.ts';
import { Environment } from './environment.ts';
import type { Checkpoint, Restored } from './journal-lines.ts';
import { untilFirstRead } from './schedule.ts';
import { settingsOf, Watched } from './watched.ts';

interface RosterOptions {
  readonly clock: Clock;
  /** Milliseconds between two reads of an environment that does not say. */
  readonly interval: number;
  /** A number from 0 to 1. */
  readonly random: () => number;
}

/** Environments that the files declared anew are read within this time, in milliseconds. */
const SOON = 5_000;

/** The environments that a controller watches, with what the journal remembers of them. */
export class Roster {
  readonly #options: RosterOptions;
  #watched: ReadonlyMap<string, Watched> = new Map();
  #remembered: Restored['environments'] = new Map();
  /** What was told of the states that environments are in. */
  notices: readonly JournalRecord[] = [];

  constructor(options: RosterOptions) {
    this.#options = options;
  }

  restore({ environments, notices }: Restored): void {
    this.#remembered = environments;
    this.notices = notices;
  }

  /** Takes what the files declare: new environments are read within their interval, known ones soon. Returns those that are gone. */
  take(targets: readonly Target[]): readonly Watched[] {
    const { clock, interval, random } = this.#options;
    const now = clock.monotonic();
    const before = this.#watched;
    const next = new Map<string, Watched>();
    for (const target of targets) {
      const every = settingsOf(target, interval).interval ?? interval;
      const known = before.get(target.name);
      const watched = known ?? this.#newWatched(target, now + untilFirstRead(every, random()));
      if (known !== undefined) watched.due = Math.min(watched.due, now + random() * SOON);
      watched.declare(target, interval);
      next.set(target.name, watched);
    }
    this.#watched = next;
    return [...before.values()].filter(({ environment: { name } }) => !next.has(name));
  }

  all(): Iterable<Watched> {
    return this.#watched.values();
  }

  environments(): readonly Environment[] {
    return [...this.#watched.values()].map(({ environment }) => environment);
  }

  find(name: string): Watched | undefined {
    return this.#watched.get(name);
  }

  /** Throws a usage error if there is none. */
  named(name: string): Watched {
    const watched = this.find(name);
    if (watched !== undefined) return watched;
    throw usageError(
      `No environment is named ${JSON.stringify(name)}.`,
      'Look at the list of environments.',
    );
  }

  /** Those whose turn has come and that wait for it, the longest first. */
  due(): readonly Watched[] {
    const now = this.#options.clock.monotonic();
    return [...this.#watched.values()]
      .filter(({ busy, due }) => !busy && due <= now)
      .toSorted((one, other) => one.due - other.due);
  }

  /** Milliseconds until the next turn, at most as given. */
  untilDue(most: number): number {
    const now = this.#options.clock.monotonic();
    let next = most;
    for (const { due, busy } of this.#watched.values()) if (!busy) next = Math.min(next, due - now);
    return next;
  }

  /** What a new file of the journal begins with. Environments that the files do not declare now are kept, too: they may come back. */
  checkpoint(): Checkpoint {
    const gone = [...this.#remembered.values()].filter(({ name }) => !this.#watched.has(name));
    return {
      v: 1,
      at: new Date(this.#options.clock.now()).toISOString(),
      kind: 'checkpoint',
      environments: [...gone, ...this.environments().map(({ remembered }) => remembered)],
      notices: this.notices,
    };
  }

  #newWatched(target: Target, due: number): Watched {
    const { clock, interval } = this.#options;
    const now = new Date(clock.now()).toISOString();
    const environment = new Environment(target.name, settingsOf(target, interval), now);
    const known = this.#remembered.get(target.name);
    if (known !== undefined) environment.restore(known);
    return new Watched(environment, target, due);
  }
}
