import { SetpointError } from '../model/error.ts';
import type { PartPlan } from '../model/plan.ts';
import type { ObservedState } from '../model/state.ts';
import { planEnvironment, type PlanResult } from '../plan/plan-environment.ts';
import {
  planSettingsPart,
  sameChanges,
  extractSettingsPlan,
  withSettings,
} from '../plan/settings-part.ts';
import type { PlanInput, Reading } from './contract.ts';
import { resolveReferences } from './references.ts';
import { listUndeclaredItems } from './undeclared.ts';

/**
 * The one way to a plan: plan, drift, apply, a plan against a snapshot and explain all observe and plan here, and differ in
 * what they observe and in what they do with the plan. Sends nothing. Throws a SetpointError if something that the file
 * declares cannot be observed, or this service does not have it.
 */
export async function observeAndPlan<O extends ObservedState | null>(
  input: PlanInput<O>,
): Promise<PlanResult<O>> {
  const observed = await input.settings.observe(input.signal);
  const ended = new AbortController();
  const signals = [ended.signal, ...(input.signal === undefined ? [] : [input.signal])];
  const undeclared = listUndeclaredItems(input, observed, AbortSignal.any(signals));
  try {
    const parts = await planDeclared(input, observed);
    const all = [...parts, ...(await undeclared)];
    return await proveSafePlan(input, planEnvironment(input, observed, all));
  } finally {
    ended.abort();
  }
}

/** The parts of all that the file declares, in the order of writing. */
async function planDeclared(
  input: PlanInput<ObservedState | null>,
  observed: ObservedState | null,
): Promise<readonly PartPlan[]> {
  const read: Reading[] = [];
  const lacking: LackingError[] = [];
  const readings = input.resources.map(async (resource) => resource.read(input, observed));
  for (const reading of await Promise.allSettled(readings)) {
    if (reading.status === 'fulfilled') read.push(reading.value);
    else if (reading.reason instanceof LackingError) lacking.push(reading.reason);
    else throw lackingAll(lacking) ?? reading.reason;
  }
  const lacked = lackingAll(lacking);
  if (lacked !== null) throw lacked;
  const parts: PartPlan[] = [];
  for (const plan of read) if (plan !== null) parts.push(plan(parts));
  const changes = parts.flatMap((part) => part.changes);
  await resolveReferences(input, observed, changes);
  return parts;
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
