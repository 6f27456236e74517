import { RULES } from '../../../src/reconciler/model/guard.ts';
import { describe, expect, it } from 'vitest';
import { resolveServer, resolveSettings } from '../../../src/reconciler/desired/resolve.ts';
import { formatPath, type Path } from '../../../src/reconciler/model/path.ts';
import { problems, read, settings, source, target } from './reading.ts';

const FILE = `version: 1
server: { url: https://agents.example.com, api_key: "\${env:KEY}", headers: { X-Proxy: "\${env:PROXY}" }, auth: bearer }
settings:
  language: en
  agent: one
  llm_model: m
  mcp_config:
    sse_servers: [https://a.example.com, https://b.example.com]
    stdio_servers: [{ name: files, command: npx }]
  secrets_store:
    custom_secrets: { A: "\${env:A}", B: "\${env:B}" }
guards: { max_changes: 10 }
unmanaged: [email]
environments:
  plain: {}
  staging:
    settings:
      language: de
      agent: null
      mcp_config: { sse_servers: [https://c.example.com] }
      secrets_store: { custom_secrets: { B: "\${env:C}" } }
    guards: { protected: true }
    unmanaged: [agent]
  cleared:
    settings: { mcp_config: null }
    unmanaged: []
  moved:
    server: { url: https://other.example.com, api_key: null, headers: {} }
  local:
    server: { url: "embedded:" }
`;
const VARIABLES = { KEY: 'k', PROXY: 'p', A: 'a', B: 'b', C: 'c' };

function state(name: string) {
  return resolveSettings(target(FILE, name), source(VARIABLES));
}

function server(name: string) {
  const answer = resolveServer(target(FILE, name), source(VARIABLES));
  if ('problems' in answer) throw new Error('problems');
  const { url, apiKey, headers, auth } = answer.server;
  return { url, key: apiKey?.reveal() ?? null, headers: [...headers.keys()], auth };
}

describe('overlays', () => {
  it('an environment without anything is the blocks above', () => {
    expect(settings(target(FILE, 'plain'), source(VARIABLES)).fields).toMatchObject({
      language: 'en',
      agent: 'one',
    });
  });

  it('maps merge, scalars and lists replace, null replaces, and what is unmanaged is not resolved', () => {
    expect(settings(target(FILE, 'staging'), source(VARIABLES)).fields).toEqual({
      language: 'de',
      llm_model: 'm',
      mcp_config: {
        sse_servers: [{ url: 'https://c.example.com' }],
        stdio_servers: [{ name: 'files', command: 'npx' }],
      },
    });
    expect(state('staging').items.get('secrets')).toMatchObject([
      { name: 'A', values: [{ path: ['secrets', 'A'], value: { ref: '${env:A}' } }] },
      { name: 'B', values: [{ value: { ref: '${env:C}' } }], source: { line: 21, column: 42 } },
    ]);
    expect(settings(target(FILE, 'cleared'), source(VARIABLES)).fields).toHaveProperty(
      'mcp_config',
      null,
    );
  });

  it('guards merge, unmanaged replaces', () => {
    expect(state('staging').guards).toEqual({
      on: new Set(RULES.filter((rule) => rule !== 'unproven')),
      maxChanges: 10,
      frozen: null,
    });
    expect(state('staging').unmanaged).toEqual([['agent']]);
    expect(state('plain').unmanaged).toEqual([['email']]);
    expect(state('cleared').unmanaged).toEqual([]);
  });

  it('one environment does not change another', () => {
    expect(read(FILE).targets.map(({ name }) => name)).toEqual([
      'plain',
      'staging',
      'cleared',
      'moved',
      'local',
    ]);
    expect(settings(target(FILE, 'moved'), source(VARIABLES)).fields).toHaveProperty(
      'language',
      'en',
    );
  });

  it('a value has the place where it was written last', () => {
    const places = Object.fromEntries(
      state('staging').fields.map(({ field, source: at }) => [
        field.name,
        `${at().line}:${at().column}`,
      ]),
    );
    expect(places).toEqual({
      language: '18:17',
      llm_model: '6:14',
      mcp_config: '20:19',
    });
    const mcp = state('staging').fields.find(({ field }) => field.name === 'mcp_config');
    expect(mcp?.source(['sse_servers', '0'])).toEqual({
      file: 'settings.yaml',
      line: 20,
      column: 35,
    });
    expect(mcp?.source(['stdio_servers', '0', 'name'])).toEqual({
      file: 'settings.yaml',
      line: 9,
      column: 29,
    });
  });
});

