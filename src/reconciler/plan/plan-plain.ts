import type { SettingsAction } from '../model/action.ts';
import { SetpointError } from '../model/error.ts';
import { nativeDialectField } from './native-fields.ts';
import type { DefaultsBy, DialectField } from '../model/dialect.ts';
import { isSensitiveUrl } from '../model/address.ts';
import { isMasked } from '../model/mask.ts';
import {
  RESET,
  type Change,
  type Unknown,
  type Unpreservable,
  type Warning,
} from '../model/plan.ts';
import { Secret, UnseenSecret } from '../model/secret.ts';
import type { DesiredField, DesiredState, ObservedState } from '../model/state.ts';
import { isEmpty, sameValue, textFits, type Value } from '../model/value.ts';

/** What one declared field adds to the plan. `write` is its value in a write; absent if it stays as it is. */
export interface FieldPlan {
  readonly changes?: readonly Change[];
  readonly unknown?: readonly Unknown[];
  readonly unpreservable?: readonly Unpreservable[];
  readonly warnings?: readonly Warning[];
  /** Whether it is a secret that was written from here, and that the service does not have any more. */
  readonly gone?: boolean;
  readonly write?: Value;
}

export const NOTHING: FieldPlan = {};

/** The field as the dialect has it. Throws if these services do not have it: that is found before a plan is made. */
export function dialectField({ field }: DesiredField, observed: ObservedState): DialectField {
  if (field.isNative) return nativeDialectField(field, observed);
  const { dialect } = observed;
  const found = dialect.fields.get(field.name);
  if (found !== undefined) return found;
  throw new SetpointError('internal', `${dialect.name} has no field ${field.name}.`);
}

/** Plans a field that is one readable scalar. `others` are the fields that the same file manages. */
export function planPlain(
  desired: DesiredField,
  observed: ObservedState,
  others: Pick<DesiredState, 'fields'> = { fields: [] },
): FieldPlan {
  const { value: declared, source } = desired;
  const field = dialectField(desired, observed);
  const value =
    typeof declared === 'string' && isSensitiveUrl(declared) ? new Secret(declared) : declared;
  const actual =
    observed.values[field.name] ??
    (field.storesNull !== true && appears(field, value, observed) ? field.absent : null);
  const unknown = unknownOf(field, value, actual);
  if (unknown !== null && !surelyDiffers(value, actual)) return { unknown: [unknown] };
  if (unknown === null && isSameField(field, value, actual)) return NOTHING;
  if (isEmpty(actual) && isShownAsNull(field.shownAsNull, value, observed, others)) return NOTHING;
  if (value === null && !canClear(field)) return { warnings: [notCleared(field)] };
  const action = actionFor(field, value, actual);
  const sensitive = value instanceof Secret || actual instanceof Secret;
  return {
    ...(unknown === null ? {} : { unknown: [unknown] }),
    write: value === null ? field.clearWith : value,
    changes: [
      {
        resource: 'settings',
        path: [field.name],
        action,
        before: sensitive ? concealed(actual) : actual,
        after: action === 'clear' ? null : value,
        sensitive,
        ref: value instanceof Secret ? value.ref : null,
        reason: isReset(field, value) ? RESET : REASONS[action],
        source: source(),
      },
    ],
  };
}

/** Whether a field that is not there has its default: in a stored record, or in the one that the first write makes. */
function appears(field: DialectField, declared: Value, { stored }: ObservedState): boolean {
  return stored || (field.clearWith !== null && isCleared(field, declared));
}

/** Why the two cannot be compared: the reference has no value, or the observed value is masked. */
function unknownOf({ name }: DialectField, declared: Value, actual: Value): Unknown | null {
  const ref = declared instanceof Secret ? declared.ref : null;
  if (declared instanceof UnseenSecret)
    return { path: [name], reason: declared.unseen.reason, ref };
  return isMasked(actual) && !sameValue(declared, actual)
    ? { path: [name], reason: 'masked, cannot be compared', ref }
    : null;
}

/** Whether the two differ although one is not known: a reference is never empty and fits the text around it; a mask is a value. */
function surelyDiffers(declared: Value, actual: Value): boolean {
  if (isMasked(actual) || actual instanceof UnseenSecret) return isEmpty(declared);
  if (!(declared instanceof UnseenSecret)) return false;
  return isEmpty(actual) || (typeof actual === 'string' && !declared.mayBe(actual));
}

/** Why a change of each kind is in a plan. */
export const REASONS: Readonly<Record<SettingsAction, string>> = {
  set: 'not set',
  change: 'differs',
  clear: 'set, will be cleared',
  remove: 'not declared',
  rotate: 'will be rotated',
};

/** Masks the old value of a field whose new value is masked. */
export function concealed(value: Value): Value {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? new Secret(value)
    : value;
}

/** Whether anything that is sent clears a field of these services. */
export function canClear({ onNull, clearWith }: DialectField): boolean {
  return onNull !== 'keeps' || clearWith !== null;
}

/** That the file declares null, and the service keeps what it has: no write is made of it. */
export function notCleared({ name, kept = 'these services' }: DialectField): Warning {
  const message = `${name} cannot be cleared: ${kept} keep what is stored. Declare a value, or list it as unmanaged.`;
  return { code: 'not-cleared', message, path: [name] };
}

function isSameField(field: DialectField, desired: Value, actual: Value): boolean {
  if (isCleared(field, desired) && isCleared(field, actual)) return true;
  return sameValue(isReset(field, desired) ? field.absent : desired, actual);
}

/** Whether a value is none, however the service spells that. */
export function isCleared(
  { onNull, clearWith }: Pick<DialectField, 'onNull' | 'clearWith'>,
  value: Value,
): boolean {
  if (onNull === 'keeps' && isEmpty(value)) return true;
  return value === null || (clearWith !== null && sameValue(value, clearWith));
}

/** Whether the file asks for the default, because null means that and nothing else clears the field. */
function isReset({ onNull, clearWith }: DialectField, desired: Value): boolean {
  return desired === null && onNull === 'resets' && clearWith === null;
}

/** Whether a value is one that the service answers as null, given what it has and what else the file declares. */
export function isShownAsNull(
  defaults: DefaultsBy | undefined,
  value: Value,
  { stored, values }: ObservedState,
  { fields }: Pick<DesiredState, 'fields'> = { fields: [] },
): boolean {
  if (defaults === undefined || !stored) return false;
  const own = fields.find(({ field }) => field.name === defaults.field);
  const other = own === undefined ? (values[defaults.field] ?? null) : own.value;
  return [...defaults.values].some(
    ([start, hidden]) => sameValue(value, hidden) && beginsWith(other, start),
  );
}

/** Whether a value is a text that begins so, also if it came from a reference. */
export function beginsWith(value: Value, start: string): boolean {
  return !(value instanceof UnseenSecret) && textFits(value, (text) => text.startsWith(start));
}

function actionFor(field: DialectField, desired: Value, actual: Value): SettingsAction {
  if (desired === null || (field.onNull === 'keeps' && isEmpty(desired))) return 'clear';
  return isEmpty(actual) ? 'set' : 'change';
}
