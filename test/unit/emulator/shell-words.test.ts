import { describe, expect, it } from 'vitest';

import { parseShellWords } from '../../../src/emulator/settings/stdio-entry.ts';

describe('shellWords', () => {
  it.each<[string, string[]]>([
    ['', []],
    [' \t\n ', []],
    ['-y mcp-remote https://example.com', ['-y', 'mcp-remote', 'https://example.com']],
    ['-y "two words"', ['-y', 'two words']],
    [`'single "inside"' "double 'inside'"`, ['single "inside"', "double 'inside'"]],
    [`a"b c"d'e f'`, ['ab cde f']],
    [`'' ""`, ['', '']],
    ['two\\ words', ['two words']],
    ['a\\\\b \\"c', ['a\\b', '"c']],
    ['"a\\"b\\\\c\\d"', ['a"b\\c\\d']],
    [`'a\\b'`, ['a\\b']],
    ['a #b $HOME *', ['a', '#b', '$HOME', '*']],
  ])('splits %j', (line, words) => {
    expect(parseShellWords(line)).toEqual({ kind: 'words', words });
  });

  it.each([
    ['"open', 'No closing quotation'],
    ["it's", 'No closing quotation'],
    ['end\\', 'No escaped character'],
  ])('does not finish %j', (line, reason) => {
    expect(parseShellWords(line)).toEqual({ kind: 'unfinished', reason });
  });
});
