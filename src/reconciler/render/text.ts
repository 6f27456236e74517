import { styleText } from 'node:util';

/** The rendering of text: with colour or without, and the number of columns; null in a pipe. */
export interface Style {
  readonly color: boolean;
  readonly width: number | null;
  /** Long values and the list of unmanaged fields are shown in full. */
  readonly verbose: boolean;
  /** The place that has the omitted details, for readers who cannot pass `-v`. */
  readonly elsewhere?: string;
}

/** Text without colours, of any width, long values shortened. */
export const PLAIN: Style = { color: false, width: null, verbose: false };
/** The plain style with nothing shortened. */
export const WHOLE: Style = { ...PLAIN, verbose: true };

/** Returns the place that has the omitted details. */
export function formatDetailSource(style: Style): string {
  return style.elsewhere ?? '-v';
}

export type Paint = 'bold' | 'dim' | 'green' | 'yellow' | 'red' | 'cyan';

export function paint(style: Style, color: Paint, text: string): string {
  return style.color ? styleText(color, text, { validateStream: false }) : text;
}

// C0, DEL, C1, line and paragraph separators, every code point that Unicode displays as nothing (bidirectional controls and
// zero-width characters among them), the braille blank, and lone surrogates; and what starts a command of a GitHub runner that
// reads the output: `::` at the beginning of a line, `##[` anywhere in it.
// Made for texts that may hold any of it: V8 takes longer to make it than a plan takes to be printed.
function invisible(): RegExp {
  return /[\u0000-\u001F\u007F-\u009F\u2028-\u202E\u2800\uFFF9-\uFFFB\p{Default_Ignorable_Code_Point}]|[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]|:(?=:)(?<=^\s*:)|\[(?<=##\[)/gu;
}

/** Reports whether a text has only these characters, all visible, and starts no command of a runner. */
function isSafeText(text: string, characters: RegExp): boolean {
  return characters.test(text) && !text.includes('::') && !text.includes('##[');
}

/** Text from a file or a service, safe for a terminal: characters that are invisible or control the terminal are escaped. */
export function visible(text: string): string {
  if (isSafeText(text, /^[ -~]*$/)) return text;
  return text.replaceAll(invisible(), (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`);
}

/** Escapes JSON text with JSON's own escapes. The line breaks between members stay. */
export function escapeJsonText(json: string): string {
  if (isSafeText(json, /^[\n -~]*$/)) return json;
  return json.replaceAll(invisible(), (char) => (char === '\n' ? char : escapeCharacter(char)));
}

function escapeCharacter(char: string): string {
  return Array.from(
    { length: char.length },
    (_, index) => `\\u${char.charCodeAt(index).toString(16).padStart(4, '0')}`,
  ).join('');
}

/** The address of a link, if it may be one: https, without a name and password. Null for anything else. */
export function linkTarget(text: string): URL | null {
  const url = URL.canParse(text) ? new URL(text) : null;
  const safe = url?.protocol === 'https:' && url.username === '' && url.password === '';
  return safe ? url : null;
}
