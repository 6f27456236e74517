import { createHash } from 'node:crypto';
import { formatPath } from '../../reconciler/model/path.ts';
import type { EnvironmentOutcome } from '../../reconciler/model/outcome.ts';
import type { EnvironmentPlan } from '../../reconciler/model/plan.ts';
import type {
  Heal,
  HealFailed,
  HealingStopped,
  Moment,
  PutBack,
  ReadMark,
  StateEvent,
  Suspension,
  WatchSettings,
  WatchState,
} from '../../reconciler/model/watch.ts';
import type { Clock } from '../../reconciler/model/ports.ts';
import { WATCH_STATUSES, watchStatusOf, type WatchStatus } from '../../reconciler/model/verdict.ts';
import type { AgreementWith } from '../../reconciler/operations/session.ts';
import { beginningsAfter, firstOf, type Beginning } from './beginnings.ts';
import {
  failedAfter,
  healsAfter,
  moved,
  putBackAfter,
  recent,
  retold,
  type Attempt,
} from './healing.ts';

/** What a controller must know of an environment to go on after a restart. Times are ISO 8601, UTC. */
export interface Remembered {
  readonly name: string;
  readonly found: WatchStatus;
  readonly since: string;
  readonly digest: string;
  readonly after: string | null;
  readonly plan: EnvironmentPlan | null;
  /** When what differs began, each by itself. */
  readonly began: readonly Beginning[];
  readonly lastRead: string | null;
  readonly lastInSync: string | null;
  readonly lastApply: string | null;
  readonly heals: readonly Heal[];
  readonly stopped: HealingStopped | null;
  readonly healFailed: HealFailed | null;
  /** What was put right last; a new file of the journal does not begin with it. */
  readonly putBack: PutBack | null;
  /** Where file and service were the same when they last were; null if nothing is known. */
  readonly agreed: AgreementWith | null;
}

/** From how many milliseconds on the clock was set, and did not only drift. */
export const CLOCK_SET = 10_000;

/** The state of one environment: what was found, since when, and what was done about it. Only reads and writes change it. */
export class Environment implements WatchState {
  readonly name: string;
  labels: WatchState['labels'];
  settings: WatchSettings;
  found: WatchStatus = 'not-read';
  since: string;
  digest = '';
  after: string | null = null;
  plan: EnvironmentPlan | null = null;
  origin: string | null = null;
  dialect: string | null = null;
  release: string | null = null;
  lastRead: string | null = null;
  lastInSync: string | null = null;
  lastApply: string | null = null;
  failures = 0;
  suspended: Suspension | null = null;
  heals: readonly Heal[] = [];
  stopped: HealingStopped | null = null;
  healFailed: HealFailed | null = null;
  putBack: PutBack | null = null;
  heldBy: string | null = null;
  commit: string | null = null;
  agreed: AgreementWith | null = null;
  #began: readonly Beginning[] = [];
  #nextRead: () => number | null = () => null;
  readonly #marks = new Marks();

  constructor(name: string, settings: WatchSettings, now: string) {
    this.name = name;
    this.labels = {};
    this.settings = settings;
    this.since = now;
  }

  get status(): WatchStatus {
    return this.suspended === null ? this.found : 'suspended';
  }

  get nextRead(): string | null {
    const at = this.#nextRead();
    return at === null ? null : new Date(at).toISOString();
  }

