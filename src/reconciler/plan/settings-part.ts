import { onceFor } from '../model/cache.ts';
import type { Rule } from '../model/guard.ts';
import type { Fingerprints } from '../model/ports.ts';
import type { DesiredState, DesiredField, ObservedState, SettingsWrite } from '../model/state.ts';
import { type Since, declarations } from './three-way.ts';
import {
  removesOther,
  type PartPlan,
  type Plan,
  type SettingsPlan,
  type Resource,
} from '../model/plan.ts';
import { type Rotation, toDigestForm, requireLeft } from './declared.ts';
import { Secret, UnseenSecret } from '../model/secret.ts';
import { sameValue, type Value } from '../model/value.ts';
import { requireFit } from './fit.ts';

import { listConsequences, withoutUnseen } from './consequences.ts';
import { planSettings } from './plan-settings.ts';
import { warnProfileDeactivation } from './profiles.ts';
import { samePath } from '../model/path.ts';

/** The settings as approvals and agreements see them. */
export const SETTINGS: Resource = {
  name: 'settings',
  block: 'settings',
  items: null,
  terms: ({ changes }, desired, quick) => {
    const declaredAt = declarations(desired);
    return changes.map((change) =>
      removesOther(change) ? 'remove' : toDigestForm(declaredAt(change.path) ?? null, quick),
    );
  },
};

/** The settings' part of a plan. */
export function createSettingsPart({
  write,
  ...plan
}: SettingsPlan): PartPlan<SettingsWrite | null> {
  return { resource: SETTINGS, ...plan, unmet: [], work: write };
}

/** The plan of the settings in a plan, with the changes as they are classified; an empty one if it has none of them. */
export function extractSettingsPlan(plan: Plan): SettingsPlan {
  const part = plan.find(isSettingsResource);
  return part === undefined ? NO_SETTINGS : settingsOfPart(part);
}

/** The same with what requests of other parts change in the settings: guards judge all of it. */
export function selectJudgedSettings(plan: Plan): SettingsPlan {
  const settings = extractSettingsPlan(plan);
  const along = besideSettings(plan).flatMap(({ resource, changes }) =>
    changes.filter(({ path, cause }) => cause !== undefined && path[0] !== resource.block),
  );
  return along.length === 0 ? settings : { ...settings, changes: [...settings.changes, ...along] };
}

export function besideSettings(plan: Plan): Plan {
  return plan.filter((part) => !isSettingsResource(part));
}

/** The plan with the settings planned again. */
export function withSettings(plan: Plan, again: () => PartPlan): Plan {
  return plan.map((part) => (isSettingsResource(part) ? again() : part));
}

/** The plan of the settings in their part. Each guard asks for it, and many environments have the same part. */
export const settingsOfPart = onceFor((part: PartPlan): SettingsPlan => ({
  ...part,
  write: part.work as SettingsWrite | null,
}));

function isSettingsResource({ resource }: PartPlan): boolean {
  return resource.name === SETTINGS.name;
}

const NO_SETTINGS: SettingsPlan = {
  changes: [],
  unknown: [],
  warnings: [],
  unmanaged: [],
  unpreservable: [],
  gone: [],
  write: null,
};

/** The number of plans that are stored for an observation. */
const MOST = 4;

/** The input of a plan of the settings, apart from the observation. */
type SettingsPlanInput = Pick<PlanTerms, 'desired' | 'rotation'>;

/** The latest parts that were planned for an observation, the newest first. */
const reusableParts = onceFor<ObservedState, (readonly [SettingsPlanInput, PartPlan])[]>(() => []);

/**
 * The settings' part of the plan of an environment. Environments of a fleet often differ in their address alone: one that was observed as
 * the same object as an earlier one, and declares the same, has the same part. Throws a SetpointError if the service cannot hold what the
 * file declares.
 */
export function planSettingsPart(terms: PlanTerms, observed: ObservedState): PartPlan {
  const known = reusableParts(observed).find(([earlier]) => canReusePlan(earlier, terms));
  if (known !== undefined) return known[1];
  requireFit(terms.desired, observed);
  const plan = planSettings(terms.desired, observed, terms);
  requireLeft(terms.desired, observed, plan);
  const along = listConsequences(plan, terms.desired, observed);
  const ending = warnProfileDeactivation(plan.write, observed, terms.desired);
  const part = createSettingsPart({
    ...plan,
    changes: [...plan.changes, ...along],
    warnings: [...plan.warnings, ...ending],
  });
  storeReusablePart(terms, observed, part);
  return part;
}

/** Keeps a part unless it holds something of its own environment: a change has the place where it is declared. */
function storeReusablePart(terms: PlanTerms, observed: ObservedState, part: PartPlan): void {
  const { desired, rotation } = terms;
  if (part.changes.length > 0 || !desired.fields.every((field) => isUnrecordedSecret(field, terms)))
    return;
  const parts = reusableParts(observed);
  parts.unshift([{ desired, rotation }, part]);
  parts.splice(MOST);
}

function canReusePlan(earlier: SettingsPlanInput, terms: PlanTerms): boolean {
  const [one, other] = [earlier.desired, terms.desired];
  return (
    earlier.rotation === terms.rotation &&
    one.unmanaged === other.unmanaged &&
    one.left === other.left &&
    one.lock === other.lock &&
    one.fields.length === other.fields.length &&
    other.fields.every((field, index) => isPlannedAlike(one.fields[index], field, terms))
  );
}

/** Reports whether two fields are planned the same: one object, or one field with the same single value from the same reference. */
function isPlannedAlike(
  one: DesiredField | undefined,
  other: DesiredField,
  terms: PlanTerms,
): boolean {
  if (one?.field !== other.field) return false;
  const isSame = one === other || isSameSingle(one.value, other.value);
  return isSame && isUnrecordedSecret(other, terms);
}

function isSameSingle(one: Value, other: Value): boolean {
  if (!(one instanceof Secret) || !(other instanceof Secret))
    return one === other && (one === null || typeof one !== 'object');
  return !(other instanceof UnseenSecret) && one.ref === other.ref && sameValue(one, other);
}

/** Reports whether only the declaration of a secret is known. What was last written to another service does not count. */
function isUnrecordedSecret({ field, value }: DesiredField, { fingerprints }: PlanTerms): boolean {
  if (!(field.secret && value instanceof Secret)) return true;
  return value.compareWith((text) => fingerprints.compare(field.path, text)) === 'none';
}

/** Reports whether two plans make the same changes: paths, actions, and values before and after, secrets compared by value. */
export function sameChanges(a: SettingsPlan, b: SettingsPlan): boolean {
  return (
    a.changes.length === b.changes.length &&
    a.changes.every((change, index) => {
      const other = b.changes[index];
      return (
        other !== undefined &&
        change.action === other.action &&
        samePath(change.path, other.path) &&
        sameValue(withoutUnseen(change.before), withoutUnseen(other.before)) &&
        sameValue(withoutUnseen(change.after), withoutUnseen(other.after))
      );
    })
  );
}

/** The input of the plan of an environment, apart from the state of the service. */
export interface PlanTerms {
  readonly desired: DesiredState;
  /** The file as last applied (`--base`), or as last in sync with the service; null if unknown. */
  readonly base: DesiredState | Since | null;
  readonly rotation: Rotation;
  readonly fingerprints: Fingerprints;
  /** The guards that are lifted for this run. */
  readonly allowed: readonly Rule[];
}
