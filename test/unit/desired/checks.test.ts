import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseBaseReferences } from '../../../src/reconciler/desired/target.ts';
import { loadTargets } from '../../../src/reconciler/operations/load.ts';
import { problems, read, SERVER, source, target, withSettings } from './reading.ts';
import { resolveServer } from '../../../src/reconciler/desired/resolve.ts';

describe('one problem, one report', () => {
  it.each<[string, string[]]>([
    [withSettings('langage:'), ['4:3 unknown-key']],
    [withSettings('langage:', '  a:', '    - b:'), ['4:3 unknown-key']],
    [withSettings('language: { a: , b: "${X}" }'), ['4:13 wrong-type']],
    [withSettings('max_iterations: .inf'), ['4:19 bad-value']],
    [withSettings('mcp_config: { sse_servers: [{ urll: https://x }] }'), ['4:33 unknown-key']],
    [withSettings('mcp_config: { sse_servers: [{}] }'), ['4:31 missing-key']],
    [withSettings('mcp_config: { sse_servers: [{ url: }] }'), ['4:33 missing-key']],
    [withSettings('mcp_config: { sse_servers: ["", ""] }'), ['4:31 bad-value', '4:35 bad-value']],
    [`verison: 1\n${SERVER}\n`, ['1:1 unknown-key']],
    ['version: 1\nserver: https://a.example.com\n', ['2:9 wrong-type']],
    ['version: 1\nserver:\n', ['2:1 missing-key']],
    ['version: 1\nenviroments: { a: {} }\n', ['2:1 unknown-key']],
    ['version: 1\nenvironments:\n  a:\n  b: 5\n', ['3:3 missing-key', '4:6 wrong-type']],
    ['version: 1\nenvironments: 5\n', ['2:15 wrong-type']],
    ['version: 1\nsandboxes:\n  - running:\n', ['1:1 missing-key', '3:5 missing-key']],
    ['version:\n', ['1:1 missing-key', '1:1 missing-key']],
  ])('%j', (text, found) => {
    expect(problems(text)).toEqual(found);
  });

  it('what an agent profile has that a server would drop', () => {
    const profile = (members: string): string[] =>
      problems(
        `version: 1\n${SERVER}\nagent_profiles: { a: { llm_profile: m, ${members} } }\n`,
      ).map((one) => one.replace(/^.* /, ''));
    const kept = 'condenser: { condenser_kind: no_op, enabled: true }';
    const dropped = 'condenser: { condenser_kind: no_op, keep_first: 2, max_size: 99 }';
    expect(profile(kept)).toEqual([]);
    expect(profile('condenser: { keep_first: 2, max_size: 99 }')).toEqual([]);
    expect(profile(dropped)).toEqual(['unknown-key', 'unknown-key']);
  });

  it('every one of many is reported', () => {
    const lines = Array.from({ length: 1000 }, (_, index) => `unknown${index % 7}x${index}: 1`);
    expect(problems(withSettings(...lines))).toHaveLength(1000);
  });

  it('from top to bottom', () => {
    const { diagnostics } = read(
      withSettings('language: 5', 'llm_api_key: abc', 'a:', 'agent: !x y', 'b: 1'),
    );
    expect(diagnostics.map(({ line }) => line)).toEqual([4, 5, 6, 7, 8]);
  });
});

describe('server.headers may not set what setpoint sets', () => {
  const block = (name: string) =>
    `{ url: https://a.example.com, headers: { ${name}: "\${env:H}" } }`;

  it.each(['Host', 'HOST', 'host', 'Content-Length', 'transfer-encoding', 'X-Expose-Secrets'])(
    '%s',
    (name) => {
      expect(problems(`version: 1\nserver: ${block(name)}\n`)).toEqual(['2:50 bad-value']);
      const inner = `version: 1\nenvironments: { a: { server: ${block(name)} } }\n`;
      expect(problems(inner)).toEqual(['2:71 bad-value']);
    },
  );

  it('another header is fine', () => {
    expect(problems(`version: 1\nserver: ${block('X-Host')}\n`)).toEqual([]);
  });
});

describe('paths of problems', () => {
  it('lead from the top of the file', () => {
    const { diagnostics } = read(
      `version: 1\n${SERVER}\nenvironments:\n  staging:\n    settings:\n      mcp_config: { sse_servers: [{ url: "", extra: 1 }] }\n`,
    );
    const entry = ['environments', 'staging', 'settings', 'mcp_config', 'sse_servers', '0'];
    expect(diagnostics.map(({ path }) => path)).toEqual([
      [...entry, 'url'],
      [...entry, 'extra'],
    ]);
  });
});

describe('references in flow style', () => {
  it('are reported, and the rest is read as if they were quoted', () => {
    const { diagnostics } = read(
      'version: 1\nserver: {\n  url: https://${env:HOST}/x,\n  api_key: ${env:KEY} }\nsettings: { langage: en }\n',
    );
    expect(diagnostics.map(({ line, column, code }) => `${line}:${column} ${code}`)).toEqual([
      '3:16 syntax',
      '4:12 syntax',
      '5:13 unknown-key',
    ]);
    expect(diagnostics[0]?.hint).toBe('Quote the reference: "${env:NAME}".');
  });

  it('are fine in quotes, and in block style without', () => {
    expect(
      problems(
        'version: 1\nserver: { url: "https://${env:HOST}" }\nsettings:\n  agent: ${env:A}\n',
      ),
    ).toEqual([]);
  });
});

