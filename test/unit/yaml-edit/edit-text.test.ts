import { describe, expect, it } from 'vitest';
import { editText } from '../../../src/reconciler/yaml-edit/edit-text.ts';
import type { Json } from '../../../src/reconciler/model/value.ts';

/** The text after values were put under keys, each written like `settings.language`. */
function edited(text: string, puts: Record<string, Json>): string | null {
  return editText(
    text,
    Object.entries(puts).map(([path, value]) => ({ path: path.split('.'), value })),
  );
}

/** The lines that are not the same any more: those that went, and those that came. */
function difference(text: string, puts: Record<string, Json>): string[] {
  const [before, after] = [text.split('\n'), edited(text, puts)?.split('\n') ?? ['(null)']];
  return [
    ...before.filter((line) => !after.includes(line)).map((line) => `-${line}`),
    ...after.filter((line) => !before.includes(line)).map((line) => `+${line}`),
  ];
}

const FILE = `# yaml-language-server: $schema=x
version: 1   # the format

server: { url: https://agents.example.com, api_key: "\${env:SETPOINT_API_KEY}" }

settings:
  # The interface
  language: en   # a code
  agent: 'CodeActAgent'
  git_user_name: "bot"
  max_iterations: 100

  mcp_config:
    sse_servers:
      # events
      - https://events.example.com/sse # no key
      - url: https://search.example.com/sse
        api_key: \${env:MCP_SEARCH_KEY} # rotated yearly
    stdio_servers:
      - name: files
        command: npx
        args: [-y, "server-files"]   # in brackets
        env: { LEVEL: info, TOKEN: "\${env:T}" }
  # end of settings
guards:
  max_changes: 10
`;

describe('a scalar', () => {
  it('is replaced in place, in the quotes it has, its comment kept', () => {
    expect(
      difference(FILE, {
        'settings.language': 'fr',
        'settings.agent': "it's",
        'settings.git_user_name': 'b"o"t',
        'settings.max_iterations': 50,
      }),
    ).toEqual([
      '-  language: en   # a code',
      "-  agent: 'CodeActAgent'",
      '-  git_user_name: "bot"',
      '-  max_iterations: 100',
      '+  language: fr   # a code',
      "+  agent: 'it''s'",
      '+  git_user_name: "b\\"o\\"t"',
      '+  max_iterations: 50',
    ]);
  });

  it.each([
    ['', '""'],
    ['no', '"no"'],
    ['null', '"null"'],
    ['100', '"100"'],
    ['2024-01-01', '"2024-01-01"'],
    ['1:30', '"1:30"'],
    ['a: b', '"a: b"'],
    ['a #b', '"a #b"'],
    ['a#b', 'a#b'],
    [' a', '" a"'],
    ['# a', '"# a"'],
    ['- a', '"- a"'],
    ['*a', '"*a"'],
    ['[a', '"[a"'],
    ['@a', '"@a"'],
    ['two words', 'two words'],
    ['naïve 🚀', 'naïve 🚀'],
    ['a\nb', '"a\\nb"'],
    ['\u001B[31m', '"\\u001b[31m"'],
    ['\u202Ex', '"\\u202ex"'],
    ['\u{E0001}x', '"\\U000e0001x"'],
    ['a\u00A0b', '"a\\u00a0b"'],
    ['${env:X}', '${env:X}'],
    ['https://x.example.com/a?b=c', 'https://x.example.com/a?b=c'],
    ['embedded:', '"embedded:"'],
  ])('%j is plain if it can be, and reads back the same', (value, written) => {
    expect(edited('settings:\n  language: en # c\n', { 'settings.language': value })).toBe(
      `settings:\n  language: ${written} # c\n`,
    );
  });

  it('in braces is quoted if the braces require it', () => {
    const text = 'settings: { language: en, agent: x }\n';
    expect(edited(text, { 'settings.language': 'a, b', 'settings.agent': '${env:X}' })).toBe(
      'settings: { language: "a, b", agent: "${env:X}" }\n',
    );
  });

  it('changes its type', () => {
    const text = 'settings:\n  a: "100"\n  b: 100\n  c: true\n  d: null # none\n';
    const puts = { 'settings.a': 100, 'settings.b': '100', 'settings.c': null, 'settings.d': 2.5 };
    expect(edited(text, puts)).toBe(
      'settings:\n  a: 100\n  b: "100"\n  c: null\n  d: 2.5 # none\n',
    );
  });

  it.each([
    [
      'settings:\n  a: >- # folded\n    one\n    two\n\n  b: 1\n',
      'settings:\n  a: x # folded\n\n  b: 1\n',
    ],
    ['settings:\n  a: |+\n    one\n\n\n  b: 1\n', 'settings:\n  a: x\n  b: 1\n'],
    ['settings:\n  a: one\n    two # c\n  b: 1\n', 'settings:\n  a: x # c\n  b: 1\n'],
    ['settings:\n  a:\n    "one"\n  b: 1\n', 'settings:\n  a:\n    "x"\n  b: 1\n'],
    [
      'settings:\n  ? a\n  : one # c\n  ? b\n  : two\n',
      'settings:\n  ? a\n  : x # c\n  ? b\n  : two\n',
    ],
  ])('of several lines becomes one: %j', (text, after) => {
    expect(edited(text, { 'settings.a': 'x' })).toBe(after);
  });
});