  /** Takes after how many milliseconds it is read next. If the clock is set meanwhile, the time of day at which that is moves with it. */
  readNext(wait: number, clock: Pick<Clock, 'now' | 'monotonic'>): void {
    const ahead = clock.now() - clock.monotonic();
    const at = clock.now() + wait;
    this.#nextRead = () => {
      const by = clock.now() - clock.monotonic() - ahead;
      return Math.abs(by) < CLOCK_SET ? at : at + by;
    };
  }

  get reads(): readonly ReadMark[] {
    return this.#marks.list();
  }

  /** Takes what a read found; returns an event if it differs from what was found before. */
  read(plan: EnvironmentPlan, at: number, commit: string | null): StateEvent | null {
    const now = new Date(at).toISOString();
    const found = watchStatusOf(plan, this.settings.strict);
    const digest = digestOf(plan, this.settings.strict);
    const before = this.found;
    const earlier = this.lastRead;
    this.#marks.add(at, found);
    this.lastRead = now;
    this.commit = commit;
    this.failures = found === 'error' ? this.failures + 1 : 0;
    if (found === 'in-sync') {
      this.lastInSync = now;
      this.healFailed = null;
    }
    if (found !== 'error') {
      this.origin = plan.origin;
      this.dialect = plan.dialect;
      this.release = plan.release;
    }
    this.plan = isWholly(plan, found) ? null : plan;
    if (found === before && digest === this.digest) return null;
    this.found = found;
    this.digest = digest;
    const shown = this.plan;
    this.#began = beginningsAfter(this.#began, found, shown, now, earlier);
    Object.assign(this, firstOf(this.#began, found, shown));
    return {
      kind: 'state',
      environment: this.name,
      status: found,
      before,
      digest,
      after: earlier,
      commit,
      plan: shown,
    };
  }

  /** Records a write. */
  wrote(paths: readonly string[], now: Moment): void {
    this.lastApply = now.at;
    this.heals = [...recent(this.heals, now), { ...now, paths }];
  }

  /** Takes how the last write ended. */
  written(outcome: EnvironmentOutcome, at: number): void {
    this.heals = healsAfter(this.heals, outcome);
    this.putBack = putBackAfter(this, outcome, new Date(at).toISOString());
    this.tried(outcome, at);
  }

  /** Takes how an attempt to heal ended. */
  tried(attempt: Attempt, at: number): void {
    this.healFailed = failedAfter(this.healFailed, attempt, new Date(at).toISOString());
  }

  /** Moves the times of heals: the clock was set by some milliseconds. */
  clockSet(by: number): void {
    this.heals = moved(this.heals, by);
  }

  /** Lets healing go on. */
  resume(): void {
    this.stopped = null;
    this.healFailed = null;
    this.heals = [];
  }

  get remembered(): Remembered {
    return {
      name: this.name,
      found: this.found,
      since: this.since,
      digest: this.digest,
      after: this.after,
      plan: this.plan,
      began: this.#began,
      lastRead: this.lastRead,
      lastInSync: this.lastInSync,
      lastApply: this.lastApply,
      heals: this.heals,
      stopped: this.stopped,
      healFailed: this.healFailed,
      putBack: this.putBack,
      agreed: this.agreed,
    };
  }

  restore(known: Remembered, now: Moment): void {
    this.found = known.found;
    this.digest = known.digest;
    this.plan = known.plan;
    this.#began = known.began;
    this.since = known.since;
    this.after = known.after;
    this.origin = known.plan?.origin ?? null;
    this.lastRead = known.lastRead;
    this.lastInSync = known.lastInSync;
    this.lastApply = known.lastApply;
    this.heals = retold(known.heals, now);
    this.stopped = known.stopped;
    this.healFailed = known.healFailed;
    this.putBack = known.putBack;
    this.agreed = known.agreed;
  }
}

/**
 * Equal for two reads that a person would be told the same about: what differs and how, what could not be compared, which rules refuse
 * it, and the code of the error. The text of an error is left out, because it may contain a time or an address.
 */
export function digestOf(plan: EnvironmentPlan, strict = false): string {
  const found = watchStatusOf(plan, strict);
  if (isWholly(plan, found)) return '';
  const { changes, unknown, refusals, error } = plan;
  const told = {
    found,
    changes: changes.map(({ resource, path, action, before, after }) => [
      resource,
      formatPath(path),
      action,
      before,
      after,
    ]),
    unknown: unknown.map(({ path }) => formatPath(path)),
    rules: refusals.map(({ rule }) => rule),
    error: error?.code ?? null,
  };
  return createHash('sha256').update(JSON.stringify(told)).digest('hex').slice(0, 32);
}

/** Whether all that a file declares was compared, and is the same. */
function isWholly({ unknown }: EnvironmentPlan, found: WatchStatus): boolean {
  return found === 'in-sync' && unknown.length === 0;
}

/** The last reads, packed: thousands of environments have a hundred each. */
class Marks {
  static readonly #most = 100;
  readonly #times = new Float64Array(Marks.#most);
  readonly #statuses = new Uint8Array(Marks.#most);
  #count = 0;

  add(at: number, status: WatchStatus): void {
    const place = this.#count % Marks.#most;
    this.#times[place] = at;
    this.#statuses[place] = WATCH_STATUSES.indexOf(status);
    this.#count += 1;
  }

  list(): ReadMark[] {
    const length = Math.min(this.#count, Marks.#most);
    return Array.from({ length }, (_, index) => {
      const place = (this.#count - length + index) % Marks.#most;
      return {
        at: new Date(this.#times[place] ?? 0).toISOString(),
        status: WATCH_STATUSES[this.#statuses[place] ?? 0] ?? 'not-read',
      };
    });
  }
}
