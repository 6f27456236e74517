import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { EnvironmentPlan, PlanDocument } from '../../../src/reconciler/model/plan.ts';
import { setpoint } from '../../fixture/command-here.ts';
import { folderWith } from '../../fixture/command.ts';
import { startSandboxServer, type SandboxServer } from '../../fixture/sandbox-server.ts';
import { startStore, type StoreServer } from '../../fixture/store-server.ts';

const CANARY = 'canary-77aa01c9e4';
const ENV = { KEY: `${CANARY}-key`, MCP: `${CANARY}-mcp`, OTHER: `${CANARY}-other` };
let store: StoreServer;
let folder: ReturnType<typeof folderWith>;

const path = (name: string): string => join(folder.path, name);
const read = (name: string): string => readFileSync(path(name), 'utf8');

function put(settings: string, more: { readonly url?: string; readonly rest?: string } = {}): void {
  const { url = store.url, rest = '' } = more;
  const head = `version: 1\nserver: { url: "${url}", api_key: "\${env:KEY}" }\n`;
  writeFileSync(
    path('settings.yaml'),
    `${head}settings:\n  sandbox_api_key: null\n${settings}\n${rest}`,
  );
}

async function run(args: readonly string[], env: Record<string, string> = {}) {
  const ended = await setpoint(args, { cwd: folder.path, env: { ...ENV, ...env } });
  expect(ended.stdout + ended.stderr).not.toContain(CANARY);
  return ended;
}

async function save(env?: Record<string, string>, ...flags: string[]): Promise<PlanDocument> {
  expect((await run(['plan', '--out', 'plan.json', ...flags], env)).code).toBe(0);
  expect(read('plan.json')).not.toContain(CANARY);
  return JSON.parse(read('plan.json')) as PlanDocument;
}

/** Applies the saved plan: how it ended, and what was sent meanwhile. */
async function applied(env?: Record<string, string>, ...flags: string[]) {
  const [requests, posts] = [store.requests.length, store.posts()];
  const ended = await run(['apply', 'plan.json', '-o', 'json', ...flags], env);
  return {
    ...ended,
    requests: store.requests.length - requests,
    posts: store.posts() - posts,
    document: JSON.parse(ended.stdout),
  };
}

function forge(saved: PlanDocument, change: (part: EnvironmentPlan) => object, more = {}): void {
  const environments = saved.environments.map(change);
  writeFileSync(path('plan.json'), JSON.stringify({ ...saved, ...more, environments }));
}

beforeEach(async () => {
  store = await startStore({}, { language: 'fr' });
  folder = folderWith({});
});
afterEach(async () => {
  await store.close();
  folder.remove();
});

const stdio = (rest: string) =>
  `  mcp_config: { stdio_servers: [{ name: files, command: npx, ${rest} }] }`;
const shttp = (rest: string) => `  mcp_config: { shttp_servers: [{ ${rest} }] }`;

describe('an approval covers what it shows, masked values too: another value in the file is exit 6', () => {
  it.each([
    ['other arguments', stdio('args: [--password, one]'), stdio('args: [--password, two]')],
    ['another variable value', stdio('env: { MODE: one }'), stdio('env: { MODE: two }')],
    ['another variable', stdio('env: { MODE: one }'), stdio('env: { LD_PRELOAD: one }')],
    [
      'another host in a url with a query',
      '  llm_base_url: https://api.example.com/v1?key=k',
      '  llm_base_url: https://evil.example/v1?key=k',
    ],
    [
      'another host behind userinfo',
      shttp('url: "https://me:pw@a.example/mcp"'),
      shttp('url: "https://me:pw@evil.example/mcp"'),
    ],
    [
      'another query',
      shttp('url: "https://a.example/mcp?team=1"'),
      shttp('url: "https://a.example/mcp?team=2"'),
    ],
    [
      'other userinfo',
      shttp('url: "https://me:one@a.example/mcp"'),
      shttp('url: "https://me:two@a.example/mcp"'),
    ],
    [
      "references in each other's place",
      stdio('env: { A_KEY: "${env:MCP}", B_KEY: "${env:MCP}", C_KEY: "${env:OTHER}" }'),
      stdio('env: { A_KEY: "${env:MCP}", B_KEY: "${env:OTHER}", C_KEY: "${env:OTHER}" }'),
    ],
    ['a literal for a reference', stdio('env: { MODE: "${env:MCP}" }'), stdio('env: { MODE: x }')],
  ])('%s', async (_name, planned, now) => {
    put(planned);
    await save();
    put(now);
    const { code, posts, document } = await applied();
    expect({ code, posts }).toEqual({ code: 6, posts: 0 });
    expect(document.environments[0]).toMatchObject({
      status: 'refused',
      error: { code: 'not-covered' },
    });
    expect(store.stored).toEqual({ language: 'fr' });
    put(planned);
    const again = await applied();
    expect(again.posts).toBeGreaterThan(0);
    expect(again.document.environments[0]).toMatchObject({
      status: expect.not.stringMatching('refused'),
    });
  });
});

