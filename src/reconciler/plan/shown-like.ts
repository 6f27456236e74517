import { isSensitiveUrl } from '../model/address.ts';
import { shownArgument } from '../model/secret-words.ts';
import { Secret } from '../model/secret.ts';
import { isList, isRecord, mapRecord, recordOf, type Value } from '../model/value.ts';
import { concealed } from './plan-plain.ts';

/**
 * An observed value, as a plan shows it beside the declared one: masked if the declared one is a secret, and open if it is
 * one of the literals that the committed file has there, so that a reviewer sees what stays.
 */
export function shownLike(actual: Value, declared: Value | undefined): Value {
  if (declared instanceof Secret) return concealed(actual);
  if (isRecord(actual) && isRecord(declared))
    return recordOf(
      Object.entries(actual).map(([key, value]) => [key, shownLike(value, declared[key])] as const),
    );
  if (isList(actual) && isList(declared))
    return actual.map((value, index) =>
      value instanceof Secret ? opened(value, declared) : shownLike(value, declared[index]),
    );
  return actual instanceof Secret && declared !== undefined && actual.sameAs(declared)
    ? declared
    : actual;
}

/** A secret that is one of the literals, as that literal. */
function opened(value: Secret, literals: readonly Value[]): Value {
  const known = literalsIn(literals);
  const index = value.compareWith((text) => String(known.get(text) ?? -1));
  const literal = literals[Number(index)];
  return literal !== undefined && value.sameAs(literal) ? literal : value;
}

const LITERALS = new WeakMap<readonly Value[], ReadonlyMap<string, number>>();

/** The texts and numbers of a list that are no secrets, with their positions; made once for each list. */
function literalsIn(values: readonly Value[]): ReadonlyMap<string, number> {
  const known = LITERALS.get(values);
  if (known !== undefined) return known;
  const made = new Map<string, number>();
  for (const [index, value] of values.entries())
    if (typeof value === 'string' || typeof value === 'number') made.set(String(value), index);
  LITERALS.set(values, made);
  return made;
}

/** A declared value in which literals are secrets that have the form of one: an address with userinfo or query, an argument by its flag. */
export function veiled(value: Value): Value {
  if (typeof value === 'string') return isSensitiveUrl(value) ? new Secret(value) : value;
  if (isRecord(value)) return mapRecord(value, veiled);
  if (!isList(value)) return value;
  return value.map((item, index) => {
    if (typeof item !== 'string') return veiled(item);
    const before = value[index - 1];
    const shown = shownArgument(item, typeof before === 'string' ? before : null);
    return shown === item ? item : new Secret(item);
  });
}
