import { withoutStop } from '../../model/wording.ts';
import { notChecked, type Cost, type TrialResult } from '../../model/proof.ts';
import type { DesiredState, ObservedState } from '../../model/state.ts';
import type { Plan } from '../../model/plan.ts';
import { asSetpointError } from '../../model/error.ts';
import type { Provable } from '../../plan/unproven.ts';
import type { Checks } from '../../service/agent-server/checks.ts';
import type { Get } from '../collections/wire.ts';

/** Something that a service tries, and its cost in addition to a request; null if it costs nothing, or is not tried. */
export interface Trial extends Provable {
  readonly cost: Cost | null;
  readonly attempt: () => Promise<TrialResult>;
}

/** The input of a trial. */
export interface Trying {
  readonly checks: Checks;
  readonly get: Get;
  readonly desired: DesiredState;
  readonly settings: ObservedState;
}

/** The input of a trial before a plan is written. */
export interface TryingPlan extends Trying {
  readonly plan: Plan;
  /** The LLM profiles that are tried, by name: what two changes come down to is tried once. */
  readonly drafts: Map<string, () => Promise<TrialResult>>;
}

/** The header by which an Agent Server shows secrets as it has encrypted them: it takes them back in this form. */
export const ENCRYPTED = { 'X-Expose-Secrets': 'encrypted' };

/** Something that cannot be tried, and why. */
export function createSkippedTrial({ kind, path }: Provable, why: string): Trial {
  return { kind, path, cost: null, attempt: async () => notChecked(why) };
}

/** An attempt that ends without a verdict if what it needs cannot be read. */
export function trial(
  { kind, path }: Provable,
  cost: Cost | null,
  attempt: () => Promise<TrialResult>,
): Trial {
  return {
    kind,
    path,
    cost,
    attempt: async () => {
      try {
        return await attempt();
      } catch (thrown) {
        return notChecked(withoutStop(asSetpointError(thrown).message));
      }
    },
  };
}

export const NO_VALUE = 'a reference in it has no value';
