import type { YAMLParseError } from 'yaml';
import type { Finding } from './report.ts';

/** The parser's messages quote the line, so none of them is used: a sentence of our own for each of its codes. */
const SENTENCES: Partial<Record<YAMLParseError['code'], readonly [string, string]>> = {
  BAD_INDENT: [
    'This line is indented differently from its neighbours.',
    'Indent members of one map alike, with spaces.',
  ],
  TAB_AS_INDENT: ['A tab indents this line.', 'Indent with spaces.'],
  BLOCK_AS_IMPLICIT_KEY: [
    'A second colon on one line.',
    'Quote the value, or put the inner map on lines of its own.',
  ],
  BLOCK_IN_FLOW: ['A block inside { } or [ ].', 'Use one style for the whole value.'],
  BAD_SCALAR_START: ['A value cannot start with this character.', 'Quote the value.'],
  MISSING_CHAR: ['Something that was opened is not closed.', 'Close the quote, bracket or brace.'],
  BAD_DQ_ESCAPE: [
    'An unknown escape in double quotes.',
    'Use single quotes, or double the backslash.',
  ],
  MULTILINE_IMPLICIT_KEY: [
    'A key runs over several lines.',
    'Put key and colon on one line; an unclosed quote above may be the cause.',
  ],
};

export function syntaxFinding(error: YAMLParseError): Finding {
  if (error.code === 'DUPLICATE_KEY') {
    return {
      code: 'duplicate-key',
      message: 'The same key stands here a second time.',
      hint: 'Keep one of the two.',
    };
  }
  if (error.code === 'NON_STRING_KEY') {
    return { code: 'syntax', message: 'A key that is not text.', hint: 'Keys are plain names.' };
  }
  const [message, hint] = SENTENCES[error.code] ?? [
    'This is not YAML.',
    'Check indentation, quotes and brackets here and above.',
  ];
  return { code: 'syntax', message, hint };
}

/** Whether the file's structure is in doubt after an error, so that nothing more should be read out of it. */
export function breaksStructure(error: YAMLParseError): boolean {
  return error.code !== 'DUPLICATE_KEY' && error.code !== 'NON_STRING_KEY';
}
