import {
  CONDITION_KINDS,
  type Condition,
  type ConditionKind,
} from '../../reconciler/model/watch.ts';

/** A note of a running controller about itself. */
export interface ControllerNote {
  /** The severity. */
  readonly severity: 'info' | 'warning';
  /** A sentence about what happened. */
  readonly message: string;
  /** The environment that it is about; null if it is about the controller. */
  readonly environment?: string;
}

/** The part of a problem that could not be found out even once: there is no earlier result to continue with. */
export const NONE_YET = 'none yet';

/** The part of a cluster that is the key of the fingerprints. */
export const STATE_KEY = 'state key';

/** Kinds of conditions that prevent recording, or prevent notifying anyone of the findings. */
const SILENCING: ReadonlySet<ConditionKind> = new Set(['journal', 'locks']);

interface HeldCondition {
  readonly condition: Condition;
  readonly silences: boolean;
  /** The messages that were logged since it began: one that comes again is not logged again. */
  readonly logged: Set<string>;
}

/**
 * The problems of a controller itself. Each is logged when it begins, changes and ends, and shown, measured and notified while it lasts.
 */
export class Conditions {
  readonly #now: () => number;
  readonly #report: (note: ControllerNote) => void;
  readonly #receivers = new Set<string>();
  readonly #held = new Map<string, HeldCondition>();

  constructor(now: () => number, report: (note: ControllerNote) => void) {
    this.#now = now;
    this.#report = report;
  }

  list(): readonly Condition[] {
    return [...this.#held.values()]
      .map(({ condition }) => condition)
      .toSorted((one, other) => conditionRank(one) - conditionRank(other));
  }

  /** The receivers that were ever taken. */
  get receivers(): readonly string[] {
    return [...this.#receivers];
  }

  has(kind: ConditionKind): boolean {
    return this.list().some((one) => one.kind === kind);
  }

  /** Reports whether notices about environments may be missing. */
  get areSilencing(): boolean {
    return [...this.#held.values()].some(({ silences }) => silences);
  }

  /** Sets a problem, or its end. `part` distinguishes several of one kind; of a receiver it is the name. */
  set(kind: ConditionKind, problem: string | null, part = ''): void {
    const key = `${kind} ${part}`;
    if (kind === 'receiver') this.#receivers.add(part);
    const held = this.#held.get(key);
    if (problem === null) {
      if (!this.#held.delete(key)) return;
      const message = overText(kind, part);
      if (kind === 'receiver' || !this.has(kind)) this.#report({ severity: 'info', message });
      return;
    }
    const message = WORDS[kind](problem, part);
    const logged = held?.logged ?? new Set();
    const since = held?.condition.since ?? new Date(this.#now()).toISOString();
    const receiver = kind === 'receiver' ? part : null;
    // Late reads cause late notices, except for services that are known to be slow.
    const isUnread = kind === 'reads' && part === '';
    const silences = SILENCING.has(kind) || part === NONE_YET || isUnread;
    this.#held.set(key, { condition: { kind, receiver, message, since }, silences, logged });
    if (logged.has(message)) return;
    logged.add(message);
    this.#report({ severity: 'warning', message });
  }
}

function conditionRank({ kind }: Condition): number {
  return CONDITION_KINDS.indexOf(kind);
}

const WORDS: Readonly<Record<ConditionKind, (problem: string, part: string) => string>> = {
  journal: (problem, part) =>
    part === 'history'
      ? `${problem} What happened before is not shown.`
      : `${problem} Until it can be written again, nothing is healed and no notices of environments are sent.`,
  locks: (problem) => `${problem} Nothing is healed without a lock.`,
  suspensions: (problem, part) =>
    part === NONE_YET
      ? `${problem} Until the suspensions are known, every environment counts as suspended.`
      : `${problem} Nothing is healed until the suspensions are known; the last known ones remain in effect.`,
  files: describePreservedFiles,
  git: describePreservedFiles,
  cluster: (problem, part) =>
    part === NONE_YET
      ? `${problem} Nothing is watched until the SettingsTargets can be listed.`
      : `${problem} ${CLUSTER_PARTS[part]?.follows ?? 'The SettingsTargets that were listed last remain in effect.'}`,
  reads: (problem, part) =>
    part === '' ? `${problem} What changes on a service is found late, and healed late.` : problem,
  page: (problem, part) => `${problem} The page continues with the previous ${part}.`,
  receiver: (problem) => problem,
};

function describePreservedFiles(problem: string, part: string): string {
  if (part === NONE_YET)
    return `The settings files cannot be used, and there are no earlier ones. Nothing is watched until this is fixed. ${problem}`;
  // The file of a part reports the rest itself.
  if (part !== '' && part !== 'late') return problem;
  return `The settings files cannot be used; the last good ones remain in effect. ${problem}`;
}

/** States that a problem is over. */
export function overText(kind: ConditionKind, receiver: string): string {
  return OVER[kind](receiver);
}

/** The effects of a problem with a part of a cluster, and the message when it is over. */
const CLUSTER_PARTS: Readonly<Record<string, { readonly follows: string; readonly over: string }>> =
  {
    status: {
      follows: 'What is found is not shown there until it can.',
      over: 'The status of SettingsTargets can be written again.',
    },
    events: {
      follows: 'What is found is not shown there until it can.',
      over: 'Events can be written again.',
    },
    limits: {
      follows: 'The status of each shows why; all others are watched.',
      over: 'No namespace is at its limit now.',
    },
    [STATE_KEY]: {
      follows: 'Without the key of the fingerprints, a rotated Secret is not noticed.',
      over: 'The key of the fingerprints can be read again.',
    },
  };

const OVER: Readonly<Record<ConditionKind, (receiver: string) => string>> = {
  journal: () => 'The journal can be written again.',
  locks: () => 'The locks can be used again.',
  suspensions: () => 'The suspensions can be read again.',
  files: () => 'The settings files can be used again.',
  git: () => 'The settings files can be used again.',
  cluster: (part) => CLUSTER_PARTS[part]?.over ?? 'The SettingsTargets can be listed again.',
  reads: (part) =>
    part === 'slow'
      ? 'Environments of slow services are read on time again.'
      : 'Environments are read on time again.',
  page: () => 'The certificate and the token of the page can be read again.',
  receiver: (name) => `The receiver ${name} takes notices again.`,
};
