import type { YAMLParseError } from 'yaml';
import type { Composed } from './compose.ts';
import type { Finding } from './report.ts';
import { locate, type SourceFile } from './source-file.ts';

/** The parser's messages quote the line, so none of them is used: a sentence of our own for each of its codes. */
const SENTENCES: Partial<Record<YAMLParseError['code'], readonly [string, string]>> = {
  BAD_INDENT: [
    'This line is indented differently from its neighbours.',
    'Indent members of one map alike, with spaces.',
  ],
  TAB_AS_INDENT: ['A tab indents this line.', 'Indent with spaces.'],
  BLOCK_AS_IMPLICIT_KEY: [
    'Key and colon stand inside a value.',
    'Quote the value, or put the inner map on lines of its own, indented.',
  ],
  BLOCK_IN_FLOW: [
    'A comma is missing here, or a quote.',
    'Separate what stands inside { } and [ ] by commas.',
  ],
  BAD_SCALAR_START: ['A value cannot start with this character.', 'Quote the value.'],
  MISSING_CHAR: [
    'Something is missing here: a colon, a comma or a blank.',
    'A key is followed by a colon and a blank.',
  ],
  BAD_DQ_ESCAPE: [
    'An unknown escape in double quotes.',
    'Use single quotes, or double the backslash.',
  ],
  MULTILINE_IMPLICIT_KEY: [
    'A key should stand here, with a colon and a blank behind it.',
    'Write key: value on one line, or indent the line if it belongs to the one above.',
  ],
  KEY_OVER_1024_CHARS: ['A key of more than 1024 characters.', 'Keys are plain names.'],
};

/** What the parser found, or one of its kind: see duplicateKeys. */
export type Problem = Pick<YAMLParseError, 'code' | 'pos' | 'message'>;

const OPEN_QUOTE: Finding = {
  code: 'syntax',
  message: 'A quote is opened here and never closed.',
  hint: 'Close it, in front of the next key.',
};

const OPEN_BRACKET: Finding = {
  code: 'syntax',
  message: 'A bracket or brace is opened here and never closed.',
  hint: 'Close it, in front of the next key.',
};

/** What the lexer has shown: see Composed. */
type Openings = Pick<Composed, 'found' | 'quotes' | 'leftOpen'>;

/**
 * The parser's errors as findings, each where a person looks for its cause, one a line; what only follows from an earlier one
 * is left out. `broken`: the structure is in doubt, so that nothing more should be read out of it.
 */
export function syntaxFindings(
  file: SourceFile,
  errors: readonly Problem[],
  openings: Openings,
): { readonly findings: readonly (readonly [number, Finding])[]; readonly broken: boolean } {
  const findings: [number, Finding][] = [];
  const lines = new Set<number>();
  const told = new Set(openings.found.map(([at]) => at));
  let broken = false;
  for (const error of errors) {
    if (isReportedElsewhere(error)) continue;
    const follows = broken && error.code === 'UNEXPECTED_TOKEN';
    const [at, finding] = placed(error, openings);
    const { line } = locate(file, at);
    if (!follows && !lines.has(line) && !told.has(at)) findings.push([at, finding]);
    lines.add(line);
    broken ||= error.code !== 'DUPLICATE_KEY' && error.code !== 'NON_STRING_KEY';
  }
  return { findings, broken };
}

/** A directive and a nameless alias have been found by their characters. */
function isReportedElsewhere({ code, message }: Problem): boolean {
  return code === 'BAD_ALIAS' || (code === 'MISSING_CHAR' && message.includes('directives-end'));
}

/** An error where a person looks for it: at the quote or bracket that was opened, else where the parser stands. */
function placed(error: Problem, openings: Openings): readonly [number, Finding] {
  const [at] = error.pos;
  const quote = error.code === 'MISSING_CHAR' && error.message.endsWith('quote');
  if (quote) return [lastBefore(openings.quotes, at) ?? at, OPEN_QUOTE];
  const bracket = /^Flow (map|sequence)|to end with/.test(error.message);
  const open = bracket ? lastBefore(openings.leftOpen, at) : null;
  return open === null ? [at, sentence(error.code)] : [open, OPEN_BRACKET];
}

function sentence(code: YAMLParseError['code']): Finding {
  if (code === 'DUPLICATE_KEY') {
    return {
      code: 'duplicate-key',
      message: 'The same key stands here a second time.',
      hint: 'Keep one of the two.',
    };
  }
  if (code === 'NON_STRING_KEY') {
    return { code: 'syntax', message: 'This key is not text.', hint: 'Keys are plain names.' };
  }
  const [message, hint] = SENTENCES[code] ?? [
    'This does not fit what stands before it.',
    'Check indentation, quotes and brackets here and above.',
  ];
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
