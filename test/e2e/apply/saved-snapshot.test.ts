import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ObservedDocument } from '../../../src/reconciler/model/documents.gen.ts';
import type { PlanDocument } from '../../../src/reconciler/model/plan.ts';
import { setpoint } from '../../fixture/command-here.ts';
import { folderWith } from '../../fixture/command.ts';
import { startSandboxServer, type SandboxServer } from '../../fixture/sandbox-server.ts';

const CANARY = 'canary-4f1c9a7d2e';
let server: SandboxServer;
let folder: ReturnType<typeof folderWith>;

function file(settings: string, more = ''): string {
  return `version: 1
server: { url: "${server.url}", api_key: "\${env:KEY}" }
settings:
${settings}
${more}`;
}

function path(name: string): string {
  return join(folder.path, name);
}

function put(settings: string, more?: string): void {
  writeFileSync(path('settings.yaml'), file(settings, more));
}

async function takeSnapshot(what = 'settings,sandboxes'): Promise<ObservedDocument> {
  const env = { KEY: CANARY, MODEL: CANARY, MCP_KEY: CANARY };
  const ended = await setpoint(['get', what, '-q', '-o', 'json=snapshot.json'], {
    cwd: folder.path,
    env,
  });
  expect(ended).toMatchObject({ code: 0, stderr: '' });
  const text = readFileSync(path('snapshot.json'), 'utf8');
  expect(text).not.toContain(CANARY);
  return JSON.parse(text) as ObservedDocument;
}

async function planned(...flags: string[]) {
  const before = server.requests.length;
  const ended = await setpoint(['plan', '--snapshot', 'snapshot.json', '-o', 'json', ...flags], {
    cwd: folder.path,
    env: { CI: 'true' },
  });
  expect(server.requests.length).toBe(before);
  expect(ended.stdout).not.toContain(CANARY);
  const document = JSON.parse(ended.stdout) as PlanDocument;
  return { ...ended, environment: document.environments[0], document };
}

beforeEach(async () => {
  server = await startSandboxServer({ now: () => Date.now() });
  folder = folderWith({});
});
afterEach(async () => {
  await server.close();
  folder.remove();
});

