import type { Target } from '../../reconciler/desired/target.ts';
import type { LoadedPlan } from '../../reconciler/operations/session.ts';

interface SettledState {
  readonly target: Target;
  readonly digest: string;
  /** Between which two reads the service was as declared, in milliseconds of the monotonic clock. */
  readonly from: number;
  readonly to: number;
}

/** Finds out which declaration an environment has settled with: the service was as declared in two reads some time apart. */
export class SettledDeclaration {
  #last: SettledState | null = null;

  /** Takes a read that found the service as declared by a target. */
  inSync(target: Target, declared: LoadedPlan['declared'], now: number): void {
    const last = this.#last;
    const digest = last?.target === target ? last.digest : declared?.();
    if (digest === undefined) return;
    const from = last?.digest === digest ? last.from : now;
    this.#last = { target, digest, from, to: now };
  }

  /** Returns the digest of the declaration that the service has matched for so many milliseconds; null if there is none. */
  after(soak: number): string | null {
    return this.#last !== null && this.#last.to - this.#last.from >= soak
      ? this.#last.digest
      : null;
  }
}
