import { ERRORS, type ErrorCode } from '../../reconciler/model/error.ts';
import { formatPath } from '../../reconciler/model/path.ts';
import type { EnvironmentPlan } from '../../reconciler/model/plan.ts';
import type { HealFailures, WatchState } from '../../reconciler/model/watch.ts';
import { formatCount, namesListed } from '../../reconciler/model/wording.ts';
import { visible } from '../../reconciler/render/text.ts';
import { approvalDigest, isStanding, suspensionInShort } from '../watch/healing.ts';
import { STATE_WORDS } from '../../reconciler/render/section.ts';
import { isPassing } from '../watch/schedule.ts';
import { parseGeneration, versionNow, type TargetResource } from './target-resource.ts';
import type { Waiting } from './declared.ts';
import {
  omitUndefinedMembers,
  shortenStatusText,
  statusPlan,
  type StatusPlan,
} from './status-plan.ts';
import { findStalledReason } from './unwatched.ts';

/** The members that the controller writes into `status` of a SettingsTarget. */
export interface TargetStatus {
  readonly observedGeneration?: number;
  readonly lastHandledReconcileAt?: string;
  readonly sync: 'Synced' | 'OutOfSync' | 'Unknown';
  readonly conditions: readonly StatusCondition[];
  readonly target?: {
    readonly origin?: string;
    readonly dialect?: string;
    readonly release?: string;
  };
  readonly plan?: StatusPlan;
  readonly lastLook?: StatusTime;
  readonly lastInSync?: StatusTime;
  readonly lastApplied?: StatusTime;
  /** The time of the next read of the server, as of the last write of the status. */
  readonly nextRead?: string;
  /** The last writes, the latest first. */
  readonly history?: readonly AppliedPlan[];
}

/** One write of the server. */
export interface AppliedPlan {
  readonly time: string;
  /** The generation of the object that was written. */
  readonly generation?: number;
  /** The digest of the plan, as approvals name it. */
  readonly digest: string;
  /** The result, as an outcome names it. */
  readonly result: string;
  readonly changes: number;
  /** The SettingsApproval that covered it, or spec.approval; absent if none was needed. */
  readonly approval?: string;
  /** The person whom that SettingsApproval names. */
  readonly approver?: string;
}

/** Writes that a status lists. */
const MOST_APPLIED = 10;

interface StatusCondition {
  readonly type: ConditionType;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionTime: string;
  readonly observedGeneration: number;
}

export type ConditionType =
  | 'Drifted'
  | 'Ready'
  | 'Reconciling'
  | 'Stalled'
  | 'Suspended'
  | 'Verified';

interface StatusTime {
  readonly time: string;
  readonly digest?: string;
}

/** The reasons of an object that will be read soon, and of one that is due and waits for other reads. */
const PROGRESSING = 'Progressing';
export const WAITING = 'WaitsForTurn';

const LONGEST_MESSAGE = 1_000;

/** The known state of an object. `state` is that of the environment; null if it is not watched. Everything in it is masked. */
export interface TargetState {
  readonly object: TargetResource;
  readonly state: WatchState | null;
  /** True if this process has read the server, and does not only remember an earlier read. */
  readonly isRead: boolean;
  /** The reason why the object is not valid or not allowed, in a sentence or two; null if it is valid. */
  readonly invalid: { readonly reason: string; readonly message: string } | null;
  /** The reason why it is not watched yet; null if it is. */
  readonly waiting: Waiting | null;
  /** The request for a look that was answered last; null if none was. */
  readonly handled: string | null;
  /** The reason why no heal is made now, in a few words; null if one is made, or is not due. */
  readonly notHealed: string | null;
  /** The writes of this process, the latest first. */
  readonly applied: readonly AppliedPlan[];
  /** Other objects that name its server, if something else writes what it heals. */
  readonly rivals: readonly string[];
}

type ConditionContent = Pick<StatusCondition, 'message' | 'reason' | 'status' | 'type'> & {
  /** The end of the message that names what the object waits for, which changes with each read of others. */
  readonly wait?: string;
};

