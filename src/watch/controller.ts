import { asSetpointError } from '../model/error.ts';
import type { EnvironmentPlan, PlanDocument } from '../model/plan.ts';
import type { Clock } from '../model/ports.ts';
import { counted } from '../model/wording.ts';
import { VERSION } from '../model/version.ts';
import type { JournalEvent, JournalRecord, WatchState } from '../model/watch.ts';
import type { PlanRequest } from '../operations/options.ts';
import { sessionNetworks } from '../operations/session.ts';
import type { Environment } from './environment.ts';
import type { Journal } from './journal.ts';
import { restored } from './journal-lines.ts';
import type { Locks } from './locks.ts';
import type { Roster } from './roster.ts';
import type { CurrentFiles, Source } from './source.ts';
import type { Suspensions } from './suspensions.ts';
import type { WatchTools } from './watched.ts';
import type { Health, Listener, ReadEnd, Watching } from './watching.ts';

export interface WatchOptions {
  /** How environments are read; its files and names are those of `files`. */
  readonly request: PlanRequest;
  readonly source: Source;
  readonly files: CurrentFiles;
  readonly journal: Journal;
  readonly roster: Roster;
  readonly suspensions: Suspensions;
  readonly locks: Locks;
  readonly clock: Clock;
  /** A number from 0 to 1. */
  readonly random: () => number;
  /** Milliseconds between two reads of an environment that does not say. */
  readonly interval: number;
  /** How many environments are read or healed at a time. */
  readonly parallel: number;
  readonly approved?: PlanDocument | undefined;
  /** Gives up what is being written; the signal of the request lets it finish. */
  readonly abandon: AbortSignal;
  /** What is wrong with the controller itself, and what is right again. */
  readonly report: (line: ControllerNote) => void;
}

export interface ControllerNote {
  readonly severity: 'info' | 'warning';
  readonly message: string;
  readonly environment?: string;
}

/** The loop turns at least this often, in milliseconds. */
const TURN = 5_000;

/** Keeps watch over environments: reads each again and again, keeps what it finds, and heals what may be healed. */
export class Controller implements Watching {
  readonly #options: WatchOptions;
  readonly #listeners = new Set<Listener>();
  readonly #networks = sessionNetworks();
  readonly #stop = new AbortController();
  readonly #startedAt: number;
  #turnedAt: number;
  /** When the files are looked at next, on the monotonic clock. */
  #filesDue = 0;
  #woken = false;
  #hasBegun = false;
  #sleep: AbortController | null = null;
  readonly #tools: WatchTools;

