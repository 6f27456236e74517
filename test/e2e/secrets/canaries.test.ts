import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { encodings } from '../../fixture/encodings.ts';
import { setpoint } from '../../fixture/command-here.ts';
import { folderWith } from '../../fixture/command.ts';
import { startSandboxServer, type SandboxServer } from '../../fixture/sandbox-server.ts';
import { startStore, type JsonRecord, type StoreServer } from '../../fixture/store-server.ts';
import { dedent } from '../../fixture/dedent.ts';
import { itEach } from '../../fixture/long.ts';

const TENANT = 'tenant-canary-71';
const SECRET = 'canary p@ss"w\\ö/1+2\ncanary line2&<x>';
const MCP_URL = `https://canary:canary-pw@canary.example/canary-04/sse?k=canary-05`;

/** A value of every kind that a reference may come to, each with a word in it that is nowhere else. */
const ENV = {
  KEY: 'canary-key-01',
  HEADER: 'canary-header-02',
  MODEL: 'canary/model-03',
  MCP_URL,
  MCP_NAME: 'canary-name-06',
  MCP_KEY: 'canary-key-07',
  ARG: '--root=/canary-08',
  LEVEL: 'canary-09',
  SECRET,
  SHORT: 'qz7',
};

const FILE = `version: 1
server:
  url: \${env:URL}
  api_key: \${env:KEY}
  headers: { X-Tenant: "\${env:HEADER}" }
settings:
  language: \${env:SHORT}
  agent: literal
  llm_model: \${env:MODEL}
  llm_api_key: \${env:KEY}
  git_user_name: bot of \${env:LEVEL}
  sandbox_api_key: null
  mcp_config:
    sse_servers: [{ url: "\${env:MCP_URL}", api_key: "\${env:MCP_KEY}" }]
    stdio_servers:
      - { name: "\${env:MCP_NAME}", command: npx, args: [-y, "\${env:ARG}"], env: { LEVEL: "\${env:LEVEL}", TOKEN: "\${env:SECRET}" } }
      - { name: plain, command: npx, args: [-y] }
    shttp_servers: []
`;

/** The same values in places that the file does not declare as secret: other fields, keys, names, addresses. */
const STORED: JsonRecord = {
  language: 'en',
  agent: ENV.MODEL.toUpperCase(),
  security_analyzer: `uses ${encodeURIComponent(SECRET)}`,
  email: ENV.SHORT,
  git_user_email: Buffer.from(`user:${ENV.KEY}`).toString('base64'),
  later: { [`x ${ENV.HEADER}`]: `of ${TENANT}`, [ENV.SHORT]: ENV.KEY, deep: [{ a: SECRET }] },
  [`field_${ENV.LEVEL}`]: 1,
  mcp_config: {
    sse_servers: [
      { url: `https://other.example/${TENANT}/sse`, api_key: 'canary-other-key', note: 'canary' },
    ],
    stdio_servers: [
      {
        name: ENV.LEVEL,
        command: `run ${ENV.ARG}`,
        args: ['canary'],
        env: { [ENV.SHORT]: 'canary' },
      },
    ],
    shttp_servers: [`https://other.example/mcp/${ENV.KEY}`],
    mcpServers: { x: { headers: { a: 'canary' }, smtp_pwd: 'canary' } },
  },
};

let store: StoreServer;
let folder: ReturnType<typeof folderWith>;

beforeEach(async () => {
  store = await startStore({}, structuredClone(STORED));
  folder = folderWith({ 'settings.yaml': FILE });
});
afterEach(async () => {
  await store.close();
  folder.remove();
});

async function shown(args: readonly string[], env: Record<string, string> = {}) {
  const all = { ...ENV, URL: `${store.url}/t/${TENANT}`, ...env };
  const ended = await setpoint(args, { cwd: folder.path, env: all });
  const files = readdirSync(folder.path, { recursive: true })
    .map(String)
    .filter((name) => name !== '.setpoint');
  const text = [
    ended.stdout,
    ended.stderr,
    ...files.map((name) => `${name}\n${readFileSync(join(folder.path, name), 'utf8')}`),
  ].join('\n');
  return { ...ended, text };
}