describe('a snapshot', () => {
  it('is planned against with no key, no variable and no request', async () => {
    server.stored = { language: 'fr', llm_api_key: CANARY, max_iterations: 50 };
    put('  language: fr');
    await takeSnapshot();
    put('  language: en\n  llm_api_key: ${env:LLM_API_KEY}\n  search_api_key: ${env:SEARCH}');
    const { code, environment, document } = await planned('--exit-code');
    expect(code).toBe(2);
    expect(environment).toMatchObject({
      name: 'default',
      origin: server.url,
      status: 'differs',
      complete: false,
      changes: [
        { path: ['language'], action: 'change', before: 'fr', after: 'en' },
        { path: ['search_api_key'], action: 'set', after: '(sensitive)', ref: '${env:SEARCH}' },
      ],
      unknown: [{ path: ['llm_api_key'], reason: 'set; the service does not show this value' }],
      error: null,
    });
    expect(Date.parse(environment?.observed_at ?? '')).toBeLessThanOrEqual(
      Date.parse(document.created_at),
    );
  });

  it('shows in text when it was taken', async () => {
    server.stored = { language: 'fr' };
    put('  language: en');
    const seen = await takeSnapshot();
    const two = new Date(Date.now() - 2 * 3_600_000 - 1000).toISOString();
    writeFileSync(path('snapshot.json'), JSON.stringify({ ...seen, observed_at: two }));
    const ended = await setpoint(['plan', '--snapshot', 'snapshot.json'], { cwd: folder.path });
    expect(ended.stdout).toContain(`default  ${server.url}  as observed 2 h ago (${two})\n`);
    expect(ended.stdout).toContain('~ language: "fr" → "en"');
  });

  it('leaves open what main reads from a reference and the branch writes out, and the other way', async () => {
    server.stored = { language: CANARY, agent: 'A' };
    put('  language: ${env:MODEL}\n  agent: A');
    const seen = await takeSnapshot();
    expect(seen.environments[0]?.settings).toMatchObject({ language: '(sensitive)', agent: 'A' });
    put('  language: en\n  agent: ${env:AGENT:-A}');
    const { environment } = await planned();
    expect(environment).toMatchObject({
      status: 'in-sync',
      complete: false,
      changes: [],
      unknown: [
        { path: ['language'], reason: 'masked, cannot be compared' },
        { path: ['agent'], reason: 'masked, cannot be compared', ref: '${env:AGENT:-A}' },
      ],
    });
  });

  it('compares mcp entries by what can be seen of them', async () => {
    const entry = (name: string, more = {}) => ({
      url: `https://${name}.example.com/mcp`,
      api_key: null,
      timeout: 60,
      ...more,
    });
    server.stored = {
      mcp_config: {
        sse_servers: [],
        stdio_servers: [],
        shttp_servers: [
          entry('kept', { api_key: CANARY }),
          entry('slow'),
          entry('gone'),
          { ...entry('x'), url: `https://query.example.com/mcp?token=${CANARY}` },
        ],
      },
    };
    put('  language: null');
    await takeSnapshot();
    expect(readFileSync(path('snapshot.json'), 'utf8')).toContain(
      '"https://query.example.com/mcp?(sensitive)"',
    );
    put(`  mcp_config:
    shttp_servers:
      - { url: "https://kept.example.com/mcp", api_key: "\${env:MCP_KEY}" }
      - { url: "https://slow.example.com/mcp", timeout: 30 }
      - { url: "https://new.example.com/mcp", api_key: "\${env:MCP_KEY}" }
      - { url: "https://query.example.com/mcp?token=t" }`);
    const { environment } = await planned();
    const at = (name: string) => ['mcp_config', 'shttp_servers', `https://${name}.example.com/mcp`];
    expect(environment?.changes.map(({ action, path: where }) => [action, where])).toEqual([
      ['remove', at('gone')],
      ['change', at('slow')],
      ['set', at('new')],
    ]);
    expect(environment?.unknown.map(({ path: where, reason }) => [where, reason])).toEqual([
      [[...at('kept'), 'api_key'], 'masked, cannot be compared'],
      [[...at('query'), 'url'], 'masked, cannot be compared'],
    ]);
    expect(environment?.warnings.map(({ code }) => code)).not.toContain('lose-unreadable');
  });

  it('plans sandboxes at the time of the snapshot, and warns of what it does not contain', async () => {
    const id = '4OSbFl2c87X0XTE9WTZ41l';
    const created_at = new Date(Date.now() - 3_600_000).toISOString();
    server.sandboxes.push({ id, sandbox_spec_id: 'spec-a', status: 'RUNNING', created_at });
    put('  language: null', `sandboxes: [{ id: ${id}, state: paused }, { running: 2 }]`);
    await takeSnapshot();
    const { environment } = await planned();
    expect(environment?.changes.map(({ action }) => action)).toEqual(['pause', 'start', 'start']);
    expect(environment?.warnings.map(({ code }) => code)).toContain('sandbox-busy');
    await takeSnapshot('settings,sandboxes,conversations');
    const known = await planned();
    expect(known.environment?.warnings.map(({ code }) => code)).not.toContain('sandbox-busy');
  });

  it('of an empty store is a plan for an empty store', async () => {
    server.stored = null;
    put('  language: en');
    await takeSnapshot();
    const { environment } = await planned();
    expect(environment?.changes).toMatchObject([{ path: ['language'], action: 'set' }]);
  });
});

