import type { AgreementWith } from './agreement.ts';
import type { Approvals } from './limits.ts';
import type { EnvironmentOutcome } from './outcome.ts';
import type { Path } from './path.ts';
import type { EnvironmentPlan, Tool } from './plan.ts';
import type { ErrorReport } from './error.ts';
import type { Json } from './value.ts';
import type { WatchStatus } from './verdict.ts';

/** The options of watching an environment, as its `watch:` block declares them. */
export interface WatchSettings {
  readonly mode: 'detect' | 'heal';
  /** Milliseconds between two reads; null if the block does not set it. */
  readonly interval: number | null;
  /** The times at which healing may write; null is always. */
  readonly windows: readonly Window[] | null;
  /** The maximum number of heals of drift in an hour, whatever the paths. */
  readonly maxHealsPerHour: number;
  /** True if what cannot be compared counts: an environment that otherwise matches is then `unknown`, not in sync. */
  readonly strict: boolean;
  /** True if healing may remove items that a service stores by name. */
  readonly removes: boolean;
  /** The differences that may be healed, and whatever they remove; undefined if all may. */
  readonly approvals?: Approvals | undefined;
}

/** A time of the week: from a minute of the day to another, which may be on the next day, on some days of the week. */
export interface Window {
  /** As the file writes it. */
  readonly text: string;
  /** 0 is Sunday. */
  readonly days: ReadonlySet<number>;
  /** Minutes since midnight; `to` is at most 1440. */
  readonly from: number;
  readonly to: number;
  /** An IANA name. */
  readonly zone: string;
}

/** Nothing is healed and no notice is sent about an environment while it is suspended. Times are ISO 8601, UTC. */
export interface Suspension {
  /** The time at which it began, in milliseconds since 1970. */
  readonly at: string;
  /** The reason, in the words of the person. */
  readonly reason: string;
  /** The time at which it ends automatically; null if only `resume` ends it. */
  readonly until: string | null;
  /** The actor, by the name given at the login, by a tool or by a command. */
  readonly by?: string;
}

/** A write to an environment, with its time and each changed path. `kept` is false if the service certainly stored nothing. */
export interface Heal extends Moment {
  readonly paths: readonly string[];
  /** The paths that were no edits of the file; all paths if absent, as earlier versions wrote it. */
  readonly drifted?: readonly string[] | undefined;
  /** The edit of the files that it wrote, if it did. */
  readonly edited?: string | undefined;
  readonly kept?: boolean | undefined;
}

/** A write that made the service equal to the file. */
export interface PutBack {
  readonly at: string;
  /** The state before it. */
  readonly found: WatchStatus;
  readonly digest: string;
  readonly paths: readonly string[];
}

/** Heals in a row that failed. */
export interface HealFailures {
  /** The time of the first of them. */
  readonly at: string;
  readonly count: number;
  /** Describes the last one. `isRefused`: the service certainly stored nothing, and would refuse it again. */
  readonly isRefused: boolean;
  readonly code: ErrorReport['code'];
  readonly message: string;
  /** The server's values right after the last one, where they differ from what was sent. */
  readonly notStored?: readonly UnstoredValue[] | undefined;
}

/** A path that a write set, and what the server showed right after it. Values are masked. */
export interface UnstoredValue {
  readonly path: string;
  readonly expected: Json;
  readonly actual: Json;
  /** True if the server still showed its value from before the write: it may show the new value later. */
  readonly isOld: boolean;
}

/**
 * A time: of day, ISO 8601, UTC, and the uptime of the machine, if the system reports it. The time of day may be set; the other may not.
 */
export interface Moment {
  readonly at: string;
  readonly up?: Uptime | undefined;
}

/** The uptime of a machine, in milliseconds. Two are comparable if they are since the same start. */
export interface Uptime {
  readonly boot: string;
  readonly ms: number;
}

/** The reason that healing has stopped until it is resumed. */
export interface HealingStop extends StopCause {
  readonly at: string;
  readonly path: string;
  /** The known facts about why the value does not stay, in sentences. */
  readonly reason: string;
  /** The differences then, if the server is the cause: the stop ends automatically once they change. */
  readonly digest?: string | undefined;
}

/** The cause of a lost heal: the `server` stores other values than it is sent; if absent, another client writes. */
interface StopCause {
  readonly cause?: 'server' | undefined;
}

/** The author and purpose of a commit of the settings files. Foreign text: shortened, and not inert. */
export interface CommitInfo {
  readonly author: string;
  readonly subject: string;
  /** ISO 8601, UTC. */
  readonly committedAt: string;
}

