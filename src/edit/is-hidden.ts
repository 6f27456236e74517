import { Redactor } from '../model/redactor.ts';
import type { Secret } from '../model/secret.ts';

const REDACTORS = new WeakMap<readonly Secret[], Redactor>();

/** Whether a text is, or holds, what a reference stands for, in any form in which documents mask it. */
export function isHidden(value: unknown, hidden: readonly Secret[]): boolean {
  if (typeof value !== 'string' || value === '' || hidden.length === 0) return false;
  const redactor = REDACTORS.get(hidden) ?? redactorOf(hidden);
  REDACTORS.set(hidden, redactor);
  return redactor.holds(value);
}

function redactorOf(secrets: readonly Secret[]): Redactor {
  const redactor = new Redactor();
  for (const secret of secrets) redactor.addSecret(secret);
  return redactor;
}
