import { onceFor } from '../model/cache.ts';
import { activeDeclared } from '../model/collection-forms.ts';
import {
  ACTIVE_PROFILE,
  AGENT_KIND,
  AGENT_PART,
  fieldAtNative,
  fieldsWithin,
  isNamedWithin,
  MODEL_PART,
  NATIVE_SERVERS,
} from '../model/field.ts';
import type { GuardFinding } from '../model/guard.ts';
import { isOfServers, isUnmanagedEntry, listRecordEntries, MCP_LISTS } from '../model/mcp.ts';
import { formatPath, isWithin, samePath, type Path } from '../model/path.ts';
import type { Change, SettingsPlan, Unpreservable } from '../model/plan.ts';
import { changesWith, REASONS } from '../model/reasons.ts';
import { Secret, UnseenSecret } from '../model/secret.ts';
import {
  type DesiredState,
  findDeclaredServers,
  type ObservedState,
  type Prediction,
  type SettingsWrite,
} from '../model/state.ts';
import {
  isEmpty,
  isList,
  isRecord,
  collectSecrets,
  createRecord,
  filterMembers,
  mapRecord,
  readPath,
  sameValue,
  type Value,
  type ValueRecord,
} from '../model/value.ts';
import { managesField } from './declared.ts';
import { collectVariantKinds } from './field-here.ts';
import { createEntrySearch } from './match-entries.ts';
import {
  findLostLogin,
  hiddenSecrets,
  listUnpreservableMembers,
  resolveMcpHiding,
} from './mcp-entry.ts';
import { computePreservedEntry } from './plan-mcp-list.ts';
import { pairServers } from './side-effects.ts';

/* What a write changes besides what the file declares: the difference that its request makes on the service. */

/** Predicts what a write makes of a state, once for both; null if nothing is known of it. */
export function predictWrite(write: SettingsWrite, observed: ObservedState): Prediction | null {
  return predictionsOf(observed)(write);
}

const predictionsOf = onceFor((observed: ObservedState) =>
  onceFor((write: SettingsWrite): Prediction | null => {
    const fields = mapRecord(write.fields, withoutUnseen);
    const prediction = observed.predict?.({ ...write, fields }, observed) ?? null;
    if (prediction === null || observed.saved !== true) return prediction;
    // The masks of a snapshot are setpoint's own: an apply reads the values behind them, and sends them along.
    const isCarried = ([[name = ''], before]: Difference): boolean =>
      holdsUnseen(before) &&
      !Object.hasOwn(fields, name) &&
      !observed.hidden.includes(name) &&
      observed.dialect.fields.get(name)?.reads !== 'nothing';
    return { ...prediction, differences: prediction.differences.filter((one) => !isCarried(one)) };
  }),
);

function holdsUnseen(value: Value): boolean {
  return collectSecrets(value).some((one) => one instanceof UnseenSecret);
}

/** A value with texts in place of references without a value: that there is one is all that counts. */
export function withoutUnseen(value: Value): Value {
  if (value instanceof UnseenSecret) return new Secret('not known here');
  if (isList(value)) return value.map(withoutUnseen);
  return isRecord(value) ? mapRecord(value, withoutUnseen) : value;
}

/** The changes of a write that no file declares, next to the change that causes each. */
export function listConsequences(
  { write, changes, unpreservable }: SettingsPlan,
  desired: DesiredState,
  observed: ObservedState,
): readonly Change[] {
  const [first] = changes;
  const prediction = write === null ? null : predictWrite(write, observed);
  if (write === null || first === undefined || prediction === null) return [];
  const causes = listCauses(changes, write);
  const placesOf = onceFor((change: Change) => predictAlone(change, write, observed));
  const findCause = (place: Path): Change =>
    causes.find((change) => placesOf(change).some((one) => isWithin(place, one))) ?? first;
  const isPlanned = (path: Path): boolean =>
    [...changes, ...unpreservable].some(
      (one) => isWithin(path, one.path) || isWithin(one.path, path),
    );
  return [
    ...listStoredChanges(prediction, observed, findCause),
    ...listServerChanges(prediction, observed, desired, findCause),
    ...(activeDeclared(desired, 'llm_profile') === null
      ? listDeactivation(write, observed, findCause)
      : []),
  ].filter(({ path }) => !isPlanned(path) && !managesField(desired, formatPath(path)));
}

