import { ACTIVE_PROFILE, isNamedWithin, MODEL_PART } from '../model/field.ts';
import { formatPath, type Path, pathNamed, isWithin } from '../model/path.ts';
import type { SettingsWrite, DesiredField, DesiredState, ObservedState } from '../model/state.ts';
import type { Warning } from '../model/error.ts';
import { Secret, UnseenSecret } from '../model/secret.ts';
import {
  isEmpty,
  filterMembers,
  createRecord,
  sameValue,
  collectSecrets,
  type Value,
  readPath,
} from '../model/value.ts';
import { ACTIVE_FORM, activeDeclared, LLM_PROFILES_FORM } from '../model/collection-forms.ts';
import { itemNamed, itemsDeclared } from '../model/collection.ts';
import { findDeactivation, isOfLlm } from './consequences.ts';
import { normalPath } from '../model/path-facts.ts';
import { namesListed } from '../model/wording.ts';

/**
 * The additional content of a write of the active profile, so that the profile does not replace the model's settings that the file
 * declares: with any of them only the pointer moves. Null if the write has one already, or the file declares none.
 */
export function besideProfile(
  written: ReadonlyMap<string, Value>,
  managed: readonly DesiredField[],
  { values }: ObservedState,
): readonly [string, Value] | null {
  const name = formatPath(ACTIVE_PROFILE);
  if (isEmpty(written.get(name)) || !declaresModel(managed)) return null;
  if ([...written.keys()].some((other) => isNamedWithin(other, MODEL_PART))) return null;
  const declared = managed.find(
    ({ field, value }) => isNamedWithin(field.name, MODEL_PART) && !field.secret && value !== null,
  );
  if (declared !== undefined) return [declared.field.name, declared.value];
  const model = values['llm_model'];
  return model === undefined || isEmpty(model) ? null : ['llm_model', model];
}

/** States that a profile is made active next to the model's settings that the file declares, or that its values are unknown. */
export function profileWarnings(
  written: ReadonlyMap<string, Value>,
  managed: readonly DesiredField[],
  { dialect, pointed }: ObservedState,
): Warning[] {
  const name = formatPath(ACTIVE_PROFILE);
  const warning = (message: string): Warning[] => [
    { code: 'active-profile', message, path: ACTIVE_PROFILE },
  ];
  if (isEmpty(written.get(name))) return [];
  if (declaresModel(managed))
    return warning(
      `${name} and settings of the model are declared. The declared settings are used, and the rest of the profile is not.`,
    );
  if (!dialect.fields.has('llm_model') || (pointed?.get(name)?.llm ?? null) !== null) return [];
  return warning(
    `${name} replaces the whole llm, including its key and address. The contents of the profile are not known here.`,
  );
}

/** Returns the declared values of the pointers that can be looked up, by their fields. */
export function listDeclaredPointers({ fields }: DesiredState): ReadonlyMap<string, string> {
  return new Map(
    fields.flatMap(({ field: { name }, value }): [string, string][] => {
      if (!POINTED.has(name) || isEmpty(value)) return [];
      if (typeof value === 'string') return [[name, value]];
      const isKnown = value instanceof Secret && !(value instanceof UnseenSecret);
      return isKnown ? [[name, value.compareWith((text) => text)]] : [];
    }),
  );
}

/** Explains why a service rejects the pointers of a file: the name does not exist, or cannot be activated. */
export function pointerMisfits({ fields }: DesiredState, observed: ObservedState): string[] {
  return fields.flatMap(({ field: { name } }) => {
    const found = observed.pointed?.get(name);
    if (found === undefined || found.is === 'there') return [];
    const what = POINTED.get(name) ?? 'profile';
    return found.is === 'missing'
      ? [
          `${name} names ${what} that it does not have: create it there first, or name one that it has.`,
        ]
      : [
          `${name} names ${what} whose provider connection does not exist: name another, or fix the profile.`,
        ];
  });
}

const POINTED: ReadonlyMap<string, string> = new Map([
  ['active_profile', 'an LLM profile'],
  ['active_meta_profile', 'a meta profile'],
]);

function declaresModel(managed: readonly DesiredField[]): boolean {
  return managed.some(({ field }) => isNamedWithin(field.name, MODEL_PART));
}