function expectNothing(text: string, values: readonly string[]): void {
  expect(text).not.toMatch(/canary/i);
  for (const value of values)
    for (const form of encodings(value))
      if (form.length >= 6) expect(text.includes(form), form).toBe(false);
}

const VALUES = Object.values(ENV);
const FORMATS = ['text', 'json', 'markdown', 'github', 'html'];

describe('a value of a reference is nowhere in what a command shows or writes', () => {
  const commands: string[][] = [
    ...FORMATS.flatMap((format) => [
      ['plan', '-o', format],
      ['drift', '-v', '-o', format],
      ['apply', '--yes', '-v', '-o', format],
    ]),
    ['plan', '--out', 'plan.json', '-v'],
    ['apply', '--yes', '--rotate', 'all', '-o', 'json=outcome.json', '-o', 'html=outcome.html'],
    ['get', 'settings', '-v'],
    ['get', 'settings', '-o', 'json=seen.json'],
    ['explain', 'mcp_config', '-o', 'json'],
    ['explain', 'llm_model', '-v'],
    ['explain', 'server.url', '-o', 'json'],
    ['explain', 'agent'],
    ['explain'],
    ['explain', '-o', 'json'],
    ['doctor', '-v'],
    ['doctor', '-o', 'json'],
    ['pull', '--check', '-v'],
    ['pull', '--check', '-o', 'json', '--adopt', 'all'],
    ['pull', '--force', '--adopt', 'all', '-o', 'json'],
    ['pull', '--adopt', 'nothing'],
    ['smoke', '--yes', '-o', 'json'],
    ['plan', '--rotate', 'nothing'],
    ['validate', '-o', 'sarif'],
    ['validate', '-o', 'json'],
  ];

  it.each(commands)('%s %s %s %s %s %s', async (...args) => {
    const given = args.filter((arg) => typeof arg === 'string');
    const { text, code, stdout } = await shown(given);
    expectNothing(text, VALUES);
    expect(code, text).toBeLessThan(9);
    if (given[0] === 'plan' && given[2] === 'json')
      expect(JSON.parse(stdout)).toMatchObject({
        environments: [{ name: 'default', origin: '${env:URL}', status: 'differs' }],
      });
  });

  it('the plan still names what is declared in words of the schema', async () => {
    const { stdout } = await shown(['plan', '-o', 'json']);
    const { environments } = JSON.parse(stdout) as {
      environments: { changes: { path: string[]; action: string; after: unknown }[] }[];
    };
    const changes = environments[0]?.changes ?? [];
    expect(changes.map(({ path, action }) => [path.slice(0, 2).join('.'), action])).toEqual(
      expect.arrayContaining([
        ['mcp_config.sse_servers', 'remove'],
        ['llm_model', 'set'],
        ['agent', 'change'],
        ['mcp_config.stdio_servers', 'set'],
      ]),
    );
    expect(changes.find(({ path }) => path[0] === 'agent')?.after).toBe('literal');
  });
});