/** One read, as the strip of the last reads shows it. */
export interface ReadMark {
  readonly at: string;
  readonly status: WatchStatus;
}

/**
 * All known facts of one environment, from the records of its journal and the reads of this process. All displayed texts of it are masked.
 * Times are ISO 8601, UTC.
 */
export interface WatchState {
  /** The name of the environment. */
  readonly name: string;
  /** The labels of the environment. */
  readonly labels: Readonly<Record<string, string>>;
  /** The paths of its settings files. */
  readonly settings: WatchSettings;
  /** The result of the last read. */
  readonly status: WatchStatus;
  /** The result of the last read; `status` may be `suspended` additionally. */
  readonly found: WatchStatus;
  /** Since when it is in sync, or cannot be read, or the first of what differs now does. */
  readonly since: string;
  /** Digest of what differs, refuses or failed: the same as long as the report would be the same. Empty if in sync and all was compared. */
  readonly digest: string;
  /** The read before `since`: what began then was made in between. Null if there was none. */
  readonly after: string | null;
  /** The result of the last read; null if it is in sync and fully compared, or not read. */
  readonly plan: EnvironmentPlan | null;
  /** The start of each difference. */
  readonly began: readonly Beginning[];
  /** Scheme, host and port of its server; null if the address is not known. */
  readonly origin: string | null;
  /** The API that its server speaks; null if that is not known. */
  readonly dialect: string | null;
  /** The server's release; null if unknown. */
  readonly release: string | null;
  /** The commit of the files that were last compared. */
  readonly commit: string | null;
  /** The time at which it was read last. */
  readonly lastRead: string | null;
  /** The time at which it was in sync last. */
  readonly lastInSync: string | null;
  /** The time at which something was written last. */
  readonly lastApply: string | null;
  /** The time at which it is read next. */
  readonly nextRead: string | null;
  /** Reads in a row that failed. */
  readonly failures: number;
  /** The last reads of this process, at most 100, the latest last. */
  readonly reads: Iterable<ReadMark>;
  /** The time and the reason since which nothing is healed; null if it is not suspended. */
  readonly suspended: Suspension | null;
  /** The heals of the last hour. */
  readonly heals: readonly Heal[];
  /** The times of changes by another client in the last ten minutes; at most 20. */
  readonly flips: readonly string[];
  /** The reason that healing stopped until a resume; null if it did not. */
  readonly stopped: HealingStop | null;
  /** The last correction; null if there was none, or a file of the journal has begun since. */
  readonly putBack: PutBack | null;
  /** Null if the last heal succeeded, or nothing is to be healed. */
  readonly healFailed: HealFailures | null;
  /** The holder of the lock if it is not this controller; null if it is, or if that is not known yet. */
  readonly heldBy: string | null;
  /** The time of the edit that is not applied yet; the same for everything that one edit changes. Null if no such difference exists. */
  readonly edit: string | null;
  /** The last change of its declarations in the files, if known to this process. */
  readonly declaredAt: string | null;
  /** The last edit that was written to it; null if none was. */
  readonly rollout: Rollout | null;
  /** Digests of what the files declared of it before, and it was as declared for some time; at most five, the latest last. */
  readonly verified: readonly string[];
  /** The reason that an edit of the files is not written yet; null if it does not wait for other environments. */
  readonly waits: Waits | null;
  /** The last agreement of file and service; null if unknown. It is never shown. */
  readonly agreed: AgreementWith | null;
}

/** The reason that an edit is not written yet. `isStopped`: it waits for another edit, or until what failed is as declared. */
export interface Waits {
  readonly words: string;
  readonly isStopped: boolean;
}

/** An edit of the files that was written to an environment, and when that began. `failed`: it did not end well. */
export interface Rollout {
  readonly edit: string;
  readonly at: string;
  readonly result: 'begun' | 'done' | 'failed';
}

/** The first read that found a difference, and the read before that: it appeared in between. */
export interface Beginning {
  /** The difference. A failed read, and a state that names nothing, are identified by their status. */
  readonly of: string;
  readonly since: string;
  readonly after: string | null;
}

/** The records of the journal: one line of JSON each. */
export type JournalRecord = {
  /** The version of the form of a record. */
  readonly v: 1;
  /** ISO 8601, UTC. */
  readonly at: string;
} & JournalEvent;

