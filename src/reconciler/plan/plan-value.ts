import { type SettingsAction } from '../model/action.ts';
import { REASONS } from '../model/reasons.ts';
import type { PrefixDefaults, DialectField } from '../model/dialect.ts';
import { isMaskedSecret } from '../model/secret-words.ts';
import { findServerDefault, isOpenMap } from '../model/native-schema.ts';
import { isWithin, samePath, type Path } from '../model/path.ts';
import { UnseenSecret } from '../model/secret.ts';
import type { DesiredField, DesiredState, ObservedState } from '../model/state.ts';
import {
  isEmpty,
  isList,
  isRecord,
  createRecord,
  sameValue,
  textFits,
  type Value,
  type ValueRecord,
} from '../model/value.ts';
import {
  resolveDialectField,
  collectStoredMembers,
  findSchemaNodes,
  isEquivalentValue,
  readShownValue,
} from './field-here.ts';
import {
  isRotated,
  type Rotation,
  maskByDeclaration,
  wrapSecretLiterals,
  type FieldPlan,
  isRotatedField,
  NOTHING,
  canClear,
  notCleared,
} from './declared.ts';
import {
  formatReferences,
  collectUnknowns,
  createChange,
  REASONS_OF_ACTIONS,
  createSettingsSubject,
} from './decision.ts';

/** The context of a planned field: the fields that the same file manages, and what is rotated. */
interface FieldContext extends Pick<DesiredState, 'fields'> {
  readonly rotation: Rotation;
}

const ALONE: FieldContext = { fields: [], rotation: [] };

/**
 * Plans a value that the service shows: a scalar, a list as a whole, null for the service's default, or an empty map, which removes every
 * key.
 */
export function planValue(
  desired: DesiredField,
  observed: ObservedState,
  beside: FieldContext = ALONE,
): FieldPlan {
  const { field, source } = desired;
  const { path } = field;
  const here = resolveDialectField(field, observed);
  const value = wrapSecretLiterals(desired.value);
  if (isEmptied(value, path, observed)) return planEmptied(desired, observed, beside);
  const actual = readActualValue(path, here, value, observed);
  const isSame = isSameField(path, here, value, actual, observed);
  const rotated = isRotated(beside.rotation, path) && isRotatedField(field, value);
  if (isSame && !rotated) return NOTHING;
  const unknown = collectUnknowns(path, value, actual);
  if (unknown.length > 0 && !surelyDiffers(value, actual)) return { unknown };
  if (isEmpty(actual) && isShownAsNull(here.shownAsNull, value, observed, beside)) return NOTHING;
  if (value === null && !canClear(here)) return { warnings: [notCleared(here)] };
  const action = isSame ? 'rotate' : actionFor(here, value, actual);
  const before = maskByDeclaration(actual, value);
  const after = action === 'clear' ? null : value;
  const reason = isDefaultRequest(here, value) ? REASONS.reset : REASONS_OF_ACTIONS[action];
  const change = createChange(createSettingsSubject(path, source()), action, before, after, reason);
  return {
    ...(unknown.length === 0 ? {} : { unknown }),
    write: value === null ? here.clearWith : value,
    changes: [{ ...change, ref: formatReferences(value) }],
  };
}

/** Returns the value of a service at a field, shown or by default: in a stored record, or in the one that the first write creates. */
function readActualValue(
  path: Path,
  here: DialectField,
  declared: Value,
  observed: ObservedState,
): Value {
  const shown = readShownValue(observed, path);
  if (shown !== undefined && (shown !== null || here.storesNull === true)) return shown;
  const appears = observed.stored || (here.clearWith !== null && isCleared(here, declared));
  return appears ? here.absent : null;
}

/** Reports whether a file declares that a map of arbitrary names is empty. */
function isEmptied(value: Value, path: Path, observed: ObservedState): boolean {
  return value === null ? isOpenMap(findSchemaNodes(path, observed)) : readsAsNone(value);
}

/** Takes out every key that the service has there: sending an empty map changes nothing. A value that is not a map is replaced by one. */
function planEmptied(
  { field: { path }, value, source }: DesiredField,
  observed: ObservedState,
  { fields }: FieldContext,
): FieldPlan {
  // A field that the specification names may be declared inside.
  const kept = fields
    .map(({ field }) => field.place)
    .filter((place) => place.length > path.length && isWithin(place, path));
  const held = withoutKept(collectStoredMembers(path, observed), path, kept);
  if (readsAsNone(held)) return NOTHING;
  const change = createChange(
    createSettingsSubject(path, source()),
    'clear',
    held,
    null,
    REASONS.cleared,
  );
  const resets = value === null && findServerDefault(findSchemaNodes(path, observed)) !== undefined;
  if (resets) return { changes: [change], write: null };
  return {
    changes: [change],
    write: isRecord(held) ? buildRemovalDiff(held, path, kept) : createRecord({}),
  };
}

