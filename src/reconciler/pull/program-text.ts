import { addressParts } from '../model/address.ts';
import { fieldNamed } from '../model/field.ts';
import { headerScheme } from '../model/header-scheme.ts';
import { holdsMaskText, isSecretText, isSensitiveName } from '../model/secret-words.ts';
import { pathNamed } from '../model/path.ts';
import { Secret, type Scalar } from '../model/secret.ts';
import { isList, isRecord, type Value, type ValueRecord } from '../model/value.ts';
import { createVariableMarker, markerReference, variableName } from './placeholder.ts';
import { escapeReferences, hasHiddenSecret } from './writable.ts';

/** An argument or variable of a program as a file writes it. */
export interface ProgramText {
  readonly written: string;
  readonly marker: string;
  /** Names for the variable of the reference in it; null if there is no reference. */
  readonly names: readonly string[] | null;
}

/** The argument at `index` of the program called `owner`, one of `all` that the service has. Null if it is not text. */
export function writeProgramArgument(
  owner: string,
  all: readonly Value[],
  index: number,
  hidden: readonly Secret[],
): ProgramText | null {
  const text = openProgramText(all[index]);
  if (text === null) return null;
  const before = index === 0 ? null : openProgramText(all[index - 1]);
  const open = withoutHidden(text, openPart(text, before), hidden);
  const flag = /[A-Za-z][\w.-]+/.exec(
    open === '' ? (before?.startsWith('-') ? before : '') : (open ?? ''),
  );
  return programText(text, open, createVariableMarker('args', owner, String(index)), [
    variableName(owner, flag?.[0] ?? `ARG_${index + 1}`),
  ]);
}

/** The open part of an argument, or of one that is all open (null), if it holds nothing hidden. */
function withoutHidden(
  text: string,
  open: string | null,
  hidden: readonly Secret[],
): string | null {
  const [head = ''] = /^--?[A-Za-z][\w.-]*=/.exec(text) ?? [];
  const part = open ?? head;
  const rest = hasHiddenSecret(text.slice(part.length), hidden);
  if (!rest && !hasHiddenSecret(text, hidden)) return open;
  return rest && !hasHiddenSecret(part, hidden) ? part : '';
}

/** A variable of the program called `owner`. Null if it is not text. */
export function writeProgramVariable(
  owner: string,
  name: string,
  value: Value,
  hidden: readonly Secret[],
): ProgramText | null {
  const text = openProgramText(value);
  if (text === null) return null;
  const open = isHarmlessValue(name, text) && !hasHiddenSecret(text, hidden);
  const own = variableName(owner);
  return programText(text, open ? null : '', createVariableMarker('env', owner, name), [
    variableName(name).startsWith(`${own}_`) ? variableName(name) : variableName(owner, name),
  ]);
}

