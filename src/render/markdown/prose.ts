import { codeSpan, shortened, spanOf } from './code-span.ts';

const LONGEST = 1000;
const WORD = /^\p{L}+(?:['’-]\p{L}+)*$|^\d{1,6}$|^[–—→…·]?$/u;
/** What a forge may take for a commit, or for an address, at whatever it holds for the end of a word. */
const LINKED = /[0-9a-f]{7}|www/i;

/**
 * A sentence that may hold foreign text. Plain words and numbers stand as they are; everything else (names, paths, addresses,
 * mentions, markup) is a code span, so that none of it means anything. Never empty.
 */
export function prose(text: string): string {
  const tokens = shortened(text, LONGEST)
    .split(' ')
    .filter((token) => token !== '');
  return tokens.length === 0
    ? '…'
    : tokens.map((token, index) => worded(token, index === 0)).join(' ');
}

/** A name: as it is where it is a plain word, else a code span. */
export function label(name: string): string {
  const text = shortened(name, 100);
  return prose(text) === text && text !== '' ? text : codeSpan(text);
}

/** Punctuation around a word is not part of it. A number that would begin a list does not begin a line. */
function worded(token: string, first: boolean): string {
  const [, open = '', word = '', close = ''] =
    /^([("']*)(.*?)((?:[)"'.,;!?]|:$)*)$/u.exec(token) ?? [];
  const listed = first && /^\d/.test(word) && close !== '';
  const plain = WORD.test(word) && !LINKED.test(word) && !listed;
  return open + (plain ? word : spanOf(word)) + close;
}
