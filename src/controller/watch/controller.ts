import { usageError } from '../../reconciler/model/error.ts';
import type { EnvironmentPlan } from '../../reconciler/model/plan.ts';
import type { Tracer } from '../../reconciler/model/ports.ts';
import { formatCount } from '../../reconciler/model/wording.ts';
import { VERSION } from '../../reconciler/model/version.ts';
import type {
  JournalRecord,
  Moment,
  Suspension,
  WatchState,
} from '../../reconciler/model/watch.ts';
import {
  freeGrownMemory,
  measureLoop,
  findTracer,
  UNTRACED,
} from '../../reconciler/host/this-process.ts';
import { sessionNetworks } from '../../reconciler/operations/session.ts';
import { Agreements } from './agreements.ts';
import { Conditions } from './conditions.ts';
import { DepartedEnvironments, Fleet } from './fleet.ts';
import { Suspensions } from './suspensions.ts';
import { Pause, Upkeep } from './upkeep.ts';
import { Recorder } from './recorder.ts';
import { MAX_FAILURES, Rollouts, SOAK } from './rollout.ts';
import { type EnvironmentRecords } from './environment-records.ts';
import { SharedReading, type JournalReading } from './journal/journal-reader.ts';
import { lockProblems } from './locks/locks.ts';
import type { NoticeJournal } from './notices/notified-states.ts';
import { LateReads, mayWait } from './late-reads.ts';
import { ReadQueue, waitText } from './read-queue.ts';
import { Outages } from './schedule.ts';
import type { EnvironmentWatcher, WatchTools } from './watched.ts';
import { RequestCounts } from './telemetry/counters.ts';
import type { Health, Listener, RequestCount, Watching } from './watching.ts';
import type { WatchOptions } from './watch-options.ts';

/** The loop turns at least this often, in milliseconds. */
const TURN = 5_000;

/** The period in which another edit joins the one before, in milliseconds: files are saved, and objects applied, one after another. */
const JOINS_OF_FILES = 5_000;
const JOINS_OF_OBJECTS = 60_000;

/** The number of different agreements that are stored as one object for all environments that have them. */
const SHARED_AGREEMENTS = 100;

/** Reads environments again and again, records what it finds, and heals where that is allowed. */
export class Controller implements Watching {
  readonly #options: WatchOptions;
  readonly #recorder: Recorder;
  readonly #recall: SharedReading;
  readonly #requests = new RequestCounts();
  readonly #networks = sessionNetworks((method, status) => this.#requests.add(method, status));
  readonly #stop = new AbortController();
  readonly #startedAt: number;
  /** The last turn of the loop, on the monotonic clock. */
  #turned: number;
  #hasBegun = false;
  /** True if each environment began with its state in the journal. */
  #isRestored = false;
  readonly #pause: Pause;
  readonly #fleet: Fleet;
  readonly #queue: ReadQueue<EnvironmentWatcher>;
  readonly #late: LateReads;
  /** Turns that have not ended, and applies that people asked for. */
  readonly #turns = new Set<Promise<void>>();
  readonly #applies = new Set<Promise<void>>();
  readonly #suspensions: Suspensions;
  readonly conditions: Conditions;
  readonly #upkeep: Upkeep;
  /** Identifies the start of the machine, if the system reports it. */
  #boot: string | null = null;
  #tracer: Tracer = UNTRACED;

