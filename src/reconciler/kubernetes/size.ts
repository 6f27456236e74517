import { Lexer } from 'yaml';

/** Begins a lexeme of a plain or a block scalar, which follows as one of its own. */
const SCALAR = '\x1f';

/** Whether a YAML text has more scalars than that: keys and values. It is read no further than needed to know, and not parsed. */
export function exceedsScalars(text: string, most: number): boolean {
  let count = 0;
  // Only quoted scalars begin with a quote.
  for (const lexeme of new Lexer().lex(text)) {
    if (lexeme === SCALAR || lexeme.startsWith('"') || lexeme.startsWith("'")) count += 1;
    if (count > most) return true;
  }
  return false;
}