/** Returns the members of a map that the file does not declare itself. */
function withoutKept(value: Value, path: Path, kept: readonly Path[]): Value {
  if (!isRecord(value) || kept.length === 0) return value;
  return createRecord(
    Object.entries(value).flatMap(([key, member]): (readonly [string, Value])[] => {
      const at = [...path, key];
      if (kept.some((one) => samePath(one, at))) return [];
      const rest = withoutKept(member, at, filterPathsWithin(at, kept));
      return readsAsNone(rest) && !readsAsNone(member) ? [] : [[key, rest]];
    }),
  );
}

function filterPathsWithin(path: Path, kept: readonly Path[]): readonly Path[] {
  return kept.filter((one) => isWithin(one, path));
}

/** Null for each key that goes; a map that holds what stays is gone into. */
function buildRemovalDiff(held: ValueRecord, path: Path, kept: readonly Path[]): ValueRecord {
  return createRecord(
    Object.entries(held).map(([key, member]) => {
      const at = [...path, key];
      const inner = filterPathsWithin(at, kept);
      return [
        key,
        inner.length > 0 && isRecord(member) ? buildRemovalDiff(member, at, inner) : null,
      ];
    }),
  );
}

/** Reports whether two values certainly differ although one is unknown. A reference is never empty and fits its text; a mask is a value. */
function surelyDiffers(declared: Value, actual: Value): boolean {
  if (isEmpty(actual)) return true;
  if (isMaskedSecret(actual)) return isEmpty(declared);
  return declared instanceof UnseenSecret && typeof actual === 'string' && !declared.mayBe(actual);
}

function isSameField(
  path: Path,
  here: DialectField,
  desired: Value,
  actual: Value,
  observed: ObservedState,
): boolean {
  if (isCleared(here, desired) && isCleared(here, actual)) return true;
  const wanted = isDefaultRequest(here, desired) ? here.absent : desired;
  // If a service has no null here, an empty list means none.
  if (here.onNull === 'refuses' && isNone(wanted) && isNone(actual)) return true;
  if (readsAsNone(wanted) && readsAsNone(actual)) return true;
  return isEquivalentValue(wanted, actual, path, observed);
}

function isNone(value: Value): boolean {
  return value === null || (isList(value) && value.length === 0);
}

/** No value, or a map without a key: both read back alike. */
function readsAsNone(value: Value): boolean {
  return value === null || (isRecord(value) && Object.keys(value).length === 0);
}

/** Reports whether a value means "not set", in any spelling of the service. */
export function isCleared(
  { onNull, clearWith }: Pick<DialectField, 'onNull' | 'clearWith'>,
  value: Value,
): boolean {
  if (onNull === 'keeps' && isEmpty(value)) return true;
  return value === null || (clearWith !== null && sameValue(value, clearWith));
}

/** Reports whether the file requests the default: null means that, and nothing else clears the field. */
function isDefaultRequest({ onNull, clearWith }: DialectField, desired: Value): boolean {
  return desired === null && onNull === 'resets' && clearWith === null;
}

/** Reports whether the service answers a value as null, given its state and the rest of the file. */
export function isShownAsNull(
  defaults: PrefixDefaults | undefined,
  value: Value,
  { stored, values }: ObservedState,
  { fields }: Pick<DesiredState, 'fields'> = ALONE,
): boolean {
  if (defaults === undefined || !stored) return false;
  const own = fields.find(({ field }) => field.name === defaults.field);
  const other = own === undefined ? (values[defaults.field] ?? null) : own.value;
  return [...defaults.values].some(
    ([start, hidden]) => sameValue(value, hidden) && beginsWith(other, start),
  );
}

/** Reports whether a value is a text with this start, also if it came from a reference. */
function beginsWith(value: Value, start: string): boolean {
  return !(value instanceof UnseenSecret) && textFits(value, (text) => text.startsWith(start));
}

function actionFor({ onNull }: DialectField, desired: Value, actual: Value): SettingsAction {
  if (readsAsNone(desired) || (onNull === 'keeps' && isEmpty(desired))) return 'clear';
  return isEmpty(actual) ? 'set' : 'change';
}
