import { asSetpointError } from '../../reconciler/model/error.ts';
import type { Fleet } from './fleet.ts';
import type { Locks } from './locks/locks.ts';
import type { Recorder } from './recorder.ts';
import type { CurrentFiles, SettingsSource } from './source.ts';
import type { WatchOptions } from './watch-options.ts';
import type { ConditionKind } from '../../reconciler/model/watch.ts';
import { NONE_YET, type Conditions } from './conditions.ts';
import type { Journal } from './journal/journal.ts';
import type { Clock } from '../../reconciler/model/ports.ts';
import type { Suspensions } from './suspensions.ts';

/** The longest time that the start waits for anything, in milliseconds. */
const FIRST = 10_000;

/** Milliseconds between two looks for environments that are gone. */
const GONE_EVERY = 60_000;

const LATE_FILES = {
  files: 'Their disk does not answer.',
  git: 'The repository does not answer.',
  cluster: 'The API server does not answer.',
} as const;

/** The repeated work of a controller next to its reads: its files, suspensions, the journal and the locks. */
export class Upkeep {
  readonly #options: Pick<WatchOptions, 'files' | 'clock'>;
  readonly #recorder: Recorder;
  readonly #fleet: Fleet;
  readonly #suspensions: Suspensions;
  readonly #conditions: Conditions;
  readonly #journal: Journal;
  readonly #files: Chore;
  readonly #whoIsSuspended: Chore;
  readonly #journalKept: Chore;
  readonly #chores: readonly Chore[];
  #hasBegun = false;
  /** The broken files that are shown. */
  #broken: ReadonlySet<string> = new Set();

  /** `every` is how often it looks, in milliseconds. */
  constructor(
    options: Pick<WatchOptions, 'files' | 'clock' | 'journal' | 'locks' | 'source'>,
    every: number,
    tools: {
      readonly recorder: Recorder;
      readonly fleet: Fleet;
      readonly suspensions: Suspensions;
      readonly conditions: Conditions;
    },
  ) {
    const { clock, journal } = options;
    const { recorder, fleet, suspensions, conditions } = tools;
    this.#options = options;
    const gone = new GoneEnvironments({ ...options, fleet, recorder });
    this.#journal = journal;
    this.#recorder = recorder;
    this.#fleet = fleet;
    this.#suspensions = suspensions;
    this.#conditions = conditions;
    const chore = (kind: ConditionKind, problem: string, work: () => Promise<void>): Chore =>
      new Chore({
        clock,
        every,
        work,
        late: (isLate) => conditions.set(kind, isLate ? problem : null, 'late'),
      });
    this.#files = new Chore({
      clock,
      every,
      work: () => this.#lookAtFiles(),
      late: (isLate) => this.#filesLate(isLate),
    });
    this.#whoIsSuspended = chore(
      'suspensions',
      'The disk of the suspensions does not answer.',
      () => suspensions.look(),
    );
    this.#journalKept = chore('journal', 'The disk of the journal does not answer.', async () => {
      await recorder.lookAtJournal();
      await fleet.lookAtClock();
    });
    this.#chores = [
      this.#files,
      this.#whoIsSuspended,
      this.#journalKept,
      chore('locks', 'The place of the locks does not answer.', () => fleet.lookAtLocks()),
      new Chore({ clock, every: GONE_EVERY, work: () => gone.remove(), late: () => {} }),
    ];
  }

  /** The number of tasks that have begun and not ended. */
  get underWay(): number {
    return this.#chores.filter(({ isRunning }) => isRunning).length;
  }

  /**
   * Reads what the controller goes on from; what cannot be read, and may be later, is a condition. Throws if the files are wrong, and none were used
   * before, or if the journal has no folder.
   */
  async begin(): Promise<void> {
    await endsWithin(FIRST, this.#journal.makeFolder());
    const suspensions = endsWithin(FIRST, this.#whoIsSuspended.begin());
    await this.#firstFiles();
    await suspensions;
    await endsWithin(FIRST, this.#journalKept.begin());
    this.#hasBegun = true;
    await this.#take();
    this.#showFiles();
    if (this.#files.isRunning) this.#filesLate(true);
  }

  /** Reads the files, or those of the controller before this one if the newest do not come or cannot be used. */
  async #firstFiles(): Promise<void> {
    const { files } = this.#options;
    const isDone = await endsWithin(FIRST, this.#files.begin());
    const { problem, kind } = files;
    if (isDone && files.areTaken) return;
    if (await files.takeLast()) return;
    // A push fixes a branch; a file of this machine, and a flag, are fixed by the user who starts the controller.
    const mayPass = kind !== 'files' && problem?.code !== 'usage';
    if (isDone && problem !== null && !mayPass) throw problem;
  }

  /** Has the files read at the next look: they have changed. */
  filesChanged(): void {
    this.#files.soon();
  }

  /** Begins the due work. Resolves once it is done, or continues in the background. */
  async look(): Promise<void> {
    await Promise.all(this.#chores.map((chore) => chore.look()));
  }

  async #lookAtFiles(): Promise<void> {
    const { files } = this.#options;
    const isOther = await files.refresh();
    if (!this.#hasBegun) return;
    // Those of the controller before this one may have been out of reach when this one began.
    const isFirst = !files.areTaken && (await files.takeLast());
    this.#showFiles();
    if (isFirst || (isOther && (files.problem === null || files.broken.length > 0)))
      await this.#take();
    if (isOther) await this.#recorder.noteFiles(files);
  }

  #filesLate(isLate: boolean): void {
    const { kind, areTaken } = this.#options.files;
    const part = isLate && !areTaken ? NONE_YET : 'late';
    this.#conditions.set(kind, isLate ? LATE_FILES[kind] : null, part);
  }

  #showFiles(): void {
    const { kind, areTaken, problemText, broken } = this.#options.files;
    const reported = this.#broken;
    this.#broken = new Set(broken.map(({ file }) => file));
    for (const { file, text, isKept } of broken) {
      const follows = isKept
        ? 'its environments go on as it declared them last'
        : 'its environments are not watched until it can be';
      this.#conditions.set(kind, `${file} cannot be used; ${follows}. ${text}`, file);
    }
    for (const file of reported)
      if (!this.#broken.has(file)) this.#conditions.set(kind, null, file);
    const whole = broken.length > 0 ? null : problemText;
    const problem = areTaken ? whole : (whole ?? LATE_FILES[kind]);
    this.#conditions.set(kind, problem, areTaken ? '' : NONE_YET);
    this.#conditions.set(kind, null, areTaken ? NONE_YET : '');
  }

  async #take(): Promise<void> {
    const { files } = this.#options;
    const left = this.#fleet.take(files.targets);
    this.#suspensions.mark();
    await this.#suspensions.follow(files.declared);
    for (const one of left)
      await one.leave(!this.#options.files.declared.has(one.name)).catch((thrown: unknown) => {
        this.#recorder.warn(asSetpointError(thrown).message, one.name);
      });
  }
}

interface ChoreOptions {
  readonly clock: Clock;
  /** Milliseconds from the end of one time to the next. */
  readonly every: number;
  /** Never throws. */
  readonly work: () => Promise<void>;
  /** Called when the work takes too long, while it goes on; and whenever it has ended. */
  readonly late: (isLate: boolean) => void;
}

/** The time that work may take before that is a problem, in milliseconds. */
const LATE = 15_000;
/** The time that others wait for work that has just begun, in milliseconds: it is usually done by then. */
const GRACE = 500;

/** Waits for work, for as many milliseconds at most; whether it has ended by then. The work goes on. */
export async function endsWithin(most: number, work: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), most);
  });
  const ended = work.then(() => true);
  try {
    return await Promise.race([ended, over]);
  } finally {
    clearTimeout(timer);
  }
}

