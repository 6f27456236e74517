import { approvalDigest } from './healing.ts';
import { asSetpointError, SetpointError, usageError } from '../../reconciler/model/error.ts';
import type { EnvironmentPlan } from '../../reconciler/model/plan.ts';
import type { JournalRecord, NoticeEvent, WatchState } from '../../reconciler/model/watch.ts';
import { readDeclaredOrigin } from '../../reconciler/desired/blocks/server.ts';
import { readLabels } from '../../reconciler/desired/blocks/about.ts';
import type { Target } from '../../reconciler/desired/target.ts';
import { AgreementTracker, type AgreementTools } from './agreements.ts';
import { EnvironmentRecords, HealTimes, type RecordTools } from './environment-records.ts';
import { Confirmation, type ConfirmationLevel } from './confirmation.ts';
import { computeFoundDigest, newlyFound, type DeclarationChange } from './environment-state.ts';
import { limitStoredPlan } from './stored-plan.ts';
import { KeyCheck } from './key-check.ts';
import { EnvironmentLock, whyUnusable, type LockTools, type Lock } from './locks/locks.ts';
import {
  ReadSchedule,
  type OutageTools,
  CONFIRM,
  watchSettings,
  untilNextRead,
} from './schedule.ts';
import {
  heal,
  isBack,
  keyDigest,
  readEnvironment,
  stopIfStoredOtherwise,
  writeDeclared,
  type DeclaredEnvironment,
  type Obstacle,
  type TurnTools,
} from './turn.ts';
import type { ReadEnd } from './watching.ts';
import { SettledDeclaration } from './settled.ts';
import type { ReadLimit, ReadReason } from './read-limit.ts';

/** The common tools of all environments' turns. */
export interface WatchTools extends TurnTools, AgreementTools, LockTools, RecordTools, OutageTools {
  /** Milliseconds between two reads of an environment without its own interval. */
  readonly interval: number;
  /** The time after a part of an edit in which another one still belongs to it, in milliseconds. */
  readonly joins: number;
  /** A number from 0 to 1. */
  readonly random: () => number;
  /** The commit that an environment is declared by. */
  readonly commitOf: (name: string) => string | null;
  readonly ended: (state: WatchState, read: ReadEnd) => void;
  /** Receives the holder of a lock that could not be taken. */
  readonly heldBy: (holder: string) => void;
  readonly warn: (message: string, environment: string) => void;
}

/** Watches one environment: when it is read next, its lock, and its records. */
export class EnvironmentWatcher {
  readonly name: string;
  readonly records: EnvironmentRecords;
  busy = false;
  /** True if this process has not read it yet. */
  isNew = true;
  readonly #tools: WatchTools;
  readonly #waits: (watched: EnvironmentWatcher) => void;
  #target: Target;
  readonly #agreement: AgreementTracker;
  readonly #lock: EnvironmentLock;
  /** The findings that the reads of this process have confirmed. */
  readonly #confirmation = new Confirmation();
  readonly #healTimes: HealTimes;
  #gone = false;
  #isUndeclared = false;
  /** The time of a request for a read that came while it was busy: the turn that ends must not forget it. */
  #asked = Number.POSITIVE_INFINITY;
  #warned: string | null = null;
  readonly #next: ReadSchedule;
  readonly #key: KeyCheck;
  #declaredAs: Pick<DeclarationChange, 'at' | 'isAdded'> = { at: null, isAdded: false };
  readonly #settled = new SettledDeclaration();
  readonly limit: ReadLimit;
  #planning: Promise<EnvironmentPlan> | null = null;

