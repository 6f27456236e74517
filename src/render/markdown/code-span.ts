import { visible } from '../visible.ts';

/** A value as a code span: nothing in it is markup, a mention, a link or a reference to an issue. */
export function codeSpan(value: string): string {
  return spanOf(value === '' ? '""' : visible(value));
}

/** The same for text whose every character can be seen. The fence is longer than any run of backticks in it. */
export function spanOf(text: string): string {
  const fence = '`'.repeat(longestRun(text) + 1);
  return fence + (isTrimmed(text) ? ` ${text} ` : text) + fence;
}

/** Whether a parser would take something away at the ends: a backtick, or one blank at both of them. */
function isTrimmed(text: string): boolean {
  return /^`|`$/.test(text) || (text.startsWith(' ') && text.endsWith(' ') && /[^ ]/.test(text));
}

/** The length of the longest run of backticks. */
export function longestRun(text: string): number {
  return (text.match(/`+/g) ?? []).reduce((longest, { length }) => Math.max(longest, length), 0);
}

/** Text as it can be seen, made of so many characters of the value at most; what is left out is counted. */
export function shortened(value: string, limit: number): string {
  if (value.length <= limit) return visible(value);
  const kept = value.slice(0, limit).replace(/[\uD800-\uDBFF]$/, '');
  return `${visible(kept)}… (${value.length - kept.length} more characters)`;
}
