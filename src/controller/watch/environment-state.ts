import { createHash } from 'node:crypto';
import { formatPath } from '../../reconciler/model/path.ts';
import type { EnvironmentPlan } from '../../reconciler/model/plan.ts';
import { MOST_STORED, limitStoredPlan } from './stored-plan.ts';
import type { ErrorReport } from '../../reconciler/model/error.ts';
import type {
  JournalRecord,
  Moment,
  StateEvent,
  WatchSettings,
  WatchState,
  WriteEvent,
} from '../../reconciler/model/watch.ts';
import { selectFound, toWatchStatus, type WatchStatus } from '../../reconciler/model/verdict.ts';
import { healsAfter, shiftHealTimes, recent, adjustHealTimes } from './heal-limits.ts';
import { beginningsAfter, findFirstBeginning } from './beginnings.ts';
import { flipsAfter } from './flapping.ts';
import { ReadMarks } from './read-marks.ts';
import { addHealFailure, putBackAfter } from './healing.ts';
import type { AgreedLine } from './journal/journal-lines.ts';

/** A fact that changes the known state of an environment: a line of the journal about it, or something that the journal does not record. */
export type Fact =
  | JournalRecord
  | Pick<AgreedLine, 'kind' | 'address' | 'agreement'>
  | { readonly kind: 'resumed' }
  /** A read has ended at a time, in milliseconds since 1970. */
  | {
      readonly kind: 'read';
      readonly at: number;
      readonly plan: EnvironmentPlan;
      readonly commit: string | null;
    }
  /** An attempt to heal has ended before anything was sent. */
  | {
      readonly kind: 'not-written';
      readonly at: number;
      readonly error: Pick<ErrorReport, 'code' | 'message' | 'hint'>;
    }
  /** The current values that other parts of the controller decide. */
  | ({ readonly kind: 'set' } & Partial<
      Pick<WatchState, 'labels' | 'settings' | 'suspended' | 'heldBy' | 'waits' | 'declaredAt'>
    >);

/** The watch settings of an environment that the files do not declare. */
const UNWATCHED: WatchSettings = {
  mode: 'detect',
  interval: null,
  windows: null,
  maxHealsPerHour: 0,
  removes: false,
  strict: false,
};

/** The state of an environment without known facts. */
export function notReadState(
  name: string,
  since = new Date(0).toISOString(),
  settings = UNWATCHED,
): WatchState {
  return {
    name,
    labels: {},
    settings,
    status: 'not-read',
    found: 'not-read',
    since,
    digest: '',
    after: null,
    plan: null,
    began: [],
    origin: null,
    dialect: null,
    release: null,
    commit: null,
    lastRead: null,
    lastInSync: null,
    lastApply: null,
    nextRead: null,
    failures: 0,
    reads: [],
    suspended: null,
    heals: [],
    flips: [],
    stopped: null,
    putBack: null,
    healFailed: null,
    heldBy: null,
    edit: null,
    declaredAt: null,
    rollout: null,
    verified: [],
    waits: null,
    agreed: null,
  };
}

/** The state after something, which is the only way in which a state changes; the same object if nothing does. */
export function applyFact(state: WatchState, fact: Fact): WatchState {
  const change = computeFactChange(state, fact);
  if (change === null) return state;
  const next = { ...state, ...change };
  return { ...next, status: next.suspended === null ? next.found : 'suspended' };
}

function computeFactChange(state: WatchState, fact: Fact): Partial<WatchState> | null {
  switch (fact.kind) {
    case 'read':
      return afterRead(state, fact);
    case 'state':
      return afterState(state, fact);
    case 'writing': {
      const { at, up, paths, drifted, edited } = fact;
      const of = edited === undefined ? {} : { edited };
      const heal = { at, up, paths, ...(drifted === undefined ? {} : { drifted }), ...of };
      const begun =
        edited === undefined ? {} : { rollout: { edit: edited, at, result: 'begun' as const } };
      return { lastApply: at, heals: [...recent(state.heals, fact), heal], ...begun };
    }
    case 'write':
      return afterWrite(state, fact);
    case 'not-written':
      return {
        healFailed: addHealFailure(state.healFailed, fact, new Date(fact.at).toISOString()),
      };
    case 'clock-set':
      return { heals: shiftHealTimes(state.heals, fact.by) };
    case 'healing-stopped': {
      const { at, path, reason, cause } = fact;
      const of = cause === undefined ? {} : { cause, digest: state.digest };
      return { stopped: { at, path, reason, ...of } };
    }
    case 'resumed':
      return { stopped: null, healFailed: null, heals: [] };
    case 'agreed':
      return { agreed: { address: fact.address ?? null, agreement: fact.agreement } };
    case 'set': {
      const { kind: _kind, ...change } = fact;
      const names = Object.keys(change) as (keyof typeof change)[];
      return names.some((name) => change[name] !== state[name]) ? change : null;
    }
    case 'suspended':
    case 'notice':
    case 'files':
    case 'started':
    case 'stopped':
      return null;
  }
}

