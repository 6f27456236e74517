import { SetpointError, usageError, type ErrorReport } from '../model/error.ts';
import type { TracedPart } from '../model/ports.ts';
import { formatCount } from '../model/wording.ts';
import type { Target } from '../desired/target.ts';
import { processInOrder } from '../reconcile/in-order.ts';
import { findInterruption } from '../reconcile/interruption.ts';
import type { Options } from './options.ts';
import type { Running } from './redacting.ts';

const READS = 8;
const READS_OF_MANY = 32;
/** From this number of environments on, the time is that of answers more than that of this machine. */
const MANY = 100;
const MOST = 999;

/** Returns how many environments a read-only command handles at a time. Throws a usage error if `parallel` is not a valid number. */
export function parallelReads(request: Pick<Options, 'parallel'>, environments: number): number {
  return validateParallel(request) ?? (environments < MANY ? READS : READS_OF_MANY);
}

/** Returns how many environments an apply handles at a time. A person is asked one question at a time. */
export function parallelWrites(request: Pick<Options, 'parallel'>, asks: boolean): number {
  const parallel = validateParallel(request) ?? 1;
  return asks ? 1 : parallel;
}

function validateParallel({ parallel }: Pick<Options, 'parallel'>): number | undefined {
  if (parallel === undefined) return undefined;
  if (Number.isInteger(parallel) && parallel >= 1 && parallel <= MOST) return parallel;
  throw usageError(`--parallel takes a whole number from 1 to ${MOST}.`);
}

/**
 * Works on each target of a plan or an apply, `parallel` of them at a time, and hands on their parts in the order of the targets. Reports to
 * `onEnvironment` how many have ended.
 */
export async function eachTarget<E extends TracedPart>(
  task: 'plan' | 'apply',
  { targets, parallel }: { readonly targets: readonly Target[]; readonly parallel: number },
  { tracer, onEnvironment }: Pick<Running<Options>, 'tracer' | 'onEnvironment'>,
  work: (target: Target) => Promise<E>,
  take: (part: E) => Promise<void>,
): Promise<void> {
  const total = targets.length;
  let done = 0;
  let failed = 0;
  onEnvironment?.({ done, total, failed });
  const one = async (target: Target): Promise<E> => {
    const ended = await tracer.environment(task, target.name, () => work(target));
    done += 1;
    if (ended.error !== null && ended.error.code !== 'skipped') failed += 1;
    onEnvironment?.({ done, total, failed });
    return ended;
  };
  await processInOrder(targets, parallel, one, take);
}

/**
 * Starts the work on each environment of a run, unless the run was interrupted or too many have failed: in that order, so that a stop that
 * a user requested is never reported as a failure. An environment that ends with an error counts as failed; so does one that a guard
 * refuses or a person declines.
 */
export class FailureLimit {
  readonly #allowed: number | string;
  readonly #most: number;
  #failed = 0;

  /** `allowed` is a number, or a share of the `chosen` such as 10%. Throws a usage error if it is neither. */
  constructor(allowed: number | string, chosen: number) {
    this.#allowed = allowed;
    this.#most = computeFailureLimit(allowed, chosen);
  }

  /** Returns the end of an environment's work or, if it is not started, the result of `notStarted` for the reason. */
  async start<E extends { readonly error: ErrorReport | null }>(
    signal: AbortSignal | undefined,
    work: () => Promise<E>,
    notStarted: (why: SetpointError) => E,
  ): Promise<E> {
    const why = findInterruption(signal) ?? this.#findExcess();
    if (why !== null) return notStarted(why);
    const ended = await work();
    if (ended.error !== null) this.#failed += 1;
    return ended;
  }

  #findExcess(): SetpointError | null {
    return this.#failed <= this.#most ? null : new SetpointError('skipped', this.#why());
  }

  #why(): string {
    if (this.#most === 0) return 'Not started, because another environment failed.';
    const failed = formatCount(this.#failed, 'environment');
    return `Not started, because ${failed} failed and --max-failures allows ${this.#allowed}.`;
  }
}

/** A share is not rounded: 10% of 7 environments is 0.7, and one failure is more than that. */
export function computeFailureLimit(allowed: number | string, chosen: number): number {
  const [, digits = '', share] = /^(\d{1,6})(%)?$/.exec(String(allowed)) ?? [];
  const number = Number(digits);
  if (digits === '' || (share === '%' && number > 100)) {
    throw usageError(
      '--max-failures takes a number of environments, such as 0 or 5, or a share of them, such as 10%.',
    );
  }
  return share === '%' ? (number * chosen) / 100 : number;
}