  constructor(options: WatchOptions) {
    const { request, files, clock, approved, locks, interval, random } = options;
    this.#options = options;
    this.#startedAt = clock.now();
    this.#turnedAt = this.#startedAt;
    this.#tools = {
      request,
      networks: this.#networks,
      clock,
      approved,
      locks,
      interval,
      random,
      signal: this.#stop.signal,
      abandon: options.abandon,
      commit: () => files.commit,
      keep: (environment, event) => this.#keep(environment, event),
      ended: (environment, read) => this.#tell(environment, read),
      warn: (message, environment) => this.#warn(message, environment),
    };
  }

  /** Reads the files and what the journal remembers. Throws a SetpointError if the files or the journal cannot be used. */
  async begin(): Promise<void> {
    const { journal, files } = this.#options;
    await this.#restore();
    await files.refresh();
    if (files.problem !== null) throw files.problem;
    await journal.append({ kind: 'started', version: VERSION });
    await this.#take();
    this.#hasBegun = true;
  }

  /** Watches until the signal of the request fires; what is being written then is finished. Begins first if `begin` was not called. */
  async run(): Promise<void> {
    const { request, journal, source, locks } = this.#options;
    if (!this.#hasBegun) await this.begin();
    const silence = source.listen(() => {
      this.#filesDue = 0;
      this.#wake();
    });
    const stop = (): void => {
      this.#stop.abort(request.signal?.reason);
      this.#wake();
    };
    request.signal?.addEventListener('abort', stop);
    if (request.signal?.aborted === true) stop();
    const turns = new Set<Promise<void>>();
    try {
      while (!this.#stop.signal.aborted) {
        this.#turnedAt = this.#options.clock.now();
        await this.#refresh();
        this.#begin(turns);
        await this.#rest(turns);
      }
      await Promise.all(turns);
      await journal.append({
        kind: 'stopped',
        version: VERSION,
        reason: String(request.signal?.reason ?? ''),
      });
    } finally {
      silence();
      request.signal?.removeEventListener('abort', stop);
      await locks.close();
      await this.#networks.close();
    }
  }

  states(): readonly WatchState[] {
    return this.#options.roster.environments();
  }

  state(name: string): WatchState | undefined {
    return this.#options.roster.find(name)?.environment;
  }

  get health(): Health {
    const { files, request } = this.#options;
    return {
      startedAt: this.#startedAt,
      turnedAt: this.#turnedAt,
      turnsEvery: TURN,
      ready: this.states().every(({ found }) => found !== 'not-read'),
      queued: this.#options.roster.due().length,
      commit: files.commit,
      filesProblem: files.problem?.message ?? null,
      shard: request.shard ?? null,
    };
  }

  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  history(name: string, limit: number): Promise<readonly JournalRecord[]> {
    return this.#options.journal.history(
      (record) => 'environment' in record && record.environment === name,
      limit,
    );
  }

  async readNow(name: string): Promise<void> {
    this.#options.roster.named(name).due = Number.NEGATIVE_INFINITY;
    this.#wake();
  }

  async planNow(name: string): Promise<EnvironmentPlan> {
    return this.#options.roster.named(name).plan(this.#tools);
  }

  async applyNow(name: string, digest: string): Promise<string> {
    try {
      return await this.#options.roster.named(name).apply(digest, this.#tools);
    } finally {
      this.#wake();
    }
  }

  async suspend(name: string, reason: string, until: string | null): Promise<void> {
    const { environment } = this.#options.roster.named(name);
    const { suspensions, clock } = this.#options;
    await suspensions.change([name], { at: new Date(clock.now()).toISOString(), reason, until });
    environment.suspended = suspensions.of(name, clock.now());
    await this.#keep(environment, { kind: 'suspended', environment: name, reason, until });
    this.#wake();
  }

  async resume(name: string): Promise<void> {
    const { environment } = this.#options.roster.named(name);
    await this.#options.suspensions.change([name], null);
    environment.suspended = null;
    environment.stopped = null;
    environment.heals = [];
    await this.#keep(environment, { kind: 'resumed', environment: name });
    this.#wake();
  }

  async #restore(): Promise<void> {
    const { lines, damaged } = await this.#options.journal.read();
    const known = restored(lines);
    this.#options.roster.restore(known);
    if (damaged > 0)
      this.#warn(
        `The journal has ${counted(damaged, 'line')} that cannot be read; they are left out.`,
      );
    for (const name of known.inFlight)
      this.#warn('The last controller ended during a write; the service is read again.', name);
  }

  /** Reads the files and who is suspended again, if they may have changed. */
  async #refresh(): Promise<void> {
    const { files, suspensions, journal, clock } = this.#options;
    if (clock.monotonic() < this.#filesDue) return;
    this.#filesDue = clock.monotonic() + TURN;
    await suspensions
      .refresh()
      .catch((thrown: unknown) => this.#warn(asSetpointError(thrown).message));
    for (const environment of this.#options.roster.environments())
      environment.suspended = suspensions.of(environment.name, clock.now());
    if (!(await files.refresh())) return;
    const problem = files.problem?.message ?? null;
    if (problem === null) await this.#take();
    else
      this.#warn(
        `The settings files of now cannot be used; those before stay in force. ${problem}`,
      );
    await journal
      .append({ kind: 'files', commit: files.commit, environments: files.targets.length, problem })
      .catch((thrown: unknown) => this.#warn(asSetpointError(thrown).message));
  }

  async #take(): Promise<void> {
    for (const gone of this.#options.roster.take(this.#options.files.targets)) {
      const { name } = gone.environment;
      await gone
        .release()
        .catch((thrown: unknown) => this.#warn(asSetpointError(thrown).message, name));
    }
  }

  /** Begins the turns of the environments that are due, those that waited longest first. */
  #begin(turns: Set<Promise<void>>): void {
    const free = Math.max(0, this.#options.parallel - turns.size);
    for (const watched of this.#options.roster.due().slice(0, free)) {
      watched.busy = true;
      const turn = watched.turn(this.#tools).finally(() => {
        watched.busy = false;
        turns.delete(turn);
        this.#wake();
      });
      turns.add(turn);
    }
  }

  /** Sleeps until an environment is due, a turn ends, a file changes, or the next turn of the loop at the latest. */
  async #rest(turns: Set<Promise<void>>): Promise<void> {
    const { clock, parallel } = this.#options;
    const next = turns.size < parallel ? this.#options.roster.untilDue(TURN) : TURN;
    if (!this.#woken && next > 0 && !this.#stop.signal.aborted) {
      this.#sleep = new AbortController();
      await clock.sleep(next, this.#sleep.signal);
      this.#sleep = null;
    }
    this.#woken = false;
  }

  #wake(): void {
    this.#woken = true;
    this.#sleep?.abort();
  }

  async #keep(environment: Environment, event: JournalEvent): Promise<JournalRecord> {
    const record = await this.#options.journal.append(event);
    this.#tell(environment, record);
    return record;
  }

  #tell(environment: Environment, event: ReadEnd | JournalRecord): void {
    for (const listener of this.#listeners) listener(environment, event);
  }

  #warn(message: string, environment?: string): void {
    this.#options.report({
      severity: 'warning',
      message,
      ...(environment === undefined ? {} : { environment }),
    });
  }
}