/** The profile that a write of the llm makes inactive. */
function listDeactivation(
  write: SettingsWrite,
  observed: ObservedState,
  findCause: (place: Path) => Change,
): readonly Change[] {
  const ended = findDeactivation(write, observed);
  if (ended?.again !== false) return [];
  return [createConsequence(findCause(MODEL_PART), ACTIVE_ITEM, MODEL_PART, ended.name, null)];
}

/** The LLM profile that a write makes inactive; null if it ends none. */
export interface ProfileDeactivation {
  readonly name: string;
  /** True if the llm stays that of the profile: it can then be activated again, because filling in its address deactivates it. */
  readonly again: boolean;
}

export function findDeactivation(
  write: SettingsWrite | null,
  observed: ObservedState,
): ProfileDeactivation | null {
  const name = observed.profiles?.active ?? null;
  if (write === null || name === null) return null;
  const made = predictWrite(write, observed);
  if (made === null || made.expected.profiles?.active === name) return null;
  return { name, again: !Object.keys(write.fields).some(isOfLlm) };
}

/** Reports whether a setting is of the llm, or of the kind of agent, which decides whether there is one. */
export function isOfLlm(name: string): boolean {
  return isNamedWithin(name, MODEL_PART) || isNamedWithin(name, AGENT_KIND);
}

/** The first change of those that write the same fields: such changes have the same consequences. */
function listCauses(changes: readonly Change[], write: SettingsWrite): readonly Change[] {
  const byFields = changes.map((change): [string, Change] => {
    const own = selectOwnFields(change, write);
    return [JSON.stringify(Object.keys(own)), change];
  });
  const firsts = new Map(byFields.toReversed());
  return byFields.flatMap(([key, change]) => (firsts.get(key) === change ? [change] : []));
}

/** The fields of a write that are at the place of a change, or in it. */
function selectOwnFields({ path }: Change, { fields }: SettingsWrite): ValueRecord {
  return filterMembers(fields, (name) => isNamedWithin(name, path));
}

/** The places that a change alone makes otherwise. */
function predictAlone(
  change: Change,
  write: SettingsWrite,
  observed: ObservedState,
): readonly Path[] {
  const alone = { ...write, fields: selectOwnFields(change, write) };
  return predictWrite(alone, observed)?.differences.map(([place]) => place) ?? [];
}

/** The changes of stored values by a request, as far as one is no default. `findCause`: the change that makes one of a place. */
export function listStoredChanges(
  { expected, differences }: Prediction,
  observed: ObservedState,
  findCause: (place: Path) => Change,
): readonly Change[] {
  const stored = [...listStoredNames(observed), ...listStoredNames(expected)];
  // Servers list members in different orders.
  const all = differences
    .flatMap(toParts)
    .toSorted(([one], [other]) => (formatPath(one) < formatPath(other) ? -1 : 1));
  return all.flatMap(([place, before, after]): Change[] => {
    const path = fieldAtNative(place)?.path ?? place;
    const isStored = holdsUnseen(before) || stored.some((name) => isNamedWithin(name, place));
    if (isMcpPlace(place) || samePath(place, MIRROR) || !isStored) return [];
    return [createConsequence(findCause(place), path, place, before, after)];
  });
}

/** Reports whether a place on the service is that of the mcp servers, by their names or in lists. */
function isMcpPlace(place: Path): boolean {
  return isWithin(place, NATIVE_SERVERS) || isOfServers(place);
}

/** A copy of the pointer to the active meta profile. */
const MIRROR: Path = [...AGENT_PART, 'active_meta_profile'];

