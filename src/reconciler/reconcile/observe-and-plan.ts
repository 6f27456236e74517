import { SetpointError } from '../model/error.ts';
import type { PartPlan, Change } from '../model/plan.ts';
import type { ObservedState } from '../model/state.ts';
import { planEnvironment, type PlanResult } from '../plan/plan-environment.ts';
import {
  planSettingsPart,
  sameChanges,
  extractSettingsPlan,
  withSettings,
} from '../plan/settings-part.ts';
import type { PlanInput, Reading, ResourceEnd } from './contract.ts';
import type { Result } from '../model/outcome.ts';
import { resolveReferences } from './references.ts';

/**
 * The one way to a plan: plan, drift, apply, a plan against a snapshot and explain all observe and plan here, and differ in
 * what they observe and in what they do with the plan. Sends nothing. Throws a SetpointError if something that the file
 * declares cannot be observed, or this service does not have it.
 */
export async function observeAndPlan<O extends ObservedState | null>(
  input: PlanInput<O>,
): Promise<PlanResult<O>> {
  const observed = await input.settings.observe(input.signal);
  const read: Reading[] = [];
  const lacking: LackingError[] = [];
  for (const resource of input.resources) {
    try {
      const reading = resource.read(input, observed);
      read.push(reading instanceof Promise ? await reading : reading);
    } catch (thrown) {
      if (thrown instanceof LackingError) lacking.push(thrown);
      else throw lackingAll(lacking) ?? thrown;
    }
  }
  const lacked = lackingAll(lacking);
  if (lacked !== null) throw lacked;
  const parts: PartPlan[] = [];
  for (const plan of read) if (plan !== null) parts.push(plan(parts));
  const changes = parts.flatMap((part) => part.changes);
  await resolveReferences(input, observed, changes);
  return proveSafePlan(input, planEnvironment(input, observed, parts));
}

/** States that a service has nothing of a kind that the file declares: the kind, and where it is declared. */
export class LackingError extends SetpointError {
  readonly what: string;

  constructor(what: string, message: string, hint: string) {
    super('unfit-for-service', message, { hint });
    this.what = what;
  }
}

/** One error for all that a service lacks. */
function lackingAll(errors: readonly LackingError[]): SetpointError | null {
  const [first = null, ...others] = errors;
  if (others.length === 0) return first;
  const what = errors.map((one) => one.what).join(', ');
  return new SetpointError(
    'unfit-for-service',
    `This service does not support everything in the file: ${what}.`,
    { hint: errors.map(({ hint }) => hint).join(' ') },
  );
}

/** Plans again with new settings. The other resources are observed again when their turn comes. */
export async function planAgain(
  input: PlanInput,
  { plan, proofs }: PlanResult,
): Promise<PlanResult> {
  const observed = await input.settings.observe(input.signal);
  const again = withSettings(plan, () => planSettingsPart(input, observed));
  const isSame = sameChanges(extractSettingsPlan(plan), extractSettingsPlan(again));
  const planned = planEnvironment(input, observed, again, isSame ? proofs : undefined);
  return isSame ? planned : proveSafePlan(input, planned);
}

/**
 * A plan with what the service tried of it, judged by that as well. What a guard refuses is not tried: a try sends the keys, and
 * starts the programs.
 */
async function proveSafePlan<O extends ObservedState | null>(
  input: PlanInput<O>,
  planned: PlanResult<O>,
): Promise<PlanResult<O>> {
  const { plan, observed, refusals } = planned;
  if (input.prove === undefined || observed === null) return planned;
  const [other] = refusals.filter(({ rule }) => rule !== 'unproven');
  const refused = other === undefined ? null : `an apply would be refused (rule ${other.rule})`;
  const proofs = await input.prove(plan, observed, refused);
  return planEnvironment(input, observed, plan, proofs);
}

/** Works on at most `limit` items at a time; the results are in the order of the items. */
export async function inParallel<T, R>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  await processInOrder(items, limit, work, async (result) => {
    results.push(result);
  });
  return results;
}

/** Results that may wait for an earlier one: enough that a slow item does not hold up the others. */
const WAITING = 1024;

/**
 * Works on at most `limit` items at a time, and hands each result to `take` in the order of the items, one at a time. Results are dropped
 * after that, and items are not begun far ahead of the one whose result is next. Rejects with the first error of `work` or `take`, and
 * begins no item after it.
 */
