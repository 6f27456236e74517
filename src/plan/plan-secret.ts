import type { Action, Change } from '../model/plan.ts';
import type { Fingerprints } from '../model/ports.ts';
import { Secret, UnseenSecret } from '../model/secret.ts';
import type { DesiredField, ObservedState } from '../model/state.ts';
import type { Value } from '../model/value.ts';
import { NOTHING, type FieldPlan } from './field-plan.ts';
import { isRotated, type Rotation } from './rotation.ts';

const UNREAD = new Secret('');

/**
 * A password field. It cannot be compared: three signals stand in. The flag of the answer tells whether one is stored, the
 * fingerprint whether it is the one last written from here, and `--rotate` writes it all the same. A field without a flag (or
 * whose flag the server does not answer) is sent with every write, because leaving it out may wipe it. A field that no dialect
 * has a flag for is the same at every plan, so that nothing is reported of it.
 */
export function planSecret(
  desired: DesiredField,
  observed: ObservedState,
  rotation: Rotation,
  fingerprints: Fingerprints,
): FieldPlan {
  const { field, value } = desired;
  const sent = value === null ? field.clearWith : value;
  const rotated = isRotated(rotation, [field.name]);
  if (value instanceof UnseenSecret && value.unseen.missing !== null)
    return planMissing(desired, observed, value);
  switch (isStored(desired, observed)) {
    case 'no':
      return value === null
        ? NOTHING
        : { overlay: sent, changes: [change(desired, 'set', 'not set, will be set')] };
    case 'yes':
      if (value === null)
        return { overlay: sent, changes: [change(desired, 'clear', 'set, will be cleared')] };
      return planStored(desired, rotated, fingerprints, sent);
    case 'unsaid': {
      const action = value === null ? 'clear' : 'rotate';
      const reason = 'cannot be read back';
      if (rotated) return { overlay: sent, changes: [change(desired, action, reason)] };
      const known = knownOf(desired, fingerprints);
      if (known === 'different')
        return { overlay: sent, changes: [change(desired, 'rotate', NEW)] };
      if (known === 'same' || field.setFlag === null) return { overlay: sent };
      return { overlay: sent, unknown: [{ path: [field.name], reason, ref: refOf(value) }] };
    }
  }
}

/** A reference without a value: that nothing is stored is known all the same. */
function planMissing(
  desired: DesiredField,
  observed: ObservedState,
  value: UnseenSecret,
): FieldPlan {
  const { ref, unseen } = value;
  const unknown = [{ path: [desired.field.name], reason: unseen.reason, ref }];
  if (isStored(desired, observed) !== 'no') return { unknown };
  return { unknown, overlay: value, changes: [change(desired, 'set', 'not set, will be set')] };
}

function planStored(
  desired: DesiredField,
  rotated: boolean,
  fingerprints: Fingerprints,
  sent: Value,
): FieldPlan {
  const { field, value } = desired;
  const known = knownOf(desired, fingerprints);
  if (known === 'different') return { overlay: sent, changes: [change(desired, 'rotate', NEW)] };
  if (rotated)
    return { overlay: sent, changes: [change(desired, 'rotate', 'set, will be rotated')] };
  if (known === 'same') return NOTHING;
  return { unknown: [{ path: [field.name], reason: 'set, origin unknown', ref: refOf(value) }] };
}

const NEW = 'set, changed since last written: will be rotated';

/** What is known of the value that was last written from here. */
function knownOf(
  { field, value }: DesiredField,
  fingerprints: Fingerprints,
): ReturnType<Fingerprints['compare']> {
  if (!(value instanceof Secret) || value instanceof UnseenSecret) return 'none';
  return value.compareWith((text) => fingerprints.compare([field.name], text));
}

function isStored({ field }: DesiredField, observed: ObservedState): 'yes' | 'no' | 'unsaid' {
  if (!observed.stored) return 'no';
  const flag = field.setFlag === null ? undefined : observed.record[field.setFlag];
  if (typeof flag !== 'boolean') return 'unsaid';
  return flag ? 'yes' : 'no';
}

function change({ field, value, source }: DesiredField, action: Action, reason: string): Change {
  return {
    resource: 'settings',
    path: [field.name],
    action,
    before: action === 'set' ? null : UNREAD,
    after: value,
    sensitive: true,
    ref: refOf(value),
    reason,
    source: source(),
  };
}

function refOf(value: Value): string | null {
  return value instanceof Secret ? value.ref : null;
}
