import type { PartPlan, Plan, SettingsPlan, SettingsWrite } from '../model/plan.ts';
import type { Resource } from '../model/resource.ts';
import { formOf } from './declared-form.ts';
import { declarations } from './three-way.ts';

/** The settings as approvals and agreements see them. */
export const SETTINGS: Resource = {
  name: 'settings',
  block: 'settings',
  items: null,
  terms: ({ changes }, desired, quick) => {
    const declaredAt = declarations(desired);
    return changes.map(({ path }) => formOf(declaredAt(path) ?? null, quick));
  },
};

/** The settings' part of a plan. */
export function settingsPart({ write, ...plan }: SettingsPlan): PartPlan<SettingsWrite | null> {
  return { resource: SETTINGS, ...plan, unmet: [], work: write };
}

/** The plan of the settings in a plan, with the changes as they are classified; an empty one if it has none of them. */
export function settingsPlanIn(plan: Plan): SettingsPlan {
  const part = plan.find(isSettings);
  return part === undefined ? NO_SETTINGS : settingsOfPart(part);
}

export function besideSettings(plan: Plan): Plan {
  return plan.filter((part) => !isSettings(part));
}

/** The plan with the settings planned anew. */
export function withSettings(plan: Plan, again: () => PartPlan): Plan {
  return plan.map((part) => (isSettings(part) ? again() : part));
}

/** The plan of the settings in their part. */
export function settingsOfPart(part: PartPlan): SettingsPlan {
  return { ...part, write: part.work as SettingsWrite | null };
}

function isSettings({ resource }: PartPlan): boolean {
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
