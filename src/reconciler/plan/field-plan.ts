import { isSensitiveUrl } from '../model/address.ts';
import { shownArgument } from '../model/secret-words.ts';
import { Secret } from '../model/secret.ts';
import { isList, isRecord, mapRecord, recordOf, type Value, secretsIn } from '../model/value.ts';
import type { Change, Unknown, Unpreservable, Warning } from '../model/plan.ts';
import type { DialectField } from '../model/dialect.ts';
import { type Path, samePath, isWithin } from '../model/path.ts';
import type { Field } from '../model/field.ts';
import { factsAt } from '../model/path-facts.ts';

/** What one declared field adds to the plan. `write` is its value in a write; absent if it stays as it is. */
export interface FieldPlan {
  readonly changes?: readonly Change[];
  readonly unknown?: readonly Unknown[];
  readonly unpreservable?: readonly Unpreservable[];
  readonly warnings?: readonly Warning[];
  /** Whether it is a secret that was written from here, and that the service does not have any more. */
  readonly gone?: boolean;
  readonly write?: Value;
}

export const NOTHING: FieldPlan = {};

/** Whether anything that is sent clears a field of these services. */
export function canClear({ onNull, clearWith }: DialectField): boolean {
  return onNull !== 'keeps' || clearWith !== null;
}

/** That the file declares null, and the service keeps what it has: no write is made of it. */
export function notCleared({ name, kept = 'these services' }: DialectField): Warning {
  const message = `${name} cannot be cleared: ${kept} keep what is stored. Declare a value, or list it as unmanaged.`;
  return { code: 'not-cleared', message, path: [name] };
}

/** The secrets that `--rotate` writes again although nothing shows that they differ. */
export type Rotation = 'all' | readonly Path[];

export function isRotated(rotation: Rotation, path: Path): boolean {
  return (
    rotation === 'all' ||
    rotation.some((rotated) => samePath(rotated, path) || isWithin(rotated, path))
  );
}

/** Whether `--rotate` writes a field anew: one that is a secret, and that the file has a value for. */
export function isRotatedField({ path, secret }: Field, value: Value): boolean {
  return secret || (factsAt(path).secret && secretsIn(value).length > 0);
}

/** The references in a value, as the file writes them; null if there are none. */
export function referencesIn(value: Value): string | null {
  const refs = secretsIn(value).flatMap((secret) => secret.ref ?? []);
  return refs.length === 0 ? null : [...new Set(refs)].join(', ');
}

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

/** Masks the old value of a field whose new value is masked. */
export function concealed(value: Value): Value {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? new Secret(value)
    : value;
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
