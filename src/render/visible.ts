// C0, DEL, C1, line and paragraph separators, every code point that Unicode shows nothing for (the bidirectional controls and
// zero-width characters among them), the blank of braille, and lone surrogates; and what begins a command to a runner of GitHub's
// that reads the output: `::` at the beginning of a line, `##[` anywhere in it.
const INVISIBLE =
  /[\u0000-\u001F\u007F-\u009F\u2028-\u202E\u2800\uFFF9-\uFFFB\p{Default_Ignorable_Code_Point}]|[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]|:(?=:)(?<=^\s*:)|\[(?<=##\[)/gu;

/** Text from a file or a service as a terminal may be shown it: what would not be seen, or would steer the terminal, is written out. */
export function visible(text: string): string {
  return text.replaceAll(INVISIBLE, (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`);
}

/** The same for JSON text, in JSON's own escapes; the line breaks between members stay. */
export function escaped(json: string): string {
  return json.replaceAll(INVISIBLE, (char) => (char === '\n' ? char : unicode(char)));
}

function unicode(char: string): string {
  return Array.from(
    { length: char.length },
    (_, index) => `\\u${char.charCodeAt(index).toString(16).padStart(4, '0')}`,
  ).join('');
}
