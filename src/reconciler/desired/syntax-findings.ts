import { isCollection, visit, type Document, type YAMLParseError } from 'yaml';
import { type Composed, duplicateKeys } from './read-yaml.ts';
import { type Finding, locate, type SourceFile } from './node.ts';
import { knownKeys } from './schema-lookup.ts';

/** The parser's messages quote the line, so none of them is used: each of its codes has a sentence of our own. */
const SENTENCES: Partial<Record<YAMLParseError['code'], readonly [message: string, hint: string]>> =
  {
    BAD_INDENT: [
      'This line is indented differently from its neighbours.',
      'Indent the keys of one map alike, with spaces.',
    ],
    TAB_AS_INDENT: ['This line is indented with a tab.', 'Indent with spaces.'],
    BLOCK_AS_IMPLICIT_KEY: [
      'A value holds another key and colon.',
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
  composed: Composed,
): { readonly findings: readonly (readonly [number, Finding])[]; readonly broken: boolean } {
  const duplicates = duplicateKeys(contents).map((at): ParserProblem => ({
    code: 'DUPLICATE_KEY',
    pos: [at, at + 1],
  }));
  const unclosed = unclosedEnds(file.text, contents);
  const findings: [number, Finding][] = [];
  const lines = new Set<number>();
  const reported = new Set(composed.found.map(([at]) => at));
  let broken = false;
  for (const problem of [...errors, ...duplicates]) {
    if (isReportedElsewhere(problem, composed)) continue;
    const follows = broken && problem.code === 'UNEXPECTED_TOKEN';
    const [at, finding] = causeOf(problem, composed, unclosed, file.text);
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
  { found, starts }: Composed,
): boolean {
  if (code === 'BAD_ALIAS') return true;
  const [start = at] = starts;
  return (
    code === 'MISSING_CHAR' &&
    at === start &&
    found.some(([, finding]) => finding.code === 'directive')
  );
}

/** The offsets at which the parser gave up searching for the end of a collection in braces or brackets. */
function unclosedEnds(text: string, contents: Document.Parsed['contents']): ReadonlySet<number> {
  const ends = new Set<number>();
  visit(contents, (_, node) => {
    if (!isCollection(node) || node.flow !== true || !node.range) return;
    const [start, end] = node.range;
    if (end - start < 2 || text[end - 1] !== (text[start] === '{' ? '}' : ']')) ends.add(end);
  });
  return ends;
}

/** An error at the quote or bracket that is never closed, or else where the parser found it. */
function causeOf(
  { code, pos: [at] }: ParserProblem,
  { openQuotes, openBrackets }: Composed,
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
  if (key !== undefined && knownKeys().has(key)) {
    const message = `Missing ": " after "${key}".`;
    return [at, syntax(message, 'Write a colon and a space between key and value.')];
  }
  const [message, hint] = SENTENCES[code] ?? OTHERWISE;
  return [
    at,
    { ...syntax(message, hint), code: code === 'DUPLICATE_KEY' ? 'duplicate-key' : 'syntax' },
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
