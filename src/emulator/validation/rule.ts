import { isJsonObject, type Json, type JsonObject, memberOf } from '../json.ts';

/** The path of a value in the request: names of members, and indexes of lists from 0. */
export type Location = readonly (string | bigint)[];

/** One item of a 422's `detail`. `input` is the offending value itself: real servers echo it, secrets included. */
export interface Problem {
  readonly type: string;
  readonly loc: Location;
  readonly msg: string;
  readonly input: Json;
  /** The values in the rule's sentence, for the rules that answer them too. */
  readonly ctx?: JsonObject;
}

/** The result of a rule; `crash` if a real server's own code fails on the value, which it answers with a 500. */
export type Verdict<T extends Json = Json> =
  | { readonly kind: 'good'; readonly value: T }
  | { readonly kind: 'bad'; readonly problems: readonly Problem[] }
  | { readonly kind: 'crash' };

export type Rule = (value: Json, at: Location) => Verdict;

export const crash: Verdict<never> = { kind: 'crash' };

export function good<T extends Json>(value: T): Verdict<T> {
  return { kind: 'good', value };
}

export function bad(type: string, loc: Location, msg: string, input: Json): Verdict<never> {
  return { kind: 'bad', problems: [{ type, loc, msg, input }] };
}

export function badValue(sentence: string, loc: Location, input: Json): Verdict<never> {
  return bad('value_error', loc, `Value error, ${sentence}`, input);
}

/** One verdict on many: a crash if there is one, else all problems in order, else all values. */
export function allOf(verdicts: readonly Verdict[]): Verdict<readonly Json[]> {
  const values: Json[] = [];
  const problems: Problem[] = [];
  for (const verdict of verdicts) {
    if (verdict.kind === 'crash') return crash;
    if (verdict.kind === 'good') values.push(verdict.value);
    else problems.push(...verdict.problems);
  }
  return problems.length > 0 ? { kind: 'bad', problems } : good(values);
}

export interface Member {
  readonly name: string;
  readonly rule: Rule;
  /** The value of a missing member; a member without this is required. */
  readonly absent?: Json;
}

/**
 * Checks an object member by member, in the order of the table; the value holds every member of the table and no other.
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
