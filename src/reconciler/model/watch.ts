import type { AgreementWith } from './agreement.ts';
import type { Approvals } from './limits.ts';
import type { EnvironmentOutcome } from './outcome.ts';
import type { Path } from './path.ts';
import type { EnvironmentPlan, Tool } from './plan.ts';
import type { ErrorReport } from './error.ts';
import type { Json } from './value.ts';
import type { WatchStatus } from './verdict.ts';

/** How an environment is watched, as its `watch:` block declares it. */
export interface WatchSettings {
  readonly mode: 'detect' | 'heal';
  /** Milliseconds between two reads; null if the block does not say. */
  readonly interval: number | null;
  /** When healing may write; null is always. */
  readonly windows: readonly Window[] | null;
  /** How often in an hour the environment may be healed of drift, whatever the paths. */
  readonly maxHealsPerHour: number;
  /** Whether what cannot be compared counts: an environment in which all else is as declared is `unknown` then, not in sync. */
  readonly strict: boolean;
  /** Whether healing may remove what a service keeps by name. */
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

/** Nothing is healed and nobody is told of an environment while it is suspended. Times are ISO 8601, UTC. */
export interface Suspension {
  readonly at: string;
  readonly reason: string;
  /** When it ends by itself; null if only `resume` ends it. */
  readonly until: string | null;
  /** Who did it, by the name given at the login, by a tool or by a command. */
  readonly by?: string;
}

/** What was written to an environment, and when: each path that an apply changed. `kept` is false if the service surely stored nothing of it. */
export interface Heal extends Moment {
  readonly paths: readonly string[];
  /** Those that were no edits of the file; all of them if absent, as earlier versions wrote it. */
  readonly drifted?: readonly string[] | undefined;
  /** The edit of the files that it wrote, if it did. */
  readonly edited?: string | undefined;
  readonly kept?: boolean | undefined;
}

/** A write that made the service equal to the file. */
export interface PutBack {
  readonly at: string;
  /** What was found before it. */
  readonly found: WatchStatus;
  readonly digest: string;
  readonly paths: readonly string[];
}

/** Heals in a row that failed. */
export interface HealFailed {
  /** When the first of them did. */
  readonly at: string;
  readonly count: number;
  /** Of the last one. `isRefused`: the service surely stored nothing, and would not the next time. */
  readonly isRefused: boolean;
  readonly code: ErrorReport['code'];
  readonly message: string;
  /** What the server showed right after the last one instead of what was sent. */
  readonly notStored?: readonly NotStored[] | undefined;
}

/** A path that a write set, and what the server showed right after it. Values are masked. */
export interface NotStored {
  readonly path: string;
  readonly expected: Json;
  readonly actual: Json;
  /** Whether the server still showed what it had before the write: it may show the new value later. */
  readonly isOld: boolean;
}

/** A time: of day, ISO 8601, UTC, and how long the machine had been running, if it tells. The time of day may be set; the other may not. */
export interface Moment {
  readonly at: string;
  readonly up?: Uptime | undefined;
}

/** How long a machine has been running, in milliseconds. Two can be compared if they are since the same start of it. */
export interface Uptime {
  readonly boot: string;
  readonly ms: number;
}

/** Why healing has stopped until it is resumed. */
export interface HealingStopped extends StopCause {
  readonly at: string;
  readonly path: string;
  /** What is known of why the value does not stay, in sentences. */
  readonly reason: string;
  /** What differed then, if the server is the cause: it ends by itself once something else does. */
  readonly digest?: string | undefined;
}

/** Why what was healed does not stay: the `server` stores other values than it is sent; if absent, another client writes. */
interface StopCause {
  readonly cause?: 'server' | undefined;
}

/** Who made a commit of the settings files, and what for. Foreign text: shortened, and not inert. */
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
 * All that is known of one environment: what the records of its journal and the reads of this process say. Everything that is shown of it is
 * masked. Times are ISO 8601, UTC.
 */
export interface WatchState {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly settings: WatchSettings;
  readonly status: WatchStatus;
  /** What the last read found; `status` may be `suspended` besides. */
  readonly found: WatchStatus;
  /** Since when it is in sync, or cannot be read, or the first of what differs now does. */
  readonly since: string;
  /** Digest of what differs, refuses or failed: the same as long as a person would be told the same. Empty if in sync and all was compared. */
  readonly digest: string;
  /** The read before `since`: what began then was made in between. Null if there was none. */
  readonly after: string | null;
  /** What the last read found; null if it is in sync and all was compared, or not read. */
  readonly plan: EnvironmentPlan | null;
  /** When what differs began, each by itself. */
  readonly began: readonly Beginning[];
  readonly origin: string | null;
  readonly dialect: string | null;
  readonly release: string | null;
  /** The commit of the files that were last compared. */
  readonly commit: string | null;
  readonly lastRead: string | null;
  readonly lastInSync: string | null;
  readonly lastApply: string | null;
  readonly nextRead: string | null;
  /** Reads in a row that failed. */
  readonly failures: number;
  /** The last reads of this process, at most 100, the latest last. */
  readonly reads: Iterable<ReadMark>;
  readonly suspended: Suspension | null;
  /** Of the last hour. */
  readonly heals: readonly Heal[];
  /** When another client changed it, of the last ten minutes; at most 20. */
  readonly flips: readonly string[];
  readonly stopped: HealingStopped | null;
  /** What was put right last; null if nothing was, or a file of the journal has begun since. */
  readonly putBack: PutBack | null;
  /** Null if the last heal succeeded, or nothing is to be healed. */
  readonly healFailed: HealFailed | null;
  /** Who holds the lock if this controller does not; null if it does, or does not know yet. */
  readonly heldBy: string | null;
  /** When the files were changed to what is not applied to it yet; the same for all that one edit changes. Null if nothing of that kind differs. */
  readonly edit: string | null;
  /** When the files were changed last in what they declare of it, as far as this process knows. */
  readonly declaredAt: string | null;
  /** The last edit that was written to it; null if none was. */
  readonly rollout: Rollout | null;
  /** Digests of what the files declared of it before, and it was as declared for some time; at most five, the latest last. */
  readonly verified: readonly string[];
  /** Why an edit of the files is not written to it yet; null if it does not wait for other environments. */
  readonly waits: Waits | null;
  /** Where file and service were the same when they last were; null if nothing is known. Nobody is shown it. */
  readonly agreed: AgreementWith | null;
}

/** Why an edit is not written yet, in a few words. `isStopped`: it waits until another edit is made, or what failed is as declared. */
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

/** When something that differs was first found, and the read before that: it came about in between. */
export interface Beginning {
  /** What differs; a read that fails, and all of a state that names nothing, are known by its status. */
  readonly of: string;
  readonly since: string;
  readonly after: string | null;
}

/** What the journal keeps: one line of JSON each. `v` is the version of its form, `at` ISO 8601, UTC. */
export type JournalRecord = { readonly v: 1; readonly at: string } & JournalEvent;

export type JournalEvent =
  | { readonly kind: 'started' | 'stopped'; readonly version: string; readonly reason?: string }
  | FilesEvent
  | StateEvent
  | WritingEvent
  | WriteEvent
  | (Named & { readonly kind: 'suspended' } & Omit<Suspension, 'at'>)
  | (Named & { readonly kind: 'resumed'; readonly by?: string })
  | ClockSetEvent
  | (Named &
      StopCause & {
        readonly kind: 'healing-stopped';
        readonly path: string;
        readonly reason: string;
      })
  | NoticeEvent;

interface Named {
  readonly environment: string;
}

/** The files were read: `problem` is why they cannot be used; the last good ones stay in force then. */
export interface FilesEvent {
  readonly kind: 'files';
  readonly commit: string | null;
  readonly environments: number;
  readonly problem: string | null;
}

/** A read found something else than the one before. `plan` is what it found, masked; null if in sync and all was compared. */
export interface StateEvent extends Named {
  readonly kind: 'state';
  readonly status: WatchStatus;
  readonly before: WatchStatus;
  readonly digest: string;
  /** The read before; the change was made after it. */
  readonly after: string | null;
  readonly commit: string | null;
  /** That another client changed it, neither an edit of the file nor a write of ours; earlier versions did not write it. */
  readonly flip?: true | undefined;
  /** When the files were changed to what is not applied yet, if something of it is, and not all of that was verified before. */
  readonly edited?: string | undefined;
  /** The digest of what the files declared before an edit, if it was as declared for some time. */
  readonly verified?: string | undefined;
  /** Its labels, if it has any. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly plan: EnvironmentPlan | null;
}

/** A controller is about to write these paths. If no `write` follows, it ended in between, and what was stored is unknown. */
export interface WritingEvent extends Named {
  readonly kind: 'writing';
  readonly up?: Uptime | undefined;
  readonly paths: readonly string[];
  /** Those of them that are no edits of the file; earlier versions did not write it. */
  readonly drifted?: readonly string[] | undefined;
  /** When the files were changed to what is written, if that is an edit. */
  readonly edited?: string | undefined;
  readonly commit: string | null;
}

/** An apply or a controller wrote, or may have written, for an actor or by itself. `changes` have the former values, masked. */
export interface WriteEvent extends Named {
  readonly kind: 'write';
  readonly by: 'watch' | 'apply';
  readonly commit: string | null;
  readonly actor: string | null;
  readonly url: string | null;
  readonly outcome: EnvironmentOutcome;
}

/** The clock of the machine was set by some milliseconds, forward or back, within an hour of a heal: what counts is the time in between. */
export interface ClockSetEvent extends Named {
  readonly kind: 'clock-set';
  readonly by: number;
}

/** Somebody was told, or could not be: at most once for each state and receiver. */
export interface NoticeEvent extends Named {
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

/** What may be wrong with a controller itself, in the order in which it is shown. */
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
  /** What happened, and what follows from it, in sentences. */
  readonly message: string;
  readonly since: string;
}