/** The path at which an app-server shows the active LLM profile. */
export const ACTIVE: Path = ['llm_profiles', 'active'];

/** States that a write ends the active profile, for its plan. One that the file declares active is activated again. */
export function warnProfileDeactivation(
  write: SettingsWrite | null,
  observed: ObservedState,
  desired: Pick<DesiredState, 'items'>,
): Warning[] {
  const ending = findDeactivation(write, observed);
  if (ending === null || (!ending.again && activeDeclared(desired, 'llm_profile') !== null))
    return [];
  const message = ending.again
    ? `Any write of settings makes the active LLM profile ${ending.name} inactive: it has no base_url, and the service fills one in. setpoint activates it again after this write. To prevent this, give the profile a base_url.`
    : `This write changes the llm, which makes the LLM profile ${ending.name} inactive. To keep a profile active, change the profile on the service, then activate it there.`;
  return [profileWarning(message)];
}

export function profileWarning(message: string): Warning {
  return { code: 'active-profile', message, path: ACTIVE };
}

/** Reports whether the profile that was active before a write is no longer active. */
export function isProfileDeactivated({ profiles }: ObservedState, after: ObservedState): boolean {
  const was = profiles?.active ?? null;
  return was !== null && after.profiles?.active !== was;
}

/** Reports whether the llm and that of a profile have not changed. Then the profile may be activated without an effect. */
export function isUnchanged(name: string, before: ObservedState, after: ObservedState): boolean {
  // One read may report a secret that another leaves out.
  const isReported = (secret: string): boolean =>
    [before, after].every(({ secrets }) => secrets.get(secret) !== 'not-reported');
  const llm = ({ values, secrets, profiles }: ObservedState) =>
    createRecord({
      values: filterMembers(values, isOfLlm),
      secrets: createRecord(
        [...secrets].filter(([secret]) => isOfLlm(secret) && isReported(secret)),
      ),
      profile: profiles?.llms[name] ?? null,
    });
  return sameValue(llm(before), llm(after));
}

/**
 * Reports that no LLM profile of an app-server is active although one may have been. A store of the active one makes it inactive, so a run
 * that is killed right after leaves none. The service does not record which one it was; only the settings have its llm, if they were
 * stored.
 */
export function inactiveWarnings(
  desired: DesiredState,
  { profiles, values }: ObservedState,
): readonly Warning[] {
  if (profiles === undefined || profiles.active !== null) return [];
  if (itemNamed(desired, ACTIVE_FORM, 'llm_profile') !== undefined) return [];
  const alike = Object.entries(profiles.llms).flatMap(([name, llm]) =>
    isSettingsLlm(llm, values) ? [name] : [],
  );
  if (alike.length > 0)
    return [
      profileWarning(
        `No LLM profile is active, but the settings have the llm of ${namesListed(alike)}. To activate it again, declare active.llm_profile. A write of the settings or an interrupted run may have made it inactive.`,
      ),
    ];
  const isOurs = itemsDeclared(desired, LLM_PROFILES_FORM).some(
    ({ name, members }) => members !== null && Object.hasOwn(profiles.llms, name),
  );
  return isOurs
    ? [
        profileWarning(
          'No LLM profile is active. If one should be active, declare active.llm_profile. Storing the active profile makes it inactive, and it stays inactive if the run is interrupted after that.',
        ),
      ]
    : [];
}

/** Reports whether the settings contain the llm of a profile, so far as visible. A missing address is filled in. */
function isSettingsLlm(llm: Value, values: ObservedState['values']): boolean {
  const members = Object.entries(values).flatMap(([name, value]) => {
    const place = normalPath(pathNamed(name));
    return isWithin(place, MODEL_PART) ? [[place.slice(MODEL_PART.length), value] as const] : [];
  });
  return (
    members.some(([[name], value]) => name === 'model' && !isEmpty(value)) &&
    members.every(([member, value]) => {
      const own = readPath(llm, member) ?? null;
      const isFilledIn = member[0] === 'base_url' && isEmpty(own);
      return isFilledIn || collectSecrets(value).length > 0 || sameValue(own, value);
    })
  );
}
