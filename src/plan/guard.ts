import { SetpointError } from '../model/error.ts';
import type { GuardFinding, GuardSettings, Rule } from '../model/guard.ts';
import { changesOf, type Plan, type Warning } from '../model/plan.ts';
import type { ObservedState } from '../model/state.ts';
import { guardRules } from './guard-rules.ts';

/** A plan with the look it came from, and what its file says of guards. */
export interface Guarded {
  readonly plan: Plan;
  readonly observed: ObservedState;
  readonly guards: GuardSettings;
}

/** The rules by which a plan refuses itself, those in `allowed` lifted. An empty plan is never refused. */
export function guardPlan(guarded: Guarded, allowed: readonly Rule[]): GuardFinding[] {
  return [...frozen(guarded), ...found(guarded).filter(({ refuses }) => refuses)].filter(
    ({ rule }) => rule === 'frozen' || !allowed.includes(rule),
  );
}

/** What rules that are not turned on have found: worth knowing, and no reason to stop. */
export function guardWarnings(guarded: Guarded): Warning[] {
  const noted = found(guarded)
    .filter(({ refuses, warned }) => !refuses && !warned)
    .map(({ rule, message }) => `${message} (${rule})`);
  return [...noted, ...blind(guarded)].map((message) => ({ code: 'guard', message, path: [] }));
}

/** A rule that is turned on and cannot judge is no protection: that is said. */
function blind({ plan, guards }: Guarded): string[] {
  const changes = changesOf(plan);
  const judged = changes.length === 0 || changes.some((change) => change.class !== undefined);
  return guards.on.has('overwrite-drift') && !judged
    ? ['Without --base nothing tells drift from edits: this may overwrite drift. (overwrite-drift)']
    : [];
}

/** The first refusal as the error that an apply ends with, or null. */
export function refusalOf(guarded: Guarded, allowed: readonly Rule[]): SetpointError | null {
  const [refusal] = guardPlan(guarded, allowed);
  if (refusal === undefined) return null;
  const message = `${refusal.message} (rule ${refusal.rule})`;
  return new SetpointError('guard-refused', message, { hint: refusal.hint });
}

function found({ plan, observed, guards }: Guarded) {
  return changesOf(plan).length === 0 ? [] : guardRules(plan, observed, guards);
}

function frozen({ plan, guards }: Guarded): GuardFinding[] {
  if (guards.frozen === null || changesOf(plan).length === 0) return [];
  return [
    {
      rule: 'frozen',
      message: `Nothing may be written: ${guards.frozen}.`,
      hint: 'No flag lifts this; remove guards.frozen from the file when it is over.',
    },
  ];
}
