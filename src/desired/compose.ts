import { Composer, Lexer, Parser, type Document } from 'yaml';
import { isFlowReference } from './flow-reference.ts';
import { LEFT_OPEN, lexemesOf, type Lexeme } from './lexeme.ts';
import type { Finding } from './report.ts';
import { YAML_OPTIONS } from './yaml-options.ts';

/** The documents of a text, and what was seen on the way. */
export interface Composed {
  readonly documents: readonly Document.Parsed[];
  /** Where the second document starts; null where there is one. */
  readonly second: number | null;
  readonly found: readonly (readonly [at: number, finding: Finding])[];
  /** The offsets of quotes, and of brackets that were left open: where an error that shows later has its cause. */
  readonly quotes: readonly number[];
  readonly leftOpen: readonly number[];
}

const MAX_DEPTH = 64;
const NOTHING: Pick<Composed, 'documents' | 'second'> = { documents: [], second: null };

/**
 * The lexer runs first and is watched: what could change the meaning of the file (directives, tags, aliases) is found before
 * anything is composed from it, and a text nested deeper than 64 is given up before the composer, which recurses, sees it.
 * Null where a reference in flow style is not quoted: from there on YAML reads another structure than the one that is meant.
 */
export function compose(text: string): Composed | null {
  const parser = new Parser();
  const composer = new Composer(YAML_OPTIONS);
  const documents: Document.Parsed[] = [];
  const starts: number[] = [];
  const seen = { found: [] as [number, Finding][], quotes: [], leftOpen: [] };
  const watch = watcher(seen);
  const take = (tokens: ReturnType<Parser['next']>): void => {
    for (const token of tokens) {
      if (token.type === 'document') starts.push(token.offset);
      documents.push(...composer.next(token));
    }
  };
  for (const place of lexemesOf(new Lexer().lex(text))) {
    if (isFlowReference(text, place.lexeme, place.at)) return null;
    watch(place);
    take(parser.next(place.lexeme));
    const deepest = parser.stack.length > MAX_DEPTH ? tooDeep(parser) : null;
    if (deepest !== null) {
      seen.found.push([deepest, TOO_DEEP]);
      return { ...NOTHING, ...seen };
    }
  }
  take(parser.end());
  documents.push(...composer.end(documents.length === 0, text.length));
  return { documents, second: starts[1] ?? null, ...seen };
}

/** Where the first level beyond the limit starts, or null. */
function tooDeep(parser: Parser): number | null {
  const levels = parser.stack.filter(
    ({ type }) => type === 'block-map' || type === 'block-seq' || type === 'flow-collection',
  );
  const [beyond] = levels.slice(MAX_DEPTH);
  return beyond === undefined || !('offset' in beyond) ? null : beyond.offset;
}

function watcher(seen: {
  readonly found: [number, Finding][];
  readonly quotes: number[];
  readonly leftOpen: number[];
}): (place: Lexeme) => void {
  const open: number[] = [];
  return ({ lexeme, at, scalar }) => {
    if (scalar) return;
    const finding = findingOf(lexeme);
    if (finding !== null) seen.found.push([at, finding]);
    switch (lexeme[0]) {
      case '"':
      case "'":
        seen.quotes.push(at);
        break;
      case '{':
      case '[':
        open.push(at);
        break;
      case '}':
      case ']':
        open.pop();
        break;
      case LEFT_OPEN:
        seen.leftOpen.push(...open.splice(0).slice(-1));
        break;
      default:
    }
  };
}

const TOO_DEEP: Finding = {
  code: 'too-deep',
  message: `More than ${MAX_DEPTH} levels stand inside each other.`,
  hint: 'No setting is nested like this; check the brackets and the indentation.',
};

function findingOf(lexeme: string): Finding | null {
  switch (lexeme[0]) {
    case '!':
      return {
        code: 'tag',
        message: 'A tag has no meaning here: types follow from the field.',
        hint: /^!(env|file)/i.test(lexeme)
          ? 'Write a reference: ${env:NAME} or ${file:PATH}.'
          : 'Remove the tag; quote a value that is meant as text.',
      };
    case '&':
    case '*':
      return {
        code: 'alias',
        message: lexeme[0] === '&' ? 'Anchors are not read.' : 'Aliases are not read.',
        hint:
          lexeme[0] === '&'
            ? 'Remove the anchor; what environments share stands once, in the blocks above them.'
            : 'Write the value here; what environments share stands once, in the blocks above them.',
      };
    case '%':
      return {
        code: 'directive',
        message: 'Directives are not read: the file is YAML 1.2.',
        hint: 'Remove the line.',
      };
    default:
      return null;
  }
}
