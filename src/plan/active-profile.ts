import { ACTIVE_PROFILE, isNamedWithin, MODEL_PART } from '../model/native-parts.ts';
import { formatPath } from '../model/path.ts';
import type { Warning } from '../model/plan.ts';
import type { DesiredField, ObservedState } from '../model/state.ts';
import { isEmpty, type Value } from '../model/value.ts';

/**
 * What a write of the active profile carries besides, so that the profile does not take the place of the model's settings that the file
 * declares: beside any of them only the pointer moves. Null if the write has one already, or the file declares none.
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

/** That a profile is made active beside the model's settings that the file declares. */
export function profileWarnings(
  written: ReadonlyMap<string, Value>,
  managed: readonly DesiredField[],
): Warning[] {
  const name = formatPath(ACTIVE_PROFILE);
  if (isEmpty(written.get(name)) || !declaresModel(managed)) return [];
  const message = `${name} and settings of the model are declared: the declared settings stay, and the rest of the profile is not taken over.`;
  return [{ code: 'active-profile', message, path: ACTIVE_PROFILE }];
}

function declaresModel(managed: readonly DesiredField[]): boolean {
  return managed.some(({ field }) => isNamedWithin(field.name, MODEL_PART));
}
