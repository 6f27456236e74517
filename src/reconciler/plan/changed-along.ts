import { isNamedWithin, placeNamed } from '../model/field.ts';
import { formatPath, isWithin, samePath, type Path } from '../model/path.ts';
import type { Change, SettingsWrite } from '../model/plan.ts';
import type { DesiredField, DesiredState, ObservedState } from '../model/state.ts';
import { isEmpty, recordOf, sameValue, valueAt } from '../model/value.ts';
import { managesField } from './managed.ts';
import { kindPlaces, kindsOf } from './field-here.ts';

/** Values that a server makes of another one which is written. */
export const FOLLOWS: ReadonlyMap<string, string> = new Map([
  ['agent_settings.active_meta_profile', 'active_meta_profile'],
  ['agent_settings.llm.api_version', 'llm_model'],
  ['agent_settings.llm.stream_idle_timeout', 'agent_settings.llm.timeout'],
]);

/** The member of agent_settings that a server turns on with a meta profile, and off with none. */
const SWITCH: Path = ['agent_settings', 'enable_classify_and_switch_llm_tool'];

/** Whether a write turns that member on or off although the file does not manage it; null if it stays as it is. */
function switchedBy(
  fields: SettingsWrite['fields'],
  { answer }: ObservedState,
  desired: DesiredState,
): boolean | null {
  const was = valueAt(answer, SWITCH);
  const pointer = fields['active_meta_profile'];
  if (pointer === undefined || typeof was !== 'boolean') return null;
  if (managesField(desired, formatPath(SWITCH))) return null;
  return was === !isEmpty(pointer) ? null : !was;
}

/** The changes that a server is known to make along with a write, for its plan. */
export function followingChanges(
  fields: SettingsWrite['fields'],
  before: ObservedState,
  desired: DesiredState,
  changes: readonly Change[],
): Change[] {
  const after = switchedBy(fields, before, desired);
  const cause = changes.find(({ path }) => samePath(path, ['active_meta_profile']));
  if (after === null || cause === undefined) return [];
  const change = { ...cause, path: SWITCH, action: 'change', before: !after, after } as const;
  const reason = 'comes with active_meta_profile, which the server turns it on or off with';
  return [{ ...change, sensitive: false, ref: null, reason }];
}

/** The state that a write makes of another with what the server changes along. */
export function withFollowing(
  before: ObservedState,
  fields: SettingsWrite['fields'],
  desired: DesiredState,
): ObservedState {
  const after = switchedBy(fields, before, desired);
  if (after === null) return before;
  const name = formatPath(SWITCH);
  const others = Object.entries(before.values).filter(([other]) => other !== name);
  return { ...before, values: recordOf(after ? [...others, [name, true]] : others) };
}

/** What the server changes along with what the file declares: what a declared map takes the place of, and members of another kind. */
export function changedAlong(
  before: ObservedState,
  after: ObservedState,
  desired: DesiredState,
): (name: string) => boolean {
  const [was, is] = [kindsOf(before), kindsOf(after, desired)];
  const declared = desired.fields.filter(({ field }) => managesField(desired, field.name));
  return (name) => {
    const place = placeNamed(name);
    const isReplaced = declared.some(
      ({ field, value }) =>
        value !== null && field.place.length > place.length && isWithin(field.place, place),
    );
    const isOfOtherKind = kindPlaces(place, before).some(
      (kind) => !sameValue(was(kind), is(kind)) && declaresKind(kind, declared),
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
