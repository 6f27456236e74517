import type { PartPlan } from '../model/plan.ts';
import { Secret, UnseenSecret } from '../model/secret.ts';
import type { DesiredField, ObservedState } from '../model/state.ts';
import { sameValue, type Value } from '../model/value.ts';
import { requireFit } from './fit.ts';
import type { PlanTerms } from './plan-environment.ts';
import { planSettings } from './plan-settings.ts';
import { settingsPart } from './settings-part.ts';

/** Plans that are kept for an observation. */
const MOST = 4;

/** What a plan of the settings was made of besides the observation. */
type Made = Pick<PlanTerms, 'desired' | 'rotation'>;

const KNOWN = new WeakMap<ObservedState, readonly (readonly [Made, PartPlan])[]>();

/**
 * The settings' part of the plan of an environment. Environments of a fleet often differ in their address alone: one that was observed as
 * the same object as an earlier one, and declares the same, has the same part. Throws a SetpointError if the service cannot hold what the
 * file declares.
 */
export function plannedSettings(terms: PlanTerms, observed: ObservedState): PartPlan {
  const known = KNOWN.get(observed)?.find(([earlier]) => isMadeOf(earlier, terms));
  if (known !== undefined) return known[1];
  requireFit(terms.desired, observed);
  const part = settingsPart(planSettings(terms.desired, observed, terms));
  remember(terms, observed, part);
  return part;
}

/** Keeps a part unless it holds something of its own environment: a change has the place where it is declared. */
function remember(terms: PlanTerms, observed: ObservedState, part: PartPlan): void {
  const { desired, rotation } = terms;
  if (part.changes.length > 0 || !desired.fields.every((field) => isUnknownHere(field, terms)))
    return;
  const known = KNOWN.get(observed) ?? [];
  KNOWN.set(observed, [[{ desired, rotation }, part] as const, ...known].slice(0, MOST));
}

function isMadeOf(earlier: Made, terms: PlanTerms): boolean {
  const [one, other] = [earlier.desired, terms.desired];
  return (
    earlier.rotation === terms.rotation &&
    one.unmanaged === other.unmanaged &&
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
