import { asSetpointError, type SetpointError, type ErrorCode } from '../../model/error.ts';
import type { WriteAnswer } from '../../model/ports.ts';
import { listDeclaredSandboxes, type DesiredSandboxes } from '../../desired/blocks/sandboxes.ts';
import type { SandboxProgress } from '../../model/progress.ts';
import type { ReconcileInput } from '../../reconcile/contract.ts';
import { inParallel } from '../../reconcile/in-order.ts';
import { findInterruption, unlessAbandoned } from '../../reconcile/interruption.ts';
import { retryPause, FIRST_PAUSE, nextPause } from '../../reconcile/pause.ts';
import {
  planSandboxes,
  type SandboxPlan,
  type SandboxStep,
  type StartedSandboxes,
} from './plan-sandboxes.ts';
import {
  SANDBOX_READER,
  sandboxWriter,
  type ObservedSandboxes,
  type StartAnswer,
  type Sandbox,
} from './wire.ts';

/**
 * One step of the approved plan, from sending to conclusion.
 *
 * - `not-sent`: it was not sent, or surely had no effect; `error` is why, null if it was not needed any more.
 * - `turned-away`: the same, and the service may take it later.
 * - `lost`: sent, but its answer was lost: it may have begun.
 * - `running`: the service reported that it began.
 * - `settled`: an observation showed it done.
 * - `given-up`: no later observation will: the service paused what was to run, or ignored the pause of what had not booted.
 */
export interface RunStep {
  readonly step: SandboxStep;
  readonly state: 'not-sent' | 'turned-away' | 'lost' | 'running' | 'settled' | 'given-up';
  /** Null until the service has named what a start began. */
  readonly id: string | null;
  /** The status of the last observation; null until the sandbox is listed. */
  readonly status: string | null;
  /** True if it was in a state other than PAUSED. The service undid a resume that returns to PAUSED. */
  readonly wasUp: boolean;
  /** The time at which an observation first showed it STARTING, by the monotonic clock; absent if the last one showed another state. */
  readonly startingSince?: number;
  readonly error: SetpointError | null;
}

/** The actions of an apply on the sandboxes, and its observations. */
export interface SandboxRun {
  readonly desired: readonly DesiredSandboxes[];
  readonly approved: SandboxPlan;
  /** The observation right before the first request. */
  readonly before: ObservedSandboxes;
  /** The approved steps that were still needed. */
  readonly steps: readonly RunStep[];
  /** The last observation; null if every one failed. */
  readonly last: Pick<ObservedSandboxes, 'sandboxes' | 'at'> | null;
  /** The reason that there was no later observation. */
  readonly error: SetpointError | null;
  /** True if the run waited for the end of the steps. */
  readonly waited: boolean;
}

export function wasSent({ state }: RunStep): boolean {
  return state !== 'not-sent' && state !== 'turned-away';
}

/** Sent, and its end not observed yet. */
export function isActionPending({ state }: RunStep): boolean {
  return state === 'lost' || state === 'running';
}

/** Lists the started sandboxes that have an id, with their items. */
export function listStartedSandboxes(steps: readonly RunStep[]): StartedSandboxes {
  return new Map(
    steps.flatMap(({ id, step }): [string, DesiredSandboxes][] =>
      step.action === 'start' && id !== null ? [[id, step.item]] : [],
    ),
  );
}

/** The specs that items name: what reads another spec counts for the item without one. */
export function collectNamedSpecs(desired: readonly DesiredSandboxes[]): ReadonlySet<string> {
  return new Set(desired.flatMap((item) => (item.kind === 'counted' ? (item.spec ?? []) : [])));
}

/**
 * The steps that a later plan still contains. A resume or a pause is matched by its sandbox; the starts of an item are
 * counted, and those in `lost` have been requested already.
 */
