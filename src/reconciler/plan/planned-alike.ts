import type { PartPlan } from '../model/plan.ts';
import { Secret, UnseenSecret } from '../model/secret.ts';
import type { DesiredField, ObservedState } from '../model/state.ts';
import { sameValue, type Value } from '../model/value.ts';
import type { Planned, PlanTerms } from './plan-environment.ts';

/** Plans that are kept for an observation. */
const MOST = 4;

/** What a plan was made of besides the observation. */
type Made = Pick<PlanTerms, 'desired' | 'rotation' | 'allowed'>;

const KNOWN = new WeakMap<ObservedState, readonly (readonly [Made, Planned])[]>();

/**
 * The plan of an environment that was observed as the same object as an earlier one, and declares the same; null if none is known.
 * Environments of a fleet often differ in their address alone. See `remember` for which plans are known.
 */
export function plannedAlike(
  terms: PlanTerms,
  observed: ObservedState,
  parts: readonly PartPlan[],
): Planned | null {
  if (parts.length > 0) return null;
  const known = KNOWN.get(observed)?.find(([earlier]) => isMadeOf(earlier, terms));
  return known === undefined ? null : known[1];
}

/** Keeps a plan for plannedAlike, unless it holds something of its own environment: a change has the place where it is declared. */
export function remember(terms: PlanTerms, planned: Planned): void {
  const { plan, observed } = planned;
  const { desired, rotation, allowed } = terms;
  // Without changes there is nothing that an earlier file classifies.
  if (plan.settings.changes.length > 0 || plan.parts.length > 0) return;
  if (!desired.fields.every((field) => isUnknownHere(field, terms))) return;
  const known = KNOWN.get(observed) ?? [];
  KNOWN.set(
    observed,
    [[{ desired, rotation, allowed }, planned] as const, ...known].slice(0, MOST),
  );
}

function isMadeOf(earlier: Made, terms: PlanTerms): boolean {
  const [one, other] = [earlier.desired, terms.desired];
  return (
    earlier.rotation === terms.rotation &&
    earlier.allowed === terms.allowed &&
    one.unmanaged === other.unmanaged &&
    one.guards === other.guards &&
    one.lock === other.lock &&
    one.fields.length === other.fields.length &&
    other.fields.every((field, index) => isAlike(one.fields[index], field, terms))
  );
}

/** Whether two fields are planned alike: the same object, or the same field with the same single value from the same reference. */
function isAlike(one: DesiredField | undefined, other: DesiredField, terms: PlanTerms): boolean {
  if (one?.field !== other.field) return false;
  const isSame = one === other || isSameSingle(one.value, other.value);
  return isSame && isUnknownHere(other, terms);
}

function isSameSingle(one: Value, other: Value): boolean {
  if (!(one instanceof Secret) || !(other instanceof Secret))
    return one === other && (one === null || typeof one !== 'object');
  return !(other instanceof UnseenSecret) && one.ref === other.ref && sameValue(one, other);
}

/** Whether nothing is known of a secret but what is declared: what was last written to another service says nothing of this one. */
function isUnknownHere({ field, value }: DesiredField, { fingerprints }: PlanTerms): boolean {
  if (!(field.secret && value instanceof Secret)) return true;
  return value.compareWith((text) => fingerprints.compare(field.path, text)) === 'none';
}
