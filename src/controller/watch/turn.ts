import {
  asSetpointError,
  errorReport,
  SetpointError,
  type ErrorReport,
} from '../../reconciler/model/error.ts';
import type { EnvironmentOutcome } from '../../reconciler/model/outcome.ts';
import { formatPath } from '../../reconciler/model/path.ts';
import type { EnvironmentPlan, PlanDocument } from '../../reconciler/model/plan.ts';
import type { Clock } from '../../reconciler/model/ports.ts';
import type { AgreementWith } from '../../reconciler/model/agreement.ts';
import { selectFound, toWatchStatus } from '../../reconciler/model/verdict.ts';
import type { Moment, WatchState } from '../../reconciler/model/watch.ts';
import type { Target } from '../../reconciler/desired/target.ts';
import {
  applyLoaded,
  planLoaded,
  serverKeyDigest,
  type LoadedPlan,
  type SessionRequest,
  type SessionSharing,
} from '../../reconciler/operations/session.ts';
import type { Agreements } from './agreements.ts';
import type { EnvironmentRecords } from './environment-records.ts';
import { computeFoundDigest } from './environment-state.ts';
import { formatChangeKey, type ConfirmationLevel } from './confirmation.ts';
import {
  isDrift,
  maySettle,
  isRefusedTooOften,
  storesOther,
  whyStopHealing,
  type StopReason,
} from './heal-limits.ts';
import { isHealable, isStanding, findProtectedItem, whyMustNotHeal } from './healing.ts';
import type { Lock } from './locks/locks.ts';
import type { Rollouts } from './rollout.ts';
import { isPassing } from './schedule.ts';
import { limitStoredPlan } from './stored-plan.ts';

/** The tools for reading and healing an environment. */
export interface TurnTools {
  readonly request: SessionRequest;
  readonly networks: SessionSharing['networks'];
  /** The values that are masked in all stored or displayed texts. */
  readonly values: () => SessionSharing['values'];
  readonly agreements: Agreements;
  readonly clock: Clock;
  readonly rollouts: Rollouts;
  /** The time of now. */
  readonly moment: () => Moment;
  /** The folder that paths of the files of an environment begin with, if that is another one for each commit; else empty. */
  readonly rootOf: (target: Target) => string;
  /** Characters that the values of the stored plan of an environment may have. */
  readonly planRoom: (name: string) => number;
  /** The plan that healing must not go beyond. */
  readonly approved: PlanDocument | undefined;
  /** Aborts when the controller stops: a write in flight is finished. */
  readonly signal: AbortSignal;
  /** Aborts when the controller must not even wait for a write in flight. */
  readonly abandon: AbortSignal;
  /** Checks again whether an environment is suspended. Throws if the file of suspensions cannot be read. */
  readonly lookAgain: (records: EnvironmentRecords) => Promise<void>;
}

/** An environment as the files declare it, and where they and the service were the same when they last were. */
export interface DeclaredEnvironment {
  readonly target: Target;
  readonly agreement: AgreementWith | null;
  readonly commit: string | null;
}

/** The additional tools of a write: the state and its records, the lock, and whether the environment is still watched. */
export interface WriteTools extends TurnTools {
  readonly lock: Lock;
  readonly records: EnvironmentRecords;
  readonly isGone: () => boolean;
}

/**
 * Reads the current state of an environment. Errors are in the plan. Where a plan is approved, nothing beyond it is written: it names what
 * is removed, and guards do not refuse that here.
 */
export async function readEnvironment(
  { target, agreement }: DeclaredEnvironment,
  { request, networks, values, agreements, approved, signal, rootOf }: TurnTools,
  cheaply: Partial<Pick<SessionRequest, 'timeout' | 'tries'>> = {},
): Promise<LoadedPlan> {
  const { allow = [] } = request;
  const lifted = approved === undefined ? allow : [...allow, 'remove-others'];
  const loaded = await planLoaded(
    target,
    { ...request, ...cheaply, allow: lifted, digests: false, signal },
    { networks, values: values(), agreement, digests: agreements.digestsAfter(agreement) },
  );
  return { ...loaded, plan: withoutRoot(loaded.plan, rootOf(target)) };
}