export type JournalEvent =
  | { readonly kind: 'started' | 'stopped'; readonly version: string; readonly reason?: string }
  | FilesEvent
  | StateEvent
  | WritingEvent
  | WriteEvent
  | (EnvironmentEvent & { readonly kind: 'suspended' } & Omit<Suspension, 'at'>)
  | (EnvironmentEvent & { readonly kind: 'resumed'; readonly by?: string })
  | ClockSetEvent
  | (EnvironmentEvent &
      StopCause & {
        readonly kind: 'healing-stopped';
        readonly path: string;
        readonly reason: string;
      })
  | NoticeEvent;

interface EnvironmentEvent {
  readonly environment: string;
}

/** The files were read: `problem` is why they cannot be used; the last good ones stay in effect then. */
export interface FilesEvent {
  readonly kind: 'files';
  readonly commit: string | null;
  readonly environments: number;
  readonly problem: string | null;
}

/** A read found something else than the one before. `plan` is what it found, masked; null if in sync and all was compared. */
export interface StateEvent extends EnvironmentEvent {
  readonly kind: 'state';
  readonly status: WatchStatus;
  readonly before: WatchStatus;
  readonly digest: string;
  /** The read before; the change was made after it. */
  readonly after: string | null;
  readonly commit: string | null;
  /** States that another client changed it, neither an edit of the file nor a write of ours; earlier versions did not write it. */
  readonly flip?: true | undefined;
  /** The time of the edit that is not fully applied yet, if not all of it was verified before. */
  readonly edited?: string | undefined;
  /** The digest of what the files declared before an edit, if it was as declared for some time. */
  readonly verified?: string | undefined;
  /** Its labels, if it has any. */
  readonly labels?: Readonly<Record<string, string>>;
  /** The origin of its server, if no earlier record has it and there is no plan. */
  readonly origin?: string | undefined;
  readonly plan: EnvironmentPlan | null;
}

/** A controller is about to write these paths. If no `write` follows, it ended in between, and what was stored is unknown. */
export interface WritingEvent extends EnvironmentEvent {
  readonly kind: 'writing';
  readonly up?: Uptime | undefined;
  readonly paths: readonly string[];
  /** The paths among them that are no edits of the file. Earlier versions did not write it. */
  readonly drifted?: readonly string[] | undefined;
  /** The time of the edit that is written, if it is one. */
  readonly edited?: string | undefined;
  readonly commit: string | null;
}

/** An apply or a controller wrote, or may have written, for an actor or on its own. `changes` have the former values, masked. */
export interface WriteEvent extends EnvironmentEvent {
  readonly kind: 'write';
  readonly by: 'watch' | 'apply';
  readonly commit: string | null;
  readonly actor: string | null;
  readonly url: string | null;
  readonly outcome: EnvironmentOutcome;
}

/** The clock of the machine was set by some milliseconds, forward or back, within an hour of a heal: what counts is the time in between. */
export interface ClockSetEvent extends EnvironmentEvent {
  readonly kind: 'clock-set';
  readonly by: number;
}

/** A receiver was notified, or could not be: at most once for each state and receiver. */
export interface NoticeEvent extends EnvironmentEvent {
  readonly kind: 'notice';
  readonly event: NoticeKind;
  /** The receiver, by its name in the file of notices. */
  readonly receiver: string;
  /** The digest of the state it is about. */
  readonly digest: string;
  /** `begun`: it is about to be sent; `failed`: the receiver surely did not take it; `unknown`: it may have. */
  readonly result: 'begun' | 'sent' | 'failed' | 'unknown';
}

export const NOTICE_KINDS = [
  'opened',
  'changed',
  'resolved',
  'failing',
  'reminder',
  'healed',
  'heal-failed',
  'write-refused',
  'healing-stopped',
] as const;
export type NoticeKind = (typeof NOTICE_KINDS)[number];

/** Records of a journal, the latest first. schemas/history.schema.json is its schema. */
export interface HistoryDocument {
  readonly format_version: string;
  readonly kind: 'history';
  readonly tool: Tool;
  /** The path that the records are about; null if about all. */
  readonly path: Path | null;
  readonly records: readonly JournalRecord[];
}

/** The possible faults of a controller itself, in the order of display. */
export const CONDITION_KINDS = [
  'journal',
  'locks',
  'suspensions',
  'files',
  'git',
  'cluster',
  'reads',
  'page',
  'receiver',
] as const;

export type ConditionKind = (typeof CONDITION_KINDS)[number];

/** Something that is wrong with a controller itself. `since` is ISO 8601, UTC. */
export interface Condition {
  readonly kind: ConditionKind;
  /** The name of the receiver; null for the other kinds. */
  readonly receiver: string | null;
  /** The fault and its consequences, in sentences. */
  readonly message: string;
  readonly since: string;
}
