import { CST, isMap, isScalar, isSeq, Lexer, type Node } from 'yaml';

/**
 * How every settings file is read, whatever its directives are: YAML 1.2 core, plain data, errors with their offsets. The parser
 * would compare each key with each, which takes long in a file of many keys; duplicateKeys does that instead.
 */
export const YAML_OPTIONS = {
  version: '1.2',
  schema: 'core',
  strict: true,
  uniqueKeys: false,
  stringKeys: true,
  merge: false,
  logLevel: 'error',
  prettyErrors: false,
} as const;

/** A lexeme with the offset at which it starts. */
export interface Lexeme {
  readonly lexeme: string;
  readonly at: number;
  /** Whether it is the text of a plain or block scalar, whatever that starts with. */
  readonly scalar: boolean;
}

/** Marks that the lexer puts between lexemes. They take no room in the text. */
const MARKS: ReadonlySet<string> = new Set([CST.SCALAR, CST.FLOW_END, CST.DOCUMENT]);

/** The lexemes of a text. */
export function* lexemesOf(text: string): Generator<Lexeme> {
  let at = 0;
  let scalar = false;
  for (const lexeme of new Lexer().lex(text)) {
    yield { lexeme, at, scalar };
    if (scalar || !MARKS.has(lexeme)) at += lexeme.length;
    scalar = !scalar && lexeme === CST.SCALAR;
  }
}

/** The offsets of keys that their map holds already. */
export function duplicateKeys(node: unknown): number[] {
  if (isSeq(node)) return node.items.flatMap(duplicateKeys);
  if (!isMap<Node, Node | null>(node)) return [];
  const seen = new Set<unknown>();
  return node.items.flatMap(({ key, value }) => {
    const known = isScalar(key) && seen.has(key.value);
    if (isScalar(key)) seen.add(key.value);
    return [...(known ? [key.range?.[0] ?? 0] : []), ...duplicateKeys(value)];
  });
}