describe('a snapshot knows the literals of the file that it masks', () => {
  const program = { name: 'files', command: 'npx', args: ['--password', 'in-the-file'], env: {} };
  const keyed = { url: 'https://keyed.example.com/mcp', api_key: CANARY, timeout: 60 };
  const query = { url: 'https://query.example.com/mcp?team=seven', api_key: null, timeout: 60 };
  const file = (argument: string, team: string, base: string) => `  llm_base_url: ${base}
  mcp_config:
    stdio_servers: [{ name: files, command: npx, args: [--password, ${argument}] }]
    shttp_servers:
      - { url: "https://keyed.example.com/mcp", api_key: "\${env:MCP_KEY}" }
      - { url: "https://query.example.com/mcp?team=${team}" }`;
  const BASE = 'https://llm.example.com/v1?key=pw';

  beforeEach(async () => {
    server.stored = {
      llm_base_url: BASE,
      mcp_config: { sse_servers: [], stdio_servers: [program], shttp_servers: [keyed, query] },
      later_token: CANARY,
    };
    put(file('in-the-file', 'seven', BASE));
    await takeSnapshot();
  });

  it('the same literal shows no change', async () => {
    const { environment } = await planned();
    expect(environment).toMatchObject({ status: 'in-sync', changes: [] });
    expect(environment?.unknown.map(({ path: at }) => at.at(-1))).toEqual(['api_key']);
  });

  it.each([
    ['an argument', file('another', 'seven', BASE), ['files']],
    ['a query', file('in-the-file', 'eight', BASE), ['https://query.example.com/mcp']],
    [
      'a query of a model',
      file('in-the-file', 'seven', 'https://llm.example.com/v1?key=no'),
      ['llm_base_url'],
    ],
    [
      'no query of a model',
      file('in-the-file', 'seven', 'https://llm.example.com/v1'),
      ['llm_base_url'],
    ],
    [
      'no query',
      file('in-the-file', 'seven', BASE).replace('?team=seven', ''),
      ['https://query.example.com/mcp'],
    ],
  ])('another literal shows a change: %s', async (_name, settings, changed) => {
    put(settings);
    const { environment } = await planned();
    expect(environment?.changes.map(({ path: at }) => at.at(-1))).toEqual(changed);
  });

  it('has a digest of literals of the file, of no other value, and of no reference', async () => {
    const seen = JSON.parse(readFileSync(path('snapshot.json'), 'utf8')) as ObservedDocument;
    const at = seen.environments[0]?.digests?.values.map((one) => one.path.join('.')) ?? [];
    const masked = ['llm_base_url', 'mcp_config.shttp_servers.1.url'];
    expect(at).toEqual(expect.arrayContaining(masked));
    for (const one of at)
      expect([
        ...masked,
        'mcp_config.stdio_servers.0.args.0',
        'mcp_config.stdio_servers.0.args.1',
      ]).toContain(one);
  });

  it('lists as unknown what the service has and no file declared', async () => {
    server.stored = { ...server.stored, llm_base_url: 'https://me:drift@llm.example.com/v1' };
    await takeSnapshot();
    const { environment } = await planned();
    expect(environment?.unknown.map(({ path: at }) => at[0])).toContain('llm_base_url');
  });

  it('warns which rules cannot judge the value of a reference', async () => {
    put(
      '  confirmation_mode: ${env:MODE}\n  llm_base_url: ${env:URL}',
      'guards: { protected: true }',
    );
    const { environment } = await planned();
    const messages = environment?.warnings.map(({ message }) => message).join('\n');
    expect(messages).toMatch(/^llm_base_url comes from a reference .*\(move-endpoint\)$/m);
    expect(messages).toMatch(/^confirmation_mode comes from a reference .*\(disable-safety\)$/m);
  });

  it('is a verdict, too: what the branch takes away is refused', async () => {
    put(file('in-the-file', 'seven', 'null'), 'guards: { protected: true }');
    const { environment, code } = await planned('--exit-code');
    expect(environment?.refusals.map(({ rule, path: at }) => [rule, at])).toEqual([
      ['clear-secret', ['llm_base_url']],
      ['lose-unreadable', ['sandbox_api_key']],
    ]);
    expect(code).toBe(5);
  });
});

