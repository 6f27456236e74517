import { Secret } from '../model/secret.ts';
import type { DesiredState } from '../model/state.ts';
import {
  isList,
  isRecord,
  recordOf,
  secretsIn,
  type Value,
  type ValueRecord,
} from '../model/value.ts';
import { concealed } from './plan-plain.ts';

/**
 * What a service holds, with everything masked that the file reads from a reference: the fields that are written as one,
 * whatever they hold, and the same values wherever else they stand.
 */
export function withoutTainted(record: ValueRecord, desired: DesiredState): ValueRecord {
  const references = desired.fields
    .flatMap(({ value }) => secretsIn(value))
    .filter(({ ref }) => ref !== null);
  const whole = new Set<string>(desired.unresolved.map(({ field }) => field.name));
  for (const { field, value } of desired.fields)
    if (value instanceof Secret && value.ref !== null) whole.add(field.name);
  return recordOf(
    Object.entries(record).map(([name, value]) => [
      name,
      whole.has(name) ? conceal(value, null) : conceal(value, references),
    ]),
  );
}

/** What came from a reference may not even be known by its address. */
const NAMELESS = new Secret('');

/** Masks what is the same as one of the secrets; every scalar where there is no list of them. */
function conceal(value: Value, secrets: readonly Secret[] | null): Value {
  if (isList(value)) return value.map((item) => conceal(item, secrets));
  if (isRecord(value))
    return recordOf(Object.entries(value).map(([key, member]) => [key, conceal(member, secrets)]));
  if (value === null) return value;
  if (value instanceof Secret)
    return secrets?.some((secret) => secret.sameAs(value)) === false ? value : NAMELESS;
  return secrets === null || secrets.some((secret) => secret.sameAs(value))
    ? concealed(value)
    : value;
}
