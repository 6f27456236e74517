import type { Json, JsonObject } from '../json/json.ts';

/** Where a value stands in the request: names of members, and positions in lists, from 0. */
export type Location = readonly (string | bigint)[];

/** One item of a 422's `detail`. `input` is the offending value itself: real servers echo it, secrets included. */
export interface Problem {
  readonly type: string;
  readonly loc: Location;
  readonly msg: string;
  readonly input: Json;
  /** What the rule's sentence was made of, where it is answered too. */
  readonly ctx?: JsonObject;
}

/** What a rule says of a value; `crash` is where the real server's own code fails, which it answers with a 500. */
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

/** One verdict on a whole: a crash anywhere is a crash, otherwise all problems in order, otherwise all values. */
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
