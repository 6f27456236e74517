import { isShowable } from '../../model/secret-words.ts';

/*
 * The forms of values that an excerpt may quote as they are, in quotes or not: too short or too plain to be a secret. Everything
 * else is struck out.
 */

const REFERENCE = /^(["']?)\$\{(?:env:[A-Za-z_][A-Za-z0-9_]*|file:[^}:]+)\}\1$/;
const NUMBER_OR_WORD =
  /^(["']?)(?:[-+]?\d[\d.eE+_-]{0,24}|[-+]?\.inf|\.nan|true|false|yes|no|on|off|null|~)\1$/i;
const ADDRESS = /^(["']?)(?:embedded:|[a-z]{2,8}:\/\/)[^?#@{}[\]"',\s]{0,100}\1$/i;
const PATH = /^(["']?)[a-z_]+(?:[.[][^?#@{}"',\s]{0,100})?\1$/i;

export function isReference(value: string): boolean {
  return REFERENCE.test(value);
}

/** A number, a truth value or null. */
export function isNumberOrWord(value: string): boolean {
  return NUMBER_OR_WORD.test(value);
}

/** Text without blanks that has the form of a name. */
export function isPlainWord(value: string): boolean {
  const word = /^(["']?)(.*)\1$/s.exec(value)?.[2] ?? '';
  return isShowable(word.replaceAll(/[/@]/g, '-'));
}

/** An address of plain words, without userinfo, query and fragment. */
export function isPlainAddress(value: string): boolean {
  return ADDRESS.test(value) && isWords(value);
}

/** A path of plain words to a field or an mcp entry. */
export function isPlainPath(value: string): boolean {
  return PATH.test(value) && isWords(value);
}

function isWords(value: string): boolean {
  return value.split(/[\s"'[\]:/.#]+/).every((part) => isShowable(part) || /^\d{1,5}$/.test(part));
}
