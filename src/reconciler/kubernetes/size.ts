import { CST } from 'yaml';
import { scanLexemes } from '../desired/read-yaml.ts';

/** The counted parts of a YAML text: keys and values; marks, such as brackets, dashes and aliases; and the text between them. */
type Count = 'blanks' | 'marks' | 'scalars';

/**
 * The limit that a YAML text exceeds; null if none. It is read no further than needed, and not parsed: a mark alone also makes a value. Its
 * own pass, before the reader begins: that goes through a text several times, also for repeats and for what it extends.
 */
export function findExceededLimit(
  text: string,
  limits: Readonly<Record<Count, number>>,
): Count | null {
  const counts = { scalars: 0, marks: 0, blanks: 0 };
  for (const { lexeme, scalar } of scanLexemes(text)) {
    // The text of the scalar follows.
    if (!scalar && lexeme === CST.SCALAR) continue;
    const count = scalar ? 'scalars' : classifyLexeme(lexeme);
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
