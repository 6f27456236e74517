/** A variable of a file of lines NAME=value, with the line that it begins in. */
export interface DotenvVariable {
  readonly name: string;
  readonly value: string;
  readonly line: number;
}

/** A line that is not understood, and why: never with a word of it. */
export interface DotenvProblem {
  readonly line: number;
  readonly problem: string;
  readonly hint: string;
}

/** The value of a variable that another one names; null leaves `${NAME}` in the text. */
export type Expand = ((name: string) => string | undefined) | null;

const ASSIGNMENT = /[^\S\n]*(?:export[^\S\n]+)?([A-Za-z_][\w.-]*)[^\S\n]*=([^\S\n]*)/y;
const NOTHING = /[^\S\n]*(?:#[^\n]*|export(?:[^\S\n]+[A-Za-z_]\w*)+[^\S\n]*)?(?:\n|$)/y;
const END = /[^\S\n]*(?:[^\S\n]#[^\n]*)?(?:\n|$)/y;

/**
 * Reads lines NAME=value as docker compose does: quotes, comments behind a blank, `export`, and values of several lines in quotes. In
 * double quotes `\n`, `\r`, `\t`, `\"`, `\\`, `\$` and `` \` `` are escapes. `${NAME}` and `${NAME:-default}` outside of single quotes are expanded. A line that is nothing
 * of this is a problem, and no part of the value before it. `found` is called with each variable before the next is read.
 */
export function parseDotenv(
  given: string,
  expand: Expand,
  found: (name: string, value: string) => void = () => {},
): readonly DotenvVariable[] | DotenvProblem {
  const text = given.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n');
  const variables: DotenvVariable[] = [];
  const add = (name: string, value: string, line: number): void => {
    variables.push({ name, value, line });
    found(name, value);
  };
  let at = 0;
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match !== null) at = pattern.lastIndex;
    return match;
  };
  const lines = new LineCount(text);
  while (at < text.length) {
    if (take(NOTHING) !== null) continue;
    const line = lines.at(at);
    const [, name, blank = ''] = take(ASSIGNMENT) ?? [];
    if (name === undefined) return { line, ...NO_ASSIGNMENT };
    const quote = text.charAt(at);
    if (quote !== '"' && quote !== "'" && quote !== '`') {
      const end = text.indexOf('\n', at);
      const whole = text.slice(at, end < 0 ? text.length : end);
      at = end < 0 ? text.length : end + 1;
      // A number sign begins a comment only behind a blank.
      const value = (blank + whole).replace(/\s#.*$/s, '').trim();
      if (value.startsWith('-----BEGIN ')) return { line, ...NO_QUOTES };
      add(name, expandVariables(value, expand), line);
      continue;
    }
    const end = closing(text, at, quote);
    if (end < 0) return { line, ...NOT_CLOSED };
    const inner = text.slice(at + 1, end);
    at = end + 1;
    if (take(END) === null) return { line: lines.at(at), ...AFTER_QUOTE };
    add(name, quote === '"' ? unescapeValue(inner, expand) : inner, line);
  }
  return variables;
}

export function isDotenvProblem(
  read: readonly DotenvVariable[] | DotenvProblem,
): read is DotenvProblem {
  return 'problem' in read;
}

const NO_ASSIGNMENT = {
  problem: 'not a line NAME=value',
  hint: 'Write NAME=value, a comment that begins with #, or put a value of several lines in quotes.',
};
const NO_QUOTES = {
  problem: 'a key of several lines without quotes',
  hint: 'Put it in double quotes, from -----BEGIN to -----END.',
};
const NOT_CLOSED = {
  problem: 'a value whose quote is never closed',
  hint: 'Close the quote, or write a quote in the value inside quotes of the other kind.',
};
const AFTER_QUOTE = {
  problem: 'a value with text behind its closing quote',
  hint: 'Put all of the value in quotes.',
};

/** Counts lines on the way through a text, each once. */
class LineCount {
  readonly #text: string;
  #at = 0;
  #line = 1;

  constructor(text: string) {
    this.#text = text;
  }

  at(position: number): number {
    for (; this.#at < position; this.#at += 1) if (this.#text[this.#at] === '\n') this.#line += 1;
    return this.#line;
  }
}

/** Where a quoted value ends; -1 if it never does. */
function closing(text: string, start: number, quote: string): number {
  for (let at = start + 1; at < text.length; at += 1) {
    if (text[at] === '\\' && quote === '"') at += 1;
    else if (text[at] === quote) return at;
  }
  return -1;
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' };

function unescapeValue(text: string, expand: Expand): string {
  return text
    .split(/(\\[\s\S])/)
    .map((part) => {
      if (part.length !== 2 || !part.startsWith('\\')) return expandVariables(part, expand);
      const char = part.charAt(1);
      return ESCAPES[char] ?? (/["\\$`]/.test(char) ? char : part);
    })
    .join('');
}

const REFERENCE = /\$\{([A-Za-z_]\w*)(:?[-?+])?/y;

/** A text with its variables replaced: an unset one by its default, which may name others, or by nothing. */
function expandVariables(text: string, expand: Expand): string {
  if (expand === null) return text;
  let result = '';
  for (let at = 0; at < text.length;) {
    REFERENCE.lastIndex = at;
    const match = text[at] === '$' ? REFERENCE.exec(text) : null;
    const end = match === null ? -1 : closingBrace(text, at + match[0].length);
    if (match !== null && end < 0) return result + text.slice(at);
    if (match === null) {
      result += text[at];
      at += 1;
      continue;
    }
    const [whole, name = '', by = ''] = match;
    const value = expand(name);
    const isSet = value !== undefined && (value !== '' || !by.startsWith(':'));
    const other = (): string => expandVariables(text.slice(at + whole.length, end), expand);
    if (by.endsWith('+')) result += isSet ? other() : '';
    else result += isSet ? value : by.endsWith('-') ? other() : '';
    at = end + 1;
  }
  return result;
}

/** The brace that closes a reference; -1 if none does. */
function closingBrace(text: string, start: number): number {
  let open = 1;
  for (let at = start; at < text.length; at += 1) {
    if (text[at] === '}') open -= 1;
    else if (text[at] === '{' && text[at - 1] === '$') open += 1;
    if (open === 0) return at;
  }
  return -1;
}