/** A header of the server called `owner`: of its value, a file may hold the scheme, and a reference to the rest. */
export function writeHeader(owner: string, name: string, value: Value = ''): ProgramText {
  const address = owner.replace(/^[a-z][a-z0-9+.-]*:\/\//i, '');
  const names = [address.split('/')[0] ?? '', address].map((one) => variableName(one, name));
  const scheme = headerScheme(openProgramText(value) ?? '');
  return programText('', scheme, createVariableMarker('headers', owner, name), names);
}

/** The place of a wrapped value in the service's own nesting. */
export interface TextPlace {
  /** The names around it that show whether it is a secret, outermost first. */
  readonly names: readonly string[];
  /** The name of the list that it is in, and what is before it there; null if it is in none. */
  readonly item: { readonly list: string; readonly before: Value } | null;
}

/** Returns the part of a wrapped value that a file may contain. `rest`: a reference follows it. Null if a file cannot have it. */
export function openText(
  value: Secret,
  place: TextPlace,
  hidden: readonly Secret[],
): { readonly open: Scalar; readonly rest: boolean } | null {
  const isSecret = isSecretName(place.names);
  const text = value.reveal();
  if (typeof text !== 'string') {
    const isOpen = typeof text === 'boolean' || (!isSecret && ROUND.test(String(text)));
    return isOpen && !hasHiddenSecret(text, hidden) ? { open: text, rest: false } : null;
  }
  if (isSecret) return { open: isHeaderPlace(place.names) ? headerScheme(text) : '', rest: true };
  const open = withoutHidden(text, selectOpenPart(text, place), hidden);
  return { open: open ?? text, rest: open !== null };
}

function selectOpenPart(text: string, { names, item }: TextPlace): string | null {
  const before = item === null ? null : openProgramText(item.before);
  if (item !== null && COMMAND_LINES.has(item.list)) return openPart(text, before);
  const isFlagged = before?.startsWith('-') === true && isSensitiveName(before);
  return !isFlagged && isHarmlessValue(names.at(-1) ?? '', text) ? null : '';
}

/** Lists of the words of a command line. */
const COMMAND_LINES: ReadonlySet<string> = new Set(['acp_command', 'acp_args', 'args', 'command']);

/** Reports whether a name around a value marks it as a secret. The values of headers always count. */
function isSecretName(names: readonly string[]): boolean {
  return names.some((name) => isSensitiveName(name)) || isHeaderPlace(names);
}

export function isHeaderPlace(names: readonly string[]): boolean {
  return names.some((name) => /headers?$/i.test(name));
}

/** Returns the texts that the service shows under paths of secrets. A file contains none of them, wherever else they appear. */
export function listSecretTexts(values: ValueRecord): Secret[] {
  return Object.entries(values).flatMap(([name, value]) =>
    fieldNamed(name) === undefined
      ? listProgramSecrets(pathNamed(name), value)
      : secretsUnder(name, value, null),
  );
}

/** Returns the values that are secrets by a name around them, their flag or their form. Wrapping alone does not make a secret. */
function listProgramSecrets(names: readonly string[], value: Value): Secret[] {
  if (isRecord(value))
    return Object.entries(value).flatMap(([key, inner]) =>
      listProgramSecrets([...names, key], inner),
    );
  if (isList(value))
    return value.flatMap((item, index) =>
      item instanceof Secret && !isSecretName(names)
        ? secretArgument(value, index)
        : listProgramSecrets(names, item),
    );
  const text = openProgramText(value);
  if (!(value instanceof Secret) || text === null || text === '' || holdsMaskText(text)) return [];
  if (!isSecretName(names) && !isSecretText(text)) return [];
  return isFullAddress(text) ? addressSecrets(text).map((one) => new Secret(one)) : [value];
}

/** `around` is the member that a value is in. */
function secretsUnder(name: string, value: Value, around: string | null): Secret[] {
  if (isList(value)) {
    return name === 'args'
      ? value.flatMap((_, index) => secretArgument(value, index))
      : value.flatMap((item) => secretsUnder(name, item, around));
  }
  if (isRecord(value))
    return Object.entries(value).flatMap(([key, inner]) => secretsUnder(key, inner, name));
  if (!(value instanceof Secret)) return [];
  const text = openProgramText(value);
  if (text === null || text === '' || holdsMaskText(text)) return [];
  if (around === 'env' && !isSensitiveName(name) && !isSecretText(text)) return [];
  return isFullAddress(text) ? addressSecrets(text).map((one) => new Secret(one)) : [value];
}

function isFullAddress(text: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(text);
}

/** Returns the parts of an address apart from its destination. */
function addressSecrets(address: string): string[] {
  const { userinfo, tail } = addressParts(address);
  const values = tail.split(/[?#&;]/).map((pair) => pair.slice(pair.indexOf('=') + 1));
  return [userinfo, userinfo.slice(userinfo.indexOf(':') + 1), ...values].filter(
    (one) => one !== '',
  );
}

/** The part of an argument that is a secret by its flag or its own form. */
function secretArgument(all: readonly Value[], index: number): Secret[] {
  const text = openProgramText(all[index]);
  if (text === null || holdsMaskText(text)) return [];
  const before = index === 0 ? null : openProgramText(all[index - 1]);
  const open = openPart(text, before);
  if (open === null) return [];
  const flag = open === '' && before?.startsWith('-') === true ? before : open;
  const rest = text.slice(open.length);
  return rest !== '' && (isSensitiveName(flag) || isSecretText(rest)) ? [new Secret(rest)] : [];
}

/**
 * The text of an argument or variable. The service's are wrapped, because they often hold secrets. A file may hold those of a few
 * harmless forms, so they are opened here, and in this room only here. Null if it is not text.
 */
function openProgramText(value: Value | undefined): string | null {
  const text = value instanceof Secret ? value.reveal() : value;
  return typeof text === 'string' ? text : null;
}

function programText(
  text: string,
  open: string | null,
  marker: string,
  names: readonly string[],
): ProgramText {
  return open === null
    ? { written: escapeReferences(text), marker, names: null }
    : { written: escapeReferences(open) + markerReference(marker), marker, names };
}

/*
 * What of a program may be written into a file as it is. The list is short and closed: everything else becomes a reference.
 * docs/secrets.md has the same list.
 */

const PART = String.raw`(?:[a-z]{1,16}|\d{1,3})`;
const NAME = String.raw`[a-z]{1,16}(?:[-._]${PART})*`;
const VERSION = String.raw`[~^]?\d{1,4}(?:\.\d{1,4}){0,3}(?:-[a-z]{1,10}(?:\.\d{1,4})?)?`;
const SEGMENT = String.raw`\.?${NAME}`;
const HOST = String.raw`(?:${NAME}|\d{1,3}(?:\.\d{1,3}){3})(?::\d{1,5})?`;

const FLAG = /^(?:-[A-Za-z]|--|--[a-z]{1,16}(?:-(?:[a-z]{1,16}|\d{1,3}))*)$/;
const WORD = /^(?:[a-z]{1,12}|true|false|TRUE|FALSE|DEBUG|INFO|WARN|WARNING|ERROR)$/;
/** At most five digits with a meaning. */
const ROUND = /^-?\d{1,5}(?:0*|\.\d{1,4})$/;
const NUMBER = /^-?\d{1,5}(?:\.\d{1,4}){0,3}$/;
const PATH = new RegExp(String.raw`^(?:\.{1,2}|(?:\.{1,2}|~)?/(?:${SEGMENT}(?:/${SEGMENT})*/?)?)$`);
const ADDRESS = new RegExp(String.raw`^(?:https?|wss?)://${HOST}(?:/${SEGMENT})*/?$`);
const PACKAGE = new RegExp(
  String.raw`^(?:@${NAME}/)?${NAME}(?:/${NAME})*(?:[@:](?:latest|next|stable|main|${VERSION}))?(?:@sha256:[\da-f]{64})?$`,
);
/** A package of npm under the name of its publisher: made of words, without generated parts. */
const LONG_WORD = String.raw`[a-z]{1,24}\d{0,2}`;
const SCOPED = new RegExp(
  String.raw`^@${LONG_WORD}(?:[-.]${LONG_WORD})*/${LONG_WORD}(?:[-._]${LONG_WORD})*(?:@(?:latest|next|${VERSION}))?$`,
);
const VARIABLE = /^[A-Z]{1,12}(?:_[A-Z]{1,12})+$/;

const LONGEST = 200;

/** Reports whether a text is a path or an address of plain words, which a file may contain as any value. */
function isPlace(text: string): boolean {
  return PATH.test(text) || ADDRESS.test(text);
}

/** Reports whether a file may contain the value of a variable. The variable's name has to allow it too. */
export function isHarmlessValue(name: string, text: string): boolean {
  if (text === '') return true;
  if (isSensitiveName(name) || text.length > LONGEST || isSecretText(text)) return false;
  return WORD.test(text) || NUMBER.test(text) || isPlace(text);
}

/** Flags of one letter whose value is not a secret by custom: `python -m`, `npx -y`, `docker run -i -t -v -d`, `-q`. */
const PLAIN_LETTERS = /^-[mydiqtv]$/;

/** Reports whether a file may contain an argument that follows another. */
function isHarmlessArgument(text: string, before: string | null): boolean {
  if (text.length > LONGEST || isSecretText(text)) return false;
  if (text === '' || FLAG.test(text)) return true;
  if (before === '-e' || before === '--env') return VARIABLE.test(text);
  const flag = before !== null && /^-{1,2}[A-Za-z]/.test(before) ? before : null;
  if (flag !== null && isSensitiveName(flag)) return false;
  if (isPlace(text)) return true;
  if (flag !== null && !flag.startsWith('--') && !PLAIN_LETTERS.test(flag)) return false;
  if (WORD.test(text) || NUMBER.test(text) || SCOPED.test(text)) return true;
  return /[^a-z]/.test(text) && PACKAGE.test(text);
}

/**
 * The part of an argument that a file may hold, while the rest becomes a reference: `--api-key=` of `--api-key=x`, nothing of an
 * argument that follows `--api-key`. Null if a file may hold all of it.
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