export async function processInOrder<T, R>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<R>,
  take: (result: R) => Promise<void>,
): Promise<void> {
  // A ring: a map would be created again and again while results come and go.
  const done: ({ readonly result: R } | undefined)[] = [];
  const run = { begun: 0, taken: 0, taking: false, failed: false };
  let waiting: (() => void)[] = [];
  const room = (): Promise<void> => new Promise((resolve) => waiting.push(resolve));
  const wake = (): void => {
    const woken = waiting;
    waiting = [];
    for (const go of woken) go();
  };
  const takeReady = async (): Promise<void> => {
    if (run.taking) return;
    run.taking = true;
    for (let next = done[run.taken % WAITING]; next !== undefined;) {
      done[run.taken % WAITING] = undefined;
      await take(next.result);
      run.taken += 1;
      wake();
      next = run.failed ? undefined : done[run.taken % WAITING];
    }
    run.taking = false;
  };
  const worker = async (): Promise<void> => {
    while (!run.failed && run.begun < items.length) {
      if (run.begun - run.taken >= WAITING) {
        await room();
        continue;
      }
      const index = run.begun;
      run.begun += 1;
      done[index % WAITING] = { result: await work(items[index] as T) };
      await takeReady();
    }
  };
  const guarded = async (): Promise<void> => {
    try {
      await worker();
    } catch (thrown) {
      run.failed = true;
      wake();
      throw thrown;
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, Math.min(limit, items.length)) }, guarded));
}

/** The error of a stop that was requested, or null. The signal's reason distinguishes SIGTERM from SIGINT. */
export function findInterruption(signal: AbortSignal | undefined): SetpointError | null {
  if (signal?.aborted !== true) return null;
  return signal.reason === 'SIGTERM'
    ? new SetpointError('terminated', 'Stopped by SIGTERM.')
    : new SetpointError('interrupted', 'Stopped by SIGINT.');
}

/** The promise, abandoned as soon as the signal fires; the work behind it goes on unobserved. */
export async function unlessAbandoned<T>(
  promise: Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  if (signal === undefined) return promise;
  let giveUp = (): void => {};
  const abandoned = new Promise<never>((_, reject) => {
    giveUp = () =>
      reject(
        new SetpointError(
          'state-unknown',
          'Abandoned while a write was under way: it may or may not have been stored.',
        ),
      );
    if (signal.aborted) giveUp();
    signal.addEventListener('abort', giveUp);
  });
  try {
    return await Promise.race([promise, abandoned]);
  } finally {
    signal.removeEventListener('abort', giveUp);
    promise.catch(() => {});
  }
}

/** The first pause between two observations of something slow, in milliseconds. */
export const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 5000;

export function nextPause(pause: number): number {
  return Math.min(LONGEST_PAUSE, pause * 1.5);
}

/** Returns the wait before a request is repeated, in milliseconds: what the service requested, or half a second. */
export function retryPause(error: SetpointError): number {
  const retryAfter: unknown = 'retryAfter' in error ? error.retryAfter : null;
  return typeof retryAfter === 'number' ? retryAfter : FIRST_PAUSE;
}

/** The end of two resources, the second written after the first. What was written of the first stays written. */
export function joinResourceEnds(
  first: ResourceEnd,
  second: ResourceEnd,
  isStopped: boolean,
): ResourceEnd {
  const { error } = second;
  const isPartial = first.status === 'applied' && second.status === 'failed' && error !== null;
  return {
    status: isPartial ? 'partial' : second.status === 'in-sync' ? first.status : second.status,
    results: new Map([...first.results, ...second.results]),
    started: new Map([...first.started, ...second.started]),
    remaining: [...first.remaining, ...second.remaining],
    unknown: [...first.unknown, ...second.unknown],
    warnings: [...first.warnings, ...second.warnings],
    error: first.error ?? (isPartial && !isStopped ? toPartialError(error) : error),
  };
}

/** The end of a resource for which nothing was sent: there was nothing to do, or one before it failed. */
export function createUnsentEnd(
  changes: readonly Change[],
  warnings: ResourceEnd['warnings'],
): ResourceEnd {
  return {
    status: 'in-sync',
    results: sameResult(changes, 'not-sent'),
    started: new Map(),
    remaining: [],
    unknown: [],
    warnings,
    error: null,
  };
}

/** The error of a run after another part was applied. */
export function toPartialError({ message, hint, cause }: SetpointError): SetpointError {
  return new SetpointError('applied-in-part', `Not everything was applied. ${message}`, {
    hint,
    cause,
  });
}

export function sameResult(
  changes: readonly Change[],
  result: Result,
): ReadonlyMap<Change, Result> {
  return new Map(changes.map((change) => [change, result]));
}