/** Work that is repeated in the background of the reads, once at a time: a disk or a server that hangs delays nothing else. */
export class Chore {
  readonly #options: ChoreOptions;
  #due = Number.NEGATIVE_INFINITY;
  #running: Promise<void> | null = null;

  constructor(options: ChoreOptions) {
    this.#options = options;
  }

  get isRunning(): boolean {
    return this.#running !== null;
  }

  /** Has it done as soon as it can be, also if it is being done now. */
  soon(): void {
    this.#due = Number.NEGATIVE_INFINITY;
  }

  /** Begins the work if it is due. Resolves once it is done, or continues in the background. */
  async look(): Promise<void> {
    if (this.#running !== null || this.#options.clock.monotonic() < this.#due) return;
    await endsWithin(GRACE, this.begin());
  }

  /** Begins the work, unless it goes on already. Resolves once it is done. */
  begin(): Promise<void> {
    this.#running ??= this.#do();
    return this.#running;
  }

  async #do(): Promise<void> {
    const { clock, every, work, late } = this.#options;
    const lateness = setTimeout(() => late(true), LATE).unref();
    this.#due = Number.POSITIVE_INFINITY;
    try {
      await work();
    } finally {
      clearTimeout(lateness);
      late(false);
      this.#running = null;
      this.#due = Math.min(this.#due, clock.monotonic() + every);
    }
  }
}

/** The pause between two turns of a loop. Something that happens ends it early, also if it happens before the pause begins. */
export class Pause {
  readonly #clock: Clock;
  #isOver = false;
  #sleep: AbortController | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves after as many milliseconds, or when the pause is ended. */
  async rest(milliseconds: number): Promise<void> {
    if (!this.#isOver && milliseconds > 0) {
      this.#sleep = new AbortController();
      await this.#clock.sleep(milliseconds, this.#sleep.signal);
      this.#sleep = null;
    }
    this.#isOver = false;
  }

  end(): void {
    this.#isOver = true;
    // Without a reason, an error with a stack is made each time.
    this.#sleep?.abort('over');
  }
}

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