export function stillNeeded(
  steps: readonly SandboxStep[],
  later: SandboxPlan,
  lost: readonly SandboxStep[] = [],
): readonly SandboxStep[] {
  const startsLeft = new Map<DesiredSandboxes, number>();
  for (const { action, item } of later.steps)
    if (action === 'start') startsLeft.set(item, (startsLeft.get(item) ?? 0) + 1);
  for (const { item } of lost) startsLeft.set(item, (startsLeft.get(item) ?? 0) - 1);
  return steps.filter(({ action, item, sandbox }) => {
    if (action !== 'start')
      return later.steps.some((other) => other.action === action && other.sandbox === sandbox);
    const left = startsLeft.get(item) ?? 0;
    startsLeft.set(item, left - 1);
    return left > 0;
  });
}

const ROUNDS = 3;
const PARALLEL_REQUESTS = 4;

/**
 * Sends every step once: pauses first, which make room, then the others. What the service turned away is sent again only if
 * another observation still shows the need, and no more often than that. After a request to stop nothing more is sent.
 */
export async function sendSteps(
  input: ReconcileInput,
  steps: readonly SandboxStep[],
  before: ObservedSandboxes,
): Promise<readonly RunStep[]> {
  let sent = await sendSandboxSteps(input, steps);
  for (let round = 1; round < ROUNDS; round += 1) {
    const turnedAway = sent.filter(({ state }) => state === 'turned-away');
    const [first] = turnedAway;
    if (first === undefined || findInterruption(input.signal) !== null) return sent;
    if (first.error !== null) await input.clock.sleep(retryPause(first.error), input.signal);
    const now = await filterStillNeeded(input, before, sent, turnedAway);
    if (now === null || findInterruption(input.signal) !== null) return sent;
    const others = sent.filter((one) => !turnedAway.includes(one));
    const dropped = turnedAway.filter(({ step }) => !now.needed.includes(step));
    // It may not be needed any more because it took effect after all: the observations that follow show it.
    const state = now.hasNew ? 'lost' : 'not-sent';
    sent = [
      ...others,
      ...dropped.map((one): RunStep => ({
        ...one,
        state: one.id === null ? state : 'lost',
        error: null,
      })),
      ...(await sendSandboxSteps(input, now.needed)),
    ];
  }
  return sent;
}

/** One request. A step about a sandbox that is there has its id; a start has none. */
function sendStepRequest(
  { writer }: ReconcileInput,
  { action, sandbox, item }: SandboxStep,
): Promise<StartAnswer | WriteAnswer> {
  const actuator = writer(sandboxWriter);
  if (sandbox === null) return actuator.start(item.kind === 'counted' ? item.spec : null);
  return action === 'pause' ? actuator.pause(sandbox) : actuator.resume(sandbox);
}

async function sendSandboxSteps(
  input: ReconcileInput,
  steps: readonly SandboxStep[],
): Promise<readonly RunStep[]> {
  const send = (step: SandboxStep): Promise<RunStep> => sendStep(input, step);
  const pauses = steps.filter(({ action }) => action === 'pause');
  const others = steps.filter(({ action }) => action !== 'pause');
  return [
    ...(await inParallel(pauses, PARALLEL_REQUESTS, send)),
    ...(await inParallel(others, PARALLEL_REQUESTS, send)),
  ];
}

async function sendStep(input: ReconcileInput, step: SandboxStep): Promise<RunStep> {
  const begun: RunStep = {
    step,
    state: 'running',
    id: step.sandbox,
    status: null,
    wasUp: false,
    error: null,
  };
  const stopped = findInterruption(input.signal);
  if (stopped !== null) return { ...begun, state: 'not-sent', error: stopped };
  const answer = await sendStepRequest(input, step);
  switch (answer.kind) {
    case 'started':
      return { ...begun, id: answer.id };
    case 'stored':
      return begun;
    case 'ambiguous':
      return { ...begun, state: 'lost', error: answer.error };
    case 'not-applied':
      return { ...begun, state: answer.retry ? 'turned-away' : 'not-sent', error: answer.error };
  }
}