describe('a key that is new', () => {
  it('comes behind the last of its map, before the comments that follow', () => {
    expect(difference(FILE, { 'settings.email': 'a@example.com' })).toEqual([
      '+  email: a@example.com',
    ]);
    expect(edited(FILE, { 'settings.email': 'x' })).toContain('"${env:T}" }\n  email: x\n  # end');
  });

  it('adds the maps around it', () => {
    const text =
      'version: 1\nenvironments:\n    staging:\n        server: { url: x }\n    "prod": { server: { url: y } }\n';
    const puts = {
      'environments.staging.settings.language': 'fr',
      'environments.prod.settings.language': 'de',
    };
    expect(edited(text, puts)).toBe(
      'version: 1\nenvironments:\n    staging:\n        server: { url: x }\n        settings:\n            language: fr\n    "prod": { server: { url: y }, settings: { language: de } }\n',
    );
  });

  it('opens an empty map', () => {
    expect(edited('settings: {} # none yet\n# end\n', { 'settings.language': 'fr' })).toBe(
      'settings: # none yet\n  language: fr\n# end\n',
    );
    expect(edited('{ settings: { } }\n', { 'settings.language': 'fr' })).toBe(
      '{ settings: { language: fr } }\n',
    );
  });

  it('keeps a missing last line break missing', () => {
    expect(edited('settings:\n  a: 1', { 'settings.b': 2 })).toBe('settings:\n  a: 1\n  b: 2');
    expect(edited('settings:\n  a: 1 # c', { 'settings.b': 2 })).toBe(
      'settings:\n  a: 1 # c\n  b: 2',
    );
  });

  it('keeps CRLF and the byte order mark', () => {
    const text = '\uFEFFsettings:\r\n  a: 1 # c\r\n  l:\r\n    - x\r\n    - y\r\nguards: {}\r\n';
    expect(edited(text, { 'settings.b': { c: 2 }, 'settings.l': ['y', 'z'] })).toBe(
      '\uFEFFsettings:\r\n  a: 1 # c\r\n  l:\r\n    - y\r\n    - z\r\n  b:\r\n    c: 2\r\nguards: {}\r\n',
    );
  });

  it('follows a block scalar that ends its map', () => {
    const text = 'settings:\n  a: |\n    one\n    two\n\nguards: {}\n';
    expect(edited(text, { 'settings.b': 1 })).toBe(
      'settings:\n  a: |\n    one\n    two\n  b: 1\n\nguards: {}\n',
    );
    const kept = 'settings:\n  a: |+\n    one\n\n\nguards: {}\n';
    expect(edited(kept, { 'settings.b': 1 })).toBe(
      'settings:\n  a: |+\n    one\n\n\n  b: 1\nguards: {}\n',
    );
  });
});

describe('JSON', () => {
  it('stays JSON, and what has lines of its own is added on one', () => {
    const text =
      '{\n  "version": 1,\n  "settings": {\n    "language": "en",\n    "args": ["a"]\n  }\n}\n';
    const after = edited(text, {
      'settings.language': 'fr',
      'settings.agent': 'x',
      'settings.args': ['a', 'b'],
    });
    expect(after).toBe(
      '{\n  "version": 1,\n  "settings": {\n    "language": "fr",\n    "args": ["a", "b"],\n    "agent": "x"\n  }\n}\n',
    );
    expect(JSON.parse(after ?? '')).toMatchObject({ settings: { agent: 'x' } });
    expect(edited('{"settings":{"language":"en"}}', { 'settings.agent': 'x' })).toBe(
      '{"settings":{"language":"en", "agent": "x"}}',
    );
  });
});

