import { describe, expect, it } from 'vitest';
import { diagnostic, excerpt } from '../../../src/reconciler/desired/place-diagnostic.ts';
import { isShowable } from '../../../src/reconciler/model/secret-words.ts';
import { readLine, locate, sourceFile } from '../../../src/reconciler/desired/node.ts';

describe('a quoted line', () => {
  it.each<[string, string[], string]>([
    ['  language: 5', ['settings', 'language'], '  language: 5'],
    ['  llm_api_key: 5', ['settings', 'llm_api_key'], '  llm_api_key: •••'],
    ['  llm_api_key: ${env:KEY}', ['settings', 'llm_api_key'], '  llm_api_key: ${env:KEY}'],
    [
      '  llm_api_key: "${file:/run/x}" # old: abc',
      ['settings', 'llm_api_key'],
      '  llm_api_key: "${file:/run/x}"',
    ],
    ['  llm_api_key: ${env:KEY:-abc}', ['settings', 'llm_api_key'], '  llm_api_key: •••'],
    ['  agent: abc', ['settings', 'agent'], '  agent: •••'],
    ['  agent: true # abc', ['settings', 'agent'], '  agent: true'],
    ['    url: abc', ['settings', 'secrets_store', 'custom_secrets', 'url'], '    url: •••'],
    ['    name: abc', ['server', 'headers', 'name'], '    name: •••'],
    ['  url: https://a.example.com/x', ['server', 'url'], '  url: https://a.example.com/x'],
    ['  url: https://u:p@a.example.com', ['server', 'url'], '  url: •••'],
    ['  url: https://a.example.com?k=v', ['server', 'url'], '  url: •••'],
    ['  url: ftp://x, api_key: abc', ['server', 'url'], '  url: •••'],
    ['  url: abc', ['server', 'url'], '  url: •••'],
    ['- name: abc', ['settings', 'mcp_config', 'stdio_servers', '0'], '- name: abc'],
    ['- name: a b', ['settings', 'mcp_config', 'stdio_servers', '0', 'name'], '- name: •••'],
    [
      '- command: npx --key abc',
      ['settings', 'mcp_config', 'stdio_servers', '0', 'command'],
      '- command: •••',
    ],
    ['  args: 5', ['settings', 'mcp_config', 'stdio_servers', '0', 'args'], '  args: •••'],
    [
      '  - https://a.example.com/x',
      ['settings', 'mcp_config', 'sse_servers', '0'],
      '  - https://a.example.com/x',
    ],
    ['  - language', ['unmanaged', '0'], '  - language'],
    ['  - a[https://x?k=v]', ['unmanaged', '0'], '  - •••'],
    ['name: abc', ['name'], 'name: abc'],
    ['name: abc', [], 'name: •••'],
    ['abc', [], '•••'],
    ['# abc', [], '# •••'],
    ['  -', [], '  -'],
    ['', [], ''],
    ['settings:', [], 'settings:'],
    ['server: { url: https://a, api_key: abc }', ['server'], 'server: •••'],
    ['  sk-abcdef: 1', ['settings', 'sk-abcdef'], '  •••: •••'],
    ['  "my key": abc', ['settings', 'my key'], '  •••'],
    ['  colour: abc', ['settings', 'colour'], '  colour: •••'],
  ])('%s', (line, path, shown) => {
    expect(excerpt(line, path, 1)).toBe(shown);
  });

  it.each<[string, string, string[], string]>([
    [
      'server: { url: https://a, api_key: abc }',
      'abc',
      ['server', 'api_key'],
      'server: { url: •••••••••, api_key: ••• …',
    ],
    [
      'server: { api_key: abc, url: 5 }',
      '5',
      ['server', 'url'],
      'server: { api_key: •••, url: ••• …',
    ],
    [
      'server: { api_key: abc, urll: x }',
      'urll',
      ['server', 'urll'],
      'server: { api_key: •••, urll: …',
    ],
    ['guards: { max_changes: -1 }', '-1', ['guards', 'max_changes'], 'guards: { max_changes: -1 …'],
    [
      "  env: { 'A B': 'it''s abc, api_key: x', C: 5 }",
      '5',
      ['settings', 'env'],
      '  env: { •••••: •••••••••••••••••••••••, •: ••• …',
    ],
    ['a: ["x\\"abc", abc]', 'abc]', [], 'a: [••••••••, ••• …'],
    ['x: "abc \\q"', '\\q', [], 'x: ••••••••'],
  ])('%s, at %s', (line, token, path, shown) => {
    const text = excerpt(line, path, line.lastIndexOf(token) + 1);
    expect(text).toBe(shown);
  });

  it('shows neither length nor likeness of a secret', () => {
    const lines = [1, 10, 100, 4096].map((length) =>
      excerpt(`  llm_api_key: ${'x'.repeat(length)}`, ['settings', 'llm_api_key'], 16),
    );
    expect(new Set(lines).size).toBe(1);
  });
});

describe('a word that may be repeated', () => {
  it.each(['llm_modle', 'X-Forwarded-For', 'API_KEY_2', 'myKey', 'eu1', 'a', 'settings.yaml', '0'])(
    '%s',
    (word) => expect(isShowable(word)).toBe(true),
  );

  it.each([
    'sk-proj',
    'ghp_abc',
    'AKIAIOSFODNN7EXAMPLE',
    'eyJhbGciOi',
    'a1b2c3d4',
    '4f9a2c7e1b',
    'correct horse',
    'x'.repeat(65),
    'é',
    'a$b',
  ])('%s may not', (word) => expect(isShowable(word)).toBe(false));

  it('leaves a gap in a path', () => {
    const path = ['settings', 'sk-abc', '0'];
    const finding = { code: 'bad-value', message: '', hint: '', path } as const;
    expect(diagnostic(sourceFile('x', ''), 0, finding).path).toEqual(['settings', '…', '0']);
  });
});

describe('places', () => {
  const file = sourceFile('f', 'a: 1\r\n🚀b: 2\n\n');
  it.each([
    [0, 1, 1],
    [5, 1, 6],
    [6, 2, 1],
    [8, 2, 3],
    [13, 3, 1],
    [14, 4, 1],
  ])('offset %d is %d:%d', (offset, line, column) => {
    expect(locate(file, offset)).toEqual({ file: 'f', line, column });
  });

  it('lines come without their breaks', () => {
    expect([1, 2, 3, 4, 5].map((line) => readLine(file, line))).toEqual([
      'a: 1',
      '🚀b: 2',
      '',
      '',
      '',
    ]);
  });
});