describe('an approval is for one resolved address, its path prefix included: any other is exit 6, nothing is sent', () => {
  const refused = async (env?: Record<string, string>): Promise<void> => {
    const { code, requests, document, stderr } = await applied(env);
    expect({ code, requests }).toEqual({ code: 6, requests: 0 });
    expect(document).toMatchObject({ error: { code: 'other-origin' } });
    expect(stderr).not.toContain('production');
  };

  it('/staging and /production', async () => {
    put('  language: en', { url: `${store.url}/staging` });
    await save();
    put('  language: en', { url: `${store.url}/production` });
    await refused();
    put('  language: en', { url: `${store.url.toUpperCase().replace('HTTP', 'http')}/staging/` });
    expect(await applied()).toMatchObject({ code: 0, posts: 1 });
  });

  it('another host, or another prefix, behind one reference', async () => {
    const other = await startStore({}, { language: 'fr' });
    put('  language: en', { url: '${env:URL}' });
    const saved = await save({ URL: `${store.url}/staging` });
    expect(saved.environments[0]).toMatchObject({
      origin: '${env:URL}',
      digests: { address: expect.stringMatching(/^scrypt:[0-9a-f]{64}$/) },
    });
    await refused({ URL: `${other.url}/staging` });
    await refused({ URL: `${store.url}/production` });
    expect(other.requests).toEqual([]);
    await other.close();
    expect(await applied({ URL: `${store.url}/staging` })).toMatchObject({ code: 0, posts: 1 });
  });

  it('another store of the embedded service', async () => {
    put('  language: en', { url: 'embedded:./one.json' });
    await save();
    put('  language: en', { url: 'embedded:./two.json' });
    await refused();
  });
});

describe('a forged plan can only bring about a refusal', () => {
  it.each<[string, (part: EnvironmentPlan) => object, object]>([
    [
      'without digests, as an earlier version saved it',
      (part) => ({ ...part, digests: undefined, refusals: undefined }),
      { salt: undefined },
    ],
    [
      'without the digest of a change',
      (part) => ({ ...part, digests: { ...part.digests, changes: [] } }),
      {},
    ],
    [
      'with an empty digest of a change',
      (part) => ({ ...part, digests: { ...part.digests, changes: part.changes.map(() => '') } }),
      {},
    ],
    [
      'with the digest of another change',
      (part) => ({
        ...part,
        digests: { ...part.digests, changes: part.digests?.changes.toReversed() },
      }),
      {},
    ],
    ['with another salt', (part) => part, { salt: '00' }],
    ['with an empty salt', (part) => part, { salt: '' }],
    ['with no address', (part) => ({ ...part, digests: { ...part.digests, address: null } }), {}],
  ])('%s: exit 6', async (_name, change, more) => {
    put(`  language: en\n${stdio('args: [a]')}`);
    forge(await save(), change, more);
    const { code, posts, stderr } = await applied();
    expect({ code, posts }).toEqual({ code: 6, posts: 0 });
    expect(stderr).toMatch(/Plan again|setpoint plan/);
    expect((await run(['plan', 'plan.json'])).code).toBe(0);
  });
});

