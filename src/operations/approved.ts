import { SetpointError } from '../model/error.ts';
import type { EnvironmentPlan, PlanDocument } from '../model/plan.ts';
import type { Digests } from '../model/ports.ts';
import type { Approved } from '../plan/approval.ts';
import { addressDigest, digestsFor } from './digests.ts';
import { originOf } from './look-at.ts';
import type { Prepared } from './prepare.ts';

/**
 * What a saved plan says of each target that is to be applied; nothing where there is no saved plan. Throws, before a request
 * to any, where it says nothing of one or has no digests to hold it to (not-covered), or speaks of another address
 * (other-origin).
 */
export async function approvedParts(
  approved: PlanDocument | undefined,
  prepared: readonly Prepared[],
): Promise<ReadonlyMap<Prepared, Approved>> {
  if (approved === undefined) return new Map();
  const { salt, environments } = approved;
  if (typeof salt !== 'string' || salt === '') throw withoutDigests();
  const digests = await digestsFor(salt);
  const parts = new Map<Prepared, Approved>();
  for (const one of prepared)
    parts.set(one, { part: await partFor(one, environments, digests), digests });
  return parts;
}

async function partFor(
  prepared: Prepared,
  environments: readonly EnvironmentPlan[],
  digests: Digests,
): Promise<EnvironmentPlan> {
  const { name } = prepared.target;
  const part = environments.find((environment) => environment.name === name);
  if (part === undefined)
    throw new SetpointError('not-covered', `The saved plan says nothing of ${name}.`);
  const origin = originOf(prepared);
  if (part.origin !== origin) {
    const message = `The saved plan of ${name} was made for ${part.origin ?? 'no address'}, and this would apply to ${origin ?? 'none'}.`;
    throw new SetpointError('other-origin', message);
  }
  const unsealed = part.changes.some(({ digest }) => typeof digest !== 'string');
  if (typeof part.address_digest !== 'string' || unsealed) throw withoutDigests();
  if (part.address_digest === (await addressDigest(prepared, digests))) return part;
  throw new SetpointError(
    'other-origin',
    `The saved plan of ${name} was made for another address: the host or the path prefix behind ${origin ?? 'it'} is not the same.`,
    { hint: 'Plan again for this address, or apply the plan that was made for it.' },
  );
}

/** Without them nothing tells whether what is masked in the plan is what the file says now. */
function withoutDigests(): SetpointError {
  return new SetpointError(
    'not-covered',
    'The saved plan does not say which address and which masked values it was made for.',
    { hint: 'Plan again with setpoint plan --out FILE, and apply that plan.' },
  );
}
