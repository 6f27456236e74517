import { looksLikeToken } from '../model/secret-words.ts';

const WORD = /^(?:[A-Z]?[a-z]{1,19}|[A-Z]{1,19}|[A-Za-z]?[a-z]+(?:[A-Z]{1,4}[a-z]+)+)?\d{0,4}$/;

/**
 * Whether a word of the file that is no known key may be repeated: it reads like a name that a person would give, and not like
 * a secret that was pasted where a name belongs.
 */
export function isShowable(word: string): boolean {
  return (
    word.length <= 64 &&
    !looksLikeToken(word) &&
    word.split(/[-_.]/).every((part) => WORD.test(part))
  );
}

/** A path as documents show it: what may be a secret in it is left out. */
export function shownPath(path: readonly string[]): readonly string[] {
  return path.every(isShowable) ? path : path.map((key) => (isShowable(key) ? key : '…'));
}
