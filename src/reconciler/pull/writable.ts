import type { SchemaLock } from '../model/native-schema.ts';
import { readTargets } from '../desired/target.ts';
import { SHORTEST_INSIDE, Redactor } from '../model/redactor.ts';
import type { Secret } from '../model/secret.ts';
import { WireNumber, type Json, type Value } from '../model/value.ts';
import { flowText } from '../yaml-edit/print.ts';
import type { JsonObject } from '../yaml-edit/source.ts';

/** Why something that differs is not written into the file. */
export const REASONS = {
  reference: 'written as a reference',
  secret: 'a secret, and secrets are not written',
  sensitive: 'what the service has may hold a secret',
  tainted: 'the service has the value of a reference or a secret here',
  inexpressible: 'a settings file cannot hold what the service has',
  unlike: 'what the service has would not read back the same',
  twice: 'the service has this entry more than once',
  byName: 'declared by its name under agent_settings; edit it by hand',
  unknown: 'this version of setpoint does not know it',
  unmanageable: 'setpoint does not manage it on a server of this kind',
  filled: 'the service has filled it in by itself',
  empty: 'nothing is stored on the service yet',
  pending: 'edited in the file, and not applied yet',
  unreadable: 'it cannot be read back; declare it by hand',
} as const;

/**
 * A scalar of the service as a settings file writes it, `${` escaped in text. Null if it is a secret, a map, a list, or a number
 * that a file cannot hold.
 */
export function asWritten(value: Value): { readonly written: Json } | null {
  if (typeof value === 'string') return { written: escapedReferences(value) };
  if (value === null || typeof value === 'boolean' || typeof value === 'number')
    return { written: value };
  if (!(value instanceof WireNumber)) return null;
  const number = value.toJSON();
  return typeof number === 'number' ? { written: number } : null;
}

/** Literal text as a file writes it in a place where references are resolved. */
export function escapedReferences(text: string): string {
  return text.replaceAll('${', () => '$${');
}

/** Whether a settings file may declare these settings: the schema and every other rule of the file hold. */
export function isExpressible(settings: JsonObject, lock?: SchemaLock): boolean {
  const text = flowText({ version: 1, settings }, 'double');
  const { diagnostics } = readTargets(
    { path: 'settings.yaml', text, base: null, ...(lock === undefined ? {} : { lock }) },
    { serverGiven: true, several: false },
  );
  return diagnostics.every(({ severity }) => severity !== 'error');
}

const REDACTORS = new WeakMap<readonly Secret[], Redactor>();

/** Whether a text, or a long number, is or holds one of these secrets, in any form in which documents mask it. */
export function isHidden(value: unknown, hidden: readonly Secret[]): boolean {
  if (hidden.length === 0) return false;
  if (typeof value === 'number' || value instanceof WireNumber) {
    const digits = value instanceof WireNumber ? value.token : String(value);
    return digits.length >= SHORTEST_INSIDE && isHidden(digits, hidden);
  }
  if (typeof value !== 'string' || value === '') return false;
  const redactor = REDACTORS.get(hidden) ?? redactorOf(hidden);
  REDACTORS.set(hidden, redactor);
  return redactor.holds(value);
}

function redactorOf(secrets: readonly Secret[]): Redactor {
  const redactor = new Redactor();
  for (const secret of secrets) redactor.addSecret(secret);
  return redactor;
}
