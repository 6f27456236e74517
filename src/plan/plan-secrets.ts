import type { WrittenSecret, Fingerprints } from '../model/ports.ts';
import { isWithin, samePath, type Path } from '../model/path.ts';
import type { Action, Change, SettingsWrite, Warning } from '../model/plan.ts';
import { Secret, UnseenSecret } from '../model/secret.ts';
import type { DesiredField, DesiredState, ObservedState, SecretState } from '../model/state.ts';
import { isRecord, secretsIn, type Value } from '../model/value.ts';
import { missingIn } from './mcp-entry.ts';
import { dialectField, NOTHING, type FieldPlan } from './plan-plain.ts';

/** The secrets that `--rotate` writes again although nothing shows that they differ. */
export type Rotation = 'all' | readonly Path[];

export function isRotated(rotation: Rotation, path: Path): boolean {
  return (
    rotation === 'all' ||
    rotation.some((rotated) => samePath(rotated, path) || isWithin(rotated, path))
  );
}

/**
 * Plans a password field, which cannot be compared. The service may report that one is stored, the fingerprint shows whether it is
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
  const { reads, clearWith } = dialectField(desired, observed);
  if (value instanceof UnseenSecret && value.unseen.missing !== null)
    return planMissing(desired, observed, value);
  const write = value === null ? clearWith : value;
  const planned = (action: Action, reason: string): FieldPlan => ({
    write,
    changes: [changeOf(desired, action, reason)],
  });
  const uncertain = { path: [field.name], ref: refOf(value) };
  const rotated = isRotated(rotation, [field.name]);
  const last = comparedWithLast(desired, fingerprints);
  switch (secretStateOf(desired, observed)) {
    case 'not-stored':
      return value === null ? NOTHING : planned('set', 'not set, will be set');
    case 'stored':
      if (value === null) return planned('clear', 'set, will be cleared');
      if (last === 'different') return planned('rotate', CHANGED);
      if (rotated) return planned('rotate', 'set, will be rotated');
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
  const unknown = [{ path: [desired.field.name], reason: unseen.reason, ref }];
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
  return value.compareWith((text) => fingerprints.compare([field.name], text));
}

function secretStateOf({ field }: DesiredField, { stored, secrets }: ObservedState): SecretState {
  return stored ? (secrets.get(field.name) ?? 'not-reported') : 'not-stored';
}

function changeOf({ field, value, source }: DesiredField, action: Action, reason: string): Change {
  return {
    resource: 'settings',
    path: [field.name],
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

/** Plans secrets_store, the user's secrets: only the names of provider tokens can be read back. */
export function planSecretsStore(
  desired: DesiredField,
  observed: ObservedState,
  rotation: Rotation,
): FieldPlan {
  const { value, source } = desired;
  const path = ['secrets_store'];
  const ref =
    [...new Set(secretsIn(value).flatMap((secret) => secret.ref ?? []))].join(', ') || null;
  const declared = tokensIn(value);
  const stored = observed.tokens;
  const set = new Set(stored);
  const missing = declared.filter((name) => !set.has(name));
  const rotated = isRotated(rotation, path);
  const first = missing.length > 0 || !observed.stored;
  const absent = missingIn(path, value);
  if (!first && !rotated) {
    const reason = declared.length > 0 ? UNCERTAIN : 'cannot be read back';
    return { unknown: absent.length > 0 ? absent : [{ path, reason, ref }] };
  }
  const action: Action = !first ? 'rotate' : stored.length === 0 ? 'set' : 'change';
  const reason =
    missing.length > 0
      ? `not set: ${missing.join(', ')}`
      : first
        ? 'not set, will be set'
        : 'will be rotated';
  const kept = new Set(declared);
  const lost = stored.filter((name) => !kept.has(name));
  return {
    write: value,
    unknown: absent,
    changes: [
      {
        resource: 'settings',
        path,
        action,
        before: action === 'set' ? null : new Secret(''),
        after: new Secret('', ref),
        sensitive: true,
        ref,
        reason,
        source: source(),
      },
    ],
    unpreservable: lost.map((name) => ({
      path: [...path, 'provider_tokens', name],
      stops: 'always',
      remedy: `Declare secrets_store.provider_tokens.${name}`,
    })),
  };
}

/** The names of the provider tokens a declared store holds. */
function tokensIn(value: Value): string[] {
  return isRecord(value) ? keysOf(value['provider_tokens']) : [];
}

function keysOf(value: Value | undefined): string[] {
  return isRecord(value) ? Object.keys(value) : [];
}

/** That the service does not keep a secret which the file declares, whether this plan sends it or not. */
export function lostWhenSent(desired: DesiredField, observed: ObservedState): Warning[] {
  const { name, loses } = dialectField(desired, observed);
  if (loses === undefined || desired.value === null) return [];
  return [{ code: 'not-kept', message: `${name} is lost: ${loses}.`, path: [name] }];
}

/** The password fields of a write, each with the value that the file declares; null if it was cleared. */
export function writtenSecrets(desired: DesiredState, write: SettingsWrite): WrittenSecret[] {
  return desired.fields
    .filter(({ field }) => field.secret && field.name in write.fields)
    .map(({ field, value }) => ({
      path: [field.name],
      value: value instanceof Secret ? value : null,
    }));
}
