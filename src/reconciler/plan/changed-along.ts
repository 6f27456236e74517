import { AGENT_KIND, AGENT_PART, isNamedWithin, placeNamed } from '../model/field.ts';
import {
  formatPath,
  isUnmanaged,
  isWithin,
  type Path,
  pathNamed,
  samePath,
} from '../model/path.ts';
import type { Change, SettingsPlan } from '../model/plan.ts';
import type { SettingsWrite, DesiredField, DesiredState, ObservedState } from '../model/state.ts';
import { isEmpty, createRecord, sameValue, readPath } from '../model/value.ts';
import { managesField } from './declared.ts';
import { kindPlaces, collectVariantKinds } from './field-here.ts';
import type { Dialect } from '../model/dialect.ts';
import type { GuardFinding } from '../model/guard.ts';
import { Secret } from '../model/secret.ts';
import { listCalledEntries } from './match-entries.ts';

/** Values that a server makes of another one which is written. */
export const FOLLOWS: ReadonlyMap<string, string> = new Map([
  ['agent_settings.active_meta_profile', 'active_meta_profile'],
  ['agent_settings.llm.api_version', 'llm_model'],
  ['agent_settings.llm.stream_idle_timeout', 'agent_settings.llm.timeout'],
]);

/** The member of agent_settings that a server turns on with a meta profile, and off with none. */
const SWITCH: Path = ['agent_settings', 'enable_classify_and_switch_llm_tool'];

/** Reports whether a write turns that member on or off although the file does not manage it. Null if the member does not change. */
function findImplicitSwitch(
  fields: SettingsWrite['fields'],
  { answer }: ObservedState,
  desired: DesiredState,
): boolean | null {
  const was = readPath(answer, SWITCH);
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
  const after = findImplicitSwitch(fields, before, desired);
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
  const after = findImplicitSwitch(fields, before, desired);
  if (after === null) return before;
  const name = formatPath(SWITCH);
  const others = Object.entries(before.values).filter(([other]) => other !== name);
  return { ...before, values: createRecord(after ? [...others, [name, true]] : others) };
}

/** Returns a test for names that the server changes as a side effect: replaced by a declared map, or members of another kind. */
export function createSideEffectTest(
  before: ObservedState,
  after: ObservedState,
  desired: DesiredState,
): (name: string) => boolean {
  const [was, is] = [collectVariantKinds(before), collectVariantKinds(after, desired)];
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

/** Reports whether a file sets the kind of a part: by its word, or by a member that only one kind has. */
function declaresKind(place: Path, declared: readonly DesiredField[]): boolean {
  const part = place.slice(0, -1);
  return declared.some(({ field }) => isNamedWithin(field.name, part));
}

/**
 * The kind of agent that a file changes to; null if it does not change. A server then resets the settings of the agent: all stored values
 * are gone, including secrets and mcp servers, and changing back does not restore them.
 */
export function newKind(desired: DesiredState, observed: ObservedState): string | null {
  if (!observed.stored || observed.dialect.ofKind === undefined) return null;
  const declared = desired.fields.find(({ field }) => samePath(field.path, AGENT_KIND));
  if (declared === undefined || isUnmanaged(desired.unmanaged, AGENT_KIND)) return null;
  const { value } = declared;
  const kind = value instanceof Secret ? value.compareWith((text) => text) : (value ?? USUAL_KIND);
  if (typeof kind !== 'string' || sameValue(kind, collectVariantKinds(observed)(AGENT_KIND)))
    return null;
  return kind;
}

/** The kind that null brings back. */
const USUAL_KIND = 'openhands';

/** Returns the dialect of the services once the file is applied. */
export function dialectAfter(desired: DesiredState, observed: ObservedState): Dialect {
  const kind = newKind(desired, observed);
  return kind === null ? observed.dialect : (observed.dialect.ofKind?.(kind) ?? observed.dialect);
}

/** Returns the state that a plan starts from. If the agent changes its kind, no settings of the agent remain. */
export function resetReplacedAgent(desired: DesiredState, observed: ObservedState): ObservedState {
  const kind = newKind(desired, observed);
  if (kind === null) return observed;
  const stays = Object.entries(observed.values).filter(
    ([name]) => !isNamedWithin(name, AGENT_PART),
  );
  const secrets = [...observed.secrets].map(
    ([name, state]) => [name, isNamedWithin(name, AGENT_PART) ? 'not-stored' : state] as const,
  );
  const { answer: shown } = observed;
  const answer = Object.entries(shown).filter(([name]) => name !== AGENT_PART[0]);
  return {
    ...observed,
    dialect: dialectAfter(desired, observed),
    values: createRecord([...stays, [formatPath(AGENT_KIND), kind]]),
    secrets: new Map(secrets),
    answer: createRecord(answer),
  };
}

/** Lists the undeclared settings that a change of the agent's kind loses, in one finding. */
export function resetAgent(plan: SettingsPlan, observed: ObservedState): GuardFinding[] {
  const change = plan.changes.find(({ path }) => samePath(path, AGENT_KIND));
  if (change === undefined || !observed.stored) return [];
  const written = plan.write?.fields ?? {};
  const held = [
    ...Object.keys(observed.values).filter(
      (name) => name !== 'mcp_config' && !isUsual(name, observed),
    ),
    ...[...observed.secrets].filter(([, state]) => state === 'stored').map(([name]) => name),
  ];
  const lost = held.filter(
    (name) =>
      isNamedWithin(name, AGENT_PART) &&
      !samePath(pathNamed(name), AGENT_KIND) &&
      !(name in written),
  );
  const isByName = plan.changes.some(({ path }) => path[0] === 'mcp_servers');
  const entries = listCalledEntries(observed.values['mcp_config']).flatMap(({ called }) => {
    const isPlanned = plan.changes.some(({ path }) => called.some((one) => samePath(one, path)));
    const [, address, alone] = called;
    return isPlanned ? [] : [isByName ? (alone ?? address) : address];
  });
  const all = [...lost, ...entries.map(formatPath)];
  const listed = all.length === 0 ? '' : ` Lost with it: ${all.join(', ')}.`;
  return [
    {
      message: `The plan changes ${formatPath(AGENT_KIND)}, with which the service resets all of ${AGENT_PART.join('.')}.${listed}`,
      path: AGENT_KIND,
    },
  ];
}

function isUsual(name: string, { values, dialect }: ObservedState): boolean {
  return isEmpty(values[name]) || sameValue(values[name], dialect.fields.get(name)?.absent);
}

/** Reports whether the agent changed its kind between two observations. Then none of its settings survive. */
export function hasAgentKindChanged(before: ObservedState, after: ObservedState): boolean {
  return (
    before.dialect.ofKind !== undefined &&
    !sameValue(collectVariantKinds(before)(AGENT_KIND), collectVariantKinds(after)(AGENT_KIND))
  );
}