describe('a key never follows a moved url', () => {
  it('stays with the url it was written for', () => {
    expect(server('plain')).toEqual({
      url: 'https://agents.example.com',
      key: 'k',
      headers: ['X-Proxy'],
      auth: 'bearer',
    });
  });

  it('nor do headers', () => {
    expect(server('moved')).toEqual({
      url: 'https://other.example.com',
      key: null,
      headers: [],
      auth: 'bearer',
    });
    expect(server('local')).toEqual({ url: 'embedded:', key: null, headers: [], auth: 'bearer' });
  });

  it.each([
    ['{ url: https://x.example.com }', ['api_key', 'headers']],
    ['{ url: https://x.example.com, api_key: null }', ['headers']],
    ['{ url: https://x.example.com, headers: {} }', ['api_key']],
    ['{ url: https://agents.example.com }', ['api_key', 'headers']],
    ['{ url: "${env:URL}" }', ['api_key', 'headers']],
    ['{ auth: both }', []],
  ])('%s', (block, names) => {
    const text = FILE.slice(0, FILE.indexOf('environments:'));
    const { diagnostics } = read(`${text}environments:\n  e:\n    server: ${block}\n`);
    expect(diagnostics.map(({ code }) => code)).toEqual(names.map(() => 'key-does-not-follow'));
    for (const [index, name] of names.entries())
      expect(diagnostics[index]?.message).toContain(`server.${name}`);
  });

  it('nothing is reported if there is no key to follow', () => {
    const text = 'version: 1\nserver: { url: https://a.example.com, api_key: null }\n';
    expect(
      problems(`${text}environments: { e: { server: { url: https://b.example.com } } }\n`),
    ).toEqual([]);
  });
});

describe('a base file', () => {
  const base = 'version: 1\nsettings:\n  language: en\n  agent: one\nguards: { max_changes: 3 }\n';
  const top =
    'version: 1\nextends: base.yaml\nserver: { url: https://a.example.com }\nsettings: { agent: two }\n';

  it('is below the file that extends it', () => {
    const one = target(top, undefined, base);
    expect(settings(one).fields).toEqual({ language: 'en', agent: 'two' });
    const { fields, guards } = resolveSettings(one, source());
    expect(guards.maxChanges).toBe(3);
    expect(fields.map(({ source: at }) => [at().file, at().line])).toEqual([
      ['base.yaml', 3],
      ['settings.yaml', 4],
    ]);
  });

  it('is below every environment', () => {
    const one = target(`${top}environments: { e: { settings: { language: de } } }\n`, 'e', base);
    expect(settings(one).fields).toEqual({ language: 'de', agent: 'two' });
  });

  it('holds no server, no environments, no name and no base of its own', () => {
    const text = `${base}server: {}\nenvironments: { a: {} }\nname: x\nextends: y\n`;
    expect(problems(top, text)).toEqual(
      [6, 7, 8, 9].map((line) => `base.yaml:${line}:1 unknown-key`),
    );
  });

  it('has its own problems in its own lines', () => {
    expect(problems(top, 'version: 1\nsettings: { langage: en }\n')).toEqual([
      'base.yaml:2:13 unknown-key',
    ]);
    expect(problems(top, 'version: [\n')).toEqual(['base.yaml:1:10 syntax']);
    expect(problems(top, 'settings: {}\n')).toEqual(['base.yaml:1:1 missing-key']);
  });
});

describe('names of targets', () => {
  const named = (text: string, several: boolean) =>
    readNames(`version: 1\nserver: { url: https://a.example.com }\n${text}`, several);
  it.each([
    ['', false, ['default']],
    ['', true, ['staging']],
    ['name: prod\n', false, ['prod']],
    ['name: prod\n', true, ['prod']],
    ['environments: { a: {}, b: {} }\n', true, ['a', 'b']],
  ])('%j, several: %s', (text, several, names) => {
    expect(named(text, several)).toEqual(names);
  });
});

function readNames(text: string, several: boolean): string[] {
  return read(text, undefined, { path: 'env/staging.yaml', several }).targets.map(
    ({ name }) => name,
  );
}

describe('what a file lists as unmanaged', () => {
  const ALL = `version: 1
server: { url: https://agents.example.com }
settings:
  language: en
  llm_model: m
  llm_api_key: "\${env:A}"
  disabled_skills: [a]
  mcp_config: { sse_servers: [https://a.example.com] }
  agent_settings: { agent_kind: openhands, tools: null, condenser: { max_size: 100 }, llm: { temperature: 0.5 } }
  conversation_settings: { default_runtime: docker }
  misc_settings: { telemetry: { consent: granted } }
marketplaces: { team: { source: "github:a/b" } }
`;
  const resolved = (unmanaged: readonly string[]) =>
    resolveSettings(
      target(`${ALL}unmanaged: ${JSON.stringify(unmanaged)}\n`),
      source(VARIABLES),
    ).fields.map(({ field }) => field.path);
  const paths = resolved([]);

  it.each(paths.flatMap((path) => path.map((_, index) => formatPath(path.slice(0, index + 1)))))(
    '%s is not among the declared fields, nor anything inside it',
    (one) => {
      const isInside = (path: Path): boolean =>
        path.some((_, index) => formatPath(path.slice(0, index + 1)) === one);
      expect(paths.filter(isInside).length).toBeGreaterThan(0);
      expect(resolved([one]).filter(isInside)).toEqual([]);
    },
  );
});