describe('nothing that a service answers brings a value out', () => {
  itEach(['plan', 'apply', 'get', 'doctor', 'smoke'], (name) => name === 'apply')(
    '%s: a redirect names no other address',
    async (command) => {
      const args = { get: ['get', 'settings'] }[command] ?? [
        command,
        ...(command === 'apply' || command === 'smoke' ? ['--yes'] : []),
      ];
      for (const location of [
        `https://${TENANT}.example/${ENV.KEY}`,
        `//canary.example`,
        `/t/${TENANT}/x`,
      ]) {
        store.intercept = (_request, response) => {
          response.writeHead(307, { location }).end();
          return true;
        };
        const { text, code } = await shown([...args, '-o', 'json']);
        expectNothing(text, VALUES);
        expect(text).not.toContain('.example');
        expect(code).toBe(1);
      }
    },
  );

  it.each([
    ['in upper case', (value: string) => value.toUpperCase()],
    ['as it is', (value: string) => value],
    ['in part', (value: string) => value.slice(0, 9)],
    ['in hexadecimal', (value: string) => Buffer.from(value).toString('hex')],
  ])('a 422 that echoes what was sent, %s', async (_, echo) => {
    store.intercept = (incoming, response, _proceed, _count, body) => {
      if (incoming.method !== 'POST') return false;
      const loc = [
        'body',
        'llm_model',
        ...VALUES.map((value) => echo(value.replaceAll(/[^\w]/g, '_'))),
        ...VALUES.map(echo),
      ];
      response.writeHead(422, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify({
          detail: loc.map((one) => ({
            type: echo(ENV.SHORT),
            loc: ['body', one],
            msg: body,
            input: body,
          })),
        }),
      );
      return true;
    };
    const { text, stdout } = await shown(['apply', '--yes', '-o', 'json']);
    expectNothing(text, VALUES);
    expect(text.toLowerCase()).not.toContain(ENV.SHORT);
    expect(stdout).toContain('settings-refused');
  });
});

describe('a saved plan', () => {
  it.each([
    ['of the same values', {}],
    [
      'if a value is a word of documents',
      { SHORT: 'set', MODEL: 'settings', LEVEL: 'in-sync', ARG: '1', MCP_NAME: 'llm_model' },
    ],
  ])('approves itself when values %s are masked in it', async (_, env) => {
    const hostile = { ...ENV, ...env };
    expect((await shown(['plan', '--out', 'plan.json'], hostile)).code).toBe(0);
    const ended = await shown(['apply', 'plan.json', '-o', 'json'], hostile);
    expect(ended.code, ended.text).toBe(0);
    expect(JSON.parse(ended.stdout)).toMatchObject({ environments: [{ status: 'applied' }] });
    expect((await shown(['plan', '--exit-code'], hostile)).code).toBe(0);
  });
});

describe('a snapshot', () => {
  it('in which a part of a value is masked is not claimed to differ from the file', async () => {
    store.stored = {
      language: 'en',
      agent: `by ${ENV.KEY}`,
      email: 'see https://u:p@h.example/x?k=1',
    };
    const open = `version: 1\nserver: { url: "${store.url}", api_key: "\${env:KEY}" }\nsettings: { language: en, agent: "by ${ENV.KEY}", email: "see https://u:p@h.example/x?k=1" }\n`;
    writeFileSync(join(folder.path, 'settings.yaml'), open);
    expect((await shown(['get', 'settings', '-o', 'json=seen.json'])).code).toBe(0);
    const seen = readFileSync(join(folder.path, 'seen.json'), 'utf8');
    expect(seen).toContain('by (sensitive)');
    expect(seen).toContain('see https://(sensitive)@h.example/x?(sensitive)');
    const { stdout } = await shown(['plan', '--snapshot', 'seen.json', '-o', 'json']);
    expect(JSON.parse(stdout)).toMatchObject({
      environments: [
        {
          status: 'in-sync',
          changes: [],
          unknown: [
            { path: ['agent'], reason: 'masked, cannot be compared' },
            { path: ['email'], reason: 'masked, cannot be compared' },
          ],
        },
      ],
    });
  });

  it('in which the id of a sandbox is masked reports that, and does not confuse it with another', async () => {
    const observed = {
      format_version: '1.0',
      kind: 'observed',
      tool: { name: 'setpoint', version: '0.1.0' },
      observed_at: '2026-03-01T12:00:00.000Z',
      resources: ['settings', 'sandboxes'],
      environments: [
        {
          name: 'default',
          origin: store.url,
          dialect: 'settings-v0',
          release: null,
          status: 'stored',
          server: null,
          settings: {},
          sandboxes: [{ id: '(sensitive)', spec: null, status: 'PAUSED', created_at: null }],
          specs: null,
          conversations: null,
          error: null,
        },
      ],
    };
    writeFileSync(join(folder.path, 'seen.json'), JSON.stringify(observed));
    const own = dedent`
      version: 1
      server: { url: "${store.url}" }
      settings: {}
      sandboxes: [{ id: box-1, state: paused }]
    `;
    writeFileSync(join(folder.path, 'settings.yaml'), own);
    const { stdout } = await shown(['plan', '--snapshot', 'seen.json', '-o', 'json']);
    expect(JSON.parse(stdout)).toMatchObject({
      environments: [{ status: 'error', error: { code: 'not-in-snapshot' } }],
    });
  });
});