/**
 * Reports whether the reason for stopping healing is gone: the server stores other values, or the file declares others. A failed read
 * does not show it.
 */
function isOver(stopped: WatchState['stopped'], found: WatchStatus, digest: string): boolean {
  return stopped?.cause === 'server' && found !== 'error' && digest !== stopped.digest;
}

function afterState(
  state: WatchState,
  fact: Extract<Fact, { kind: 'state' }>,
): Partial<WatchState> {
  const { status: found, plan, at, after, digest, commit } = fact;
  const began = beginningsAfter(state.began, found, plan, at, after);
  const first = findFirstBeginning(began, found, plan);
  const labels = fact.labels === undefined ? {} : { labels: fact.labels };
  return {
    ...computeStatusChange(state, found, plan, at),
    found,
    digest,
    plan,
    commit,
    began,
    ...first,
    ...labels,
    ...(fact.origin === undefined ? {} : { origin: fact.origin }),
    ...(fact.flip === true ? { flips: flipsAfter(state.flips, at) } : {}),
    ...(fact.verified === undefined ? {} : { verified: addVerifiedDigest(state, fact.verified) }),
    edit: fact.edited ?? (found === 'error' ? state.edit : null),
    ...(isOver(state.stopped, found, digest) ? { stopped: null } : {}),
  };
}

function afterRead(
  state: WatchState,
  { at, plan, commit }: Extract<Fact, { kind: 'read' }>,
): Partial<WatchState> {
  const found = toWatchStatus(plan, state.settings.strict);
  const now = new Date(at).toISOString();
  return {
    ...computeStatusChange(state, found, plan, now),
    plan: selectStoredPlan(plan, found),
    commit,
    failures: found === 'error' ? state.failures + 1 : 0,
    reads: ReadMarks.after(state.reads, at, found),
  };
}

/** Returns the changes of the state that follow from a found status, whether the previous status was the same or not. */
function computeStatusChange(
  known: WatchState,
  found: WatchStatus,
  plan: EnvironmentPlan | null,
  at: string,
): Partial<WatchState> {
  return {
    lastRead: at,
    ...(found === 'in-sync' ? { lastInSync: at, healFailed: null, waits: null } : {}),
    ...(plan === null ? {} : computeServiceState(known, found, plan)),
  };
}

/** Returns the known facts of a service after a read. A service that was never reached has an address all the same. */
function computeServiceState(
  known: WatchState,
  found: WatchStatus,
  plan: EnvironmentPlan,
): Partial<WatchState> {
  if (found === 'error') return { origin: known.origin ?? plan.origin };
  return { origin: plan.origin, dialect: plan.dialect, release: plan.release };
}

function afterWrite(
  state: WatchState,
  { by, at, outcome }: WriteEvent & { readonly at: string },
): Partial<WatchState> {
  if (by === 'apply') return { lastApply: at };
  const heals = healsAfter(state.heals, outcome);
  return {
    ...(outcome.requests.post > 0 ? { lastApply: at } : {}),
    heals,
    rollout: rolloutAfter(state.rollout, outcome),
    putBack: putBackAfter({ ...state, heals }, outcome, at),
    healFailed: addHealFailure(state.healFailed, outcome, at),
  };
}

/** An edit whose write has ended; what was not sent did not reach the environment. */
function rolloutAfter(
  rollout: WatchState['rollout'],
  { error, requests }: WriteEvent['outcome'],
): WatchState['rollout'] {
  if (rollout?.result !== 'begun') return rollout;
  if (requests.post === 0) return null;
  return { ...rollout, result: error === null ? 'done' : 'failed' };
}

