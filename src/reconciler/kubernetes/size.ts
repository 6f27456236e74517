import { Lexer } from 'yaml';

/** The counted parts of a YAML text: keys and values; marks, such as brackets, dashes and aliases; and the text between them. */
type Count = 'blanks' | 'marks' | 'scalars';

/** Begins a lexeme of a plain or a block scalar, which follows as one of its own. */
const SCALAR = '\x1f';

/** The limit that a YAML text exceeds; null if none. It is read no further than needed, and not parsed: a mark alone also makes a value. */
export function findExceededLimit(
  text: string,
  limits: Readonly<Record<Count, number>>,
): Count | null {
  const counts = { scalars: 0, marks: 0, blanks: 0 };
  let isScalar = false;
  for (const lexeme of new Lexer().lex(text)) {
    const count = isScalar ? 'scalars' : classifyLexeme(lexeme);
    isScalar = lexeme === SCALAR;
    if (isScalar) continue;
    counts[count] += 1;
    if (counts[count] > limits[count]) return count;
  }
  return null;
}

function classifyLexeme(lexeme: string): Count {
  // Only quoted scalars begin with a quote.
  if (/^["']/.test(lexeme)) return 'scalars';
  return /^(?:[ \t\r\n\uFEFF]|#|$)/.test(lexeme) ? 'blanks' : 'marks';
}
