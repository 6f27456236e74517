import { SetpointError } from '../model/error.ts';
import { formatPath, samePath } from '../model/path.ts';
import type { Change, EnvironmentPlan, Plan, Warning } from '../model/plan.ts';
import type { Digests } from '../model/ports.ts';
import type { DesiredState } from '../model/state.ts';
import { sameValue, type Json } from '../model/value.ts';
import { approvableChanges } from './plan-document.ts';

/** What a saved plan says of one target, and what its digests are made with. */
export interface Approved {
  readonly part: EnvironmentPlan;
  readonly digests: Digests;
}

/**
 * A saved plan is an approval, not an instruction: nothing in it is ever sent. It covers a plan that was made anew if it has
 * every change of that too: the same action, the same value before and after, and the same digest of what the file declares,
 * which holds masked literals, and a secret by its path and reference. Whoever forges one can only bring about a refusal, or
 * approve what the committed file asks for anyway.
 */
export function notCovered(
  plan: Plan,
  desired: DesiredState,
  { part, digests }: Approved,
): SetpointError | null {
  const missing = approvableChanges(plan, desired, digests).filter(
    (change) => !part.changes.some((other) => isSame(change, other)),
  );
  if (missing.length === 0) return null;
  const changes = missing.length === 1 ? 'a change' : `${missing.length} changes`;
  const names = missing.map((change) => `${nameOf(change)} (${change.action})`).join(', ');
  return new SetpointError(
    'not-covered',
    `The saved plan does not cover ${changes} that an apply would make: ${names}.`,
  );
}

/** What was approved and is not to be done any more: somebody has done it, or nobody asks for it. */
export function alreadyMade(
  plan: Plan,
  desired: DesiredState,
  { part, digests }: Approved,
): Warning[] {
  const changes = approvableChanges(plan, desired, digests);
  return part.changes
    .filter((change) => !changes.some((other) => isSame(change, other)))
    .map((change) => ({
      code: 'already-made',
      message: `${nameOf(change)}: ${whyNot(change)}.`,
      path: change.path,
    }));
}

function whyNot({ action, path }: Change<Json>): string {
  return action === 'rotate'
    ? `the saved plan rotates it, and nothing here asks for that; --rotate ${formatPath(path)} would`
    : 'as the saved plan has it already';
}

function isSame(one: Change<Json>, other: Change<Json>): boolean {
  return (
    one.resource === other.resource &&
    one.action === other.action &&
    one.sensitive === other.sensitive &&
    one.ref === other.ref &&
    one.digest === other.digest &&
    samePath(one.path, other.path) &&
    sameValue(one.before, other.before) &&
    sameValue(one.after, other.after)
  );
}

function nameOf({ resource, path }: Change<Json>): string {
  return resource === 'settings' ? formatPath(path) : `sandbox ${path.join(' ')}`;
}
