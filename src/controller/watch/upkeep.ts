import type { ConditionKind } from '../../reconciler/model/condition.ts';
import { asSetpointError } from '../../reconciler/model/error.ts';
import { Chore, endsWithin } from './chore.ts';
import { NONE_YET, type Conditions } from './conditions.ts';
import type { Journal } from './journal/journal.ts';
import type { Keeper } from './keeper.ts';
import type { Roster } from './roster.ts';
import type { Suspensions } from './suspensions.ts';
import type { WatchOptions } from './watch-options.ts';

/** How long the start waits for anything, in milliseconds. */
const FIRST = 10_000;

const LATE_FILES = {
  files: 'Their disk does not answer.',
  git: 'The repository does not answer.',
} as const;

/** What a controller looks after beside its reads, again and again: its files, who is suspended, the journal and the locks. */
export class Upkeep {
  readonly #options: Pick<WatchOptions, 'files' | 'clock'>;
  readonly #keeper: Keeper;
  readonly #roster: Roster;
  readonly #suspensions: Suspensions;
  readonly #conditions: Conditions;
  readonly #journal: Journal;
  readonly #files: Chore;
  readonly #whoIsSuspended: Chore;
  readonly #journalKept: Chore;
  readonly #chores: readonly Chore[];
  #hasBegun = false;

  /** `every` is how often it looks, in milliseconds. */
  constructor(
    options: Pick<WatchOptions, 'files' | 'clock' | 'journal'>,
    every: number,
    tools: {
      readonly keeper: Keeper;
      readonly roster: Roster;
      readonly suspensions: Suspensions;
      readonly conditions: Conditions;
    },
  ) {
    const { clock, journal } = options;
    const { keeper, roster, suspensions, conditions } = tools;
    this.#options = options;
    this.#journal = journal;
    this.#keeper = keeper;
    this.#roster = roster;
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
      await keeper.lookAtJournal();
      await roster.lookAtClock();
    });
    this.#chores = [
      this.#files,
      this.#whoIsSuspended,
      this.#journalKept,
      chore('locks', 'The place of the locks does not answer.', () => roster.lookAtLocks()),
    ];
  }

  /** How much of it has begun and not ended. */
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
    if (isDone && problem === null) return;
    // A branch that was rewritten is for somebody to look at.
    const isRewritten = problem?.code === 'branch-rewritten';
    if (!isRewritten && (await files.takeLast())) return;
    // Whoever pushes to a branch may mend it; a file of this machine is mended by who starts the controller.
    const mayPass = kind === 'git' && !isRewritten && problem?.code !== 'usage';
    if (isDone && problem !== null && !mayPass) throw problem;
  }

  /** Has the files read at the next look: they have changed. */
  filesChanged(): void {
    this.#files.soon();
  }

  /** Begins what is due. Resolves once it is done, or goes on beside. */
  async look(): Promise<void> {
    await Promise.all(this.#chores.map((chore) => chore.look()));
  }

  async #lookAtFiles(): Promise<void> {
    const { files } = this.#options;
    const isOther = await files.refresh();
    if (!this.#hasBegun) return;
    this.#showFiles();
    if (!isOther) return;
    if (files.problem === null) await this.#take();
    await this.#keeper.noteFiles(files);
  }

  #filesLate(isLate: boolean): void {
    const { kind, areTaken } = this.#options.files;
    const part = isLate && !areTaken ? NONE_YET : 'late';
    this.#conditions.set(kind, isLate ? LATE_FILES[kind] : null, part);
  }

  #showFiles(): void {
    const { kind, areTaken, problemText } = this.#options.files;
    const problem = areTaken ? problemText : (problemText ?? LATE_FILES[kind]);
    this.#conditions.set(kind, problem, areTaken ? '' : NONE_YET);
    this.#conditions.set(kind, null, areTaken ? NONE_YET : '');
  }

  async #take(): Promise<void> {
    const left = this.#roster.take(this.#options.files.targets);
    this.#suspensions.mark();
    for (const one of left)
      await one.leave().catch((thrown: unknown) => {
        this.#keeper.warn(asSetpointError(thrown).message, one.name);
      });
  }
}
