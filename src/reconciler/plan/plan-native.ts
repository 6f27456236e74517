import type { SettingsAction } from '../model/action.ts';
import type { AnyField } from '../model/field.ts';
import { holdsMask } from '../model/mask.ts';
import { factsAt } from '../model/path-facts.ts';
import { RESET, type Change, type Unknown } from '../model/plan.ts';
import type { DesiredField, ObservedState } from '../model/state.ts';
import { defaultOf, isOpenMap } from '../model/native-schema.ts';
import { isWithin, samePath, type Path } from '../model/path.ts';
import {
  isEmpty,
  isList,
  isRecord,
  recordOf,
  sameValue,
  secretsIn,
  type Value,
  type ValueRecord,
} from '../model/value.ts';
import { missingIn } from './mcp-entry.ts';
import { heldWithin, placeOf, sameNative, shownAt } from './native-fields.ts';
import { dialectField, NOTHING, REASONS, type FieldPlan } from './plan-plain.ts';
import { isRotated, type Rotation } from './plan-secrets.ts';
import { shownLike, veiled } from './shown-like.ts';

/**
 * Plans a native value, beside others that the file declares at the places in `kept`: a scalar, a list as a whole, null for the default of the server, or an empty map, which takes every key out.
 * What the service does not show has its default there.
 */
export function planNative(
  desired: DesiredField,
  observed: ObservedState,
  rotation: Rotation,
  kept: readonly Path[] = [],
): FieldPlan {
  const { value: declared, source } = desired;
  const { path } = desired.field;
  const { absent, onNull } = dialectField(desired, observed);
  const value = veiled(declared);
  if (isEmptied(value, path, observed)) return planEmptied(desired, kept, observed);
  const shown = shownAt(observed, path);
  const actual = shown === undefined && observed.stored ? absent : (shown ?? null);
  const target = value === null ? absent : value;
  const rotated = isRotated(rotation, path) && isRotatedField(desired.field, value);
  // If a service has no null here, an empty list means none.
  const none = onNull === 'refuses' && isNone(target) && isNone(actual);
  const isNull = value === null && actual === null;
  const same = none || isNull || isSame(target, actual, desired, observed);
  if (same && !rotated) return NOTHING;
  const unknown = unknownIn(desired, actual);
  if (unknown.length > 0 && !isEmpty(actual)) return { unknown };
  const before = shownLike(actual, value);
  const sensitive = secretsIn(value).length > 0 || secretsIn(before).length > 0;
  const action = same ? 'rotate' : actionFor(value, actual);
  const change: Change = {
    resource: 'settings',
    path,
    action,
    before,
    after: action === 'clear' ? null : value,
    sensitive,
    ref: referencesIn(value),
    reason:
      action === 'rotate' ? ROTATED : value === null && absent !== null ? RESET : REASONS[action],
    source: source(),
  };
  return { changes: [change], write: value, ...(unknown.length === 0 ? {} : { unknown }) };
}

const ROTATED = 'set, will be rotated';

/** Whether `--rotate` writes a field anew: one that is a secret, and that the file has a value for. */
export function isRotatedField(field: AnyField, value: Value): boolean {
  if (field.secret) return true;
  return factsAt(field.path).secret && secretsIn(value).length > 0;
}

/** Whether a file declares that nothing is in a map of any names. */
function isEmptied(value: Value, path: Path, observed: ObservedState): boolean {
  if (value === null) return isOpenMap(placeOf(path, observed));
  return isNothing(value);
}

/** Takes out every key that the service has there: an empty map, sent as it is, changes none. What is no map is replaced by one. */
function planEmptied(
  { field: { path }, value, source }: DesiredField,
  kept: readonly Path[],
  observed: ObservedState,
): FieldPlan {
  const held = withoutKept(heldWithin(path, observed), path, kept);
  if (isNothing(held)) return NOTHING;
  const change: Change = {
    resource: 'settings',
    path,
    action: 'clear',
    before: held,
    after: null,
    sensitive: secretsIn(held).length > 0,
    ref: null,
    reason: REASONS.clear,
    source: source(),
  };
  const resets = value === null && defaultOf(placeOf(path, observed)) !== undefined;
  if (resets) return { changes: [change], write: null };
  return { changes: [change], write: isRecord(held) ? removalOf(held, path, kept) : recordOf([]) };
}

/** What is in a map besides what the file declares itself. */
function withoutKept(value: Value, path: Path, kept: readonly Path[]): Value {
  if (!isRecord(value) || !kept.some((one) => isWithin(one, path))) return value;
  return recordOf(
    Object.entries(value).flatMap(([key, member]): (readonly [string, Value])[] => {
      const at = [...path, key];
      if (kept.some((one) => samePath(one, at))) return [];
      const rest = withoutKept(member, at, kept);
      return isNothing(rest) && !isNothing(member) ? [] : [[key, rest]];
    }),
  );
}

/** Null for each key that goes; a map that holds what stays is gone into. */
function removalOf(held: ValueRecord, path: Path, kept: readonly Path[]): ValueRecord {
  return recordOf(
    Object.entries(held).map(([key, member]) => {
      const at = [...path, key];
      const stays = kept.some((one) => isWithin(one, at));
      return [key, stays && isRecord(member) ? removalOf(member, at, kept) : null] as const;
    }),
  );
}

function isSame(
  target: Value,
  actual: Value,
  { field }: DesiredField,
  observed: ObservedState,
): boolean {
  if (isNothing(target) && isNothing(actual) && !isList(target) && !isList(actual)) return true;
  if (sameValue(target, actual)) return true;
  return sameNative(target, actual, placeOf(field.path, observed), observed);
}

function isNone(value: Value): boolean {
  return value === null || (isList(value) && value.length === 0);
}

/** No value, or a map without a key: both read back alike. */
function isNothing(value: Value): boolean {
  return value === null || (isRecord(value) && Object.keys(value).length === 0);
}

/** What cannot be compared: references without a value, and what the service or a snapshot masks. */
function unknownIn({ field: { path }, value }: DesiredField, actual: Value): Unknown[] {
  const missing = missingIn(path, value);
  if (missing.length > 0) return missing;
  const withheld = secretsIn(value).filter((secret) => 'unseen' in secret);
  if (!holdsMask(actual) && withheld.length === 0) return [];
  return [{ path, reason: 'masked, cannot be compared', ref: referencesIn(value) }];
}

function actionFor(value: Value, actual: Value): SettingsAction {
  if (isNothing(value)) return 'clear';
  return isEmpty(actual) ? 'set' : 'change';
}

function referencesIn(value: Value): string | null {
  const refs = secretsIn(value).flatMap((secret) => secret.ref ?? []);
  return refs.length === 0 ? null : [...new Set(refs)].join(', ');
}
