import type { Dialect, DialectField } from '../model/dialect.ts';
import { SetpointError } from '../model/error.ts';
import { isUnmanaged } from '../model/path.ts';
import { Secret, UnseenSecret } from '../model/secret.ts';
import type { DesiredField, DesiredState } from '../model/state.ts';
import { isEmpty, type Value } from '../model/value.ts';

/**
 * Why a service cannot hold what the file declares: every field that it does not have, or whose value it would refuse or store as
 * something that it cannot read again. Null if it can. A field that the file lists as unmanaged is not judged.
 */
export function misfit(
  { fields, unmanaged }: DesiredState,
  dialect: Dialect,
): SetpointError | null {
  const problems = fields
    .filter(({ field }) => !isUnmanaged(unmanaged, [field.name]))
    .flatMap((declared) => problemOf(declared, dialect) ?? []);
  if (problems.length === 0) return null;
  const message = `This service speaks ${dialect.name}, and nothing was sent to it. ${problems.join(' ')}`;
  return new SetpointError('unfit-for-service', message);
}

function problemOf({ field: { name }, value }: DesiredField, dialect: Dialect): string | null {
  const field = dialect.fields.get(name);
  if (field === undefined) {
    const elsewhere = dialect.lacks.get(name);
    return `It has no ${name}${elsewhere === undefined ? '' : `: ${elsewhere}`}.`;
  }
  if (value === null)
    return field.onNull === 'refuses' ? `${name} cannot be null there: it is always set.` : null;
  return unacceptable(field, value);
}

function unacceptable({ name, accepts, clearWith }: DialectField, value: Value): string | null {
  if (accepts === undefined || value instanceof UnseenSecret) return null;
  if ('least' in accepts)
    return isBelow(accepts.least, value)
      ? `${name} must be at least ${accepts.least} there.`
      : null;
  if ('filled' in accepts)
    return isEmpty(value) ? `${name} cannot be empty there: it is always set.` : null;
  const words = clearWith === null ? accepts.oneOf : [...accepts.oneOf, clearWith];
  return isOneOf(words, value)
    ? null
    : `${name} must be ${words.map((word) => JSON.stringify(word)).join(' or ')} there, or null.`;
}

function isBelow(least: number, value: Value): boolean {
  if (!(value instanceof Secret)) return Number(value) < least;
  return value.compareWith((text) => (Number(text) < least ? 'below' : 'fits')) === 'below';
}

function isOneOf(words: readonly string[], value: Value): boolean {
  if (value instanceof Secret)
    return value.compareWith((text) => (words.includes(text) ? 'one' : 'none')) === 'one';
  return words.some((word) => word === value);
}