/** A plan that names files as they are below a folder, in its messages also. */
function withoutRoot(plan: EnvironmentPlan, root: string): EnvironmentPlan {
  if (root === '') return plan;
  const shorten = (text: string): string => text.replaceAll(root, '');
  const changes = plan.changes.map((change) =>
    change.source?.file.startsWith(root) === true
      ? { ...change, source: { ...change.source, file: change.source.file.slice(root.length) } }
      : change,
  );
  const warnings = plan.warnings.map((one) => ({ ...one, message: shorten(one.message) }));
  const { error } = plan;
  const shortened = error && {
    ...error,
    message: shorten(error.message),
    hint: shorten(error.hint),
  };
  return { ...plan, changes, warnings, error: shortened };
}

/** A digest of what the references of an environment's server come to now; null if they cannot change. */
export function keyDigest(
  target: Target,
  { request, networks, values }: TurnTools,
): Promise<string | null> {
  return serverKeyDigest(target, request, { networks, values: values() });
}

/** The longest time for the answer to a check, in milliseconds. The next read sees a slower service. */
const CHECK = 5_000;

/** Reports whether a service that was down answers again, by one short request as long as it does not. */
export async function isBack(declared: DeclaredEnvironment, tools: TurnTools): Promise<boolean> {
  const timeout = Math.min(CHECK, tools.request.timeout ?? CHECK);
  const { plan } = await readEnvironment(declared, tools, { timeout, tries: 1 });
  return plan.error === null || !isPassing(plan.error.code);
}

/** The reason why something was not done. */
export type Obstacle = Pick<ErrorReport, 'code' | 'message'>;

/** The result of an attempt to heal. `again`: the environment should be read again soon. */
export type HealResult =
  | { readonly kind: 'not-healed'; readonly again: boolean; readonly problem: Obstacle | null }
  | { readonly kind: 'written'; readonly outcome: EnvironmentOutcome };

/** Heals what the last read found, if healing is allowed now. */
export async function heal(
  declared: DeclaredEnvironment,
  confirmed: ConfirmationLevel,
  tools: WriteTools,
): Promise<HealResult> {
  const { clock, records } = tools;
  const { state } = records;
  const not = whyMustNotHeal(state, confirmed, clock.now());
  if (not !== null) return { kind: 'not-healed', again: not.again, problem: null };
  const now = clock.now();
  if (storesOther(state) !== null && maySettle(state, now))
    return { kind: 'not-healed', again: false, problem: null };
  const stop = whyStopHealing(state, now);
  if (stop !== null) {
    await stopHealing(stop, tools);
    return { kind: 'not-healed', again: false, problem: null };
  }
  if (isRefusedTooOften(state, now)) return { kind: 'not-healed', again: false, problem: null };
  const waits = tools.rollouts.begin(state);
  if (waits?.words !== state.waits?.words) records.know({ kind: 'set', waits });
  if (waits !== null) return { kind: 'not-healed', again: false, problem: null };
  const stillMay = (): boolean => whyMustNotHeal(records.state, confirmed, clock.now()) === null;
  try {
    const mayApply = (plan: EnvironmentPlan): boolean => isCovered(plan, state, confirmed);
    const outcome = await writeDeclared(declared, mayApply, {
      ...tools,
      stillMay,
      actor: state.settings.approvals === undefined ? null : 'an approval',
    });
    if (outcome.error === null || outcome.requests.post > 0) return { kind: 'written', outcome };
    return recordFailedWrite(outcome.error, tools);
  } catch (thrown) {
    // Before anything was planned: a reference has no value, or an approved plan does not fit.
    return recordFailedWrite(errorReport(asSetpointError(thrown)), tools);
  } finally {
    tools.rollouts.end(records.state);
  }
}

/** Stops healing if the server shows other values right after a write than were sent. */
export async function stopIfStoredOtherwise(tools: WriteTools): Promise<void> {
  const { state } = tools.records;
  const stop = storesOther(state);
  if (stop !== null && !maySettle(state, tools.clock.now())) await stopHealing(stop, tools);
}

async function stopHealing(stop: StopReason, { clock, records }: WriteTools): Promise<void> {
  const { name } = records.state;
  await records.now({ kind: 'healing-stopped', environment: name, ...stop }, clock.now());
}

/**
 * Reports whether a plan right before a heal still matches the decision: the values may have moved, other paths not, unless something else
 * differed in each read. An approved plan must be the same to the value.
 */
function isCovered(
  plan: EnvironmentPlan,
  { digest, settings, plan: decided }: WatchState,
  confirmed: ConfirmationLevel,
): boolean {
  if (computeFoundDigest(plan, settings.strict) === digest) return true;
  const status = toWatchStatus(plan, settings.strict);
  if (settings.approvals !== undefined || !isHealable(status)) return false;
  if (findProtectedItem({ settings, plan, found: status }) !== null) return false;
  const known = new Set(decided?.changes.map(formatChangeKey));
  const found = selectFound(plan.changes);
  return confirmed === 'difference' || found.every((change) => known.has(formatChangeKey(change)));
}

