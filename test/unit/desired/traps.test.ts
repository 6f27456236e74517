import { describe, expect, it } from 'vitest';
import { resolveServer } from '../../../src/reconciler/desired/resolve.ts';
import { problems, read, SERVER, settings, source, target, withSettings } from './reading.ts';

const CANARY = 'sk-CANARY-4f9a2c7e1b';

function shown(text: string): string {
  return JSON.stringify(read(text).diagnostics);
}

describe('M3: a key that no header can carry is found before a header is made of it', () => {
  const one = target(
    'version: 1\nserver: { url: https://agents.example.com, api_key: "${env:KEY}" }',
  );

  it.each([`${CANARY}\nfoo`, `${CANARY}\n`, `${CANARY}\0`, ` ${CANARY}`, `${CANARY}✓`])(
    '%j',
    (key) => {
      const answer = resolveServer(one, source({ KEY: key }));
      expect(answer).toHaveProperty('problems.0.ref', '${env:KEY}');
      expect(JSON.stringify(answer)).not.toContain('CANARY');
    },
  );

  it('says of blanks that they are none', () => {
    const answer = resolveServer(one, source({ KEY: '  ' }));
    expect(answer).toHaveProperty('problems.0.reason', expect.stringContaining('empty'));
  });

  it('also in a header of an access proxy', () => {
    const proxied = target(
      'version: 1\nserver: { url: https://agents.example.com, headers: { X-Proxy: "${env:KEY}" } }',
    );
    const answer = resolveServer(proxied, source({ KEY: `${CANARY}\r` }));
    expect(answer).toHaveProperty('problems.0.path', ['server', 'headers', 'X-Proxy']);
  });

  it('takes printable text', () => {
    const answer = resolveServer(one, source({ KEY: 'a b~é' }));
    expect('server' in answer && answer.server.apiKey?.reveal()).toBe('a b~é');
  });
});

describe('M5: no message repeats a message of the parser', () => {
  it.each([
    withSettings(`llm_api_key: "${CANARY}`),
    withSettings(`llm_api_key: *${CANARY}`),
    withSettings(`llm_api_key: &${CANARY} x`),
    withSettings(`llm_api_key: !${CANARY} x`),
    withSettings(`llm_api_key: @${CANARY}`),
    withSettings(`llm_api_key: { ${CANARY}`, 'x: 1'),
    withSettings(`llm_api_key: "\\${CANARY}"`),
    withSettings(`llm_api_key: a: ${CANARY}`),
    withSettings(CANARY, 'language: en'),
    `%${CANARY}\n---\nversion: 1\n`,
    `version: 1\n---\n${CANARY}: 1\n`,
  ])('%j', (text) => {
    expect(read(text).diagnostics).not.toEqual([]);
    expect(shown(text)).not.toContain('CANARY');
  });
});

describe('M6: no message repeats a message of the schema validator', () => {
  it.each([
    withSettings(`${CANARY}: 1`),
    withSettings(`language: { ${CANARY}: 1 }`),
    `version: ${CANARY}\n${SERVER}\n`,
    `version: 1\nserver: { url: https://agents.example.com, auth: ${CANARY} }\n`,
    withSettings(`max_iterations: ${CANARY}`),
    `version: 1\n${SERVER}\nenvironments: { "${CANARY} !": {} }\n`,
    `version: 1\n${SERVER}\nguards: { ${CANARY}: 1 }\n`,
  ])('%j', (text) => {
    expect(read(text).diagnostics).toHaveLength(1);
    expect(shown(text)).not.toContain('CANARY');
  });
});

describe('M7: no directive changes how the file is read', () => {
  it('is an error, at its line', () => {
    expect(problems(`%YAML 1.1\n---\n${withSettings('language: no')}`)).toEqual(['1:1 syntax']);
  });

  it('reads no, on and 010 as YAML 1.2 does', () => {
    const one = target(
      withSettings('language: no', 'agent: on', 'llm_model: y', 'max_iterations: 010'),
    );
    expect(settings(one).fields).toEqual({
      language: 'no',
      agent: 'on',
      llm_model: 'y',
      max_iterations: 10,
    });
  });
});