/** The status of an object. `now` is ISO 8601: conditions that are as before keep the time of their last transition. */
export function computeTargetStatus(known: TargetState, now: string): TargetStatus {
  const { object, state, handled } = known;
  const before = (object.status ?? {}) as unknown as Partial<TargetStatus>;
  const why = whySuspended(object, state);
  const isSuspended = why !== null;
  const said = isSuspended ? createSuspendedConditions(before, why) : computeConditions(known);
  const generation = parseGeneration(object);
  const conditions = said.map(({ wait = '', ...one }): StatusCondition => {
    const last = before.conditions?.find(({ type }) => type === one.type);
    const lastTransitionTime = last?.status === one.status ? last.lastTransitionTime : now;
    const start = one.message.slice(0, one.message.length - wait.length);
    const isSame =
      wait !== '' &&
      last?.reason === one.reason &&
      last.message.startsWith(start) &&
      last.message !== start;
    const message = isSame ? last.message : one.message;
    return { ...one, message, lastTransitionTime, observedGeneration: generation };
  });
  const isRead = known.invalid !== null || isSuspended || isObserved(known);
  const observedGeneration = isRead ? generation : before.observedGeneration;
  const lastHandled = handled ?? before.lastHandledReconcileAt;
  return {
    ...(observedGeneration === undefined ? {} : { observedGeneration }),
    ...(lastHandled === undefined ? {} : { lastHandledReconcileAt: lastHandled }),
    sync: describeSync(said),
    conditions,
    ...(state === null || isOfAnother(object, state)
      ? preserveShownStatus(before)
      : createObservedStatus(state, before)),
    ...historyAfter(before.history ?? [], known.applied),
  };
}

/** Returns the members that an object showed before it was suspended, or became invalid. */
function preserveShownStatus({
  target,
  plan,
  lastLook,
  lastInSync,
  lastApplied,
}: Partial<TargetStatus>) {
  return omitUndefinedMembers({ target, plan, lastLook, lastInSync, lastApplied });
}

/** What a process without the records of the one before does not know stays as it was. */
function createObservedStatus(
  { origin, dialect, release, plan, digest, lastRead, lastInSync, lastApply, nextRead }: WatchState,
  before: Partial<TargetStatus>,
) {
  const shown = before.target?.origin === origin ? before.target : undefined;
  const planned = plan === null || plan.error !== null ? undefined : statusPlan(plan, digest);
  const at = (time: string | null) => (time === null ? undefined : { time: withoutFraction(time) });
  const look = at(lastRead);
  return omitUndefinedMembers({
    target: omitUndefinedMembers({
      origin: origin ?? undefined,
      dialect: dialect ?? shown?.dialect,
      release: release ?? shown?.release,
    }),
    plan: planned,
    lastLook:
      look === undefined || planned === undefined ? look : { ...look, digest: planned.digest },
    lastInSync: at(lastInSync) ?? before.lastInSync,
    lastApplied: at(lastApply) ?? before.lastApplied,
    nextRead: nextRead === null ? undefined : withoutFraction(nextRead),
  });
}

/** The last writes: those that the status lists, and those that it does not list yet. */
function historyAfter(
  before: readonly AppliedPlan[],
  applied: readonly AppliedPlan[],
): Pick<TargetStatus, 'history'> {
  const keyOf = ({ time, digest }: AppliedPlan): string => `${time} ${digest}`;
  const listed = new Set(before.map(keyOf));
  const history = [...applied.filter((one) => !listed.has(keyOf(one))), ...before];
  return history.length === 0 ? {} : { history: history.slice(0, MOST_APPLIED) };
}

/** Times of the API have seconds. */
export function withoutFraction(time: string): string {
  return time.replace(/\.\d+Z$/, 'Z');
}

function describeSync(said: readonly ConditionContent[]): TargetStatus['sync'] {
  const drifted = said.find(({ type }) => type === 'Drifted')?.status;
  return drifted === 'True' ? 'OutOfSync' : drifted === 'False' ? 'Synced' : 'Unknown';
}

function condition(
  type: ConditionType,
  status: StatusCondition['status'],
  reason: string,
  message: string,
): ConditionContent {
  return { type, status, reason, message: shortenStatusText(visible(message), LONGEST_MESSAGE) };
}

/** Returns why nothing is written if the object is suspended, by its spec or by `setpoint suspend`; null if it is not. */
function whySuspended({ spec }: TargetResource, state: WatchState | null): string | null {
  if (spec['suspend'] === true) return 'spec.suspend is true: nothing is read and written.';
  const by = state?.suspended ?? null;
  return by === null ? null : `Nothing is written: ${suspensionInShort(by)}`;
}

