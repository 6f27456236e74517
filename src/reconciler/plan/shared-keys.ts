import { effectOf } from '../model/action.ts';
import { itemsDeclared } from '../model/collection.ts';
import { LLM_PROFILES_FORM } from '../model/collection-forms.ts';
import { placeNamed } from '../model/field.ts';
import type { GuardFinding } from '../model/guard.ts';
import { fieldsOfOrganization, organizationName } from '../model/organization.ts';
import { formatPath, isUnmanaged, samePath, type Path } from '../model/path.ts';
import type { Change, Plan, SettingsPlan } from '../model/plan.ts';
import type { DesiredState, ObservedState } from '../model/state.ts';
import { isEmpty, isRecord, textFits } from '../model/value.ts';
import { besideSettings, settingsPlanIn } from './settings-part.ts';

const LLM_KEY: Path = ['agent_settings', 'llm', 'api_key'];
const SEARCH_KEY: Path = ['search_api_key'];

/** Whether a file declares what is not its member's alone where there are organisations: then its service is asked whether it has any. */
export function concernsOrganization(desired: DesiredState): boolean {
  return declaresSharedKey(desired) || fieldsOfOrganization(desired).length > 0;
}

/** Whether a file declares a key that every member of an organisation would get. */
export function declaresSharedKey(desired: DesiredState): boolean {
  const { fields, unmanaged } = desired;
  return (
    fields.some(({ field }) => isShared(field.place) && !isUnmanaged(unmanaged, field.path)) ||
    itemsDeclared(desired, LLM_PROFILES_FORM).some(
      ({ members }) => members?.['api_key'] !== undefined,
    )
  );
}

function isShared(place: Path): boolean {
  return samePath(place, LLM_KEY) || samePath(place, SEARCH_KEY);
}

/** The keys that a plan writes and every member of the organisation gets. */
export function sharedKeys(plan: Plan, observed: ObservedState): GuardFinding[] {
  const { organization } = observed;
  if (organization === undefined || organization.personal) return [];
  const settings = settingsPlanIn(plan);
  const managed = isManaged(settings, observed);
  const written = settings.changes.filter(({ path, action }) => {
    const place = placeNamed(formatPath(path));
    // A cleared search key is gone for every member; of a cleared LLM key no other member hears.
    if (samePath(place, SEARCH_KEY)) return true;
    return samePath(place, LLM_KEY) && effectOf(action) !== 'drop' && !managed;
  });
  const ofProfiles = besideSettings(plan)
    .filter(({ resource }) => resource.block === LLM_PROFILES_FORM.block)
    .flatMap(({ changes }) => changes.flatMap(profileKey));
  return [...written, ...ofProfiles].map((change) => ({
    message: `The plan ${verbOf(change)} ${formatPath(change.path)} for every member of ${organizationName(organization)}, not for this member alone.`,
    path: change.path,
  }));
}

/** The change of the key in a change of a profile; nothing if it leaves the key out, or takes it away. */
function profileKey(change: Change): Change[] {
  const { path, action, after } = change;
  if (effectOf(action) === 'drop') return [];
  if (path.at(-1) === 'api_key') return [change];
  const isWithKey = path.length === 2 && isRecord(after) && !isEmpty(after['api_key']);
  return isWithKey ? [{ ...change, path: [...path, 'api_key'] }] : [];
}

function verbOf({ action }: Change): string {
  return effectOf(action) === 'drop' ? 'clears' : action === 'rotate' ? 'rotates' : 'sets';
}

/** Whether the service itself gives each member a key for the model that a write leaves: a key that is sent reaches nobody else. */
function isManaged({ write }: SettingsPlan, { values }: ObservedState): boolean {
  const [model = null, url = null] = ['llm_model', 'llm_base_url'].map(
    (name) => write?.fields[name] ?? values[name],
  );
  return isEmpty(url) && textFits(model, (name) => name.startsWith('openhands/'));
}