it('init writes no key of its own into the file, wherever the service has it', async () => {
  store.stored = {
    language: 'en',
    agent: ENV.KEY,
    email: `x@${ENV.KEY}`,
    llm_base_url: `https://h.example/${ENV.KEY}`,
  };
  const { text, code } = await shown(['init', '--server', store.url, '-f', 'new.yaml'], {
    SETPOINT_API_KEY: ENV.KEY,
  });
  expect(code, text).toBeLessThan(2);
  expectNothing(text, [ENV.KEY]);
});

it('an unusable ca_file or store from a reference is not named', async () => {
  for (const server of [
    'url: https://127.0.0.1:9/, ca_file: "${env:CA}"',
    'url: "embedded:${env:CA}/x"',
  ]) {
    const own = folderWith({
      'settings.yaml': `version: 1\nserver: { ${server} }\nsettings: {}\n`,
      'canary-file': 'x',
    });
    const { stdout, stderr } = await setpoint(['plan', '-o', 'json', '-v'], {
      cwd: own.path,
      env: { CA: './canary-file' },
    });
    own.remove();
    expect(stdout + stderr).not.toMatch(/canary/);
    expect(JSON.parse(stdout)).toMatchObject({ environments: [{ status: 'error' }] });
  }
});

describe('ids of sandboxes', () => {
  const ID = 'canary-sandbox-11';
  let server: SandboxServer;

  beforeEach(async () => {
    const made = { created_at: null, sandbox_spec_id: 'canary-spec:12' };
    server = await startSandboxServer(
      { now: () => Date.now() },
      {
        stored: { language: ID },
        specs: ['canary-spec:12', 'spec-b'],
        sandboxes: [
          { ...made, id: ID, status: 'PAUSED' },
          { ...made, id: 'other', status: 'RUNNING' },
        ],
        boots: 0,
      },
    );
  });
  afterEach(() => server.close());

  it.each([
    ['plan'],
    ['plan', '-o', 'json'],
    ['plan', '-o', 'html'],
    ['get', 'settings,sandboxes,specs', '-o', 'json=seen.json'],
    ['get', 'sandboxes'],
    ['apply', '--yes', '-v'],
    ['apply', '--yes', '-o', 'json'],
  ])('%s %s %s %s', async (...args) => {
    const own = folderWith({
      'settings.yaml': dedent`
        version: 1
        server: { url: "${server.url}" }
        settings: { agent: "\${env:ID}", llm_model: "\${env:SPEC}" , sandbox_api_key: null }
        sandboxes:
          - running: 2
      `,
    });
    const env = { ID, SPEC: 'canary-spec:12' };
    const ended = await setpoint(
      args.filter((arg) => typeof arg === 'string'),
      { cwd: own.path, env },
    );
    const files = readdirSync(own.path).filter((name) => name !== 'settings.yaml');
    const text = [
      ended.stdout,
      ended.stderr,
      ...files.map((name) => readFileSync(join(own.path, name), 'utf8')),
    ].join('\n');
    own.remove();
    expectNothing(text, Object.values(env));
    expect(ended.code, text).toBe(0);
    if (args[0] === 'apply') expect(server.statuses()[ID]).toBe('RUNNING');
  });
});
