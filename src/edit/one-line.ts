import { envPairs, isUnfinished, shellWords } from '../desired/lines.ts';

/** Arguments as one line that a shell splits into them again; null where there is none. */
export function argumentLine(words: readonly string[]): string | null {
  const line = words.map(quotedWord).join(' ');
  const read = isUnfinished(line) ? [] : shellWords(line);
  return read.length === words.length && read.every((word, index) => word === words[index])
    ? line
    : null;
}

function quotedWord(word: string): string {
  if (/^[^\s"'\\]+$/.test(word)) return word;
  if (!word.includes("'")) return `'${word}'`;
  return `"${word.replaceAll(/["\\]/g, (char) => `\\${char}`)}"`;
}

/** Variables as one line A=1,B=2; null where their values hold commas or blanks at their ends. */
export function variableLine(variables: readonly (readonly [string, string])[]): string | null {
  const line = variables.map(([name, text]) => `${name}=${text}`).join(',');
  const read = envPairs(line);
  const same = read.every(
    ({ name, text }, index) => name === variables[index]?.[0] && text === variables[index]?.[1],
  );
  return same && read.length === variables.length ? line : null;
}