/**
 * Which of the steps that were turned away another observation still shows the need for, and whether it shows a sandbox that
 * no answer named; null if it failed. A lost start may be what it shows, or may show later: it counts as one more.
 */
async function filterStillNeeded(
  input: ReconcileInput,
  { sandboxes, specs, busy }: ObservedSandboxes,
  sent: readonly RunStep[],
  turnedAway: readonly RunStep[],
): Promise<{ readonly needed: readonly SandboxStep[]; readonly hasNew: boolean } | null> {
  try {
    const observing = input.reader(SANDBOX_READER).sandboxes(input.signal);
    const now = await unlessAbandoned(observing, input.abandon);
    const later = planSandboxes(
      listDeclaredSandboxes(input.desired),
      { ...now, specs, busy },
      listStartedSandboxes(sent),
    );
    const lost = sent.filter(({ state, id }) => state === 'lost' && id === null);
    const known = new Set([...sandboxes, ...sent].map(({ id }) => id));
    return {
      needed: stillNeeded(
        turnedAway.map(({ step }) => step),
        later,
        lost.map(({ step }) => step),
      ),
      hasNew: now.sandboxes.some(({ id }) => !known.has(id)),
    };
  } catch (thrown) {
    if (input.abandon?.aborted === true) throw asSetpointError(thrown);
    return null;
  }
}

/** The minimum time of one observation, in milliseconds, however little time is left. */
const SHORTEST_OBSERVATION = 10_000;
/** The wait for a sandbox whose start lost its answer, in milliseconds. It is never requested again. */
const ADOPTED_WITHIN = 30_000;

/**
 * Observes until every step that was sent has settled, the time is up or a stop is requested, with pauses that grow from 0.5 s
 * to 5 s; without waiting, once. An observation that fails for a passing reason is repeated while there is time.
 */
export async function followSteps(input: ReconcileInput, begun: SandboxRun): Promise<SandboxRun> {
  const { clock, wait } = input;
  const observer = input.reader(SANDBOX_READER);
  const startedAt = clock.monotonic();
  let run = begun;
  for (let pause = FIRST_PAUSE; ; pause = nextPause(pause)) {
    let error: SetpointError | null = null;
    try {
      // An observation under way when a stop is requested is given up; one that begins after it is the last.
      const signal = findInterruption(input.signal) === null ? input.signal : undefined;
      const within = Math.max(SHORTEST_OBSERVATION, wait - (clock.monotonic() - startedAt));
      const last = await unlessAbandoned(observer.sandboxes(signal, within), input.abandon);
      const now = clock.monotonic();
      const observed = adopt(run, last.sandboxes).map((one) =>
        afterObserving(one, last.sandboxes, now),
      );
      const steps = await Promise.all(observed.map((one) => sendAgain(input, one)));
      run = { ...run, steps, last };
      input.progress(steps.filter(wasSent).map(describeProgress));
    } catch (thrown) {
      error = asSetpointError(thrown);
      if (input.abandon?.aborted === true) throw error;
      if (!PASSING.has(error.code)) return { ...run, error };
    }
    const passed = clock.monotonic() - startedAt;
    const waits = run.steps.some((one) => isActionPending(one) && isWaitedFor(one, wait, passed));
    const isOver = error === null ? !waits : passed >= wait;
    if (isOver || findInterruption(input.signal) !== null) return { ...run, error };
    await clock.sleep(Math.min(pause, Math.max(FIRST_PAUSE, wait - passed)), input.signal);
  }
}

/** Errors that may not come back with the next observation. */
const PASSING: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'unreachable',
  'timed-out',
  'server-error',
  'rate-limited',
  'bad-response',
  'contended',
]);

