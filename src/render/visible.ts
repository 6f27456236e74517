// C0, DEL, C1, the bidirectional controls, line and paragraph separators, zero-width characters, and lone surrogates; and what
// begins a command to a runner of GitHub's that reads the output: `::` at the beginning of a line, `##[` anywhere in it.
const INVISIBLE =
  /[\u0000-\u001F\u007F-\u009F\u00AD\u061C\u180E\u200B-\u200F\u2028-\u202E\u2060-\u2069\uFEFF\uFFF9-\uFFFB]|[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]|\u{E0001}|[\u{E0020}-\u{E007F}]|:(?=:)(?<=^\s*:)|\[(?<=##\[)/gu;

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
