import { describe, expect, it } from 'vitest';
import { envPairs, isUnfinished, splitShellLine } from '../../../src/reconciler/desired/lines.ts';
import { resolveSettings } from '../../../src/reconciler/desired/resolve.ts';
import { createEntryIdentity, isMcpList } from '../../../src/reconciler/model/mcp.ts';
import { isList, isRecord } from '../../../src/reconciler/model/value.ts';
import { problems, SERVER, settings, source, target, withSettings } from './reading.ts';

function mcp(...lines: readonly string[]) {
  const one = target(withSettings('mcp_config:', ...lines.map((line) => `  ${line}`)));
  return settings(
    one,
    source({ A: 'a', URL: ' https://env.example.com/x?key=1 ', LINE: '"a b" c' }),
  ).fields['mcp_config'];
}

const hidden = (secret: unknown, ref: string | null = null) => ({ secret, ref });

describe('mcp_config in one form', () => {
  it('{} is three empty lists, null is null, and a list that is left out stays out', () => {
    expect(settings(target(withSettings('mcp_config: {}'))).fields).toEqual({
      mcp_config: { sse_servers: [], stdio_servers: [], shttp_servers: [] },
    });
    expect(settings(target(withSettings('mcp_config: null'))).fields).toEqual({ mcp_config: null });
    expect(mcp('shttp_servers: []')).toEqual({ shttp_servers: [] });
  });

  it('an entry of text is its url, trimmed', () => {
    expect(mcp('sse_servers: [" https://a.example.com/sse ", wss://b.example.com]')).toEqual({
      sse_servers: [{ url: 'https://a.example.com/sse' }, { url: 'wss://b.example.com' }],
    });
  });

  it('what is left out is not invented, and null stays', () => {
    expect(
      mcp(
        'shttp_servers: [{ url: https://a.example.com, api_key: null, timeout: null }, { url: https://b.example.com }]',
      ),
    ).toEqual({
      shttp_servers: [
        { url: 'https://a.example.com', api_key: null, timeout: null },
        { url: 'https://b.example.com' },
      ],
    });
  });

  it('userinfo and query of a url are masked, a plain url is not', () => {
    expect(
      mcp('sse_servers: ["https://u:p@a.example.com/x", "https://b.example.com/?k=v"]'),
    ).toEqual({
      sse_servers: [
        { url: hidden('https://u:p@a.example.com/x') },
        { url: hidden('https://b.example.com/?k=v') },
      ],
    });
  });

  it('name and command are trimmed', () => {
    expect(mcp('stdio_servers: [{ name: " files ", command: " npx " }]')).toEqual({
      stdio_servers: [{ name: 'files', command: 'npx' }],
    });
  });

  it('args and env are a list and a map, whatever they were written as', () => {
    expect(
      mcp(
        'stdio_servers:',
        '  - { name: a, command: c, args: [-y, "${env:A}"], env: { X: "1", API_KEY: "${env:A}" } }',
        '  - { name: b, command: c, args: "-y \'two words\' ${env:LINE}", env: " X = 1=2 ,, API_KEY=${env:A} " }',
        '  - { name: c, command: c, args: null, env: null }',
        '  - { name: d, command: c, args: "", env: "" }',
        '  - { name: e, command: c, args: "${env:N:-a b}", env: "X=${env:N:-1,2=3}" }',
      ),
    ).toEqual({
      stdio_servers: [
        {
          name: 'a',
          command: 'c',
          args: ['-y', hidden('a', '${env:A}')],
          env: { X: '1', API_KEY: hidden('a', '${env:A}') },
        },
        {
          name: 'b',
          command: 'c',
          args: ['-y', 'two words', hidden('"a b" c', '${env:LINE}')],
          env: { X: '1=2', API_KEY: hidden('a', '${env:A}') },
        },
        { name: 'c', command: 'c', args: [], env: {} },
        { name: 'd', command: 'c', args: [], env: {} },
        {
          name: 'e',
          command: 'c',
          args: [hidden('a b', '${env:N:-a b}')],
          env: { X: hidden('1,2=3', '${env:N:-1,2=3}') },
        },
      ],
    });
  });

  it('a literal is open unless its name, its flag or its url is that of a secret', () => {
    const args = [
      '-y',
      '--api-key=k',
      '--token',
      't',
      '--verbose',
      '-e',
      'MY_SECRET=s',
      '--header',
      'Authorization: Bearer b',
      'https://u:p@a.example.com',
      'https://a.example.com/?k=v',
      'plain',
    ];
    const closed = [1, 3, 6, 8, 9, 10];
    expect(
      mcp(`stdio_servers: [{ name: a, command: c, args: ${JSON.stringify(args)} }]`),
    ).toMatchObject({
      stdio_servers: [
        { args: args.map((text, index) => (closed.includes(index) ? hidden(text) : text)) },
      ],
    });
  });

  it('a missing reference hides only itself', () => {
    const one = target(
      withSettings(
        'mcp_config:',
        '  sse_servers: [{ url: https://a.example.com, api_key: "${env:NONE}" }]',
        '  stdio_servers: [{ name: p, command: sh, args: [-c, "${env:GONE}"], env: { A: b, KEY: "${env:NO}" } }]',
      ),
    );
    const unseen = (name: string) => ({ unseen: `the variable ${name} is not set` });
    expect(settings(one)).toEqual({
      fields: {
        mcp_config: {
          sse_servers: [{ url: 'https://a.example.com', api_key: unseen('NONE') }],
          stdio_servers: [
            {
              name: 'p',
              command: 'sh',
              args: ['-c', unseen('GONE')],
              env: { A: 'b', KEY: unseen('NO') },
            },
          ],
        },
      },
      missing: {
        'mcp_config.sse_servers[https://a.example.com].api_key': 'the variable NONE is not set',
        'mcp_config.stdio_servers[p].args[1]': 'the variable GONE is not set',
        'mcp_config.stdio_servers[p].env.KEY': 'the variable NO is not set',
      },
    });
  });

  it('a reference of an entry that is not managed is not missing', () => {
    const one = target(
      [
        SERVER,
        'version: 1',
        'unmanaged: ["mcp_config.sse_servers[https://a.example.com]"]',
        'settings:',
        '  mcp_config:',
        '    sse_servers: [{ url: https://a.example.com, api_key: "${env:NONE}" }]',
      ].join('\n'),
    );
    expect(settings(one).missing).toEqual({});
  });
});