function recordFailedWrite(error: ErrorReport, { clock, records }: WriteTools): HealResult {
  if (isStanding(error)) records.know({ kind: 'not-written', at: clock.now(), error });
  // Another client wrote or changed the service in between: read it first.
  const isOther = error.code === 'declined' || error.code === 'contended';
  return {
    kind: 'not-healed',
    again: isOther,
    problem: isOther || error.code === 'interrupted' ? null : error,
  };
}

/**
 * Applies what the file declares, if the plan right before the write may be applied. Right before each request that writes, it checks that
 * the environment may still be written and that the lock is still held. The journal gets a record before the write and one of how it ended.
 * Throws if the first record cannot be written; then nothing was sent.
 */
export async function writeDeclared(
  declared: DeclaredEnvironment,
  mayApply: (plan: EnvironmentPlan) => boolean,
  tools: WriteTools & { readonly stillMay: () => boolean; readonly actor: string | null },
): Promise<EnvironmentOutcome> {
  const { commit, agreement } = declared;
  const { request, networks, values, agreements, clock, approved, lock, records } = tools;
  const gate = new WriteGate(commit, tools);
  const outcome = await applyLoaded(
    declared.target,
    {
      ...request,
      approved,
      onPlan: async (plan) => {
        gate.planned = plan;
      },
      confirm: async () => gate.planned !== null && mayApply(gate.planned),
      beforeWrite: () => gate.check(),
      signal: AbortSignal.any([tools.signal, lock.lost]),
      abandon: AbortSignal.any([tools.abandon, lock.lost]),
    },
    { networks, values: values(), agreement, digests: agreements.digestsAfter(agreement) },
  );
  if (gate.isRecorded) {
    records.add(
      {
        kind: 'write',
        environment: records.state.name,
        by: 'watch',
        commit,
        actor: tools.actor,
        url: null,
        outcome: limitStoredPlan(outcome, tools.planRoom(records.state.name)),
      },
      clock.now(),
    );
    await records.flush();
  }
  if (gate.problem !== null) throw gate.problem;
  return outcome;
}

/** Asked right before each request that writes: it may be sent if the environment may still be written. The first one is recorded. */
class WriteGate {
  readonly #commit: string | null;
  readonly #tools: WriteTools & { readonly stillMay: () => boolean };
  planned: EnvironmentPlan | null = null;
  isRecorded = false;
  /** The reason why the record could not be written. */
  problem: SetpointError | null = null;

  constructor(commit: string | null, tools: WriteTools & { readonly stillMay: () => boolean }) {
    this.#commit = commit;
    this.#tools = tools;
  }

  async check(): Promise<SetpointError | null> {
    const { abandon, lock } = this.#tools;
    try {
      const refusal = this.isRecorded ? null : await this.#record();
      if (refusal !== null) return refusal;
    } catch (thrown) {
      this.problem = asSetpointError(thrown);
      return this.problem;
    }
    if (abandon.aborted) return new SetpointError('interrupted', 'Stopped before the write.');
    return (await lock.stillHeld()) ? null : createLostLockError(lock);
  }

  async #record(): Promise<SetpointError | null> {
    const tools = this.#tools;
    const { records, lock } = tools;
    const { name } = records.state;
    await tools.lookAgain(records);
    if (records.state.suspended !== null || tools.isGone() || !tools.stillMay())
      return new SetpointError('declined', `${name} can no longer be written.`);
    if (!(await lock.stillHeld())) return createLostLockError(lock);
    const changes = this.planned?.changes ?? [];
    const paths = changes.map(({ path }) => formatPath(path));
    const drifted = changes.filter(isDrift).map(({ path }) => formatPath(path));
    const { at, up } = tools.moment();
    const { edit } = records.state;
    const commit = this.#commit;
    const what = { paths, drifted, ...(edit === null ? {} : { edited: edit }), commit };
    await records.now({ kind: 'writing', environment: name, up, ...what }, Date.parse(at));
    this.isRecorded = true;
    return null;
  }
}

function createLostLockError({ name, lost }: Lock): SetpointError {
  if (lost.aborted) return asSetpointError(lost.reason);
  return new SetpointError('lock-lost', `The lock of ${name} was given up.`);
}
