import { isSecretText, isSensitiveName } from '../model/secret-words.ts';

/*
 * What of a stdio server may stand in a file as it is. The list is short and closed: whatever is not of one of these forms
 * becomes a reference. docs/secrets.md has the same list.
 */

const PART = String.raw`(?:[a-z]{1,16}|\d{1,3})`;
const NAME = String.raw`[a-z]{1,16}(?:[-._]${PART})*`;
const VERSION = String.raw`[~^]?\d{1,4}(?:\.\d{1,4}){0,3}(?:-[a-z]{1,10}(?:\.\d{1,4})?)?`;
const SEGMENT = String.raw`\.?${NAME}`;
const HOST = String.raw`(?:${NAME}|\d{1,3}(?:\.\d{1,3}){3})(?::\d{1,5})?`;

const FLAG = /^(?:-[A-Za-z]|--|--[a-z]{1,16}(?:-(?:[a-z]{1,16}|\d{1,3}))*)$/;
const WORD = /^(?:[a-z]{1,12}|true|false|TRUE|FALSE|DEBUG|INFO|WARN|WARNING|ERROR)$/;
const NUMBER = /^-?\d{1,5}(?:\.\d{1,4}){0,3}$/;
const PATH = new RegExp(String.raw`^(?:\.{1,2}|(?:\.{1,2}|~)?/(?:${SEGMENT}(?:/${SEGMENT})*/?)?)$`);
const ADDRESS = new RegExp(String.raw`^(?:https?|wss?)://${HOST}(?:/${SEGMENT})*/?$`);
const PACKAGE = new RegExp(
  String.raw`^(?:@${NAME}/)?${NAME}(?:/${NAME})*(?:[@:](?:latest|next|stable|main|${VERSION}))?(?:@sha256:[\da-f]{64})?$`,
);
const VARIABLE = /^[A-Z]{1,12}(?:_[A-Z]{1,12})+$/;

const LONGEST = 200;

/** Whether a text may stand in a file, whatever it is the value of: a word, a small number, a path or an address of plain words. */
function isPlace(text: string): boolean {
  return PATH.test(text) || ADDRESS.test(text);
}

/** Whether the value of a variable may stand in a file; its name has to allow it too. */
export function isHarmlessValue(name: string, text: string): boolean {
  if (text === '') return true;
  if (isSensitiveName(name) || text.length > LONGEST || isSecretText(text)) return false;
  return WORD.test(text) || NUMBER.test(text) || isPlace(text);
}

/** Flags of one letter whose value is no secret by custom: `python -m`, `npx -y`, `docker run -i -t -v -d`, `-q`. */
const PLAIN_LETTERS = /^-[mydiqtv]$/;

/** Whether an argument may stand in a file where it follows another. */
function isHarmlessArgument(text: string, before: string | null): boolean {
  if (text.length > LONGEST || isSecretText(text)) return false;
  if (text === '' || FLAG.test(text)) return true;
  if (before === '-e' || before === '--env') return VARIABLE.test(text);
  const flag = before !== null && /^-{1,2}[A-Za-z]/.test(before) ? before : null;
  if (flag !== null && isSensitiveName(flag)) return false;
  if (isPlace(text)) return true;
  if (flag !== null && !flag.startsWith('--') && !PLAIN_LETTERS.test(flag)) return false;
  return WORD.test(text) || NUMBER.test(text) || (/[^a-z]/.test(text) && PACKAGE.test(text));
}

/**
 * The part of an argument that may stand in a file, where the rest becomes a reference: `--api-key=` of `--api-key=x`, nothing
 * of an argument that follows `--api-key`. Null if all of it may stand there.
 */
export function openPart(argument: string, before: string | null): string | null {
  if (isHarmlessArgument(argument, before)) return null;
  const [, head = '', name = '', value = ''] =
    /^((-{0,2}[A-Za-z][A-Za-z_-]{0,40})(?:=|:\s+))(.*)$/s.exec(argument) ?? [];
  const isName =
    FLAG.test(name) ||
    /^[A-Z]{1,12}(?:_[A-Z]{1,12})*$/.test(name) ||
    /^(?:[A-Z][a-z]{0,15}-?)+$/.test(name);
  if (!isName || isSecretText(name)) return '';
  const open = name.startsWith('--') && !isSensitiveName(name) && isHarmlessArgument(value, name);
  return open ? null : head;
}
