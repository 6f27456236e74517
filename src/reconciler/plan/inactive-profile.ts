import { ACTIVE_FORM, LLM_PROFILES_FORM } from '../model/collection-forms.ts';
import { itemNamed, itemsDeclared } from '../model/collection.ts';
import { MODEL_PART } from '../model/field.ts';
import { normalPath } from '../model/path-facts.ts';
import { isWithin, pathNamed } from '../model/path.ts';
import type { Warning } from '../model/plan.ts';
import type { DesiredState, ObservedState } from '../model/state.ts';
import { isEmpty, sameValue, secretsIn, valueAt, type Value } from '../model/value.ts';
import { namesListed } from '../model/wording.ts';
import { profileWarning } from './profiles.ts';

/**
 * That no LLM profile of an app-server is active although one may have been. A store of the active one makes it inactive, so that a run that is killed
 * right after leaves none, and the service keeps nothing of which it was, but that the settings have its llm if only they were stored.
 */
export function inactiveWarnings(
  desired: DesiredState,
  { profiles, values }: ObservedState,
): readonly Warning[] {
  if (profiles === undefined || profiles.active !== null) return [];
  if (itemNamed(desired, ACTIVE_FORM, 'llm_profile') !== undefined) return [];
  const alike = Object.entries(profiles.llms).flatMap(([name, llm]) =>
    isLlmOf(llm, values) ? [name] : [],
  );
  if (alike.length > 0)
    return [
      profileWarning(
        `No LLM profile is active, although the settings have the llm of ${namesListed(alike)}: a store of the settings, or a run that was stopped, can have made it inactive. Declare active.llm_profile to have it active again.`,
      ),
    ];
  const isOurs = itemsDeclared(desired, LLM_PROFILES_FORM).some(
    ({ name, members }) => members !== null && Object.hasOwn(profiles.llms, name),
  );
  return isOurs
    ? [
        profileWarning(
          'No LLM profile is active. A store of the active one makes it inactive, and a run that was stopped right after leaves it so; nothing here tells whether one was. Declare active.llm_profile if one should be.',
        ),
      ]
    : [];
}

/** Whether the settings have the llm of a profile, as far as it shows. An address that the profile does not have is filled in. */
function isLlmOf(llm: Value, values: ObservedState['values']): boolean {
  const members = Object.entries(values).flatMap(([name, value]) => {
    const place = normalPath(pathNamed(name));
    return isWithin(place, MODEL_PART) ? [[place.slice(MODEL_PART.length), value] as const] : [];
  });
  return (
    members.some(([[name], value]) => name === 'model' && !isEmpty(value)) &&
    members.every(([member, value]) => {
      const own = valueAt(llm, member) ?? null;
      const isFilledIn = member[0] === 'base_url' && isEmpty(own);
      return isFilledIn || secretsIn(value).length > 0 || sameValue(own, value);
    })
  );
}
