import { SetpointError } from '../model/error.ts';
import type { EnvironmentPlan, PlanDocument } from '../model/plan.ts';
import { originOf } from './look-at.ts';
import type { Prepared } from './prepare.ts';

/**
 * What a saved plan says of each target that is to be applied; nothing where there is no saved plan. Throws, before a request
 * to any, where it says nothing of one (not-covered), or speaks of another address (other-origin).
 */
export function approvedParts(
  approved: PlanDocument | undefined,
  prepared: readonly Prepared[],
): ReadonlyMap<Prepared, EnvironmentPlan> {
  if (approved === undefined) return new Map();
  return new Map(prepared.map((one) => [one, partFor(one, approved.environments)]));
}

function partFor(prepared: Prepared, environments: readonly EnvironmentPlan[]): EnvironmentPlan {
  const { name } = prepared.target;
  const part = environments.find((environment) => environment.name === name);
  if (part === undefined)
    throw new SetpointError('not-covered', `The saved plan says nothing of ${name}.`);
  const origin = originOf(prepared);
  if (part.origin === origin) return part;
  const message = `The saved plan of ${name} was made for ${part.origin ?? 'no address'}, and this would apply to ${origin ?? 'none'}.`;
  throw new SetpointError('other-origin', message);
}
