/** A reference as one piece of a line, `$${` as the escape that it is, or any other character. */
const PIECE = /\$\$\{|\$\{[^}]*\}|[\s\S]/gu;

export interface EnvPair {
  readonly name: string;
  /** The text after the =, or null if there is no =. */
  readonly text: string | null;
}

/** A line A=1,B=2 as pairs; commas inside a reference belong to it. */
export function envPairs(line: string): EnvPair[] {
  const pairs: string[] = [];
  let pair = '';
  for (const [piece] of [...line.matchAll(PIECE), [',']]) {
    if (piece !== ',') pair += piece;
    else {
      pairs.push(pair);
      pair = '';
    }
  }
  return pairs
    .map((pair) => pair.trim())
    .filter((pair) => pair !== '')
    .map((pair) => {
      const equals = pair.indexOf('=');
      return equals === -1
        ? { name: pair, text: null }
        : { name: pair.slice(0, equals).trim(), text: pair.slice(equals + 1).trim() };
    });
}

/** A line split as a POSIX shell splits words: quotes and backslashes group, nothing is expanded, a reference is one piece. */
export function splitShellLine(line: string): string[] {
  return split(line).words;
}

/** Reports whether a line ends inside a quote or after a backslash: a shell would then wait for more. */
export function isUnfinished(line: string): boolean {
  return split(line).unfinished;
}

function split(line: string): { readonly words: string[]; readonly unfinished: boolean } {
  const words: string[] = [];
  const pieces = [...line.matchAll(PIECE)].map(([piece]) => piece);
  let word: string | null = null;
  let quote: '"' | "'" | null = null;
  let unfinished = false;
  for (let at = 0; at < pieces.length; at++) {
    const piece = pieces[at] ?? '';
    const next = pieces[at + 1];
    if (piece === '\\' && quote === null) {
      unfinished ||= next === undefined;
      word = (word ?? '') + (next ?? '');
      at += 1;
    } else if (piece === '\\' && quote === '"' && (next === '"' || next === '\\')) {
      word = (word ?? '') + next;
      at += 1;
    } else if (piece === quote) quote = null;
    else if (quote === null && (piece === '"' || piece === "'")) {
      quote = piece;
      word ??= '';
    } else if (quote === null && /^[ \t\r\n]$/.test(piece)) {
      if (word !== null) words.push(word);
      word = null;
    } else word = (word ?? '') + piece;
  }
  if (word !== null) words.push(word);
  return { words, unfinished: unfinished || quote !== null };
}

/** Arguments as one line that a shell splits into them again; null if there is no such line. */
export function argumentLine(words: readonly string[]): string | null {
  const line = words.map(quoteLineWord).join(' ');
  const read = isUnfinished(line) ? [] : splitShellLine(line);
  return read.length === words.length && read.every((word, index) => word === words[index])
    ? line
    : null;
}

function quoteLineWord(word: string): string {
  if (/^[^\s"'\\]+$/.test(word)) return word;
  if (!word.includes("'")) return `'${word}'`;
  return `"${word.replaceAll(/["\\]/g, (char) => `\\${char}`)}"`;
}

/** Variables as one line A=1,B=2; null if a value holds a comma, or a blank at its ends. */
export function variableLine(variables: readonly (readonly [string, string])[]): string | null {
  const line = variables.map(([name, text]) => `${name}=${text}`).join(',');
  const read = envPairs(line);
  const same = read.every(
    ({ name, text }, index) => name === variables[index]?.[0] && text === variables[index]?.[1],
  );
  return same && read.length === variables.length ? line : null;
}