/** A record that comes or goes: its members, if a field has its place in it. */
function toParts([place, before, after]: Difference): readonly Difference[] {
  const [was, is] = [before ?? NONE, after ?? NONE];
  if (fieldsWithin(place).every((field) => samePath(field.place, place)))
    return [[place, before, after]];
  if (!isRecord(was) || !isRecord(is)) return [[place, before, after]];
  const names = Object.keys({ ...was, ...is });
  return names
    .map((name): Difference => [[...place, name], was[name] ?? null, is[name] ?? null])
    .flatMap(toParts);
}

const NONE = createRecord([]);

type Difference = Prediction['differences'][number];

function listServerChanges(
  prediction: Prediction,
  observed: ObservedState,
  desired: DesiredState,
  findCause: (place: Path) => Change,
): readonly Change[] {
  const place = prediction.differences.find(([one]) => isMcpPlace(one))?.[0];
  if (place === undefined) return [];
  // What the file declares is there as declared after the write, unless the server loses it.
  const changed = serversOf(prediction, observed, desired).filter(
    ({ isSame, isManaged, before, after }) =>
      isSame !== true &&
      (after === null || (!isManaged && !(observed.saved === true && holdsUnseen(before)))),
  );
  return changed.map(({ path, before, after }) => ({
    ...createConsequence(findCause(place), path, place, before, after),
    ...(after === null ? { action: 'remove' } : {}),
  }));
}

/** The mcp entries before and after a write. */
function serversOf({ expected }: Prediction, observed: ObservedState, desired: DesiredState) {
  const [was = null, is = null] = [observed, expected].map(({ values }) => values['mcp_config']);
  return pairServers(was, is, desired, observed.dialect);
}

/** The change of a place that the request of another change makes. */
export function createConsequence(
  cause: Change,
  path: Path,
  place: Path,
  before: Value,
  after: Value,
): Change {
  const isOfProfile = isWithin(place, MODEL_PART) && isActivation(cause);
  const { found: _found, parameters: _parameters, ...same } = cause;
  return {
    ...same,
    path,
    action: isEmpty(after) ? 'clear' : isEmpty(before) ? 'set' : 'change',
    before,
    after: isEmpty(after) ? null : after,
    sensitive: collectSecrets(before).length + collectSecrets(after).length > 0,
    ref: null,
    ...(isOfProfile ? REASONS['with-profile'] : changesWith(cause.path)),
    consequence: true,
    cause: cause.path,
  };
}

/**
 * Lists the values that a write loses because the service does not show them, apart from those that the file declares: hidden members of
 * mcp entries, and where a write replaces the whole record, hidden fields.
 */
export function listLosses(
  write: SettingsWrite | null,
  desired: DesiredState,
  observed: ObservedState,
): readonly Unpreservable[] {
  const prediction = write === null ? null : predictWrite(write, observed);
  if (prediction === null) return [];
  const fields = prediction.differences.flatMap(([[name = ''], before, after]): Unpreservable[] => {
    const isLost = before instanceof UnseenSecret && isEmpty(after);
    return observed.dialect.writes === 'record' && isLost && !managesField(desired, name)
      ? [createFieldLoss(name, observed)]
      : [];
  });
  const byName = fields.toSorted(({ path: [one = ''] }, { path: [other = ''] }) =>
    one < other ? -1 : 1,
  );
  return [...listLostMembers(desired, observed, prediction), ...byName];
}

function createFieldLoss(name: string, { dialect }: ObservedState): Unpreservable {
  const field = dialect.fields.get(name);
  if (field === undefined)
    return {
      path: [name],
      stops: 'always',
      remedy: 'Set it by other means: a settings file cannot declare it',
    };
  const of = { path: [name], stops: 'protected' } as const;
  return field.loses === undefined
    ? { ...of, remedy: 'Declare it under settings: (a reference to keep it, null to clear it)' }
    : { ...of, remedy: `Declare ${name}: null under settings: ${field.loses}`, neverWorks: true };
}