/** Returns the result of a read if it differs from the known state; the last read of the state is then the one before. */
export function newlyFound(
  state: WatchState,
  plan: EnvironmentPlan,
  commit: string | null,
  declared: DeclarationChange = { at: null, isAdded: false, settled: null, digest: () => null },
  most = MOST_STORED,
): StateEvent | null {
  const { name, labels, found: before, digest: known, lastRead: after } = state;
  const { strict } = state.settings;
  const status = toWatchStatus(plan, strict);
  const digest = computeFoundDigest(plan, strict);
  if (status === before && digest === known) return null;
  const shown = selectStoredPlan(limitStoredPlan(plan, most), status);
  const labelled = Object.keys(labels).length === 0 ? {} : { labels };
  const edit = computeEditStart(state, plan, declared);
  const waits = edit !== null && !isVerified(state, declared.digest());
  const edited = waits ? { edited: edit } : {};
  const isSettled = edit !== null && declared.settled !== null;
  const verified = isSettled ? { verified: declared.settled } : {};
  const isNew = shown === null && plan.origin !== null && plan.origin !== state.origin;
  const about = {
    environment: name,
    status,
    before,
    digest,
    after,
    commit,
    ...(isFlip(state, status, commit, edit) ? { flip: true as const } : {}),
    ...edited,
    ...verified,
    ...labelled,
    ...(isNew ? { origin: plan.origin } : {}),
  };
  return { kind: 'state', ...about, plan: shown };
}

/** Reports whether the result of a read comes neither from an edit nor from our own write, and is not a failure or its end. */
function isFlip(
  { found: before, lastRead, lastApply, commit: known }: WatchState,
  status: WatchStatus,
  commit: string | null,
  edit: string | null,
): boolean {
  const isCompared = [before, status].every((one) => one !== 'error' && one !== 'not-read');
  const isWritten =
    lastApply !== null && lastRead !== null && Date.parse(lastApply) >= Date.parse(lastRead);
  return isCompared && !isWritten && edit === null && commit === known;
}

/** The last change of the files, for all environments that it changed, and whether it added the environment while others were watched. */
export interface DeclarationChange {
  readonly at: string | null;
  readonly isAdded: boolean;
  /** The digest of what was declared before, if the service was as declared for some time. */
  readonly settled: string | null;
  /** The digest of what is declared now; null if that is not known. */
  readonly digest: () => string | null;
}

/** Declarations that are remembered of an environment. */
const MOST_VERIFIED = 5;

/** A revert need not wait: the environment has been as declared before. */
function isVerified({ verified }: WatchState, digest: string | null): boolean {
  return digest !== null && verified.includes(digest);
}

function addVerifiedDigest({ verified }: WatchState, digest: string): readonly string[] {
  return [...verified.filter((one) => one !== digest), digest].slice(-MOST_VERIFIED);
}

/** Returns the time when the files changed to what is not applied yet. An earlier waiting edit keeps its time. */
function computeEditStart(
  state: WatchState,
  plan: EnvironmentPlan,
  { at, isAdded }: DeclarationChange,
): string | null {
  const isEdit = ({ class: of }: EnvironmentPlan['changes'][number]): boolean =>
    of === 'pending' || of === 'conflict' || (isAdded && state.agreed === null);
  const keys = (changes: EnvironmentPlan['changes']): string =>
    JSON.stringify(
      changes.filter(isEdit).map(({ resource, path, after }) => [resource, path, after]),
    );
  if (!plan.changes.some(isEdit)) return null;
  const isSame = state.plan !== null && keys(state.plan.changes) === keys(plan.changes);
  return isSame ? (state.edit ?? at) : at;
}

/** The state from the current journal: facts that only this process knows stay, and times of heals refer to the current clock. */
export function restoreState(state: WatchState, known: WatchState, now: Moment): WatchState {
  const { labels, settings, suspended, heldBy, nextRead, failures, reads, waits } = state;
  const { declaredAt } = state;
  const own = { labels, settings, suspended, heldBy, nextRead, failures, reads, waits, declaredAt };
  const service = {
    origin: known.origin ?? state.origin,
    dialect: known.dialect ?? state.dialect,
    release: known.release ?? state.release,
    commit: known.commit ?? state.commit,
  };
  return applyFact(
    { ...known, ...service, ...own, heals: adjustHealTimes(known.heals, now) },
    { kind: 'set', suspended },
  );
}

/**
 * Equal for two reads that a person would receive the same report about: what differs and how, what could not be compared, which rules
 * refuse it, and the code of the error. The text of an error is left out, because it may contain a time or an address.
 */
export function computeFoundDigest(plan: EnvironmentPlan, strict = false): string {
  const found = toWatchStatus(plan, strict);
  if (selectStoredPlan(plan, found) === null) return '';
  const { unknown, refusals, error } = plan;
  const remembered = {
    found,
    changes: selectFound(plan.changes).map(({ resource, path, action, before, after }) => [
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
  return createHash('sha256').update(JSON.stringify(remembered)).digest('hex').slice(0, 32);
}

/** A plan as a state keeps it: null if all that a file declares was compared, and is the same. */
function selectStoredPlan(plan: EnvironmentPlan, found: WatchStatus): EnvironmentPlan | null {
  return found === 'in-sync' && plan.unknown.length === 0 ? null : plan;
}