describe('a list', () => {
  const events = 'https://events.example.com/sse';
  const search = { url: 'https://search.example.com/sse', api_key: '${env:MCP_SEARCH_KEY}' };

  it('loses an entry with its lines, and keeps the comment lines above it', () => {
    expect(difference(FILE, { 'settings.mcp_config.sse_servers': [search] })).toEqual([
      `-      - ${events} # no key`,
    ]);
    expect(difference(FILE, { 'settings.mcp_config.sse_servers': [events] })).toEqual([
      '-      - url: https://search.example.com/sse',
      '-        api_key: ${env:MCP_SEARCH_KEY} # rotated yearly',
    ]);
  });

  it('gains entries in the style of those it has', () => {
    const added = [events, search, { url: 'https://x/sse', api_key: '${env:X_KEY}' }];
    expect(difference(FILE, { 'settings.mcp_config.sse_servers': added })).toEqual([
      '+      - url: https://x/sse',
      '+        api_key: ${env:X_KEY}',
    ]);
  });

  it('changes a member of an entry, and leaves the others alone', () => {
    const list = [
      {
        name: 'files',
        command: 'uvx',
        args: ['-y', 'other'],
        env: { TOKEN: '${env:T}', NEW: 'a' },
      },
    ];
    expect(difference(FILE, { 'settings.mcp_config.stdio_servers': list })).toEqual([
      '-        command: npx',
      '-        args: [-y, "server-files"]   # in brackets',
      '-        env: { LEVEL: info, TOKEN: "${env:T}" }',
      '+        command: uvx',
      '+        args: [-y, other]   # in brackets',
      '+        env: { TOKEN: "${env:T}", NEW: a }',
    ]);
  });

  it('becomes empty, and is filled again', () => {
    const empty = edited(FILE, { 'settings.mcp_config.sse_servers': [] });
    expect(empty).toContain('    sse_servers: []\n      # events\n    stdio_servers:');
    expect(edited(empty ?? '', { 'settings.mcp_config.sse_servers': [search] })).toContain(
      '    sse_servers:\n      - url: https://search.example.com/sse\n        api_key: ${env:MCP_SEARCH_KEY}\n      # events\n',
    );
  });

  it('gives way to null, and null to a map', () => {
    const none = edited(FILE, { 'settings.mcp_config': null });
    expect(none).toContain('  mcp_config: null\n  # end of settings\nguards');
    expect(edited(none ?? '', { 'settings.mcp_config': { sse_servers: [search] } })).toContain(
      '  mcp_config:\n    sse_servers:\n      - url: https://search.example.com/sse\n        api_key: ${env:MCP_SEARCH_KEY}\n  # end',
    );
  });

  it('without indentation of its own keeps to that', () => {
    const text = 'settings:\n  l:\n  -   name: a\n      x: 1\n  -   name: b\n  z: 1\n';
    expect(
      edited(text, { 'settings.l': [{ name: 'a', x: 2 }, { name: 'b' }, { name: 'c', k: 1 }] }),
    ).toBe(
      'settings:\n  l:\n  -   name: a\n      x: 2\n  -   name: b\n  -   name: c\n      k: 1\n  z: 1\n',
    );
    expect(edited(text, { 'settings.m': ['a', { b: 1 }] })).toBe(
      `${text}  m:\n  -   a\n  -   b: 1\n`,
    );
  });

  it('in brackets over several lines loses and gains', () => {
    const text = 'l: [\n  a, # first\n  b, # second\n  c\n]\n';
    expect(edited(text, { l: ['a', 'c', 'd'] })).toBe('l: [\n  a, # first\n  c,\n  d\n]\n');
    expect(edited('l: [a, b, c]\n', { l: ['a'] })).toBe('l: [a]\n');
    expect(edited('l: [a, b, c,]\n', { l: ['c', 'd'] })).toBe('l: [c, d,]\n');
    expect(edited('l: [a, b] # c\n', { l: ['x', 'z'] })).toBe('l: [x, z] # c\n');
  });
});

describe('a file of another form', () => {
  it.each([
    ['---\nsettings:\n  a: 1\n...\n', '---\nsettings:\n  a: 2\n  b: 3\n...\n'],
    ['--- # start\n"settings":\n  "a" : 1\n', '--- # start\n"settings":\n  "a" : 2\n  b: 3\n'],
    ['settings:    \n    a:\t1\n', 'settings:    \n    a:\t2\n    b: 3\n'],
    ['settings:\n  a: 1\n\n\n# end', 'settings:\n  a: 2\n  b: 3\n\n\n# end'],
    ['settings: {\n  a: 1, # one\n}\n', 'settings: {\n  a: 2, b: 3, # one\n}\n'],
    ['settings: { a: 1\n}\n', 'settings: { a: 2, b: 3\n}\n'],
    ['settings: {"a":1}\n', 'settings: {"a":2, "b": 3}\n'],
    ['settings:\n\n  # above\n\n  a: 1\n', 'settings:\n\n  # above\n\n  a: 2\n  b: 3\n'],
  ])('%j', (text, after) => {
    expect(edited(text, { 'settings.a': 2, 'settings.b': 3 })).toBe(after);
  });
});

describe('nothing to change', () => {
  it('is byte for byte the same', () => {
    expect(edited(FILE, { 'settings.language': 'en', 'settings.max_iterations': 100 })).toBe(FILE);
  });

  it('a text that is no settings file is not edited', () => {
    for (const text of ['', '- a\n', 'a: [\n', 'a: 1\na: 2\n', 'a: &x 1\nb: *x\n'])
      expect(edited(text, { b: 1 })).toBeNull();
  });
});
