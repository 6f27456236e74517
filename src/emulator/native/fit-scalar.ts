import type { Json } from '../json.ts';
import { bad, good, type Location, type Verdict } from '../rules.ts';
import { flagRule, fractionRule, integerRule, textRule } from '../rules.ts';
import { type SchemaNode, findSchemaType } from './schema.ts';

/** `isNamed`: whether the schema has a name of its own, as an enumeration has that is a class. */
export interface ScalarKind {
  readonly isNamed: boolean;
}

/** A value that is neither a map nor a list, by its type, its choices and its limits. */
export function fitScalar(node: SchemaNode, kind: ScalarKind, value: Json, at: Location): Verdict {
  const { const: only, enum: several } = node;
  const choices = several?.filter((one) => one !== null) ?? (only === undefined ? [] : [only]);
  if (choices.length > 0) return fitChoice(choices, kind, value, at);
  switch (findSchemaType(node)) {
    case 'string':
      return fitText(node, value, at);
    case 'integer':
      return within(node, integerRule(value, at), value, at);
    case 'number':
      return within(node, fractionRule(value, at), value, at);
    case 'boolean':
      return flagRule(value, at);
    default:
      return good(value);
  }
}

function fitChoice(
  choices: readonly string[],
  { isNamed }: ScalarKind,
  value: Json,
  at: Location,
): Verdict {
  if (typeof value === 'string' && choices.includes(value)) return good(value);
  const named = choices.map((one) => `'${one}'`);
  const listed =
    named.length > 1 ? `${named.slice(0, -1).join(', ')} or ${named.at(-1)}` : named.join('');
  return bad(isNamed ? 'enum' : 'literal_error', at, `Input should be ${listed}`, value);
}

function fitText(node: SchemaNode, value: Json, at: Location): Verdict {
  const verdict = textRule(value, at);
  if (verdict.kind !== 'good' || typeof value !== 'string') return verdict;
  const { minLength = 0, maxLength = Infinity, pattern } = node;
  const length = Array.from(value).length;
  if (length < minLength) {
    const msg = `String should have at least ${characters(minLength)}`;
    return withContext(bad('string_too_short', at, msg, value), { min_length: BigInt(minLength) });
  }
  if (length > maxLength) {
    const msg = `String should have at most ${characters(maxLength)}`;
    return withContext(bad('string_too_long', at, msg, value), { max_length: BigInt(maxLength) });
  }
  if (pattern === undefined || new RegExp(pattern, 'u').test(value)) return verdict;
  const msg = `String should match pattern '${pattern}'`;
  return withContext(bad('string_pattern_mismatch', at, msg, value), { pattern });
}

function characters(count: number): string {
  return count === 1 ? '1 character' : `${count} characters`;
}

function withContext(verdict: Verdict<never>, ctx: Readonly<Record<string, Json>>): Verdict {
  if (verdict.kind !== 'bad') return verdict;
  return { kind: 'bad', problems: verdict.problems.map((problem) => ({ ...problem, ctx })) };
}

/** The limits of a number, each with the type of its problem and the member of `ctx` that contains the limit. */
const LIMITS = [
  {
    key: 'minimum',
    type: 'greater_than_equal',
    ctx: 'ge',
    words: 'greater than or equal to',
    fits: (value: number, limit: number) => value >= limit,
  },
  {
    key: 'maximum',
    type: 'less_than_equal',
    ctx: 'le',
    words: 'less than or equal to',
    fits: (value: number, limit: number) => value <= limit,
  },
  {
    key: 'exclusiveMinimum',
    type: 'greater_than',
    ctx: 'gt',
    words: 'greater than',
    fits: (value: number, limit: number) => value > limit,
  },
  {
    key: 'exclusiveMaximum',
    type: 'less_than',
    ctx: 'lt',
    words: 'less than',
    fits: (value: number, limit: number) => value < limit,
  },
] as const;

function within(node: SchemaNode, verdict: Verdict, value: Json, at: Location): Verdict {
  if (verdict.kind !== 'good') return verdict;
  const number = Number(verdict.value);
  const isWhole = typeof verdict.value === 'bigint';
  for (const { key, type, ctx, words, fits } of LIMITS) {
    const limit = node[key];
    if (limit === undefined || fits(number, limit)) continue;
    const shown = isWhole ? BigInt(limit) : limit;
    const text = `Input should be ${words} ${limit}`;
    return withContext(bad(type, at, text, value), { [ctx]: shown });
  }
  return verdict;
}
