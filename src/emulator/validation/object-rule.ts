import { isJsonObject, memberOf, type Json, type JsonObject } from '../json/json.ts';
import { allOf, bad, good, type Location, type Rule, type Verdict } from './verdict.ts';

export interface Member {
  readonly name: string;
  readonly rule: Rule;
  /** What a missing member is read as; a member without it is required. */
  readonly absent?: Json;
}

/**
 * An object judged member by member, in the order of the table; the value holds every member of the table and no other.
 * Source: contract "mcp_config: unknown member" (refused there), "unknown top-level field" (ignored there).
 */
export function checkObject(
  members: readonly Member[],
  others: 'ignored' | 'refused',
  value: Json,
  at: Location,
): Verdict<JsonObject> {
  if (!isJsonObject(value)) {
    const msg = 'Input should be a valid dictionary or object to extract fields from';
    return bad('model_attributes_type', at, msg, value);
  }
  const verdicts = members.map((member) => checkMember(member, value, at));
  const extras = others === 'refused' ? extraMembers(members, value, at) : [];
  const whole = allOf([...verdicts, ...extras]);
  if (whole.kind !== 'good') return whole;
  return good(
    Object.fromEntries(members.map(({ name }, index) => [name, whole.value[index] ?? null])),
  );
}

function checkMember({ name, rule, absent }: Member, object: JsonObject, at: Location): Verdict {
  const value = memberOf(object, name);
  if (value !== undefined) return rule(value, [...at, name]);
  if (absent !== undefined) return good(absent);
  return bad('missing', [...at, name], 'Field required', object);
}

function extraMembers(members: readonly Member[], object: JsonObject, at: Location): Verdict[] {
  const known = new Set(members.map(({ name }) => name));
  return Object.entries(object)
    .filter(([name]) => !known.has(name))
    .map(([name, value]) =>
      bad('extra_forbidden', [...at, name], 'Extra inputs are not permitted', value),
    );
}
