import { isSensitiveUrl } from '../model/identity.ts';
import type { Field } from '../model/field.ts';
import type { SettingsAction, Unknown } from '../model/plan.ts';
import { Secret, UnseenSecret } from '../model/secret.ts';
import type { DesiredField, ObservedState } from '../model/state.ts';
import { sameValue, type Value } from '../model/value.ts';
import { NOTHING, type FieldPlan } from './field-plan.ts';
import { isMasked } from './holds-mask.ts';

/** A field that is one readable scalar. What the service leaves out has the field's default, once anything is stored. */
export function planPlain(
  { field, value: declared, source }: DesiredField,
  observed: ObservedState,
): FieldPlan {
  const value =
    typeof declared === 'string' && isSensitiveUrl(declared) ? new Secret(declared) : declared;
  const actual = observed.record[field.name] ?? (observed.stored ? field.default : null);
  const unknown = unknownOf(field, value, actual);
  if (unknown !== null && !surelyDiffers(value, actual)) return { unknown: [unknown] };
  if (unknown === null && isSame(field, value, actual)) return NOTHING;
  const action = actionFor(field, value, actual);
  const sensitive = value instanceof Secret || actual instanceof Secret;
  return {
    ...(unknown === null ? {} : { unknown: [unknown] }),
    overlay: value === null ? field.clearWith : value,
    changes: [
      {
        resource: 'settings',
        path: [field.name],
        action,
        before: sensitive ? concealed(actual) : actual,
        after: action === 'clear' ? null : value,
        sensitive,
        ref: value instanceof Secret ? value.ref : null,
        reason: REASONS[action],
        source: source(),
      },
    ],
  };
}

/** Why the two cannot be compared: the reference of the one has no value, or the other is masked. */
function unknownOf({ name }: Field, declared: Value, actual: Value): Unknown | null {
  const ref = declared instanceof Secret ? declared.ref : null;
  if (declared instanceof UnseenSecret)
    return { path: [name], reason: declared.unseen.reason, ref };
  return isMasked(actual) && !sameValue(declared, actual)
    ? { path: [name], reason: 'masked, cannot be compared', ref }
    : null;
}

/** A reference never stands for nothing, nor for a text that does not fit what is written around it; a mask is something. */
function surelyDiffers(declared: Value, actual: Value): boolean {
  if (isMasked(actual) || actual instanceof UnseenSecret) return isEmpty(declared);
  if (!(declared instanceof UnseenSecret)) return false;
  return isEmpty(actual) || (typeof actual === 'string' && !declared.mayBe(actual));
}

const REASONS: Readonly<Record<SettingsAction, string>> = {
  set: 'not set',
  change: 'differs',
  clear: 'set, will be cleared',
  remove: 'not declared',
  rotate: 'will be rotated',
};

/** What a tainted field held before is masked like what it will hold. */
export function concealed(value: Value): Value {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? new Secret(value)
    : value;
}

export function isEmpty(value: Value | undefined): boolean {
  return (
    value === undefined ||
    value === null ||
    value === '' ||
    (value instanceof Secret && value.isEmpty())
  );
}

function isSame(field: Field, desired: Value, actual: Value): boolean {
  if (field.onNull === 'keeps' && isEmpty(desired) && isEmpty(actual)) return true;
  return sameValue(desired, actual);
}

function actionFor(field: Field, desired: Value, actual: Value): SettingsAction {
  if (desired === null || (field.onNull === 'keeps' && isEmpty(desired))) return 'clear';
  return isEmpty(actual) ? 'set' : 'change';
}