  /**
   * `due` is the time of its first read. `limit` is that of before, if it was watched before; `waits` is called whenever it is due at
   * another time, or waits for its turn again.
   */
  constructor(
    state: WatchState,
    target: Target,
    { due, limit }: { readonly due: number; readonly limit: ReadLimit },
    tools: WatchTools,
    waits: (watched: EnvironmentWatcher) => void,
  ) {
    this.name = state.name;
    this.records = new EnvironmentRecords(state, tools);
    this.limit = limit;
    this.#next = new ReadSchedule(
      this,
      limit.allow('changed', readMinimumInterval(target), due),
      tools,
    );
    this.#waits = waits;
    this.#target = target;
    this.#tools = tools;
    this.#key = new KeyCheck(() => keyDigest(this.#target, tools));
    this.#healTimes = new HealTimes(this.records, tools.clock);
    this.#agreement = new AgreementTracker(state, tools);
    this.#lock = new EnvironmentLock(state.name, tools, (known) => this.#restoreRecords(known));
  }

  /** The origin of its server as the file declares it; null if it names none. */
  get declaredOrigin(): string | null {
    return readDeclaredOrigin(this.#target);
  }

  get state(): WatchState {
    return this.records.state;
  }

  /** The time of its next turn, on the monotonic clock. */
  get due(): number {
    return this.#next.due;
  }

  /** Milliseconds between two of its reads at the least; 0 without a limit. */
  get least(): number {
    return readMinimumInterval(this.#target);
  }

  /** Has it read at a time of the monotonic clock, or as soon after it as its limit allows for this reason; in how many milliseconds that is. */
  readAt(at: number, reason: ReadReason): number {
    const { clock } = this.#tools;
    const due = this.limit.allow(reason, this.least, at);
    const wait = Math.max(0, due - clock.monotonic());
    // While it is busy, its due time is that of the turn under way: what is asked for now comes after it.
    if (this.busy) this.#asked = Math.min(this.#asked, due);
    else if (due < this.due) {
      this.#next.due = due;
      this.records.readNext(wait, clock);
      this.#waits(this);
    }
    return wait;
  }

  /** In how many milliseconds its limit allows a read that is asked for. */
  get untilReadable(): number {
    return Math.max(0, this.limit.computeRequestTime(this.least) - this.#tools.clock.monotonic());
  }

  /** Takes the current declaration; reports whether it was read again since the last one. */
  declare(target: Target, declared: Pick<DeclarationChange, 'at' | 'isAdded'>): boolean {
    const isOther = this.#target !== target;
    if (isOther || this.#declaredAs.at === null)
      this.#declaredAs = { at: declared.at, isAdded: this.#declaredAs.isAdded || declared.isAdded };
    this.#target = target;
    const settings = watchSettings(target, this.#tools.interval, this.#tools.request.strict);
    this.records.know({
      kind: 'set',
      settings,
      declaredAt: this.#declaredAs.at,
      labels: Object.fromEntries(readLabels(target.labels)),
    });
    return isOther;
  }

  /** Reads the environment, heals it if that is allowed, and sets when it is read next. Never throws: an error is in its state, or a warning. */
  async turn(): Promise<void> {
    this.busy = true;
    const tools = this.#tools;
    // An error of a check itself also occurs in the read, which reports it.
    const isLikeBefore = await this.#isLikeBefore().catch(() => false);
    this.#next.after(isLikeBefore ? null : await this.#turn());
    this.isNew = false;
    this.#keepAsked();
    const { clock } = tools;
    this.records.readNext(Math.max(0, this.due - clock.monotonic()), clock);
    await this.#end();
  }

  /** Reports whether the turn is not a read, and finds nothing that would let a read succeed. */
  async #isLikeBefore(): Promise<boolean> {
    switch (this.#next.kind) {
      case 'read':
        return false;
      case 'check':
        return !(await isBack(this.#describeDeclared(), this.#tools));
      case 'key':
        if (await this.#key.isSame()) return true;
        if (this.limit.mayBeEarly(this.least)) return false;
        this.readAt(Number.NEGATIVE_INFINITY, 'asked');
        return true;
    }
  }

  /** Reads, and heals; in how many milliseconds it is read next. */
  async #turn(): Promise<number> {
    const { interval, random, signal } = this.#tools;
    let soon = false;
    this.limit.begin(this.least);
    try {
      const [lock, problem] = await this.#lockNow();
      const confirmed = await this.#read();
      await this.#flush();
      if (lock !== null) await this.#healTimes.move();
      if (lock !== null && !signal.aborted && !this.#gone) soon = await this.#heal(lock, confirmed);
      else this.#warn(problem);
    } catch (thrown) {
      this.#warn(asSetpointError(thrown));
    }
    const { settings, failures, plan } = this.state;
    const code = plan?.error?.code ?? '';
    const every = settings.interval ?? interval;
    const asked = this.#target.mayReadSecrets ? every : null;
    this.#next.keyEvery = await this.#key.after(plan?.error?.code ?? null, asked);
    const verified = this.#tools.rollouts.after(this.state);
    const early = verified ?? (soon ? CONFIRM : null);
    return early !== null && this.limit.mayBeEarly(this.least)
      ? Math.min(every, early)
      : untilNextRead(every, failures, code, random());
  }

  /** Plans now; the result is not recorded. Those who ask meanwhile get the same. Throws a usage error if its limit does not allow one more read. */
  plan(): Promise<EnvironmentPlan> {
    this.#planning ??= this.#planNow().finally(() => {
      this.#planning = null;
    });
    return this.#planning;
  }

  async #planNow(): Promise<EnvironmentPlan> {
    if (!this.limit.mayBeEarly(this.least)) {
      const wait = Math.ceil(
        (this.limit.computeRequestTime(this.least) - this.#tools.clock.monotonic()) / 1000,
      );
      throw usageError(`${this.name} is read too often for its policy.`, `Try again in ${wait} s.`);
    }
    this.limit.begin(this.least);
    return (await readEnvironment(this.#describeDeclared(), this.#tools)).plan;
  }

  /** Applies the plan that a person saw, by its digest. Resolves to the result, in a sentence. Throws if it cannot begin. */
  async apply(digest: string, by = 'a user on the page'): Promise<string> {
    const { name } = this;
    if (this.busy) throw usageError(`${name} is being read.`, 'Try again in a moment.');
    const isApproved = (): boolean =>
      this.state.settings.approvals?.covers(approvalDigest(this.state)) !== false;
    if (!isApproved())
      throw usageError(`${name}: the plan is not approved.`, 'Approve its digest first.');
    this.busy = true;
    try {
      const [lock, problem] = await this.#lockNow();
      if (problem !== null) throw problem;
      if (lock === null)
        throw usageError(
          `${name} is written by ${this.state.heldBy ?? 'another controller'}.`,
          'Apply it there.',
        );
      const tools = this.#writeTools(lock);
      const mayApply = (plan: EnvironmentPlan): boolean =>
        computeFoundDigest(plan, this.state.settings.strict) === digest;
      const outcome = await writeDeclared(this.#describeDeclared(), mayApply, {
        ...tools,
        stillMay: isApproved,
        actor: by,
      });
      return outcome.error?.message ?? `${name}: ${outcome.status}.`;
    } finally {
      this.readAt(Number.NEGATIVE_INFINITY, 'written');
      await this.#end();
    }
  }

  /**
   * Stores a notice, after the result of a read. Throws lock-lost if it begins and this controller does not have the lock: its holder sends
   * the notice.
   */
  async keepNotice(event: NoticeEvent): Promise<JournalRecord> {
    if (event.result === 'begun' && !this.#lock.isSure)
      throw new SetpointError('lock-lost', `${event.environment} may be reported elsewhere.`);
    return this.records.now(event, this.#tools.clock.now());
  }

  /** True if the result is on the disk, and this controller sends notices about it. */
  get isRecorded(): boolean {
    return this.#lock.isSure && this.records.areKept;
  }

  /**
   * Gives the lock up because the environment is watched no longer; a write in flight is finished first. If nothing declares it any more, nothing is left of
   * the lock.
   */
  async leave(isGone: boolean): Promise<void> {
    this.#gone = true;
    this.#isUndeclared = isGone;
    this.#next.leave();
    if (!this.busy) await this.#giveUp();
  }

  async #giveUp(): Promise<void> {
    this.#tools.lockProblem(this.name, null);
    await this.#lock.release(this.#isUndeclared);
  }

  #keepAsked(): void {
    if (this.#asked < this.due) this.#next.due = this.#asked;
    this.#asked = Number.POSITIVE_INFINITY;
  }

  async #end(): Promise<void> {
    this.#keepAsked();
    this.busy = false;
    this.#waits(this);
    if (this.#gone) await this.#giveUp().catch((thrown) => this.#warn(asSetpointError(thrown)));
  }

  /** Takes the current records of the journal: another process may have written the environment. */
  #restoreRecords(known: WatchState): void {
    this.records.restore(known, this.#tools.moment());
    this.#agreement.restore(this.state);
    this.#confirmation.reset();
    // The former holder of the lock has moved the times of heals with the clock.
    this.#healTimes.fit();
  }

  async #lockNow(): Promise<readonly [Lock | null, SetpointError | null]> {
    const found = await this.#lock.take();
    const { heldBy } = found;
    if (found.problem === null) this.records.know({ kind: 'set', heldBy });
    if (heldBy !== null) this.#tools.heldBy(heldBy);
    // An unreadable journal is a condition of its own.
    const isOfLocks = found.problem !== null && found.problem.code !== 'output-failed';
    this.#tools.lockProblem(this.name, isOfLocks ? found.problem.message : null);
    return [found.lock, found.problem];
  }

  /** Reads the environment. Resolves to what reads some time before have confirmed of it. */
  async #read(): Promise<ConfirmationLevel> {
    const { records } = this;
    const { clock, signal, ended } = this.#tools;
    const declared = this.#describeDeclared();
    const began = clock.monotonic();
    const { plan, agreed, declared: digest } = await readEnvironment(declared, this.#tools);
    // An interrupted read gives no information about the service.
    if (signal.aborted && plan.status === 'error') return 'no';
    const [now, passing] = [clock.now(), clock.monotonic()];
    const { commit, target } = declared;
    const room = this.#tools.planRoom(this.name);
    const declaredAs = {
      ...this.#declaredAs,
      settled: this.#settled.after(this.#tools.rollouts.soak),
      digest: () => digest?.() ?? null,
    };
    const event = newlyFound(this.state, plan, commit, declaredAs, room);
    records.know({ kind: 'read', at: now, plan: limitStoredPlan(plan, room), commit });
    if (this.state.found === 'in-sync') this.#settled.inSync(target, digest, passing);
    if (!this.#gone) this.#next.recordRead(plan);
    if (event !== null) records.add(event, now);
    const other = this.#agreement.after(this.state, agreed, target, event !== null);
    if (other !== null) records.know({ kind: 'agreed', ...other });
    const seconds = (passing - began) / 1000;
    ended(this.state, { kind: 'read', seconds, result: plan.error?.code ?? 'done' });
    return this.#confirmation.after(plan, passing);
  }

  /** Heals what the last read found. True if the environment should be read again soon. */
  async #heal(lock: Lock, confirmed: ConfirmationLevel): Promise<boolean> {
    const tools = this.#writeTools(lock);
    const healed = await heal(this.#describeDeclared(), confirmed, tools);
    if (healed.kind === 'not-healed') {
      const unusable = whyUnusable(lock);
      // The problem may still exist, until it was tried again.
      if (unusable !== null) this.#tools.lockProblem(this.name, unusable);
      else if (healed.problem !== null || !healed.again) this.#warn(healed.problem);
      return healed.again;
    }
    this.#warn(null);
    await this.#read();
    await this.#flush();
    await stopIfStoredOtherwise(tools);
    return false;
  }

  /** Writes what is not in the journal yet. Throws output-failed if it cannot be written. */
  async #flush(): Promise<void> {
    await this.records.flush();
    await this.#agreement.keep(this.state);
  }

  /** Checks whether the clock was set, unless the environment is busy. Never throws: the check is made again before a heal. */
  async lookAtClock(): Promise<void> {
    if (this.busy || !this.#lock.isHolder || this.state.heals.length === 0) return;
    this.busy = true;
    await this.#healTimes.move().catch(() => {});
    await this.#end();
  }

  /** Tries again to take a lock that was lost, or could not be taken. False if locks cannot be used, null if there was nothing to try. */
  async lookAtLock(): Promise<boolean | null> {
    if (this.busy || this.#gone || !this.#lock.isLacking) return null;
    this.busy = true;
    const [, problem] = await this.#lockNow();
    await this.#end();
    return problem === null;
  }

  #writeTools(lock: Lock) {
    return { ...this.#tools, lock, records: this.records, isGone: () => this.#gone };
  }

  #describeDeclared(): DeclaredEnvironment {
    return {
      target: this.#target,
      agreement: this.state.agreed,
      commit: this.#tools.commitOf(this.name),
    };
  }

  /** Warns of a problem once, until it is another one or none. */
  #warn(problem: Obstacle | null): void {
    // A journal that cannot be written, and locks that cannot be used, are reported once for all environments.
    if (problem?.code === 'output-failed' || problem?.code === 'lock-failed') return;
    const message = problem?.message ?? null;
    const isNews = message !== null && message !== this.#warned;
    if (isNews) this.#tools.warn(message, this.name);
    this.#warned = message;
  }
}

/** Milliseconds between two reads, at the least, as a policy allows it; 0 without one. */
export function readMinimumInterval({ limits }: Pick<Target, 'limits'>): number {
  return limits?.interval ?? 0;
}
