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
import { formatPath, isWithin, samePath, type Path } from '../model/path.ts';
import type { Change, SettingsPlan } from '../model/plan.ts';
import { changesWith, REASONS } from '../model/reasons.ts';
import { Secret, UnseenSecret } from '../model/secret.ts';
import type { DesiredState, ObservedState, Prediction, SettingsWrite } from '../model/state.ts';
import {
  isEmpty,
  isList,
  isRecord,
  collectSecrets,
  createRecord,
  mapRecord,
  onceFor,
  sameValue,
  type Value,
} from '../model/value.ts';
import { managesField } from './declared.ts';
import { collectVariantKinds } from './field-here.ts';
import { findMcpChanges } from './side-effects.ts';

/* What a write changes besides what the file declares: the difference that its request makes on the service. */

/** Predicts what a write makes of a state; null if nothing is known of it. */
export function predictWrite(write: SettingsWrite, observed: ObservedState): Prediction | null {
  const fields = mapRecord(write.fields, withoutUnseen);
  return observed.predict?.({ ...write, fields }, observed) ?? null;
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
  const placesOf = onceFor((change: Change) => predictAlone(change, write, observed));
  const findCause = (place: Path): Change =>
    changes.find((change) => placesOf(change).some((one) => isWithin(place, one))) ?? first;
  const isPlanned = (path: Path): boolean =>
    [...changes, ...unpreservable].some(
      (one) => isWithin(path, one.path) || isWithin(one.path, path),
    );
  return [
    ...listStoredChanges(prediction, observed, findCause),
    ...listServerChanges(prediction, observed, desired, findCause),
  ].filter(({ path }) => !isPlanned(path) && !managesField(desired, formatPath(path)));
}

/** The places that a change alone makes otherwise. */
function predictAlone(
  { path }: Change,
  write: SettingsWrite,
  observed: ObservedState,
): readonly Path[] {
  const own = Object.entries(write.fields).filter(([name]) => isNamedWithin(name, path));
  const alone = { ...write, fields: createRecord(own) };
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
    const isStored = stored.some((name) => isNamedWithin(name, place));
    if (isWithin(place, NATIVE_SERVERS) || samePath(place, MIRROR) || !isStored) return [];
    return [createConsequence(findCause(place), path, place, before, after)];
  });
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
  { expected, differences }: Prediction,
  observed: ObservedState,
  desired: DesiredState,
  findCause: (place: Path) => Change,
): readonly Change[] {
  const place = differences.find(([one]) => isWithin(one, NATIVE_SERVERS))?.[0];
  if (place === undefined) return [];
  const [was = null, is = null] = [observed, expected].map(({ values }) => values['mcp_config']);
  const { dialect } = observed;
  const ofOthers = findMcpChanges(was, is, desired, dialect).map(({ path }) => formatPath(path));
  // What the file declares is there as declared after the write, unless the server loses it.
  const changed = findMcpChanges(was, is, desired, dialect, () => false).filter(
    ({ path, after }) => after === null || ofOthers.includes(formatPath(path)),
  );
  return changed.map(({ path, before, after }) => ({
    ...createConsequence(findCause(place), path, place, before, after),
    ...(after === null ? { action: 'remove' } : {}),
  }));
}

function createConsequence(
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

/** Reports whether a change makes an LLM profile active. */
export function isActivation({ path }: Pick<Change, 'path'>): boolean {
  return samePath(path, ACTIVE_PROFILE) || samePath(path, ['active', 'llm_profile']);
}

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
  const lost = changes.filter(
    ({ cause, before }) => cause !== undefined && samePath(cause, AGENT_KIND) && !isEmpty(before),
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