describe('identities', () => {
  function identities(...lines: readonly string[]): string[] {
    const one = target(withSettings('mcp_config:', ...lines.map((line) => `  ${line}`)));
    const { fields } = resolveSettings(one, source({ URL: 'https://u:p@env.example.com/x?key=1' }));
    const value = fields[0]?.value;
    if (!isRecord(value)) return [];
    return Object.entries(value).flatMap(([list, entries]) =>
      isList(entries) && isMcpList(list)
        ? entries.filter(isRecord).map((entry) => createEntryIdentity(list, entry).shown)
        : [],
    );
  }

  it('are names, and urls without userinfo, query and fragment', () => {
    expect(
      identities(
        'sse_servers: ["https://u:p@a.example.com:8443/x?y#z", "https://[::1]:3000/sse", " WSS://B.example.com "]',
        'stdio_servers: [{ name: " files ", command: npx }]',
      ),
    ).toEqual([
      'https://a.example.com:8443/x',
      'https://[::1]:3000/sse',
      'WSS://B.example.com',
      'files',
    ]);
  });

  it('of a url from a reference are the reference', () => {
    expect(identities('sse_servers: ["${env:URL}", { url: "https://${env:URL}/sse" }]')).toEqual([
      '${env:URL}',
      'https://${env:URL}/sse',
    ]);
  });

  it('twice the same in a list is an error, in two lists it is none', () => {
    const lists = (...lines: readonly string[]) =>
      problems(withSettings('mcp_config:', ...lines.map((line) => `  ${line}`)));
    expect(lists('sse_servers: [https://a/x, "https://a/x?b", "https://u@a/x#c"]')).toEqual([
      '5:32 declared-twice',
      '5:49 declared-twice',
    ]);
    expect(
      lists('sse_servers: [https://a/x]', 'shttp_servers: [https://a/x, https://a/X]'),
    ).toEqual([]);
    expect(lists('sse_servers: ["${env:A}", "${env:B}"]')).toEqual([]);
    expect(lists('sse_servers: ["${env:A}", { url: "${env:A}" }]')).toEqual([
      '5:38 declared-twice',
    ]);
  });
});

