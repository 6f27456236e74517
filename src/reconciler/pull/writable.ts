import { onceFor } from '../model/cache.ts';
import type { SchemaLock } from '../model/native-schema.ts';
import { readTargets } from '../desired/target.ts';
import { SHORTEST_INSIDE, Redactor } from '../model/redactor.ts';
import type { Secret } from '../model/secret.ts';
import { holdsSecretText } from '../model/secret-words.ts';
import {
  isList,
  isRecord,
  collectSecrets,
  WireNumber,
  type Json,
  type Value,
} from '../model/value.ts';
import { flowText } from '../yaml-edit/print.ts';
import { isObject, type JsonObject } from '../yaml-edit/source.ts';
import { replaceMarkers } from './placeholder.ts';

/** The reasons that a difference is not written into the file. */
export const REASONS = {
  reference: 'written as a reference',
  secret: 'a secret, and secrets are not written',
  sensitive: 'the value on the service may contain a secret',
  tainted: 'the service has the value of a reference or a secret here',
  inexpressible: 'a settings file cannot contain the value on the service',
  unlike: 'the value on the service would not be the same in a file',
  clashing: 'a settings file cannot contain both this name and another one on the service',
  rotating: 'a rotation of it was interrupted, which would be finished; declare it by hand',
  twice: 'the service has this entry more than once',
  interrupted: 'a rotation of it was interrupted; an apply finishes it',
  outdated: 'the settings have another copy of it; an apply makes it active again',
  renamed: 'renamed in the file, and not applied yet',
  namesRenamed: 'names what is renamed in the file, and that is not applied yet',
  undeclared: 'the profile that is active is not declared',
  untold: 'the service lists them only after settings are stored',
  unlisted: 'the service did not list them',
  lacking: 'the service has none of these',
  login: 'the login is stored on the service alone, and each person logs in again after a rebuild',
  listWrites: 'listing them would create one on this server',
  unknown: 'this version of setpoint does not know it',
  unmanageable: 'setpoint does not manage it on a server of this kind',
  filled: 'the service filled it in automatically',
  empty: 'nothing is stored on the service yet',
  pending: 'edited in the file, and not applied yet',
  unreadable: 'the server does not show it; declare it by hand',
} as const;

/**
 * A scalar of the service as a settings file writes it, `${` escaped in text. Null if it is a secret, a map, a list, or a number
 * that a file cannot hold.
 */
export function toWritableScalar(value: Value): { readonly written: Json } | null {
  if (typeof value === 'string') return { written: escapeReferences(value) };
  if (value === null || typeof value === 'boolean' || typeof value === 'number')
    return { written: value };
  if (!(value instanceof WireNumber)) return null;
  const number = value.toJSON();
  return typeof number === 'number' ? { written: number } : null;
}

/** Literal text as a file writes it in a place where references are resolved. */
export function escapeReferences(text: string): string {
  return text.replaceAll('${', () => '$${');
}

/** Reports whether a settings file may declare these settings: the schema and every other rule of the file hold. */
export function isExpressible(settings: JsonObject, lock?: SchemaLock): boolean {
  return parseBlocksAlone({ settings }, lock).errors.length === 0;
}

/** Reports whether a file may declare any such blocks. */
export function canDeclare(blocks: JsonObject): boolean {
  const named = replaceMarkers(blocks, () => 'X');
  return isObject(named) && parseBlocksAlone(named).errors.length === 0;
}

/** A file that declares some blocks and nothing else, and what is wrong with it. */
export function parseBlocksAlone(blocks: JsonObject, lock?: SchemaLock) {
  const text = flowText({ version: 1, ...blocks }, 'double');
  const { targets, diagnostics } = readTargets(
    { path: 'settings.yaml', text, bases: [], ...(lock === undefined ? {} : { lock }) },
    { serverGiven: true, several: false },
  );
  return { errors: diagnostics.filter(({ severity }) => severity === 'error'), target: targets[0] };
}

/** Explains why a value of the service is not written unchanged. */
export function whyUnwritten(value: Value, hidden: readonly Secret[]): string {
  const texts = collectShownTexts(value);
  if (texts.some((text) => hasHiddenSecret(text, hidden))) return REASONS.tainted;
  const isOpen = collectSecrets(value).length === 0 && !texts.some((text) => holdsSecretText(text));
  return isOpen ? REASONS.inexpressible : REASONS.sensitive;
}

/** Every text in a value that is shown. */
export function collectShownTexts(value: Value): string[] {
  if (typeof value === 'string') return [value];
  if (isList(value)) return value.flatMap(collectShownTexts);
  return isRecord(value) ? Object.values(value).flatMap(collectShownTexts) : [];
}

/** Reports whether a text, or a long number, is or contains one of these secrets, in any form that documents mask. */
export function hasHiddenSecret(value: unknown, hidden: readonly Secret[]): boolean {
  if (hidden.length === 0) return false;
  if (typeof value === 'number' || value instanceof WireNumber) {
    const digits = value instanceof WireNumber ? value.token : String(value);
    return digits.length >= SHORTEST_INSIDE && hasHiddenSecret(digits, hidden);
  }
  if (typeof value !== 'string' || value === '') return false;
  return createSecretRedactor(hidden).holds(value);
}

const createSecretRedactor = onceFor((secrets: readonly Secret[]): Redactor => {
  const redactor = new Redactor();
  for (const secret of secrets) redactor.addSecret(secret);
  return redactor;
});