  constructor(options: WatchOptions) {
    const { files, clock, interval } = options;
    this.#options = options;
    this.conditions = new Conditions(() => clock.now(), options.report);
    this.#recorder = new Recorder(options.journal, this.conditions, options.report, (reading) =>
      this.#restore(reading),
    );
    this.#startedAt = clock.now();
    this.#turned = clock.monotonic();
    this.#recall = new SharedReading(options.journal);
    this.#pause = new Pause(clock);
    const rollouts = new Rollouts({
      clock,
      states: () => this.states(),
      isWatched: (name) => this.#fleet.isWatched(name),
      soak: options.soak ?? SOAK,
      maxFailures: options.maxFailures ?? MAX_FAILURES,
      wake: (name) => {
        this.#fleet.find(name)?.readAt(Number.NEGATIVE_INFINITY, 'changed');
      },
    });
    const tools = this.#createTools(options, rollouts);
    const { paces } = this.#networks;
    this.#queue = new ReadQueue({
      clock,
      parallel: options.parallel,
      groupOf: ({ name }) => files.groupOf(name),
      mostOf: (group) => files.mostReads(group),
      originOf: ({ name, state }) => this.#findOrigin(name, state),
      isNew: ({ isNew }) => isNew,
      isHeldUp: (origin) => paces.waiting(origin) >= Math.max(1, options.parallel / 4),
      isBusy: measureLoop(),
    });
    this.#late = new LateReads({
      clock,
      conditions: this.conditions,
      lateness: () =>
        this.#queue.lateness(
          ({ state }) => mayWait(state.settings.interval ?? interval),
          ({ name }) => options.late?.(name),
        ),
      groupName: options.source.kind === 'cluster' ? 'namespace' : null,
    });
    this.#fleet = new Fleet(tools, this.#queue);
    const [recorder, fleet, { conditions }] = [this.#recorder, this.#fleet, this];
    this.#suspensions = new Suspensions(options, fleet, recorder, conditions);
    const parts = { recorder, fleet, suspensions: this.#suspensions, conditions };
    this.#upkeep = new Upkeep(options, TURN, parts);
  }

  #createTools(options: WatchOptions, rollouts: Rollouts): WatchTools {
    const { request, files, clock, approved, locks, interval, random } = options;
    return {
      request,
      networks: this.#networks,
      values: () => files.values,
      clock,
      moment: () => this.#moment(),
      approved,
      locks,
      interval,
      random,
      signal: this.#stop.signal,
      abandon: options.abandon,
      commitOf: (name) => files.commitOf(name),
      rootOf: (target) => files.rootOf(target),
      planRoom: (name) => files.planRoom(name),
      append: (event, at) => this.#recorder.append(event, at),
      tell: (state, record) => this.#recorder.tell(state, record),
      keepAgreement: (name, agreed) => this.#recorder.keepAgreement(name, agreed),
      joins: options.source.kind === 'cluster' ? JOINS_OF_OBJECTS : JOINS_OF_FILES,
      rollouts,
      changed: (state) => rollouts.update(state),
      agreements: new Agreements(SHARED_AGREEMENTS),
      outages: new Outages(),
      recall: (name) => this.#recorder.recall(name, this.#recall),
      isAsStarted: async () => this.#isRestored && (await options.journal.isOwn()),
      lookAgain: (records) => this.#suspensions.lookAgain(records),
      ended: (state, read) => this.#recorder.tell(state, read),
      heldBy: (holder) => this.#recorder.noteHolder(holder),
      lockProblem: lockProblems(this.conditions),
      warn: (message, environment) => this.#recorder.warn(message, environment),
    };
  }

  /**
   * Reads the files and the records of the journal. Sources that cannot be read now, and may be later, are a condition. Throws a
   * SetpointError if the files are wrong, or there is no folder for the journal.
   */
  async begin(): Promise<void> {
    this.#boot = await this.#options.boot();
    this.#tracer = await findTracer();
    await this.#upkeep.begin();
    this.#hasBegun = true;
  }

  /** Watches until the signal of the request fires; what is being written then is finished. Begins first if `begin` was not called. */
  async run(): Promise<void> {
    const { request, source, locks } = this.#options;
    if (!this.#hasBegun) await this.begin();
    const silence = source.listen(() => {
      this.#upkeep.filesChanged();
      this.#pause.end();
    });
    const stop = (): void => {
      this.#stop.abort(request.signal?.reason);
      this.#pause.end();
    };
    request.signal?.addEventListener('abort', stop);
    if (request.signal?.aborted === true) stop();
    try {
      while (!this.#stop.signal.aborted) {
        this.#turned = this.#options.clock.monotonic();
        await this.#upkeep.look();
        this.#begin();
        this.#late.look();
        await this.#pause.rest(this.#untilNext());
      }
      await Promise.all([...this.#turns, ...this.#applies]);
      const reason = String(request.signal?.reason ?? '');
      await this.#recorder.note({ kind: 'stopped', version: VERSION, reason });
    } finally {
      silence();
      request.signal?.removeEventListener('abort', stop);
      await locks.close();
      await this.#networks.close();
    }
  }

  states(): readonly WatchState[] {
    return this.#fleet.states();
  }

  state(name: string): WatchState | undefined {
    return this.#fleet.find(name)?.state;
  }

  get health(): Health {
    const { files, request, clock, source } = this.#options;
    return {
      startedAt: this.#startedAt,
      turnedAt: clock.now() - (clock.monotonic() - this.#turned),
      turnsEvery: TURN,
      ready: files.areTaken && this.states().every(({ found }) => found !== 'not-read'),
      queued: this.#queue.queued,
      ...this.#late.counts,
      working: this.#turns.size + this.#applies.size + this.#upkeep.underWay,
      commit: files.commit,
      commits: files.commits,
      commitInfos: files.commitInfos,
      filesProblem: files.problemText,
      shard: request.shard ?? null,
      unwatched: source.unwatched,
    };
  }

  /** Returns why a due environment is not read, in a sentence; null if it is not due, or not watched. */
  whyWaiting(name: string): string | null {
    const watched = this.#fleet.find(name);
    const found = watched === undefined ? null : this.#queue.whyWaiting(watched);
    const group = this.#options.source.kind === 'cluster' ? 'namespace' : 'file';
    return found === null ? null : waitText(found.reason, group);
  }

  get requests(): readonly RequestCount[] {
    return this.#requests.list();
  }

  subscribe(listener: Listener): () => void {
    return this.#recorder.subscribe(listener);
  }

  /** The notices of its journal, once it has begun. */
  get notices(): NoticeJournal {
    const { locks, clock, files } = this.#options;
    const departed = new DepartedEnvironments({
      locks,
      clock,
      fleet: this.#fleet,
      // The declarations of a broken file are not known.
      declared: () =>
        files.areTaken && files.broken.every(({ isKept }) => isKept) ? files.declared : null,
      recall: this.#recall,
      notified: this.#recorder.notified,
    });
    return this.#recorder.notices(this.#fleet, departed);
  }

  history(name: string): Promise<readonly JournalRecord[]> {
    return this.#recorder.history(name);
  }

  /** In how many milliseconds an environment may be read that is asked for; 0 if it may be now. */
  untilReadable(name: string): number {
    return this.#fleet.requireEnvironment(name).untilReadable;
  }

  async readNow(name: string): Promise<number> {
    const wait = this.#fleet.requireEnvironment(name).readAt(Number.NEGATIVE_INFINITY, 'asked');
    this.#pause.end();
    return wait;
  }

  async planNow(name: string): Promise<EnvironmentPlan> {
    return this.#fleet.requireEnvironment(name).plan();
  }

  async applyNow(name: string, digest: string, by?: string): Promise<string> {
    const watched = this.#fleet.requireEnvironment(name);
    if (this.#stop.signal.aborted)
      throw usageError('The controller is stopping.', 'Apply it later.');
    const applied = this.#traceRead(watched, () => watched.apply(digest, by));
    const ended = applied.then(
      () => {},
      () => {},
    );
    this.#applies.add(ended);
    try {
      return await applied;
    } finally {
      this.#applies.delete(ended);
      this.#pause.end();
    }
  }

  async suspend(names: readonly string[], what: Omit<Suspension, 'at'>): Promise<void> {
    await this.#suspensions.suspend(this.#listRecords(names), what);
    this.#pause.end();
  }

  async resume(names: readonly string[], by?: string): Promise<readonly string[]> {
    const resumed = await this.#suspensions.resume(this.#listRecords(names), by);
    this.#pause.end();
    return resumed;
  }

  #listRecords(names: readonly string[]): readonly EnvironmentRecords[] {
    return names.map((name) => this.#fleet.requireEnvironment(name).records);
  }

  #moment(): Moment {
    const { clock } = this.#options;
    const at = new Date(clock.now()).toISOString();
    const ms = Math.round(clock.monotonic());
    return this.#boot === null ? { at } : { at, up: { boot: this.#boot, ms } };
  }

  #restore({ memory: known, damaged }: JournalReading): void {
    // Watched environments are restored with their locks.
    this.#isRestored = this.states().length === 0;
    this.#fleet.restore(known);
    for (const name of known.notified.environments)
      if (this.#fleet.find(name) === undefined) this.#recorder.notified.renew(name, known.notified);
    if (damaged > 0)
      this.#recorder.warn(
        `The journal has ${formatCount(damaged, 'line')} that cannot be read; they are left out.`,
      );
    for (const name of known.inFlight)
      this.#recorder.warn(
        'The last controller ended during a write; the service is read again.',
        name,
      );
  }

  /** Begins the turns of the environments that may be read now. */
  #begin(): void {
    for (;;) {
      const watched = this.#queue.next();
      if (watched === undefined) return;
      const turn = this.#traceRead(watched, () => watched.turn()).finally(() => {
        this.#turns.delete(turn);
        this.#queue.endRead(watched);
        freeGrownMemory();
        this.#pause.end();
      });
      this.#turns.add(turn);
    }
  }

  /** One whose origin is not known is of none that another one has. */
  #findOrigin(name: string, { origin: known }: WatchState): string {
    const origin = known ?? this.#options.source.originOf?.(name) ?? '';
    return URL.canParse(origin) ? new URL(origin).origin : name;
  }

  #traceRead<T>(watched: EnvironmentWatcher, work: () => Promise<T>): Promise<T> {
    const commit = this.#options.files.commitOf(watched.name);
    return this.#tracer.turn(() => watched.state, commit, work);
  }

  /** Milliseconds until another environment may be read, or the next turn of the loop. */
  #untilNext(): number {
    return this.#stop.signal.aborted ? 0 : this.#queue.untilNext(TURN);
  }
}