describe('shell words', () => {
  it.each<[string, string[]]>([
    ['', []],
    [' \t\n ', []],
    ['-y mcp-remote', ['-y', 'mcp-remote']],
    ['-y "two words"', ['-y', 'two words']],
    [`a"b c"d'e f'`, ['ab cde f']],
    [`'' ""`, ['', '']],
    ['two\\ words', ['two words']],
    ['"a\\"b\\\\c\\d"', ['a"b\\c\\d']],
    [`'a\\b'`, ['a\\b']],
    ['a #b $HOME *', ['a', '#b', '$HOME', '*']],
    ['--k=${env:A:-b c} $${x} y', ['--k=${env:A:-b c}', '$${x}', 'y']],
    ['a\u00a0b', ['a\u00a0b']],
    ['🚀 b', ['🚀', 'b']],
  ])('%j', (line, words) => {
    expect(splitShellLine(line)).toEqual(words);
    expect(isUnfinished(line)).toBe(false);
  });

  it.each(['"open', "it's", 'end\\', '"a\\"'])('%j has no end', (line) => {
    expect(isUnfinished(line)).toBe(true);
    expect(
      problems(
        withSettings(
          'mcp_config:',
          '  stdio_servers:',
          '    - name: a',
          '      command: b',
          `      args: ${JSON.stringify(line)}`,
        ),
      ),
    ).toEqual(['8:15 bad-value']);
  });
});

describe('a line of variables', () => {
  it.each([
    ['', []],
    [',,', []],
    ['A=1', [{ name: 'A', text: '1' }]],
    [
      'A=1,B=x=y',
      [
        { name: 'A', text: '1' },
        { name: 'B', text: 'x=y' },
      ],
    ],
    [
      ' A = 1 , B= ',
      [
        { name: 'A', text: '1' },
        { name: 'B', text: '' },
      ],
    ],
    ['A', [{ name: 'A', text: null }]],
    ['=1', [{ name: '', text: '1' }]],
    [
      'A=${env:X:-1,2},B=3',
      [
        { name: 'A', text: '${env:X:-1,2}' },
        { name: 'B', text: '3' },
      ],
    ],
  ])('%j', (line, pairs) => {
    expect(envPairs(line)).toEqual(pairs);
  });

  it.each([
    ['A', 'bad-value'],
    ['=1', 'bad-value'],
    ['${env:X}', 'bad-value'],
    ['${env:X}=1', 'bad-value'],
    ['A=${X}', 'bad-reference'],
    ['API_KEY=abc', 'literal-secret'],
    ['my_token=a${env:X}', 'literal-secret'],
    ['Password=${env:X:-abc}', 'bad-reference'],
    ['CREDENTIALS=$X', 'bad-reference'],
  ])('%j is refused: %s', (line, code) => {
    const text = withSettings(
      'mcp_config:',
      `  stdio_servers: [{ name: a, command: b, env: ${JSON.stringify(line)} }]`,
    );
    expect(problems(text)).toEqual([`5:49 ${code}`]);
  });

  it.each(['API_KEY=${env:X}', 'API_KEY=', 'LOG=debug', 'A=$HOME', ''])('%j is taken', (line) => {
    const text = withSettings(
      'mcp_config:',
      `  stdio_servers: [{ name: a, command: b, env: ${JSON.stringify(line)} }]`,
    );
    expect(problems(text)).toEqual([]);
  });
});