describe('what a snapshot cannot be used for: exit 6, and nothing is sent', () => {
  let foreign: Server;
  let arrived = 0;
  beforeEach(async () => {
    server.stored = { language: 'fr' };
    put('  language: en', 'name: production');
    await takeSnapshot();
    arrived = 0;
    foreign = createServer(() => {
      arrived += 1;
    });
    foreign.on('connection', () => {
      arrived += 1;
    });
    await new Promise<void>((resolve) => {
      foreign.listen(0, '127.0.0.1', resolve);
    });
  });
  afterEach(() => {
    foreign.close();
  });

  it('a file that names another address', async () => {
    const text = readFileSync(path('settings.yaml'), 'utf8');
    const { port } = foreign.address() as AddressInfo;
    writeFileSync(path('settings.yaml'), text.replace(server.url, `http://127.0.0.1:${port}`));
    const { code, environment } = await planned();
    expect(code).toBe(6);
    expect(environment).toMatchObject({ status: 'error', error: { code: 'other-origin' } });
    expect(arrived).toBe(0);
  });

  it('a file that names another path prefix', async () => {
    put('  language: en', 'name: production');
    const text = readFileSync(path('settings.yaml'), 'utf8');
    writeFileSync(path('settings.yaml'), text.replace(server.url, `${server.url}/staging`));
    const { code, environment } = await planned();
    expect(code).toBe(6);
    expect(environment).toMatchObject({ status: 'error', error: { code: 'other-origin' } });
  });

  it('one without digests, as an earlier version saved it', async () => {
    const seen = JSON.parse(readFileSync(path('snapshot.json'), 'utf8')) as ObservedDocument;
    const environments = seen.environments.map((one) => ({
      ...one,
      digests: undefined,
    }));
    writeFileSync(
      path('snapshot.json'),
      JSON.stringify({ ...seen, salt: undefined, environments }),
    );
    expect(await planned()).toMatchObject({
      code: 6,
      environment: { error: { code: 'not-in-snapshot' } },
    });
  });

  it('an environment it does not have, one that could not be observed, and a resource that is not in it', async () => {
    put('  language: en', 'name: staging');
    expect(await planned()).toMatchObject({
      code: 6,
      environment: {
        error: { code: 'not-in-snapshot', message: expect.stringContaining('staging') },
      },
    });
    put('  language: en', 'name: production\nsandboxes: [{ running: 1 }]');
    await takeSnapshot('settings');
    expect(await planned()).toMatchObject({
      code: 6,
      environment: { error: { message: expect.stringContaining('sandboxes') } },
    });
  });

  it.each([
    ['nothing', ''],
    ['no JSON', '{'],
    ['a plan', '{"format_version":"1.0","kind":"plan"}'],
    ['a later format', '{"format_version":"2.0","kind":"observed"}'],
    ['deep JSON', '['.repeat(5000)],
    ['a key twice', '{"kind":"observed","kind":"observed"}'],
  ])('%s is no snapshot: exit 3', async (_, text) => {
    writeFileSync(path('snapshot.json'), text);
    const ended = await setpoint(['plan', '--snapshot', 'snapshot.json', '-o', 'json'], {
      cwd: folder.path,
    });
    expect(ended.code).toBe(3);
    expect(JSON.parse(ended.stdout)).toMatchObject({
      error: {
        code: 'file-unreadable',
        message: 'snapshot.json is not a snapshot of setpoint.',
        hint: expect.stringContaining('setpoint get settings,sandboxes -o json=FILE'),
      },
    });
  });

  it('--server excludes it', async () => {
    const ended = await setpoint(['plan', '--snapshot', 'snapshot.json', '--server', server.url], {
      cwd: folder.path,
    });
    expect(ended).toMatchObject({ code: 3 });
    expect(ended.stderr).toContain('--server and --snapshot exclude each other');
  });
});