describe('M8: a tag is an error and never a value', () => {
  it.each(['!env FOO', '!!js/function x', '!!binary aGk=', '!!str 5', '!<tag:x> y', '! z'])(
    'llm_api_key: %s',
    (value) => {
      const { targets, diagnostics } = read(withSettings(`llm_api_key: ${value}`));
      expect(diagnostics.map(({ code }) => code)).toEqual(['syntax']);
      expect(diagnostics[0]).toMatchObject({ line: 4, column: 16 });
      expect(targets.length).toBeLessThanOrEqual(1);
    },
  );

  it('on a map, a list and a key', () => {
    expect(problems(withSettings('mcp_config: !map {}', '!k language: en'))).toEqual([
      '4:15 syntax',
      '5:3 syntax',
    ]);
    expect(problems(`version: 1\n${SERVER}\nunmanaged: !seq [language]\n`)).toEqual([
      '3:12 syntax',
    ]);
  });
});

describe('M9: one document, unique keys', () => {
  it('a second document is an error where it starts', () => {
    expect(problems(`version: 1\n${SERVER}\n---\nversion: 1\n`)).toEqual(['3:1 syntax']);
    expect(problems(`version: 1\n${SERVER}\n...\n---\nversion: 1\n`)).toEqual(['4:1 syntax']);
  });

  it('a document mark before the first is none', () => {
    expect(problems(`---\nversion: 1\n${SERVER}\n...\n`)).toEqual([]);
  });

  it('1: and "1": are one key', () => {
    expect(problems(withSettings('1: a', '"1": b'))).toEqual([
      '4:3 unknown-key',
      '5:3 declared-twice',
    ]);
  });
});

describe('M10: depth is counted before the parser recurses', () => {
  const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);

  it('64 levels are read, 65 are not', () => {
    expect(problems(`version: 1\n${SERVER}\nx: ${nested(63)}`)).toEqual(['3:1 unknown-key']);
    expect(problems(`version: 1\n${SERVER}\nx: ${nested(64)}`)).toEqual(['3:67 syntax']);
  });
});

describe('M11: aliases and anchors are errors', () => {
  it('at the alias and at the anchor, without a second complaint', () => {
    const text = withSettings('language: &a en', 'agent: *a', 'llm_model: &b', 'git_user_name: *');
    expect(problems(text)).toEqual(['4:13 syntax', '5:10 syntax', '6:14 syntax', '7:18 syntax']);
  });

  it('a bomb is refused at once', () => {
    const levels = Array.from({ length: 9 }, (_, i) => `b${i + 1}: &b${i + 1} [*b${i}, *b${i}]`);
    const { diagnostics } = read(`b0: &b0 x\n${levels.join('\n')}\n`);
    expect(diagnostics.filter(({ code }) => code === 'syntax')).toHaveLength(28);
  });

  it('a merge key is not merged', () => {
    expect(problems(withSettings('<<: { language: en }'))).toEqual(['4:3 unknown-key']);
  });
});

describe('M12: a number arrives as it is written, or is refused', () => {
  it.each([
    '.inf',
    '-.Inf',
    '.NaN',
    '1e999',
    '9007199254740993',
    '-9007199254740992',
    '0xFFFFFFFFFFFFFFFF',
  ])('%s', (number) => {
    expect(problems(withSettings(`max_budget_per_task: ${number}`))).toEqual(['4:24 bad-value']);
  });

  it.each([
    ['9007199254740991', 9007199254740991],
    ['1e3', 1000],
    ['0x10', 16],
    ['0o17', 15],
    ['2.50', 2.5],
  ])('%s is %d', (text, number) => {
    expect(settings(target(withSettings(`max_budget_per_task: ${text}`))).fields).toEqual({
      max_budget_per_task: number,
    });
  });
});

describe('T20: keys of every object', () => {
  it('are unknown keys, and change nothing', () => {
    const text = withSettings('__proto__: { polluted: 1 }', 'constructor: 1', 'toString: 1');
    expect(problems(text)).toEqual(['4:3 unknown-key', '5:3 unknown-key', '6:3 unknown-key']);
    expect({}).not.toHaveProperty('polluted');
  });

  it('are keys like any other if a person names them', () => {
    const one = target(
      withSettings(
        'mcp_config:',
        '  stdio_servers: [{ name: a, command: b, env: { __proto__: a, constructor: b } }]',
      ),
    );
    const { mcp_config: mcp } = settings(one, source({})).fields;
    const [entry] = (mcp as { stdio_servers: { env: object }[] }).stdio_servers;
    expect(JSON.stringify(Object.keys(entry?.env ?? {}))).toBe('["__proto__","constructor"]');
  });

  it('are names of environments', () => {
    expect(
      read(`version: 1\n${SERVER}\nenvironments: { constructor: {}, a: {} }\n`).targets,
    ).toHaveLength(2);
  });
});
