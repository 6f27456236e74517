import { asSetpointError, usageError } from '../model/error.ts';
import type { EnvironmentPlan } from '../model/plan.ts';
import type { JournalEvent, WatchSettings } from '../model/watch.ts';
import { labelsOf } from '../desired/blocks/labels.ts';
import { watchOf } from '../desired/blocks/watch.ts';
import type { Target } from '../desired/target.ts';
import type { Environment } from './environment.ts';
import { isRefused, type Lock, type Locks } from './locks.ts';
import { untilNextRead } from './schedule.ts';
import { APART, heal, readEnvironment, write, type Declared, type TurnTools } from './turn.ts';
import type { ReadEnd } from './watching.ts';

/** What the turns of all environments share. */
export interface WatchTools extends TurnTools {
  readonly locks: Locks;
  /** Milliseconds between two reads of an environment that does not say. */
  readonly interval: number;
  /** A number from 0 to 1. */
  readonly random: () => number;
  /** The commit of the files that are in force. */
  readonly commit: () => string | null;
  readonly ended: (environment: Environment, read: ReadEnd) => void;
  readonly warn: (message: string, environment: string) => void;
}

/** How long after the first read that finds a difference the second one is made, in milliseconds. */
const CONFIRM = 15_000;

/** One environment under watch: when it is read next, its lock, and what was found and is not kept yet. */
export class Watched {
  readonly environment: Environment;
  /** When it is read next, on the monotonic clock. */
  due: number;
  busy = false;
  #target: Target;
  /** What was declared when the service was last in sync. */
  #inSync: Target | null = null;
  #lock: Lock | null = null;
  /** Kept as soon as the journal can be written again. */
  readonly #unkept: JournalEvent[] = [];

  constructor(environment: Environment, target: Target, due: number) {
    this.environment = environment;
    this.due = due;
    this.#target = target;
  }

  /** Takes what the files declare now. */
  declare(target: Target, interval: number): void {
    this.#target = target;
    const { environment } = this;
    environment.settings = settingsOf(target, interval);
    environment.labels = Object.fromEntries(labelsOf(target.labels));
  }

  /** Reads the environment, heals what may be healed, and says when it is read next. Never throws: what went wrong is in its state, or warned of. */
  async turn(tools: WatchTools): Promise<void> {
    const { environment } = this;
    const { clock, interval, random } = tools;
    let soon = false;
    try {
      const lock = await this.#lockFrom(tools);
      await this.#keepAll(tools);
      const repeated = await this.#read(tools);
      if (lock !== null && !tools.signal.aborted) {
        const healed = await heal(environment, this.#declared(tools), lock, repeated, tools);
        if (healed.kind === 'healed') await this.#read(tools);
        else soon = healed.again;
      }
    } catch (thrown) {
      tools.warn(asSetpointError(thrown).message, environment.name);
    }
    const every = environment.settings.interval ?? interval;
    const wait = soon
      ? Math.min(every, CONFIRM)
      : untilNextRead(every, environment.failures, random());
    this.due = clock.monotonic() + wait;
    environment.nextRead = new Date(clock.now() + wait).toISOString();
  }

  /** A plan as it is now; nothing is kept of it. */
  plan(tools: WatchTools): Promise<EnvironmentPlan> {
    return readEnvironment(this.#declared(tools), tools);
  }

  /** Applies the plan of a digest that a person saw. Resolves to what became of it, in a sentence. Throws if it cannot begin. */
  async apply(digest: string, tools: WatchTools): Promise<string> {
    const { environment } = this;
    const { name } = environment;
    const lock = await this.#lockFrom(tools);
    if (lock === null)
      throw usageError(
        `${name} is written by ${environment.heldBy ?? 'another controller'}.`,
        'Apply it there.',
      );
    if (this.busy) throw usageError(`${name} is being read.`, 'Try again in a moment.');
    this.busy = true;
    try {
      const outcome = await write(environment, this.#declared(tools), lock, digest, tools);
      return outcome.error?.message ?? `${name}: ${outcome.status}.`;
    } finally {
      this.busy = false;
      this.due = Number.NEGATIVE_INFINITY;
    }
  }

  async release(): Promise<void> {
    await this.#lock?.release();
    this.#lock = null;
  }

  /** Reads an environment; whether an earlier read, some time before, had found the same. */
  async #read(tools: WatchTools): Promise<boolean> {
    const { environment } = this;
    const { clock } = tools;
    const declared = this.#declared(tools);
    const began = clock.monotonic();
    const plan = await readEnvironment(declared, tools);
    // What a stop interrupted says nothing of the service.
    if (tools.signal.aborted && plan.status === 'error') return false;
    const now = clock.now();
    const event = environment.read(plan, now, declared.commit);
    if (environment.found === 'in-sync') this.#inSync = declared.target;
    const seconds = (clock.monotonic() - began) / 1000;
    tools.ended(environment, { kind: 'read', seconds, result: plan.error?.code ?? 'done' });
    if (event === null) return now - Date.parse(environment.since) >= APART;
    if (environment.heldBy === null) {
      this.#unkept.push(event);
      await this.#keepAll(tools);
    }
    return false;
  }

  /** Keeps what could not be kept before, in its order. Throws if the journal cannot be written. */
  async #keepAll(tools: WatchTools): Promise<void> {
    for (let [event] = this.#unkept; event !== undefined; [event] = this.#unkept) {
      await tools.keep(this.environment, event);
      this.#unkept.shift();
    }
  }

  /** The lock of the environment, taken if it can be; null if somebody else holds it. */
  async #lockFrom({ locks }: WatchTools): Promise<Lock | null> {
    if (this.#lock !== null && !this.#lock.lost.aborted) return this.#lock;
    this.#lock = null;
    const taken = await locks.take(this.environment.name);
    this.environment.heldBy = isRefused(taken) ? taken.heldBy : null;
    if (!isRefused(taken)) this.#lock = taken;
    return this.#lock;
  }

  #declared({ commit }: WatchTools): Declared {
    const earlier = this.#inSync ?? undefined;
    return {
      target: this.#target,
      earlier: earlier === this.#target ? undefined : earlier,
      commit: commit(),
    };
  }
}

export function settingsOf(target: Target, interval: number): WatchSettings {
  const settings = watchOf(target.watch);
  return { ...settings, interval: settings.interval ?? interval };
}
