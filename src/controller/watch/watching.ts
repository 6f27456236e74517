import type { EnvironmentPlan } from '../../reconciler/model/plan.ts';
import type {
  CommitInfo,
  JournalRecord,
  Suspension,
  WatchState,
} from '../../reconciler/model/watch.ts';
import type { Conditions } from './conditions.ts';
import { usageError } from '../../reconciler/model/error.ts';
import { visible } from '../../reconciler/render/text.ts';

/** The access of a page, its actions, the metrics and the notices to a running controller. Everything that it returns is masked. */
export interface Watching {
  /** Every environment, in the order of the files. */
  states(): readonly WatchState[];
  /** Returns the state of an environment; null if there is none of that name. */
  state(name: string): WatchState | undefined;
  /** Returns how the controller is. */
  readonly health: Health;
  /** The problems of the controller itself. */
  readonly conditions: Pick<Conditions, 'list' | 'set' | 'receivers' | 'areSilencing'>;
  /** Requests to services since the controller started. */
  readonly requests: readonly RequestCount[];
  /** Calls `listener` after each read and each other change of an environment; what it returns ends that. */
  subscribe(listener: Listener): () => void;
  /**
   * The last 200 records of the journal about an environment, the latest first. Asked again it reads what was added since. There are none while it cannot
   * be read, which is a condition.
   */
  history(name: string): Promise<readonly JournalRecord[]>;
  /**
   * Reads an environment at its next turn, before others, or as soon as its policy allows. Resolves to how many milliseconds that is from now. Throws a
   * SetpointError if it is not known.
   */
  readNow(name: string): Promise<number>;
  /** The current plan, nothing written. Throws a usage error if its policy does not allow one more read now. */
  planNow(name: string): Promise<EnvironmentPlan>;
  /**
   * Applies the file now, within the limits of guards, policy and an approved plan; also in mode detect. Nothing is written if the plan
   * differs from the one of `digest` (that of the state when a person saw it). The journal records `by` whom. Resolves to a sentence.
   */
  applyNow(name: string, digest: string, by?: string): Promise<string>;
  /** Stops reads from healing an environment, until a time or a resume. */
  suspend(names: readonly string[], what: Omit<Suspension, 'at'>): Promise<void>;
  /** Resolves to the names of those that were suspended or stopped. */
  resume(names: readonly string[], by?: string): Promise<readonly string[]>;
}

/** Receives the state of an environment, and what has changed it. */
export type Listener = (state: WatchState, event: ReadEnd | JournalRecord) => void;

/** A read that ended. `seconds` is how long it took; `result` is `done`, or the code of its error. */
export interface ReadEnd {
  /** Names the event. */
  readonly kind: 'read';
  /** How long the read took. */
  readonly seconds: number;
  /** How the read ended. */
  readonly result: string;
}

/** Requests of a method that had the same answer: a status, or null if none came. */
export interface RequestCount {
  /** The method of the requests. */
  readonly method: string;
  /** The status of the answers; null if none came. */
  readonly status: number | null;
  /** The number of there were. */
  readonly count: number;
}

/** The health of the controller itself. Times are milliseconds since 1970. */
export interface Health {
  /** The time at which the controller started, in milliseconds since 1970. */
  readonly startedAt: number;
  /** The last turn of the loop. */
  readonly turnedAt: number;
  /** The loop turns at least this often, in milliseconds. */
  readonly turnsEvery: number;
  /** True if every environment was read once, or failed. */
  readonly ready: boolean;
  /** Environments that are due and wait for their turn. */
  readonly queued: number;
  /** The environments among them that wait longer than half of their interval, within 15 seconds and two minutes. */
  readonly late: number;
  /** Environments whose service did not answer within seconds when it was read last, or does not now. */
  readonly hanging: number;
  /** Environments that are being read or written, and other work that has begun. */
  readonly working: number;
  /** The commit of the files in force; null without a repository. */
  readonly commit: string | null;
  /** The address at which a browser shows a commit, if its id is appended; null if unknown. */
  readonly commits: string | null;
  /** The known facts of the commits that environments are declared by. */
  readonly commitInfos: ReadonlyMap<string, CommitInfo>;
  /** The reason why the settings files cannot be used; null if they can. */
  readonly filesProblem: string | null;
  /** The part of the environments that it watches; null if it watches all. */
  readonly shard: { readonly index: number; readonly count: number } | null;
  /** Objects of a cluster that are not watched, by reason; absent for files. */
  readonly unwatched?: ReadonlyMap<string, number> | undefined;
}

const LONGEST_NAME = 64;

/** The name of the user who suspends, resumes or applies, in its stored form: empty if none is given. Throws a usage error. */
export function nameGiven(text: string | null | undefined): string {
  const name = (text ?? '').trim();
  if (name.length <= LONGEST_NAME && visible(name) === name) return name;
  throw usageError(
    `The name of who does it has ${LONGEST_NAME} characters at most, and none that cannot be seen.`,
    'Give another name.',
  );
}
