import { fieldNamed } from '../model/field.ts';
import { isNamedWithin } from '../model/native-parts.ts';
import { isWithin, pathNamed, type Path } from '../model/path.ts';
import type { DesiredField, DesiredState, ObservedState } from '../model/state.ts';
import { sameValue } from '../model/value.ts';
import { managesField } from './managed.ts';
import { kindPlaces, kindsOf } from './native-fields.ts';

/** Values that a server makes of another one which is written. */
export const FOLLOWS: ReadonlyMap<string, string> = new Map([
  ['agent_settings.active_meta_profile', 'active_meta_profile'],
  ['agent_settings.enable_classify_and_switch_llm_tool', 'active_meta_profile'],
  ['agent_settings.llm.api_version', 'llm_model'],
  ['agent_settings.llm.stream_idle_timeout', 'agent_settings.llm.timeout'],
]);

/** What the server changes along with what the file declares: what a declared map takes the place of, and members of another kind. */
export function changedAlong(
  before: ObservedState,
  after: ObservedState,
  desired: DesiredState,
): (name: string) => boolean {
  const [was, is] = [kindsOf(before), kindsOf(after, desired)];
  const declared = desired.fields.filter(({ field }) => managesField(desired, field.name));
  return (name) => {
    const path = fieldNamed(name)?.native ?? pathNamed(name);
    const isReplaced = declared.some(
      ({ field, value }) =>
        field.isNative &&
        value !== null &&
        field.path.length > path.length &&
        isWithin(field.path, path),
    );
    const isOfOtherKind = kindPlaces(path, before).some(
      (place) => !sameValue(was(place), is(place)) && declaresKind(place, declared),
    );
    const leader = FOLLOWS.get(name);
    const isFollowing = leader !== undefined && managesField(desired, leader);
    return isReplaced || isOfOtherKind || isFollowing;
  };
}

/** Whether a file says of which kind a part is: by its word, or by a member that only one kind has. */
function declaresKind(place: Path, declared: readonly DesiredField[]): boolean {
  const part = place.slice(0, -1);
  return declared.some(({ field }) => isNamedWithin(field.name, part));
}
