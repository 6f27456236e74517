import { readFileSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

/**
 * Wraps the prose of Markdown at 100 characters: `node scripts/wrap.mjs PAGE …`. Blocks of code, tables, headings and front matter are
 * unchanged, and nothing between backticks is broken.
 */

export const WIDTH = 100;

/** Lists the lines of Markdown with the kind of each: `code`, `fixed` (tables, headings, comments) or `prose`. */
export function linesOf(text) {
  const lines = text.split('\n');
  let fence = lines[0] === '---' ? '---' : null;
  return lines.map((line, at) => {
    if (fence !== null) {
      if (at > 0 && line.trim() === fence) fence = null;
      return { line, kind: 'code' };
    }
    const [, opened] = /^ *(```+|~~~+)/.exec(line) ?? [];
    if (opened !== undefined) {
      fence = opened;
      return { line, kind: 'code' };
    }
    const isFixed = /^ *(\||#{1,6} |<|\[[^\]]+\]: )/.test(line);
    return { line, kind: isFixed ? 'fixed' : 'prose' };
  });
}

/** Returns the text with each paragraph and each item of a list wrapped. */
export function wrapText(text) {
  const result = [];
  let words = [];
  let first = '';
  let rest = '';
  const end = () => {
    if (words.length > 0) result.push(...wrapWords(words, first, rest));
    words = [];
  };
  for (const { line, kind } of linesOf(text)) {
    if (kind !== 'prose' || line.trim() === '') {
      end();
      result.push(line.trimEnd());
      continue;
    }
    const [, indent, mark] = /^(\s*(?:> ?)*)((?:[-*+]|\d+[.)]) +)?/.exec(line);
    const start = `${indent}${mark ?? ''}`;
    if (words.length === 0 || mark !== undefined || indent.includes('>') !== first.includes('>')) {
      end();
      first = start;
      rest = indent + ' '.repeat(mark?.length ?? 0);
    }
    words.push(...splitWords(line.slice(start.length)));
    if (/(?: {2}|\\)$/.test(line)) end();
  }
  end();
  return result.join('\n');
}

/** Splits at blanks that are not between backticks. */
function splitWords(line) {
  return line.match(/(?:`+[^`]*`+|[^\s`]|`)+/g) ?? [];
}

function wrapWords(words, first, rest) {
  const lines = [];
  let line = first + words[0];
  for (const word of words.slice(1)) {
    // A word that would begin a list, a heading or a quotation stays on the line above.
    const isMark = /^(?:[-+*>|]|#{1,6}|\d+[.)]|<.*|=+)$/.test(word);
    if (line.length + 1 + word.length <= WIDTH || isMark) line += ` ${word}`;
    else {
      lines.push(line);
      line = rest + word;
    }
  }
  return [...lines, line];
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  for (const path of process.argv.slice(2)) {
    const text = readFileSync(path, 'utf8');
    const wrapped = wrapText(text);
    if (wrapped !== text) writeFileSync(path, wrapped);
  }
