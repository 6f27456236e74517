import { asSetpointError, type SetpointError } from '../../model/error.ts';
import type { WriteAnswer } from '../../model/ports.ts';
import { declaredSandboxes, type DesiredSandboxes } from '../../desired/blocks/sandboxes.ts';
import type { ReconcileInput } from '../../reconcile/contract.ts';
import { inParallel, interruption, unlessAbandoned, retryPause } from '../../reconcile/work.ts';
import { planSandboxes, type SandboxPlan, type SandboxStep, type Started } from './plan.ts';
import { SANDBOX_READER, sandboxWriter, type ObservedSandboxes, type StartAnswer } from './wire.ts';

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
  /** What the last observation showed; null until the sandbox is listed. */
  readonly status: string | null;
  /** Whether it has been in another state than PAUSED: a resume that goes back to PAUSED was undone by the service. */
  readonly wasUp: boolean;
  /** When an observation first showed it STARTING, by the monotonic clock; absent if the last one showed another state. */
  readonly startingSince?: number;
  readonly error: SetpointError | null;
}

/** What an apply did about the sandboxes, and what it observed. */
export interface SandboxRun {
  readonly desired: readonly DesiredSandboxes[];
  readonly approved: SandboxPlan;
  /** The observation right before the first request. */
  readonly before: ObservedSandboxes;
  /** The approved steps that were still needed. */
  readonly steps: readonly RunStep[];
  /** The last observation; null if every one failed. */
  readonly last: Pick<ObservedSandboxes, 'sandboxes' | 'at'> | null;
  /** Why there was no later observation. */
  readonly error: SetpointError | null;
  /** Whether the end of the steps was waited for. */
  readonly waited: boolean;
}

export function wasSent({ state }: RunStep): boolean {
  return state !== 'not-sent' && state !== 'turned-away';
}

/** Sent, and its end not observed yet. */
export function isUnderWay({ state }: RunStep): boolean {
  return state === 'lost' || state === 'running';
}

/** What was started, if it has an id, and for which item. */
export function startedIn(steps: readonly RunStep[]): Started {
  return new Map(
    steps.flatMap(({ id, step }): [string, DesiredSandboxes][] =>
      step.action === 'start' && id !== null ? [[id, step.item]] : [],
    ),
  );
}

/** The specs that items name: what reads another spec counts for the item without one. */
export function namedSpecs(desired: readonly DesiredSandboxes[]): ReadonlySet<string> {
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
  let sent = await sendAll(input, steps);
  for (let round = 1; round < ROUNDS; round += 1) {
    const turnedAway = sent.filter(({ state }) => state === 'turned-away');
    const [first] = turnedAway;
    if (first === undefined || interruption(input.signal) !== null) return sent;
    if (first.error !== null) await input.clock.sleep(retryPause(first.error), input.signal);
    const now = await neededAgain(input, before, sent, turnedAway);
    if (now === null || interruption(input.signal) !== null) return sent;
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
      ...(await sendAll(input, now.needed)),
    ];
  }
  return sent;
}

/** One request. A step about a sandbox that is there has its id; a start has none. */
export function sendOnce(
  { writer }: ReconcileInput,
  { action, sandbox, item }: SandboxStep,
): Promise<StartAnswer | WriteAnswer> {
  const actuator = writer(sandboxWriter);
  if (sandbox === null) return actuator.start(item.kind === 'counted' ? item.spec : null);
  return action === 'pause' ? actuator.pause(sandbox) : actuator.resume(sandbox);
}

async function sendAll(
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
  const stopped = interruption(input.signal);
  if (stopped !== null) return { ...begun, state: 'not-sent', error: stopped };
  const answer = await sendOnce(input, step);
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
async function neededAgain(
  input: ReconcileInput,
  { sandboxes, specs, busy }: ObservedSandboxes,
  sent: readonly RunStep[],
  turnedAway: readonly RunStep[],
): Promise<{ readonly needed: readonly SandboxStep[]; readonly hasNew: boolean } | null> {
  try {
    const observing = input.reader(SANDBOX_READER).sandboxes(input.signal);
    const now = await unlessAbandoned(observing, input.abandon);
    const later = planSandboxes(
      declaredSandboxes(input.desired),
      { ...now, specs, busy },
      startedIn(sent),
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
