import { visible } from '../text.ts';

const LONGEST_SENTENCE = 1000;
const LONGEST_LABEL = 100;
const WORD = /^\p{L}+(?:['’-]\p{L}+)*$|^\d{1,6}$|^\d{1,3}(?:,\d{3})+$|^[–—→…·]?$/u;
/** Texts that a forge may take for a commit or an address, at whatever it regards as the end of a word. */
const LINKED = /[0-9a-f]{7}|www/i;

/**
 * A sentence that may hold foreign text. Plain words and numbers stay as they are; everything else (names, paths, addresses,
 * mentions, markup) is a code span, so that none of it has a meaning. Never empty.
 */
export function prose(text: string): string {
  const tokens = splitWords(shortenVisible(text, LONGEST_SENTENCE));
  return tokens.length === 0
    ? '…'
    : tokens.map((token, index) => toCodeToken(token, index === 0)).join(' ');
}

/** A name: a plain word unchanged, anything else as a code span. */
export function label(name: string): string {
  const text = shortenVisible(name, LONGEST_LABEL);
  return prose(text) === text && text !== '' ? text : codeSpan(text);
}

/** A value as a code span: nothing in it is markup, a mention, a link or a reference to an issue. */
export function codeSpan(value: string): string {
  return formatCodeSpan(value === '' ? '""' : visible(value));
}

/** A name inside of HTML that Markdown leaves unchanged: every character that could mean anything is its number. */
export function htmlCode(name: string): string {
  const text = shortenVisible(name, LONGEST_LABEL).replaceAll(
    /[^\p{L}\p{N} .-]/gu,
    (char) => `&#${char.codePointAt(0)};`,
  );
  return `<code>${text}</code>`;
}

/** Text as it can be seen, made of at most `limit` characters of the value; what is left out is counted. */
export function shortenVisible(value: string, limit: number): string {
  if (value.length <= limit) return visible(value);
  const kept = value.slice(0, limit).replace(/[\uD800-\uDBFF]$/, '');
  return `${visible(kept)}… (${value.length - kept.length} more characters)`;
}

/** The length of the longest run of backticks. */
export function longestRun(text: string): number {
  return (text.match(/`+/g) ?? []).reduce((longest, { length }) => Math.max(longest, length), 0);
}

/** Words and what is between them; `--allow RULE` is one. */
function splitWords(text: string): string[] {
  return text.match(/--allow +[^ ]+|[^ ]+/g)?.map((token) => token.replaceAll(/ +/g, ' ')) ?? [];
}

/** Punctuation around a word is not part of it. A number that would begin a list does not begin a line. */
function toCodeToken(token: string, first: boolean): string {
  const [, open = '', word = '', close = ''] =
    /^([("']*)(.*?)((?:[)"'.,;!?]|:$)*)$/u.exec(token) ?? [];
  const listed = first && /^\d/.test(word) && close !== '';
  const plain = WORD.test(word) && !LINKED.test(word) && !listed;
  return open + (plain ? word : formatCodeSpan(word)) + close;
}

/** The fence is longer than any run of backticks in the text. */
function formatCodeSpan(text: string): string {
  const fence = '`'.repeat(longestRun(text) + 1);
  return fence + (isTrimmed(text) ? ` ${text} ` : text) + fence;
}

/** Reports whether a parser would trim the ends: a backtick, or one blank at both of them. */
function isTrimmed(text: string): boolean {
  return /^`|`$/.test(text) || (text.startsWith(' ') && text.endsWith(' ') && /[^ ]/.test(text));
}
