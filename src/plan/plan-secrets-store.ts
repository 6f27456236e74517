import type { Action } from '../model/plan.ts';
import { Secret } from '../model/secret.ts';
import type { DesiredField, ObservedState } from '../model/state.ts';
import { isRecord, secretsIn, type Value } from '../model/value.ts';
import type { FieldPlan } from './field-plan.ts';
import { missingIn } from './mcp-entry.ts';
import { isRotated, type Rotation } from './rotation.ts';

/** The user's secrets: of what was sent, only the names of provider tokens can be read back, in `provider_tokens_set`. */
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
  const stored = observed.stored ? namesOf(observed.record['provider_tokens_set']) : [];
  const set = new Set(stored);
  const missing = declared.filter((name) => !set.has(name));
  const rotated = isRotated(rotation, path);
  const first = missing.length > 0 || !observed.stored;
  const absent = missingIn(path, value);
  if (!first && !rotated) {
    const reason = declared.length > 0 ? 'set, origin unknown' : 'cannot be read back';
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
    overlay: value,
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
      remedy: `declare secrets_store.provider_tokens.${name}`,
    })),
  };
}

/** The names of the provider tokens a declared store holds. */
function tokensIn(value: Value): string[] {
  return isRecord(value) ? namesOf(value['provider_tokens']) : [];
}

function namesOf(value: Value | undefined): string[] {
  return isRecord(value) ? Object.keys(value) : [];
}
