import { asSetpointError, type ErrorCode, type SetpointError } from '../../model/error.ts';
import type { ReconcileInput, Waited } from '../../reconcile/contract.ts';
import { interruption, unlessAbandoned, FIRST_PAUSE, nextPause } from '../../reconcile/work.ts';
import { isUnderWay, namedSpecs, sendOnce, wasSent, type RunStep, type SandboxRun } from './run.ts';
import { SANDBOX_READER, type Sandbox } from './wire.ts';

/** What one observation may take at least, in milliseconds, however little time is left. */
const SHORTEST_OBSERVATION = 10_000;
/** How long a sandbox is waited for whose start lost its answer, in milliseconds. It is never requested again. */
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
      const signal = interruption(input.signal) === null ? input.signal : undefined;
      const within = Math.max(SHORTEST_OBSERVATION, wait - (clock.monotonic() - startedAt));
      const last = await unlessAbandoned(observer.sandboxes(signal, within), input.abandon);
      const now = clock.monotonic();
      const observed = adopt(run, last.sandboxes).map((one) =>
        afterObserving(one, last.sandboxes, now),
      );
      const steps = await Promise.all(observed.map((one) => sendAgain(input, one)));
      run = { ...run, steps, last };
      input.progress(steps.filter(wasSent).map(progressOf));
    } catch (thrown) {
      error = asSetpointError(thrown);
      if (input.abandon?.aborted === true) throw error;
      if (!PASSING.has(error.code)) return { ...run, error };
    }
    const passed = clock.monotonic() - startedAt;
    const waits = run.steps.some((one) => isUnderWay(one) && isWaitedFor(one, wait, passed));
    const isOver = error === null ? !waits : passed >= wait;
    if (isOver || interruption(input.signal) !== null) return { ...run, error };
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
  const named = namedSpecs(desired);
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

/** What an observation shows of a step. One that has settled or was given up stays so. */
function afterObserving(one: RunStep, sandboxes: readonly Sandbox[], now: number): RunStep {
  if (!wasSent(one)) return one;
  const status = sandboxes.find(({ id }) => id === one.id)?.status ?? null;
  const observed = { ...one, status };
  if (!isUnderWay(one)) return observed;
  return one.step.action === 'pause' ? pausing(observed) : starting(observed, now);
}

/**
 * How long, in milliseconds, a sandbox reads STARTING before it counts as up: one backend never reads RUNNING, and a service
 * gives up a start by itself after this time. Source: behaviour 3.2.
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
  if (hasBegun || interruption(input.signal) !== null) return one;
  const answer = await sendOnce(input, step);
  return { ...one, state: 'running', error: 'error' in answer ? answer.error : null };
}

function progressOf(one: RunStep): Waited {
  const { action, item } = one.step;
  const spec = item.kind === 'counted' ? item.spec : null;
  return { action, id: one.id, spec, status: one.status, done: !isUnderWay(one) };
}