it('two environments in one file are held to their own addresses and values', async () => {
  const file = (one: string, two: string) => `version: 1
settings: { sandbox_api_key: null }
environments:
  one: { server: { url: "${store.url}/one" }, settings: { mcp_config: { stdio_servers: [{ name: a, command: ${one}, args: [x] }] } } }
  two: { server: { url: "${store.url}/two" }, settings: { mcp_config: { stdio_servers: [{ name: a, command: npx, args: [${two}] }] } } }
`;
  writeFileSync(path('settings.yaml'), file('npx', 'x'));
  const saved = await save();
  const [one, two] = saved.environments.map(({ digests }) => digests?.address);
  expect(one).not.toBe(two);
  writeFileSync(path('settings.yaml'), file('npx', 'y'));
  expect(await applied({}, '-e', 'two')).toMatchObject({ code: 6, posts: 0 });
  expect(await applied({}, '-e', 'one')).toMatchObject({ code: 0, posts: 1 });
  writeFileSync(path('settings.yaml'), file('npx', 'x').replace('/two"', '/one"'));
  expect(await applied({}, '-e', 'two')).toMatchObject({ code: 6, requests: 0 });
});

it('a rotation is held to its reference', async () => {
  store.stored = { llm_api_key: 'old' };
  put('  llm_api_key: ${env:MCP}');
  await save({}, '--rotate', 'llm_api_key');
  put('  llm_api_key: ${env:OTHER}');
  expect(await applied({}, '--rotate', 'llm_api_key')).toMatchObject({ code: 6, posts: 0 });
  put('  llm_api_key: ${env:MCP}');
  expect(await applied({}, '--rotate', 'llm_api_key')).toMatchObject({ code: 0, posts: 1 });
});

describe('of sandboxes', () => {
  let server: SandboxServer;
  beforeEach(async () => {
    server = await startSandboxServer({ now: () => Date.now() }, { boots: 0 });
    server.stored = { language: 'fr' };
  });
  afterEach(() => server.close());

  it.each([
    [
      'another spec',
      'sandboxes: [{ spec: spec-a, running: 1 }]',
      'sandboxes: [{ spec: spec-b, running: 1 }]',
    ],
    [
      'a pause that may cut off a conversation',
      'sandboxes: [{ id: 4OSbFl2c87X0XTE9WTZ41l, state: paused }]',
      'sandboxes: [{ id: 4OSbFl2c87X0XTE9WTZ41l, state: paused, when_busy: pause }]',
    ],
  ])('%s is not covered', async (_name, planned, now) => {
    const created_at = new Date(Date.now() - 3_600_000).toISOString();
    const id = '4OSbFl2c87X0XTE9WTZ41l';
    server.sandboxes.push({ id, sandbox_spec_id: 'spec-c', status: 'RUNNING', created_at });
    server.specs.splice(0, server.specs.length, 'spec-a', 'spec-b', 'spec-c');
    put('', { url: server.url, rest: planned });
    await save();
    put('', { url: server.url, rest: now });
    const before = server.posts();
    expect((await run(['apply', 'plan.json'])).code).toBe(6);
    expect(server.posts()).toBe(before);
    put('', { url: server.url, rest: planned });
    expect((await run(['apply', 'plan.json', '--wait', '0s'])).code).toBe(0);
    expect(server.posts()).toBe(before + 1);
  });
});

it('digests are only in what can be saved: JSON on stdout and in files, not in a plan shown as text', async () => {
  put('  language: en');
  const { stdout } = await run(['plan', '-o', 'json']);
  const document = JSON.parse(stdout) as PlanDocument;
  expect(document.salt).toMatch(/^[0-9a-f]{32}$/);
  expect(document.environments[0]?.digests?.changes).toEqual([
    expect.stringMatching(/^hmac-sha256:[0-9a-f]{64}$/),
  ]);
  expect((await save()).salt).not.toBe(document.salt);
  const snapshot = JSON.parse((await run(['get', 'settings', '-o', 'json'])).stdout);
  expect(snapshot.salt).toMatch(/^[0-9a-f]{32}$/);
});