/** Preserves the last reported Ready and Drifted, and reports no work in progress. */
function createSuspendedConditions(
  before: Partial<TargetStatus>,
  message: string,
): readonly ConditionContent[] {
  const stays = (before.conditions ?? []).filter(({ type }) =>
    ['Ready', 'Drifted', 'Verified'].includes(type),
  );
  const ready = condition('Ready', 'Unknown', 'Suspended', message);
  return [
    ...(stays.some(({ type }) => type === 'Ready') ? [] : [ready]),
    ...stays.map(({ type, status, reason, message: said }) =>
      condition(type, status, reason, said),
    ),
    condition('Suspended', 'True', 'Suspended', message),
  ];
}

function computeConditions(known: TargetState): readonly ConditionContent[] {
  const { state, invalid } = known;
  if (invalid !== null) return createInvalidConditions(invalid);
  if (state === null || !isObserved(known)) {
    const { reason, message } = known.waiting ?? NOT_READ;
    return addWait(known, [
      condition('Ready', 'Unknown', reason, message),
      condition('Reconciling', 'True', reason, message),
      unknownDrift(message),
    ]);
  }
  const { plan } = state;
  if (plan?.error !== null && plan?.error !== undefined)
    return addWait(
      known,
      unread(plan.error, known.waiting === null ? '' : ` ${known.waiting.message}`),
    );
  return [...createComparedConditions(known, state), ...createVerifiedConditions(plan)];
}

/** Marks the end of messages about an object that waits for its turn. */
function addWait(
  { waiting }: TargetState,
  conditions: readonly ConditionContent[],
): readonly ConditionContent[] {
  if (waiting?.reason !== WAITING) return conditions;
  return conditions.map((one) => ({ ...one, wait: waiting.message }));
}

/** Reports whether there is no news yet: the status matches the current object, and this process has yet to read the server. */
export function isYetToRead(known: TargetState): boolean {
  const { object, state, invalid, isRead, waiting } = known;
  // A problem that stops all objects is shown, also after a restart. After it all are due at once, and most wait for their turn.
  if (waiting !== null && ![PROGRESSING, WAITING].includes(waiting.reason)) return false;
  const observed = object.status?.['observedGeneration'];
  if (invalid !== null || whySuspended(object, state) !== null) return false;
  return observed === parseGeneration(object) && !(isRead && isObserved(known));
}

/** Reports whether the last read used the current version of the object. */
function isObserved({ object, state }: TargetState): boolean {
  return state !== null && state.found !== 'not-read' && state.commit === versionNow(object);
}

/** Reports whether the known state belongs to an earlier object of the same name. */
function isOfAnother(object: TargetResource, { commit }: WatchState): boolean {
  const of = (version: string): string => version.replace(/^generation-\d+/, '');
  return commit !== null && of(commit) !== of(versionNow(object));
}

function unknownDrift(message: string): ConditionContent {
  return condition('Drifted', 'Unknown', 'NotRead', message);
}

/** Returns the conditions of an object that needs a user's action: it does not continue automatically. */
function createStalledConditions(
  reason: string,
  message: string,
  drifted: ConditionContent,
): readonly ConditionContent[] {
  return [
    condition('Ready', 'False', reason, message),
    condition('Stalled', 'True', reason, message),
    drifted,
  ];
}

const NOT_READ: Waiting = {
  reason: PROGRESSING,
  message: `${STATE_WORDS['not-read']} since the object changed.`,
};

function createInvalidConditions({
  reason,
  message,
}: NonNullable<TargetState['invalid']>): readonly ConditionContent[] {
  return createStalledConditions(reason, message, unknownDrift(message));
}

/** Reasons with an event of their own in the journal, or of objects that recover automatically. */
const USUAL: ReadonlySet<string> = new Set([
  PROGRESSING,
  'ProgressingWithRetry',
  'Applying',
  'Refused',
  'Stopped',
]);

/** Returns why an object does not continue automatically, if its status shows that for the first time; null if it does not. */
export function newReason(
  before: Partial<TargetStatus>,
  now: TargetStatus,
): { readonly reason: string; readonly message: string } | null {
  const [found] = listUnusualConditions(now);
  const [known] = listUnusualConditions(before);
  return found === undefined || found.reason === known?.reason ? null : found;
}

function listUnusualConditions({
  conditions = [],
}: Partial<TargetStatus>): readonly StatusCondition[] {
  return conditions.filter(
    ({ type, reason }) => (type === 'Stalled' || type === 'Reconciling') && !USUAL.has(reason),
  );
}

