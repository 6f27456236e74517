export type ShellWords =
  | { readonly kind: 'words'; readonly words: readonly string[] }
  | { readonly kind: 'unfinished'; readonly reason: string };

/**
 * The words of a line as a POSIX shell would split it, without expansions or comments: blanks part words, quotes and
 * backslashes hold them together. Inside double quotes a backslash escapes only `"` and itself.
 * Source: contract "mcp_config: stdio args as a shell line".
 */
export function shellWords(line: string): ShellWords {
  const piece = /([ \t\r\n]+)|'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)|[^ \t\r\n'"\\]+/sy;
  const words: string[] = [];
  let word: string | undefined;
  while (piece.lastIndex < line.length) {
    const start = piece.lastIndex;
    const found = piece.exec(line);
    if (found === null) return unfinished(line.charAt(start));
    const [whole, blanks, single, double, escaped] = found;
    if (blanks === undefined) {
      const text = single ?? double?.replaceAll(/\\(["\\])/g, '$1') ?? escaped ?? whole;
      word = `${word ?? ''}${text}`;
    } else if (word !== undefined) {
      words.push(word);
      word = undefined;
    }
  }
  return { kind: 'words', words: word === undefined ? words : [...words, word] };
}

function unfinished(mark: string): ShellWords {
  const reason = mark === '\\' ? 'No escaped character' : 'No closing quotation';
  return { kind: 'unfinished', reason };
}
