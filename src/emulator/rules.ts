import { isJsonList, isJsonObject, type Json, type JsonObject, readOwnMember } from './json.ts';

/** The path of a value in the request: names of members, and indexes of lists from 0. */
export type Location = readonly (string | bigint)[];

/** One item of a 422's `detail`. `input` is the offending value itself: real servers echo it, secrets included. */
export interface RuleProblem {
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
  | { readonly kind: 'bad'; readonly problems: readonly RuleProblem[] }
  | { readonly kind: 'crash' };

export type Rule = (value: Json, at: Location) => Verdict;

export const crash: Verdict<never> = { kind: 'crash' };

export function good<T extends Json>(value: T): Verdict<T> {
  return { kind: 'good', value };
}

export function bad(type: string, loc: Location, msg: string, input: Json): Verdict<never> {
  return { kind: 'bad', problems: [{ type, loc, msg, input }] };
}

export function refuseValue(sentence: string, loc: Location, input: Json): Verdict<never> {
  return bad('value_error', loc, `Value error, ${sentence}`, input);
}

/** One verdict on many: a crash if there is one, else all problems in order, else all values. */
export function mergeVerdicts(verdicts: readonly Verdict[]): Verdict<readonly Json[]> {
  const values: Json[] = [];
  const problems: RuleProblem[] = [];
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
  const whole = mergeVerdicts([...verdicts, ...extras]);
  if (whole.kind !== 'good') return whole;
  return good(
    Object.fromEntries(members.map(({ name }, index) => [name, whole.value[index] ?? null])),
  );
}

function checkMember({ name, rule, absent }: Member, object: JsonObject, at: Location): Verdict {
  const value = readOwnMember(object, name);
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

const yes = new Set(['true', 't', 'yes', 'y', 'on', '1']);
const no = new Set(['false', 'f', 'no', 'n', 'off', '0']);
const intBits = 64;

/** A string; nothing is converted. Source: contract "language as a number". */
export function textRule(value: Json, at: Location): Verdict {
  if (typeof value === 'string') return good(value);
  return bad('string_type', at, 'Input should be a valid string', value);
}

/**
 * A bigint from an integer, an integral number, a boolean or a string of digits.
 * Source: contract "max_iterations as numeric text", "max_iterations: 1.5", "max_iterations: -1".
 */
export function integerRule(value: Json, at: Location): Verdict {
  if (typeof value === 'bigint') return good(value);
  if (typeof value === 'boolean') return good(value ? 1n : 0n);
  if (typeof value === 'number') return integerOfNumber(value, at);
  if (typeof value === 'string') return integerOfText(value, at);
  return bad('int_type', at, 'Input should be a valid integer', value);
}

function integerOfNumber(value: number, at: Location): Verdict {
  if (!Number.isFinite(value)) {
    return bad('finite_number', at, 'Input should be a finite number', value);
  }
  if (!Number.isInteger(value)) {
    const msg = 'Input should be a valid integer, got a number with a fractional part';
    return bad('int_from_float', at, msg, value);
  }
  const integer = BigInt(value);
  if (fitsIntBits(integer)) return good(integer);
  const msg = 'Unable to parse input string as an integer, exceeded maximum size';
  return bad('int_parsing_size', at, msg, value);
}

function integerOfText(value: string, at: Location): Verdict {
  const found = /^([+-]?)(\d+(?:_\d+)*)(?:\.0+)?$/.exec(value.trim());
  if (found === null) {
    const msg = 'Input should be a valid integer, unable to parse string as an integer';
    return bad('int_parsing', at, msg, value);
  }
  const size = BigInt((found[2] ?? '').replaceAll('_', ''));
  return good(found[1] === '-' ? -size : size);
}

/** A number from a number, a boolean or a string that is one. Source: behaviour 1.3, lax coercion of float fields. */
export function fractionRule(value: Json, at: Location): Verdict {
  if (typeof value === 'string') return fractionOfText(value, at);
  if (typeof value !== 'object') return checkFinite(Number(value), value, at);
  return bad('float_type', at, 'Input should be a valid number', value);
}

function fractionOfText(value: string, at: Location): Verdict {
  const digits = value.trim().replaceAll(/(?<=\d)_(?=\d)/g, '');
  if (/^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(digits)) {
    return checkFinite(Number(digits), value, at);
  }
  const msg = 'Input should be a valid number, unable to parse string as a number';
  return bad('float_parsing', at, msg, value);
}

function checkFinite(number: number, value: Json, at: Location): Verdict {
  if (Number.isFinite(number)) return good(number);
  return bad('finite_number', at, 'Input should be a finite number', value);
}

/** A boolean, 0 or 1, or one of the usual words in any case. Source: contract `confirmation_mode: "yes"`, `"maybe"`. */
export function flagRule(value: Json, at: Location): Verdict {
  if (typeof value === 'boolean') return good(value);
  if (typeof value === 'object' || isNoSmallInteger(value)) {
    return bad('bool_type', at, 'Input should be a valid boolean', value);
  }
  const word = String(value).toLowerCase();
  if (yes.has(word)) return good(true);
  if (no.has(word)) return good(false);
  return bad(
    'bool_parsing',
    at,
    'Input should be a valid boolean, unable to interpret input',
    value,
  );
}

function isNoSmallInteger(value: Json): boolean {
  if (typeof value === 'number' && !Number.isInteger(value)) return true;
  const isNumber = typeof value === 'number' || typeof value === 'bigint';
  return isNumber && !fitsIntBits(BigInt(value));
}

function fitsIntBits(value: bigint): boolean {
  return BigInt.asIntN(intBits, value) === value;
}

/** A list whose items keep a rule. */
export function listRule(rule: Rule): Rule {
  return (value, at) => {
    if (!isJsonList(value)) return bad('list_type', at, 'Input should be a valid list', value);
    return mergeVerdicts(value.map((one, index) => rule(one, [...at, BigInt(index)])));
  };
}

export function nullable(rule: Rule): Rule {
  return (value, at) => (value === null ? good(null) : rule(value, at));
}

/** An integer that also passes a test; `sentence` is the problem if it does not. */
export function integerWhere(fits: (value: bigint) => boolean, sentence: string): Rule {
  return (value, at) => {
    const verdict = integerRule(value, at);
    if (verdict.kind !== 'good' || typeof verdict.value !== 'bigint') return verdict;
    return fits(verdict.value) ? verdict : refuseValue(sentence, at, value);
  };
}