function unread(
  { code, message: problem }: { readonly code: string; readonly message: string },
  waits: string,
) {
  const message = `${STATE_WORDS.error}: ${problem}${waits}`;
  if (!isPassing(code))
    return createInvalidConditions({ reason: findStalledReason({ code }), message });
  return [
    condition('Ready', 'False', 'Unreachable', message),
    condition('Reconciling', 'True', 'ProgressingWithRetry', message),
    unknownDrift(message),
  ];
}

function createVerifiedConditions(plan: EnvironmentPlan | null): readonly ConditionContent[] {
  const unknown = plan?.unknown ?? [];
  if (unknown.length === 0) return [];
  // Missing resources come first: a user has to create them.
  const missing = unknown.filter(({ kind }) => kind === 'missing');
  const first = [...missing, ...unknown.filter((one) => !missing.includes(one))].slice(0, 3);
  const names = first.map(({ path, kind, reason }) =>
    kind === 'missing' ? `${formatPath(path)} (${reason})` : formatPath(path),
  );
  const message = `${formatCount(unknown.length, 'value')} ${STATE_WORDS.unknown}: ${namesListed(names)}.`;
  return [condition('Verified', 'False', 'NotComparable', message)];
}

function createComparedConditions(
  { object, notHealed, rivals }: TargetState,
  state: WatchState,
): readonly ConditionContent[] {
  const { plan } = state;
  const changes = plan?.changes.length ?? 0;
  if (state.found === 'in-sync' || (state.found === 'unknown' && changes === 0)) {
    const hidden = (plan?.unknown ?? []).filter(({ kind }) => kind === 'stored');
    if (hidden.length > 0) return describeHiddenValues(hidden);
    const message = `${STATE_WORDS['in-sync']}: the server has all that is declared and can be compared.`;
    return [
      condition('Ready', 'True', 'InSync', message),
      condition('Drifted', 'False', 'InSync', message),
    ];
  }
  const summary = `${STATE_WORDS[state.found]}: ${formatCount(changes, 'change')}.`;
  const drifted = condition(
    'Drifted',
    'True',
    state.found === 'pending' ? 'Pending' : 'Differs',
    summary,
  );
  const refusals = plan?.refusals.map(({ message }) => message) ?? [];
  if (object.spec.mode === 'Observe')
    return [condition('Ready', 'True', 'Observed', [summary, ...refusals].join(' ')), drifted];
  if (refusals.length > 0) return createStalledConditions('Refused', refusals.join(' '), drifted);
  if (state.settings.approvals?.covers(approvalDigest(state)) === false)
    return createStalledConditions('NotCovered', NOT_APPROVED, drifted);
  if (state.stopped !== null) {
    const others = rivals.length === 0 ? '' : ` Also of this server: ${namesListed(rivals, 3)}.`;
    return createStalledConditions(
      'Stopped',
      `${shortenStatusText(state.stopped.reason, 600)}${others} ${RESUME}`,
      drifted,
    );
  }
  const { healFailed } = state;
  if (healFailed !== null && (healFailed.isRefused || isStanding(healFailed)))
    return createStalledConditions(findBlockedReason(healFailed), healFailed.message, drifted);
  const message =
    healFailed?.message ?? (notHealed === null ? summary : `${summary} Not written: ${notHealed}.`);
  return [
    condition('Ready', 'False', 'Applying', message),
    condition(
      'Reconciling',
      'True',
      healFailed === null ? 'Applying' : 'ProgressingWithRetry',
      message,
    ),
    drifted,
  ];
}

/** Nothing is known to differ, and nothing shows that the secrets do not: a Secret may have been rotated. */
function describeHiddenValues(hidden: EnvironmentPlan['unknown']): readonly ConditionContent[] {
  const names = namesListed(
    hidden.map(({ path }) => formatPath(path)),
    3,
  );
  const message = `All values that can be compared are equal. ${formatCount(hidden.length, 'secret value')} ${STATE_WORDS.unknown}: ${names}. To compare secrets that the controller wrote, give it a key (--state-secret).`;
  return [
    condition('Ready', 'True', 'SecretsNotCompared', message),
    condition('Drifted', 'Unknown', 'SecretsNotCompared', message),
  ];
}

const NOT_APPROVED =
  'The plan is not approved: a SettingsApproval has to name the digest of status.plan, or spec.approval.planDigest where policies allow that.';
const RESUME = 'A change of the object lets it be healed again.';

/** Returns why writes do not continue automatically: the object or its Secrets must change, or the server that refuses the write. */
function findBlockedReason({ code, isRefused }: HealFailures): string {
  return !isRefused && ERRORS[code as ErrorCode].exit === 3 ? 'Invalid' : 'Refused';
}