describe('--server', () => {
  it('a file need not name a server then, and url is empty', () => {
    const { targets, diagnostics } = read('version: 1\n', undefined, { serverGiven: true });
    expect(diagnostics).toEqual([]);
    expect(targets).toHaveLength(1);
  });
});

describe('addresses from references', () => {
  it.each([
    'ftp://x',
    'x',
    'https://u:p@x',
    'https://x?y',
    'https://x#y',
    'https://',
    'https://x:99999',
    '',
    'embedded:?dialect=v2',
  ])('%s is none', (url) => {
    const one = target('version: 1\nserver: { url: "${env:URL}" }');
    expect(resolveServer(one, source({ URL: url }))).toHaveProperty('problems.0.path', [
      'server',
      'url',
    ]);
  });

  it.each([
    ['https://x/', 'https://x'],
    [' http://127.0.0.1:3000/prefix/ ', 'http://127.0.0.1:3000/prefix'],
    ['embedded:./store.json', 'embedded:./store.json'],
    ['embedded:?dialect=app-server', 'embedded:?dialect=app-server'],
  ])('%s is %s', (url, address) => {
    const one = target('version: 1\nserver: { url: "${env:URL}" }');
    expect(resolveServer(one, source({ URL: url }))).toMatchObject({
      server: { url: address, origin: '${env:URL}' },
    });
  });
});

describe('T18: extends', () => {
  const base = 'version: 1\nsettings: { language: en }\n';
  let inside = '';
  let outside = '';

  beforeAll(() => {
    inside = mkdtempSync(join('node_modules', '.extends-'));
    outside = mkdtempSync(join(tmpdir(), 'extends-'));
    mkdirSync(join(inside, 'env'));
    writeFileSync(join(inside, 'base.yaml'), base);
    writeFileSync(join(outside, 'base.yaml'), base);
    symlinkSync(join(process.cwd(), inside, 'base.yaml'), join(inside, 'good-link.yaml'));
    symlinkSync(join(outside, 'base.yaml'), join(inside, 'bad-link.yaml'));
  });

  afterAll(() => {
    rmSync(inside, { recursive: true });
    rmSync(outside, { recursive: true });
  });

  function extending(path: string): string {
    const file = join(inside, 'env', 'staging.yaml');
    writeFileSync(file, `version: 1\n${SERVER}\nextends: ${path}\n`);
    try {
      const { targets, diagnostics } = loadTargets({ file, env: {} });
      return targets[0]?.settings === undefined
        ? diagnostics.map(({ code }) => code).join()
        : 'read';
    } catch (thrown) {
      return thrown instanceof Error && 'code' in thrown ? String(thrown.code) : 'another error';
    }
  }

  it('is relative to the file', () => {
    expect(extending('../base.yaml')).toBe('read');
    expect(extending('base.yaml')).toBe('unreadable');
  });

  it('stays under the working directory, links resolved', () => {
    expect(extending('../good-link.yaml')).toBe('read');
    expect(extending('../bad-link.yaml')).toBe('unreadable');
    expect(extending(relative(join(inside, 'env'), join(outside, 'base.yaml')))).toBe('unreadable');
    expect(extending('"../../../../../../../../etc/passwd"')).toBe('unreadable');
    expect(extending('..')).toBe('unreadable');
  });

  it('is a path and no reference', () => {
    expect(extending('${env:BASE}')).toBe('bad-reference');
    expect(extending('""')).toBe('bad-value');
    expect(extending('"a\\0b"')).not.toBe('read');
    expect(extending('[base.yaml]')).toBe('unreadable');
    expect(extending('[1]')).toBe('wrong-type');
    expect(extending('{}')).toBe('wrong-type');
  });

  it('is one level', () => {
    writeFileSync(join(inside, 'two.yaml'), 'version: 1\nextends: base.yaml\n');
    expect(extending('../two.yaml')).toBe('unknown-key');
  });

  it.each([
    ['extends: a.yaml', 'a.yaml'],
    ['\uFEFFextends : a.yaml', 'a.yaml'],
    ['version: 1\r\n"extends": a.yaml', 'a.yaml'],
    ['{ version: 1, extends: a.yaml }', 'a.yaml'],
    ['{extends: a.yaml}', 'a.yaml'],
    ['version: 1\nsettings: { extends: a.yaml }', null],
    ['version: 1\nagent: extends', null],
    ['? extends\n: a.yaml', 'a.yaml'],
    ['{ a: "#", extends: a.yaml }', 'a.yaml'],
    ['"e\\x78tends": a.yaml', 'a.yaml'],
  ])('is found in %j', (text, path) => {
    expect(parseBaseReferences('settings.yaml', text)[0]?.path ?? null).toBe(path);
  });
});

it.each([
  ['a list', 'version: 1\nserver: { url: "embedded:" }\nsettings: [a, b', '3:11'],
  ['a map', 'version: 1\nserver: { url: "embedded:"', '2:9'],
  ['the inner of two', 'version: 1\nserver: { url: [a', '2:16'],
])('%s that the end of a file without a last line break leaves open', (_, text, at) => {
  for (const ending of ['', '\n']) {
    const [first] = read(text + ending).diagnostics;
    expect(first?.message).toBe('This bracket or brace is never closed.');
    expect(`${first?.line}:${first?.column}`).toBe(at);
  }
});