/** A start that nothing shows is waited for a while, whether sandboxes are waited for or not. */
function isWaitedFor({ id }: RunStep, wait: number, passed: number): boolean {
  return passed < (id === null ? ADOPTED_WITHIN : wait);
}

/**
 * Gives the starts whose answer was lost the sandboxes that have appeared since: one of the declared spec first; then one of
 * a spec that no item names, since a service may report another spec than the one it started from.
 */
function adopt({ steps, desired, before }: SandboxRun, sandboxes: readonly Sandbox[]): RunStep[] {
  const known = new Set([...before.sandboxes, ...steps].map(({ id }) => id));
  const appeared = sandboxes.filter(({ id }) => !known.has(id));
  const named = collectNamedSpecs(desired);
  return steps.map((one) => {
    if (one.id !== null || !wasSent(one)) return one;
    const { item } = one.step;
    const declared = item.kind === 'counted' ? item.spec : null;
    const found =
      appeared.find(({ spec }) => spec === declared) ??
      appeared.find(({ spec }) => spec === null || !named.has(spec));
    if (found === undefined) return one;
    appeared.splice(appeared.indexOf(found), 1);
    return { ...one, id: found.id };
  });
}

/** Updates a step from an observation. One that has settled or was given up does not change. */
function afterObserving(one: RunStep, sandboxes: readonly Sandbox[], now: number): RunStep {
  if (!wasSent(one)) return one;
  const status = sandboxes.find(({ id }) => id === one.id)?.status ?? null;
  const observed = { ...one, status };
  if (!isActionPending(one)) return observed;
  return one.step.action === 'pause' ? pausing(observed) : starting(observed, now);
}

/**
 * The time, in milliseconds, that a sandbox reads STARTING before it counts as up: one backend never reads RUNNING, and a service gives up
 * a start after this time. Source: behaviour 3.2.
 */
const STARTING_FOR_GOOD = 120_000;

/**
 * RUNNING settles a start or a resume, as does STARTING for good; ERROR and MISSING may pass, as one backend reads so while it
 * boots. A start never begins as PAUSED, and a resume that is under way does not go back to it.
 */
function starting({ startingSince, ...one }: RunStep, now: number): RunStep {
  const { status, step } = one;
  if (status === 'STARTING') {
    const since = startingSince ?? now;
    const state = now - since >= STARTING_FOR_GOOD ? 'settled' : one.state;
    return { ...one, state, wasUp: true, startingSince: since };
  }
  if (status === 'RUNNING') return { ...one, state: 'settled', wasUp: true };
  if (status === 'PAUSED')
    return one.wasUp || step.action === 'start' ? { ...one, state: 'given-up' } : one;
  return status === null ? one : { ...one, wasUp: true };
}

/** A pause of what has not booted yet is answered with success and has no effect: it reads RUNNING afterwards. */
function pausing(one: RunStep): RunStep {
  const { status, step } = one;
  if (status === 'PAUSED' || status === 'MISSING') return { ...one, state: 'settled' };
  const isIgnored = status === 'RUNNING' && step.change.before !== 'RUNNING';
  return isIgnored ? { ...one, state: 'given-up' } : one;
}

/** Sends a lost resume or pause once more if the observation does not show it: twice does no more than once. */
async function sendAgain(input: ReconcileInput, one: RunStep): Promise<RunStep> {
  const { step, state, status } = one;
  if (state !== 'lost' || step.sandbox === null) return one;
  const hasBegun = step.action === 'resume' && status !== 'PAUSED';
  if (hasBegun || findInterruption(input.signal) !== null) return one;
  const answer = await sendStepRequest(input, step);
  return { ...one, state: 'running', error: 'error' in answer ? answer.error : null };
}

function describeProgress(one: RunStep): SandboxProgress {
  const { action, item } = one.step;
  const spec = item.kind === 'counted' ? item.spec : null;
  return { action, id: one.id, spec, status: one.status, done: !isActionPending(one) };
}
