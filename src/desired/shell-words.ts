/** A line split as a POSIX shell splits words: quotes and backslashes group, nothing is expanded. */
export function shellWords(line: string): string[] {
  const words: string[] = [];
  let word: string | null = null;
  let quote: '"' | "'" | null = null;
  for (let at = 0; at < line.length; at++) {
    const char = line[at] ?? '';
    const escapes =
      char === '\\' && quote !== "'" && (quote === null || /["\\]/.test(line[at + 1] ?? ''));
    if (escapes && at + 1 < line.length) word = (word ?? '') + line[++at];
    else if (char === quote) quote = null;
    else if (quote === null && (char === '"' || char === "'")) {
      quote = char;
      word ??= '';
    } else if (quote === null && /\s/.test(char)) {
      if (word !== null) words.push(word);
      word = null;
    } else word = (word ?? '') + char;
  }
  if (word !== null) words.push(word);
  return words;
}
