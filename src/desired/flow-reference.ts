import { Lexer } from 'yaml';
import { lexemesOf } from './lexeme.ts';

const OPEN = '\uE0F0';
const CLOSE = '\uE0F1';

/** Whether a brace follows a dollar directly, which it does only in flow style, where YAML reads the brace as its own. */
export function isFlowReference(text: string, lexeme: string, at: number): boolean {
  return lexeme === '{' && text[at - 1] === '$';
}

/** The offsets of the dollars of references in flow style that should have been quoted. */
export function flowReferences(text: string): number[] {
  const found: number[] = [];
  for (const { lexeme, at } of lexemesOf(new Lexer().lex(text))) {
    if (isFlowReference(text, lexeme, at)) found.push(at - 1);
  }
  return found;
}

/**
 * The text as if those references were quoted, so that what else is wrong can be found as well: their braces are other
 * characters of the same length. Null where the text already holds those.
 */
export function asIfQuoted(text: string, dollars: readonly number[]): string | null {
  if (text.includes(OPEN) || text.includes(CLOSE)) return null;
  const parts: string[] = [];
  let done = 0;
  for (const dollar of dollars) {
    const close = text.indexOf('}', dollar);
    if (dollar < done || close === -1) continue;
    parts.push(text.slice(done, dollar + 1), OPEN, text.slice(dollar + 2, close), CLOSE);
    done = close + 1;
  }
  parts.push(text.slice(done));
  return parts.join('');
}

/** A text of that file as the person wrote it. */
export function asWritten(text: string): string {
  return text.includes(OPEN) ? text.replaceAll(OPEN, '{').replaceAll(CLOSE, '}') : text;
}
