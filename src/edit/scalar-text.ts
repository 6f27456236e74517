import { isScalar, parseDocument } from 'yaml';
import type { JsonScalar } from './json-value.ts';

export type Quotes = 'plain' | 'single' | 'double';

/**
 * A scalar as YAML on one line: in the quotes asked for where the value allows them, else in double quotes, with everything
 * escaped that would not be seen. `flow`: it stands in braces or brackets, where more has a meaning.
 */
export function scalarText(value: JsonScalar, quotes: Quotes, flow: boolean): string {
  if (typeof value !== 'string') return JSON.stringify(value);
  if (quotes === 'plain' && isPlain(value, flow)) return value;
  if (quotes === 'single' && isPrintable(value)) return `'${value.replaceAll("'", "''")}'`;
  return doubleQuoted(value);
}

// Everything but letters, marks, numbers, punctuation, symbols and the blank: controls, what has no width, other spaces.
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu;

function isPrintable(text: string): boolean {
  return text.search(UNSEEN) === -1;
}

function doubleQuoted(text: string): string {
  return JSON.stringify(text).replaceAll(UNSEEN, (char) => {
    const code = char.codePointAt(0) ?? 0;
    const digits = code.toString(16);
    return code > 0xff_ff ? `\\U${digits.padStart(8, '0')}` : `\\u${digits.padStart(4, '0')}`;
  });
}

const WORD = /^[A-Za-z][A-Za-z0-9_./-]*$/;
/** What readers of older YAML take for a truth value, for nothing, or for a number, a time or a date. */
const ELSEWHERE = /^(y|n|yes|no|on|off|true|false|null|~|[-+]?[.\d][\da-fox_.,:+ tz-]*)$/i;

/** Whether a text needs no quotes: what reads it back finds the same text, and nothing else. */
function isPlain(text: string, flow: boolean): boolean {
  if (text === '' || ELSEWHERE.test(text)) return false;
  if (WORD.test(text)) return true;
  if (text.trim() !== text || !isPrintable(text)) return false;
  const document = parseDocument(flow ? `[${text}, x]` : `k: ${text} # x`, {
    version: '1.2',
    schema: 'core',
    logLevel: 'error',
    prettyErrors: false,
  });
  if (document.errors.length > 0) return false;
  const read = document.getIn([flow ? 0 : 'k'], true);
  return (
    isScalar(read) && read.tag === undefined && read.anchor === undefined && read.value === text
  );
}
