import type { WrittenSecret, Fingerprints } from '../model/ports.ts';
import type { Field } from '../model/field.ts';
import type { Action } from '../model/action.ts';
import type { Change, SettingsWrite, Warning } from '../model/plan.ts';
import { Secret, UnseenSecret } from '../model/secret.ts';
import type { DesiredField, DesiredState, ObservedState, SecretState } from '../model/state.ts';
import { isRecord, sameValue, valueAt, type Value } from '../model/value.ts';
import { missingIn } from './mcp-entry.ts';
import { fieldHere } from './field-here.ts';
import {
  canClear,
  notCleared,
  NOTHING,
  type FieldPlan,
  type Rotation,
  isRotated,
} from './field-plan.ts';

/**
 * Plans a password field, which cannot be compared unless the service shows it on request. The service may report that one is stored, the fingerprint shows whether it is
 * the one last written from here, and `--rotate` writes it in any case. A field of which the service reports nothing is sent
 * with every write, because leaving it out may clear it; if no service of the dialect reports it, no plan mentions it.
 */
export function planSecret(
  desired: DesiredField,
  observed: ObservedState,
  rotation: Rotation,
  fingerprints: Fingerprints,
): FieldPlan {
  const { field, value } = desired;
  const here = fieldHere(desired.field, observed);
  const { reads, clearWith } = here;
  if (value instanceof UnseenSecret && value.unseen.missing !== null)
    return planMissing(desired, observed, value);
  const write = value === null ? clearWith : value;
  const planned = (action: Action, reason: string): FieldPlan => ({
    write,
    changes: [changeOf(desired, action, reason)],
  });
  const uncertain = { path: field.path, ref: refOf(value) };
  const rotated = isRotated(rotation, field.path);
  const last = comparedWithLast(desired, fingerprints);
  const shown = observed.revealed?.get(field.name);
  switch (secretStateOf(desired, observed)) {
    case 'not-stored':
      if (value === null) return NOTHING;
      return { ...planned('set', 'not set, will be set'), gone: last !== 'none' };
    case 'stored':
      if (value === null && !canClear(here)) return { warnings: [notCleared(here)] };
      if (value === null) return planned('clear', 'set, will be cleared');
      if (shown !== undefined && !sameValue(shown, value)) return planned('change', 'set, differs');
      if (shown === undefined && last === 'different') return planned('rotate', CHANGED);
      if (rotated) return planned('rotate', 'set, will be rotated');
      if (shown !== undefined) return NOTHING;
      return last === 'same' ? NOTHING : { unknown: [{ ...uncertain, reason: UNCERTAIN }] };
    case 'not-reported': {
      const reason = 'cannot be read back';
      if (rotated) return planned(value === null ? 'clear' : 'rotate', reason);
      if (last === 'different') return planned('rotate', CHANGED);
      if (last === 'same' || reads === 'nothing') return { write };
      return { write, unknown: [{ ...uncertain, reason }] };
    }
  }
}

const CHANGED = 'set, changed since last written: will be rotated';
const UNCERTAIN = 'set; cannot tell whether it is this value';

/** A reference without a value: that nothing is stored is known in any case. */
function planMissing(
  desired: DesiredField,
  observed: ObservedState,
  value: UnseenSecret,
): FieldPlan {
  const { ref, unseen } = value;
  const unknown = [{ path: desired.field.path, reason: unseen.reason, ref }];
  if (secretStateOf(desired, observed) !== 'not-stored') return { unknown };
  const changes = [changeOf(desired, 'set', 'not set, will be set')];
  return { unknown, write: value, changes };
}

/** How the declared value compares with the one that was last written from here. */
function comparedWithLast(
  { field, value }: DesiredField,
  fingerprints: Fingerprints,
): ReturnType<Fingerprints['compare']> {
  if (!(value instanceof Secret) || value instanceof UnseenSecret) return 'none';
  return value.compareWith((text) => fingerprints.compare(field.path, text));
}

function secretStateOf({ field }: DesiredField, observed: ObservedState): SecretState {
  const { stored, secrets } = observed;
  if (!stored) return 'not-stored';
  return (
    secrets.get(field.name) ?? (isListedAmong(field, observed) ? 'not-stored' : 'not-reported')
  );
}

/** Whether a secret is a key of a map that the service shows the keys of: then one that is not there is not stored. */
function isListedAmong({ path }: Field, { answer }: ObservedState): boolean {
  const map = valueAt(answer, path.slice(0, -1));
  if (path.length === 1 || map === undefined) return false;
  return map === null || (isRecord(map) && !Object.hasOwn(map, path.at(-1) ?? ''));
}

function changeOf({ field, value, source }: DesiredField, action: Action, reason: string): Change {
  return {
    resource: 'settings',
    path: field.path,
    action,
    before: action === 'set' ? null : new Secret(''),
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

/** Plans secrets_store, the user's secrets: no service keeps what it is sent there, so that nothing is. */
export function planSecretsStore(desired: DesiredField, observed: ObservedState): FieldPlan {
  return {
    unknown: missingIn(['secrets_store'], desired.value),
    warnings: lostWhenSent(desired, observed),
  };
}

/** That the service does not keep a secret which the file declares, whether this plan sends it or not. */
export function lostWhenSent(desired: DesiredField, observed: ObservedState): Warning[] {
  const { name, loses } = fieldHere(desired.field, observed);
  if (loses === undefined || desired.value === null) return [];
  return [{ code: 'not-kept', message: `${name} is lost: ${loses}.`, path: desired.field.path }];
}

/** The password fields of a write, each with the value that the file declares; null if it was cleared. */
export function writtenSecrets(desired: DesiredState, write: SettingsWrite): WrittenSecret[] {
  return desired.fields
    .filter(({ field }) => field.secret && field.name in write.fields)
    .map(({ field, value }) => ({
      path: field.path,
      value: value instanceof Secret ? value : null,
    }));
}
