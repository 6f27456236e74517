/** What the lexer puts before the text of a plain or block scalar. */
const SCALAR_FOLLOWS = '\u001f';
/** What the lexer puts where a bracket was left open. */
export const LEFT_OPEN = '\u0018';
const DOCUMENT = '\u0002';

export interface Lexeme {
  readonly lexeme: string;
  /** The offset at which it starts. */
  readonly at: number;
  /** The text of a plain or block scalar, whatever it starts with. */
  readonly scalar: boolean;
}

/** The lexer's lexemes with their places. */
export function* lexemesOf(lexemes: Iterable<string>): Generator<Lexeme> {
  let at = 0;
  let scalar = false;
  for (const lexeme of lexemes) {
    yield { lexeme, at, scalar };
    const mark =
      !scalar && (lexeme === SCALAR_FOLLOWS || lexeme === LEFT_OPEN || lexeme === DOCUMENT);
    scalar = !scalar && lexeme === SCALAR_FOLLOWS;
    if (!mark) at += lexeme.length;
  }
}