/** Lists the hidden members of mcp entries that are not there after a write. The masks of a snapshot are setpoint's own. */
function listLostMembers(
  desired: DesiredState,
  observed: ObservedState,
  prediction: Prediction,
): readonly Unpreservable[] {
  if (observed.saved === true) return [];
  const hiding = resolveMcpHiding(observed);
  const config = findDeclaredServers(desired)?.value;
  const declaredIn = new Map(
    MCP_LISTS.map((list) => {
      const entries = listRecordEntries(isRecord(config) ? config[list] : null);
      return [list, createEntrySearch(list, entries)] as const;
    }),
  );
  return serversOf(prediction, observed, desired).flatMap(({ list, path, before, after }) => {
    if (list === undefined || !isRecord(before) || !isRecord(after)) return [];
    const stays = computePreservedEntry(list, after, before);
    // What the file declares of an entry that it leaves unmanaged is not sent.
    const isLeft = isUnmanagedEntry(desired.unmanaged, list, before);
    const file = isLeft ? NONE : (declaredIn.get(list)?.(before) ?? NONE);
    const lost = hiddenSecrets(list, stays, hiding).filter(
      (member) =>
        file[member[0] ?? ''] === undefined &&
        // A key replaces every other way to authenticate.
        (member[0] !== 'auth' || isEmpty(after['api_key'])) &&
        isEmpty(readPath(after, member)),
    );
    return listUnpreservableMembers(path, [...lost, ...findLostLogin(file, stays, hiding)]);
  });
}

/** Reports whether a change makes an LLM profile active. */
export function isActivation({ path }: Pick<Change, 'path'>): boolean {
  return samePath(path, ACTIVE_PROFILE) || samePath(path, ACTIVE_ITEM);
}

export const ACTIVE_ITEM: Path = ['active', 'llm_profile'];

/** Lists the values on the service that differ from its defaults. */
export const listStoredNames = onceFor(
  ({ dialect, values, secrets, tokens, hidden }: ObservedState): readonly string[] => [
    ...new Set([
      ...Object.keys(values).filter(
        (name) =>
          !isEmpty(values[name]) && !sameValue(values[name], dialect.fields.get(name)?.absent),
      ),
      ...[...secrets].filter(([, state]) => state === 'stored').map(([name]) => name),
      ...(tokens.length > 0 ? ['secrets_store'] : []),
      ...hidden,
    ]),
  ],
);

/** The kind that null brings back. */
const USUAL_KIND = 'openhands';

/**
 * Returns the state that a plan starts from. If the file changes the kind of agent, a server resets the settings of the agent: all stored
 * values are gone, including secrets and mcp servers, and changing back does not restore them.
 */
export function resetReplacedAgent(desired: DesiredState, observed: ObservedState): ObservedState {
  const declared = desired.fields.find(({ field }) => samePath(field.path, AGENT_KIND));
  if (declared === undefined) return observed;
  const { value } = declared;
  const kind = value instanceof Secret ? value.compareWith((text) => text) : (value ?? USUAL_KIND);
  if (typeof kind !== 'string' || sameValue(kind, collectVariantKinds(observed)(AGENT_KIND)))
    return observed;
  const fields = createRecord([[formatPath(AGENT_KIND), kind]]);
  return predictWrite({ fields, observed }, observed)?.expected ?? observed;
}

/** Lists the undeclared settings that a change of the agent's kind loses, in one finding. */
export function resetAgent({ changes }: SettingsPlan, { stored }: ObservedState): GuardFinding[] {
  const change = changes.find(({ path }) => samePath(path, AGENT_KIND));
  if (change === undefined || !stored) return [];
  const { cause = AGENT_KIND } = change;
  const lost = changes.filter(
    (one) =>
      one !== change &&
      one.cause !== undefined &&
      samePath(one.cause, cause) &&
      !isEmpty(one.before),
  );
  const names = lost.map(({ path }) => formatPath(path)).join(', ');
  const listed = names === '' ? '' : ` Lost with it: ${names}.`;
  return [
    {
      message: `The plan changes ${formatPath(AGENT_KIND)}, with which the service resets all of ${formatPath(AGENT_PART)}.${listed}`,
      path: AGENT_KIND,
    },
  ];
}
