import { SetpointError, usageError } from '../model/error.ts';
import type { ErrorReport } from '../model/plan.ts';
import { counted } from '../model/wording.ts';
import { interruption } from '../reconcile/interruption.ts';

/**
 * Starts the work on each environment of a run, unless the run was interrupted or too many have failed: in that order, so that a
 * stop that somebody asked for is never told as a failure. What fails is an environment that ends with an error: one that a guard
 * refuses or a person declines, too.
 */
export class FailureLimit {
  readonly #allowed: number | string;
  readonly #most: number;
  #failed = 0;

  /** `allowed` is a number, or a share of the `chosen` such as 10%. Throws a usage error if it is neither. */
  constructor(allowed: number | string, chosen: number) {
    this.#allowed = allowed;
    this.#most = mostOf(allowed, chosen);
  }

  /** What the work on an environment ends with, or, if it is not started, what `notStarted` makes of the reason. */
  async start<E extends { readonly error: ErrorReport | null }>(
    signal: AbortSignal | undefined,
    work: () => Promise<E>,
    notStarted: (why: SetpointError) => E,
  ): Promise<E> {
    const why = interruption(signal) ?? this.#reached();
    if (why !== null) return notStarted(why);
    const ended = await work();
    if (ended.error !== null) this.#failed += 1;
    return ended;
  }

  #reached(): SetpointError | null {
    return this.#failed <= this.#most ? null : new SetpointError('skipped', this.#why());
  }

  #why(): string {
    if (this.#most === 0) return 'Not started, because another environment did not end well.';
    const failed = counted(this.#failed, 'environment');
    return `Not started, because ${failed} did not end well and --max-failures allows ${this.#allowed}.`;
  }
}

/** A share is not rounded: 10% of 7 environments is 0.7, and one failure is more than that. */
function mostOf(allowed: number | string, chosen: number): number {
  const [, digits = '', share] = /^(\d{1,6})(%)?$/.exec(String(allowed)) ?? [];
  const number = Number(digits);
  if (digits === '' || (share === '%' && number > 100)) {
    throw usageError(
      '--max-failures takes a number of environments, such as 0 or 5, or a share of them, such as 10%.',
    );
  }
  return share === '%' ? (number * chosen) / 100 : number;
}
