import {
  CST,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  type Node,
  Composer,
  Parser,
  type Document,
  type YAMLMap,
  isCollection,
  visit,
  type YAMLParseError,
} from 'yaml';
import { type Finding, locate, type SourceFile } from './node.ts';
import { collectSchemaKeys } from './schema-lookup.ts';

/**
 * The common reader of settings files, whatever their directives are: YAML 1.2 core, plain data, errors with their offsets. The parser
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
interface Lexeme {
  readonly lexeme: string;
  readonly at: number;
  /** True if it is the text of a plain or block scalar, whatever that starts with. */
  readonly scalar: boolean;
}

/** Marks that the lexer puts between lexemes. They take no room in the text. */
const MARKS: ReadonlySet<string> = new Set([CST.SCALAR, CST.FLOW_END, CST.DOCUMENT]);

/** The lexemes of a text. */
export function* scanLexemes(text: string): Generator<Lexeme> {
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

/** The documents of a text, and what the lexer showed. */
interface ComposedYaml {
  readonly documents: readonly Document.Parsed[];
  /** The offsets of the documents. */
  readonly starts: readonly number[];
  readonly found: readonly (readonly [at: number, finding: Finding])[];
  /** Quotes that are never closed: the offset of each, by the offset at which the parser finds that out. */
  readonly openQuotes: ReadonlyMap<number, number>;
  /** The offsets of brackets that are never closed. */
  readonly openBrackets: readonly number[];
}

const MAX_DEPTH = 64;

/** Takes environments that were composed before the rest of their file was read; false if there is a problem with them. */
type TakeEnvironments = (environments: YAMLMap) => boolean;

/**
 * Composes a text while watching its lexemes. What could change the meaning of the file (directives, tags, aliases) is found
 * before anything is composed from it, and a text nested deeper than 64 levels is given up before the composer, which recurses,
 * gets to it. Null if a reference in flow style is not quoted: from there on YAML reads another structure than the one meant.
 *
 * With `take`, the environments of a long file are composed in parts and are not in the document, so that the parser's nodes of all
 * of them are never in memory together. Null then also means that there is a problem, which the text shows if it is composed
 * without `take`.
 */
export function compose(text: string, take?: TakeEnvironments): ComposedYaml | null {
  const parser = new Parser();
  const composer = new Composer(YAML_OPTIONS);
  const documents: Document.Parsed[] = [];
  const starts: number[] = [];
  const seen: LexerState = { found: [], openQuotes: new Map(), openBrackets: [], open: [] };
  const watch = watcher(seen);
  const feed = (tokens: ReturnType<Parser['next']>): void => {
    for (const token of tokens) {
      if (token.type === 'document') starts.push(token.offset);
      documents.push(...composer.next(token));
    }
  };
  for (const part of scanLexemes(text)) {
    if (isFlowReference(text, part)) return null;
    watch(part);
    feed(parser.next(part.lexeme));
    if (take !== undefined && !takesEarly(parser, take)) return null;
    const deepest = parser.stack.length > MAX_DEPTH ? tooDeep(parser) : null;
    if (deepest !== null) {
      seen.found.push([deepest, TOO_DEEP]);
      return { documents: [], starts: [], ...seen };
    }
  }
  // The lexer marks the end of an open bracket at the next line, which a file may not have.
  seen.openBrackets.push(...seen.open.slice(-1));
  feed(parser.end());
  documents.push(...composer.end(documents.length === 0, text.length));
  return { documents, starts, ...seen };
}

/** Environments that are composed at a time, and those that the parser may still look back at. */
const EARLY = 256;
const LOOKED_AT = 2;

/** Composes the environments that the parser has read completely, once there are enough. Returns false if there is a problem. */
function takesEarly({ stack }: Parser, take: TakeEnvironments): boolean {
  if (stack.length !== 3) return true;
  const [, root, map] = stack;
  if (root?.type !== 'block-map' || map?.type !== 'block-map') return true;
  if (map.items.length < EARLY + LOOKED_AT) return true;
  const key = root.items.at(-1)?.key;
  if (key?.type !== 'scalar' || key.source !== 'environments') return true;
  const token: CST.Document = {
    type: 'document',
    offset: map.offset,
    start: [],
    value: { ...map, items: map.items.splice(0, EARLY) },
  };
  const composer = new Composer(YAML_OPTIONS);
  const [document] = [...composer.next(token), ...composer.end()];
  return document?.errors.length === 0 && isMap(document.contents) && take(document.contents);
}

/** Returns the start of the first level beyond the limit, or null. */
function tooDeep(parser: Parser): number | null {
  const levels = parser.stack.filter(
    ({ type }) => type === 'block-map' || type === 'block-seq' || type === 'flow-collection',
  );
  const [beyond] = levels.slice(MAX_DEPTH);
  return beyond === undefined || !('offset' in beyond) ? null : beyond.offset;
}

interface LexerState {
  readonly found: [number, Finding][];
  readonly openQuotes: Map<number, number>;
  readonly openBrackets: number[];
  /** The brackets that are open at this point, outermost first. */
  readonly open: number[];
}

function watcher(seen: LexerState): (part: Lexeme) => void {
  const { open } = seen;
  return ({ lexeme, at, scalar }) => {
    if (scalar) return;
    const finding = lexemeFinding(lexeme);
    if (finding !== null) seen.found.push([at, finding]);
    switch (lexeme[0]) {
      case '"':
      case "'":
        // The parser's own condition.
        if (lexeme.length === 1 || lexeme.at(-1) !== lexeme[0])
          seen.openQuotes.set(at + lexeme.length, at);
        break;
      case '{':
      case '[':
        open.push(at);
        break;
      case '}':
      case ']':
        open.pop();
        break;
      case CST.FLOW_END:
        seen.openBrackets.push(...open.splice(0).slice(-1));
        break;
      default:
    }
  };
}

const TOO_DEEP: Finding = {
  code: 'syntax',
  message: `More than ${MAX_DEPTH} levels of nesting.`,
  hint: 'No setting is nested like this. Check the brackets and the indentation.',
};

const DIRECTIVE: Finding = {
  code: 'syntax',
  message: 'Directives are not supported: the file is YAML 1.2.',
  hint: 'Remove the line.',
};

function lexemeFinding(lexeme: string): Finding | null {
  switch (lexeme[0]) {
    case '!':
      return {
        code: 'syntax',
        message: 'Tags are not supported: the field determines the type.',
        hint: /^!(env|file)/i.test(lexeme)
          ? 'Write a reference: ${env:NAME} or ${file:PATH}.'
          : 'Remove the tag. Quote a value that is meant as text.',
      };
    case '&':
    case '*':
      return {
        code: 'syntax',
        message: lexeme[0] === '&' ? 'Anchors are not supported.' : 'Aliases are not supported.',
        hint:
          lexeme[0] === '&'
            ? 'Remove the anchor. Values that environments share go into the blocks above them.'
            : 'Write the value here. Values that environments share go into the blocks above them.',
      };
    case '%':
      return DIRECTIVE;
    default:
      return null;
  }
}

const OPEN = '\uE0F0';
const CLOSE = '\uE0F1';

/** Reports whether a brace directly follows a dollar: only in flow style, where YAML reads the brace as its own. */
function isFlowReference(text: string, { lexeme, at }: Lexeme): boolean {
  return lexeme === '{' && text[at - 1] === '$';
}

/** The offsets of the dollars of references in flow style that should have been quoted. */
export function flowReferences(text: string): number[] {
  const found: number[] = [];
  for (const part of scanLexemes(text)) if (isFlowReference(text, part)) found.push(part.at - 1);
  return found;
}

/**
 * The text with those references quoted, for finding other problems: their braces become other characters of the same length. Null if the
 * text already contains those characters.
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

/** A text of that file as it was written. */
export function restoreBraces(text: string): string {
  return text.includes(OPEN) ? text.replaceAll(OPEN, '{').replaceAll(CLOSE, '}') : text;
}

/** The parser's messages quote the line, so none of them is used: each of its codes has a sentence of our own. */
const SENTENCES: Partial<Record<YAMLParseError['code'], readonly [message: string, hint: string]>> =
  {
    BAD_INDENT: [
      'This line is indented differently from its neighbours.',
      'Indent the keys of one map alike, with spaces.',
    ],
    TAB_AS_INDENT: ['This line is indented with a tab.', 'Indent with spaces.'],
    BLOCK_AS_IMPLICIT_KEY: [
      'A value contains another key and a colon.',
      'Quote the value, or put the inner map on its own lines, indented.',
    ],
    BLOCK_IN_FLOW: [
      'A comma or a quote is missing here.',
      'Separate the items inside { } and [ ] with commas.',
    ],
    BAD_SCALAR_START: ['A value cannot start with this character.', 'Quote the value.'],
    MISSING_CHAR: [
      'A colon, a comma or a space is missing here.',
      'A key needs a colon and a space after it.',
    ],
    BAD_DQ_ESCAPE: [
      'Unknown escape in double quotes.',
      'Use single quotes, or double the backslash.',
    ],
    MULTILINE_IMPLICIT_KEY: [
      'Missing ": " after a key.',
      'Write key: value on one line, or indent the line if it continues the one above.',
    ],
    KEY_OVER_1024_CHARS: ['This key is longer than 1024 characters.', 'Keys are plain names.'],
    DUPLICATE_KEY: ['The map has this key already.', 'Keep one of the two.'],
    NON_STRING_KEY: ['This key is not text.', 'Keys are plain names.'],
  };

const OTHERWISE = [
  'This cannot follow the text before it.',
  'Check the indentation, quotes and brackets here and above.',
] as const;

/** An error of the parser, or a duplicate key that was found in its place. */
type ParserProblem = Pick<YAMLParseError, 'code' | 'pos'>;

/**
 * The parser's errors as findings, each at its cause, one for a line; what only follows from an earlier one is left out. If
 * `broken`, the structure is in doubt, and nothing more should be read from it.
 */
export function syntaxFindings(
  file: SourceFile,
  { errors, contents }: Document.Parsed,
  composed: ComposedYaml,
): { readonly findings: readonly (readonly [number, Finding])[]; readonly broken: boolean } {
  const duplicates = duplicateKeys(contents).map((at): ParserProblem => ({
    code: 'DUPLICATE_KEY',
    pos: [at, at + 1],
  }));
  const unclosed = findUnclosedEnds(file.text, contents);
  const findings: [number, Finding][] = [];
  const lines = new Set<number>();
  const reported = new Set(composed.found.map(([at]) => at));
  let broken = false;
  for (const problem of [...errors, ...duplicates]) {
    if (isReportedElsewhere(problem, composed)) continue;
    const follows = broken && problem.code === 'UNEXPECTED_TOKEN';
    const [at, finding] = findParseCause(problem, composed, unclosed, file.text);
    const { line } = locate(file, at);
    if (!follows && !lines.has(line) && !reported.has(at)) findings.push([at, finding]);
    lines.add(line);
    broken ||= problem.code !== 'DUPLICATE_KEY' && problem.code !== 'NON_STRING_KEY';
  }
  return { findings, broken };
}

/** An alias without a name, and a directive without its end mark, have been found by their characters. */
function isReportedElsewhere(
  { code, pos: [at] }: ParserProblem,
  { found, starts }: ComposedYaml,
): boolean {
  if (code === 'BAD_ALIAS') return true;
  const [start = at] = starts;
  const isStart = code === 'MISSING_CHAR' && at === start;
  return isStart && found.some(([, finding]) => finding === DIRECTIVE);
}

/** The offsets at which the parser gave up searching for the end of a collection in braces or brackets. */
function findUnclosedEnds(
  text: string,
  contents: Document.Parsed['contents'],
): ReadonlySet<number> {
  const ends = new Set<number>();
  visit(contents, (_, node) => {
    if (!isCollection(node) || node.flow !== true || !node.range) return;
    const [start, end] = node.range;
    if (end - start < 2 || text[end - 1] !== (text[start] === '{' ? '}' : ']')) ends.add(end);
  });
  return ends;
}

/** An error at the quote or bracket that is never closed, or else where the parser found it. */
function findParseCause(
  { code, pos: [at] }: ParserProblem,
  { openQuotes, openBrackets }: ComposedYaml,
  unclosed: ReadonlySet<number>,
  text: string,
): readonly [number, Finding] {
  const quote = code === 'MISSING_CHAR' ? openQuotes.get(at) : undefined;
  if (quote !== undefined) return [quote, neverClosed('quote')];
  const ends = (code === 'MISSING_CHAR' || code === 'BAD_INDENT') && unclosed.has(at);
  const bracket = ends ? lastBefore(openBrackets, at) : null;
  if (bracket !== null) return [bracket, neverClosed('bracket or brace')];
  const isKey = code === 'MISSING_CHAR' || code === 'MULTILINE_IMPLICIT_KEY';
  const key = isKey
    ? /^([A-Za-z_]\w*)(?=\s|$)/.exec(text.slice(at, at + LONGEST_KEY))?.[1]
    : undefined;
  if (key !== undefined && collectSchemaKeys().has(key)) {
    const message = `Missing ": " after "${key}".`;
    return [at, syntax(message, 'Write a colon and a space between key and value.')];
  }
  const [message, hint] = SENTENCES[code] ?? OTHERWISE;
  return [
    at,
    { ...syntax(message, hint), code: code === 'DUPLICATE_KEY' ? 'declared-twice' : 'syntax' },
  ];
}

/** Characters in which a key is searched for. */
const LONGEST_KEY = 80;

function neverClosed(what: string): Finding {
  return syntax(`This ${what} is never closed.`, 'Close it before the next key.');
}

function syntax(message: string, hint: string): Finding {
  return { code: 'syntax', message, hint };
}

/** The greatest of ascending offsets that is below another. */
function lastBefore(offsets: readonly number[], at: number): number | null {
  let low = 0;
  let high = offsets.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((offsets[middle] ?? 0) < at) low = middle + 1;
    else high = middle;
  }
  return offsets[low - 1] ?? null;
}
