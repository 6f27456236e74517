import type { ConditionKind } from '../model/condition.ts';
import { asSetpointError } from '../model/error.ts';
import { Chore, endsWithin } from './chore.ts';
import type { Conditions } from './conditions.ts';
import type { Keeper } from './keeper.ts';
import type { Roster } from './roster.ts';
import type { Suspensions } from './suspensions.ts';
import type { WatchOptions } from './watch-options.ts';

/** How long the first files may take before those of the controller before this one are used, in milliseconds. */
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
  readonly #files: Chore;
  readonly #chores: readonly Chore[];
  #hasBegun = false;

  /** `every` is how often it looks, in milliseconds. */
  constructor(
    options: Pick<WatchOptions, 'files' | 'clock'>,
    every: number,
    tools: {
      readonly keeper: Keeper;
      readonly roster: Roster;
      readonly suspensions: Suspensions;
      readonly conditions: Conditions;
    },
  ) {
    const { files, clock } = options;
    const { keeper, roster, suspensions, conditions } = tools;
    this.#options = options;
    this.#keeper = keeper;
    this.#roster = roster;
    this.#suspensions = suspensions;
    this.#conditions = conditions;
    const chore = (kind: ConditionKind, problem: string, work: () => Promise<void>): Chore =>
      new Chore({
        clock,
        every,
        work,
        late: (isLate) => this.#late(kind, isLate ? problem : null),
      });
    this.#files = chore(files.kind, LATE_FILES[files.kind], () => this.#lookAtFiles());
    this.#chores = [
      this.#files,
      chore('suspensions', 'The disk of the suspensions does not answer.', () =>
        suspensions.look(),
      ),
      chore('journal', 'The disk of the journal does not answer.', async () => {
        await keeper.lookAtJournal();
        await roster.lookAtClock();
      }),
      chore('locks', 'The place of the locks does not answer.', () => roster.lookAtLocks()),
    ];
  }

  /** How much of it has begun and not ended. */
  get underWay(): number {
    return this.#chores.filter(({ isRunning }) => isRunning).length;
  }

  /** Reads the files, or those of the controller before this one if the newest do not come or cannot be used. Throws if there are none. */
  async firstFiles(): Promise<void> {
    const { files } = this.#options;
    const looked = this.#files.begin();
    if ((await endsWithin(FIRST, looked)) && files.problem === null) return;
    // A branch that was rewritten is for somebody to look at.
    const isRewritten = files.problem?.code === 'branch-rewritten';
    if (!isRewritten && (await files.takeLast())) return;
    await looked;
    if (files.problem !== null) throw files.problem;
  }

  /** Takes over the files that were read first; from now on what is wrong is a condition of the controller. */
  async begin(): Promise<void> {
    await this.#take();
    this.#hasBegun = true;
    const { kind, problemText } = this.#options.files;
    this.#conditions.set(kind, problemText);
    if (this.#files.isRunning) this.#late(kind, LATE_FILES[kind]);
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
    this.#conditions.set(files.kind, files.problemText);
    if (!isOther) return;
    if (files.problem === null) await this.#take();
    await this.#keeper.noteFiles(files);
  }

  #late(kind: ConditionKind, problem: string | null): void {
    // Until then, whoever starts the controller is told by its end.
    if (this.#hasBegun) this.#conditions.set(kind, problem, 'late');
  }

  async #take(): Promise<void> {
    const left = this.#roster.take(this.#options.files.targets);
    this.#suspensions.mark();
    for (const one of left)
      await one.leave().catch((thrown: unknown) => {
        this.#keeper.warn(asSetpointError(thrown).message, one.environment.name);
      });
  }
}
