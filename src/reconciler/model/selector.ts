import { usageError } from './error.ts';

/** One condition on the labels of an environment. Without the key, `notin` and `absent` hold, the others do not. */
export type Requirement =
  | {
      readonly operator: 'in' | 'notin';
      readonly key: string;
      readonly values: ReadonlySet<string>;
    }
  | { readonly operator: 'exists' | 'absent'; readonly key: string };

/** Reports whether these labels meet all requirements. */
export function selects(
  requirements: readonly Requirement[],
  labels: ReadonlyMap<string, string>,
): boolean {
  return requirements.every((one) => {
    const value = labels.get(one.key);
    switch (one.operator) {
      case 'in':
        return value !== undefined && one.values.has(value);
      case 'notin':
        return value === undefined || !one.values.has(value);
      case 'exists':
        return value !== undefined;
      case 'absent':
        return value === undefined;
    }
  });
}

/**
 * Parses what kubectl accepts after -l: `a=b`, `a==b`, `a!=b`, `a in (b,c)`, `a notin (b,c)`, `a`, `!a`, with commas between them, which
 * mean and. Throws a usage error, also if there is no requirement: a variable that is not set would select everything.
 */
export function parseSelector(text: string): readonly Requirement[] {
  const tokens = new Tokens(text);
  if (tokens.next === null) throw tokens.problem('it is empty');
  const requirements: Requirement[] = [];
  do requirements.push(requirement(tokens));
  while (tokens.take(','));
  return requirements;
}

const EXAMPLES = "Write it like ring=0, 'tier!=canary', 'region in (eu,us)' or '!legacy'.";

/** Operators, brackets and commas, and the words between them. */
const TOKEN = /==|!=|[=!(),<>]|[^ \t\r\n=!(),<>]+/g;
const MARK = /^[=!(),<>]/;

/** A longer text is not repeated. */
const LONGEST = 80;

class Tokens {
  readonly #text: string;
  readonly #tokens: readonly string[];
  #at = 0;

  constructor(text: string) {
    this.#text = text;
    this.#tokens = text.match(TOKEN) ?? [];
  }

  /** The token that comes next, or null at the end. */
  get next(): string | null {
    return this.#tokens[this.#at] ?? null;
  }

  /** The token as a message names it. */
  get found(): string {
    return this.next === null ? 'the end' : (quoteShortText(this.next) ?? 'a long word');
  }

  /** Takes the next token if it is this one. */
  take(token: string): boolean {
    const is = this.next === token;
    if (is) this.#at += 1;
    return is;
  }

  /** Reads a word; null if the next token is not one. */
  word(): string | null {
    const { next } = this;
    if (next === null || MARK.test(next)) return null;
    this.#at += 1;
    return next;
  }

  problem(what: string, hint = EXAMPLES): Error {
    const selector = ['The selector', ...[quoteShortText(this.#text) ?? []].flat()].join(' ');
    return usageError(`${selector} is not valid: ${what}.`, hint);
  }
}

function quoteShortText(text: string): string | null {
  return text.length <= LONGEST ? JSON.stringify(text) : null;
}

function requirement(tokens: Tokens): Requirement {
  if (tokens.take('!'))
    return requireEnd(tokens, { operator: 'absent', key: readSelectorKey(tokens) });
  const key = readSelectorKey(tokens);
  if (tokens.take('=') || tokens.take('=='))
    return requireEnd(tokens, {
      operator: 'in',
      key,
      values: new Set([readSelectorValue(tokens)]),
    });
  if (tokens.take('!='))
    return requireEnd(tokens, {
      operator: 'notin',
      key,
      values: new Set([readSelectorValue(tokens)]),
    });
  for (const operator of ['in', 'notin'] as const) {
    if (tokens.take(operator))
      return requireEnd(tokens, { operator, key, values: readSelectorValues(tokens) });
  }
  if (tokens.next === '<' || tokens.next === '>')
    throw tokens.problem(`values are text, and ${tokens.next} compares numbers`);
  return requireEnd(tokens, { operator: 'exists', key }, '=, !=, in, notin or a comma');
}

function requireEnd(tokens: Tokens, complete: Requirement, expected = 'a comma'): Requirement {
  if (tokens.next === null || tokens.next === ',') return complete;
  throw tokens.problem(`${expected} is missing before ${tokens.found}`);
}

function readSelectorKey(tokens: Tokens): string {
  const { found } = tokens;
  const key = tokens.word();
  if (key === null) throw tokens.problem(`a key is missing before ${found}`);
  if (isLabelKey(key)) return key;
  throw tokens.problem(`${found} is not a key`, `A key has ${KEY_FORM}.`);
}

/** A value. At a comma, a bracket or the end it is empty. */
function readSelectorValue(tokens: Tokens): string {
  const { found } = tokens;
  const value = tokens.word() ?? '';
  if (isLabelValue(value)) return value;
  throw tokens.problem(`${found} is not a value`, `A value has ${VALUE_FORM}.`);
}

function readSelectorValues(tokens: Tokens): ReadonlySet<string> {
  if (!tokens.take('(')) throw tokens.problem(`( is missing before ${tokens.found}`);
  const values = new Set<string>();
  do values.add(readSelectorValue(tokens));
  while (tokens.take(','));
  if (tokens.take(')')) return values;
  throw tokens.problem(`a comma or ) is missing before ${tokens.found}`);
}

/*
 * Labels of environments have the form of Kubernetes' labels. schemas/settings.schema.json has the same patterns, for editors
 * and for the check of a file.
 */

const NAME = /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const DOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const LONGEST_KEY = 253 + 1 + 63;

/** The permitted characters of a value, and of a key, in words. */
export const VALUE_FORM = 'at most 63 letters, digits, dots, - and _';
export const KEY_FORM = `${VALUE_FORM}, a letter or digit first and last: ring, or example.com/ring`;

/** Reports whether a text has the form of a label's key: a name, or a domain in lower case, a slash and a name. */
export function isLabelKey(text: string): boolean {
  const slash = text.indexOf('/');
  const name = text.slice(slash + 1);
  return (
    text.length <= LONGEST_KEY &&
    NAME.test(name) &&
    (slash === -1 || DOMAIN.test(text.slice(0, slash)))
  );
}

/** Reports whether a text has the form of a label's value. */
export function isLabelValue(text: string): boolean {
  return text === '' || NAME.test(text);
}
