/** The dialects of the embedded service beyond what was recorded of real servers: its store, its secrets, and which paths are there. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { emulatorDialects } from '../../../src/emulator/options.ts';
import { EMBEDDED_DIALECTS, parseEmbeddedAddress } from '../../../src/reconciler/model/address.ts';
import { DIALECTS } from '../../../src/reconciler/service/dialects.ts';
import { emulatorAtRest, emulatorForTest, folderForTest } from './emulator.ts';
import { send } from '../../contract/send.ts';

const KEY = 'contract-key';
const JSON_TYPE = { 'Content-Type': 'application/json', 'X-Session-API-Key': KEY };
const APP = '/api/v1/settings';
const AGENT = '/api/settings';

const storeFile = async () => join(await folderForTest(), 'store.json');

async function read(url: string, path: string, headers: Readonly<Record<string, string>> = {}) {
  const { status, text } = await send(url, { path, headers: { ...JSON_TYPE, ...headers } });
  expect(status, text).toBe(200);
  return JSON.parse(text) as Record<string, unknown>;
}

async function write(url: string, method: string, path: string, body: unknown): Promise<number> {
  const sent = { method, path, headers: JSON_TYPE, body: JSON.stringify(body) };
  return (await send(url, sent)).status;
}

it('there is an embedded service for every dialect that setpoint speaks', () => {
  expect(emulatorDialects.toSorted()).toEqual(Object.keys(DIALECTS).toSorted());
  expect(EMBEDDED_DIALECTS).toEqual(emulatorDialects);
});

it.each([
  ['embedded:', { path: '', dialect: null }],
  ['embedded:./a.json', { path: './a.json', dialect: null }],
  ['embedded:?dialect=app-server', { path: '', dialect: 'app-server' }],
  ['embedded:a?b.json?dialect=agent-server', { path: 'a?b.json', dialect: 'agent-server' }],
  ['embedded:a?b.json', { path: 'a?b.json', dialect: null }],
  ['embedded:a.json?dialect=v2', null],
  ['embedded:a.json?dialect=', null],
  ['https://a.example.com/?dialect=app-server', null],
])('%s is %o', (url, address) => {
  expect(parseEmbeddedAddress(url)).toEqual(address);
});

describe('one store, as a real upgrade finds it', () => {
  const V0 = {
    language: 'en',
    email: 'a@example.com',
    llm_model: 'anthropic/claude-sonnet-4-5',
    llm_api_key: 'sk-example-1',
    search_api_key: 'tvly-1',
    max_iterations: 100,
    confirmation_mode: true,
    security_analyzer: 'llm',
    enable_default_condenser: false,
    condenser_max_size: 80,
    mcp_config: { sse_servers: [{ url: 'https://sse.example.com/sse', api_key: 'mcp-sse-1' }] },
  };

  it('an app server keeps what has the same name, and has lost what has moved', async () => {
    const data = await storeFile();
    const old = await emulatorForTest({ data, apiKey: KEY });
    expect(await write(old.url, 'POST', AGENT, V0)).toBe(200);
    const upgraded = await emulatorForTest({ data, apiKey: KEY, dialect: 'app-server' });
    const found = await read(upgraded.url, APP);
    expect(found).toMatchObject({
      language: 'en',
      email: 'a@example.com',
      search_api_key_set: true,
      llm_api_key_set: false,
      agent_settings: {
        llm: { model: 'gpt-5.5', api_key: null },
        condenser: { enabled: true, max_size: 240 },
        mcp_config: {},
      },
      conversation_settings: { max_iterations: 500, confirmation_mode: false },
    });
    expect(await write(upgraded.url, 'POST', APP, { git_user_name: 'bot' })).toBe(200);
    expect(await read(upgraded.url, APP)).toMatchObject({
      ...found,
      agent_settings: {},
      git_user_name: 'bot',
    });
    expect(readFileSync(data, 'utf8')).not.toMatch(/sk-example-1|mcp-sse-1|llm_model|tvly-1/);
  });

  it('an older release reads what has the same name back', async () => {
    const data = await storeFile();
    const later = await emulatorForTest({ data, apiKey: KEY, dialect: 'app-server' });
    const body = { language: 'en', agent_settings_diff: { llm: { model: 'my/model' } } };
    expect(await write(later.url, 'POST', APP, body)).toBe(200);
    const old = await emulatorForTest({ data, apiKey: KEY });
    expect(await read(old.url, AGENT)).toMatchObject({ language: 'en', llm_model: null });
  });

  it('an Agent Server finds nothing of its own in a store of settings-v0, and writes its own', async () => {
    const data = await storeFile();
    const old = await emulatorForTest({ data, apiKey: KEY });
    expect(await write(old.url, 'POST', AGENT, V0)).toBe(200);
    const agent = await emulatorForTest({ data, apiKey: KEY, dialect: 'agent-server' });
    expect(await read(agent.url, AGENT)).toMatchObject({
      agent_settings: { llm: { model: 'gpt-5.6' }, mcp_config: {} },
      misc_settings: {},
    });
    const diff = { conversation_settings_diff: { max_iterations: 7 } };
    expect(await write(agent.url, 'PATCH', AGENT, diff)).toBe(200);
    expect(await read(agent.url, AGENT)).toMatchObject({
      conversation_settings: { max_iterations: 7 },
    });
  });
});

describe('secrets in the store', () => {
  const SECRETS = ['sk-canary-1', 'mcp-canary-2', 'ctx-canary-3'];
  const DIFF = {
    agent_settings_diff: {
      llm: { api_key: SECRETS[0] },
      mcp_config: { a: { url: 'https://a.example.com/mcp', headers: { 'X-Token': SECRETS[1] } } },
      agent_context: { secrets: { A: SECRETS[2] } },
    },
  };
  const clear = {
    agent_settings: {
      llm: { api_key: SECRETS[0] },
      mcp_config: { a: { headers: { 'X-Token': SECRETS[1] } } },
      agent_context: { secrets: { A: SECRETS[2] } },
    },
  };
  const masked = JSON.parse(
    JSON.stringify(clear).replaceAll(new RegExp(SECRETS.join('|'), 'g'), '*'.repeat(10)),
  ) as object;
  const PLAINTEXT = { 'X-Expose-Secrets': 'plaintext' };

  it('lie there encrypted, and another service with the same key reads them', async () => {
    const data = await storeFile();
    const one = await emulatorForTest({ data, apiKey: KEY, dialect: 'agent-server' });
    expect(await write(one.url, 'PATCH', AGENT, DIFF)).toBe(200);
    const text = readFileSync(data, 'utf8');
    for (const secret of SECRETS) expect(text).not.toContain(secret);
    const other = await emulatorForTest({ data, apiKey: KEY, dialect: 'agent-server' });
    expect(await read(other.url, AGENT, PLAINTEXT)).toMatchObject(clear);
  });

  it.each([undefined, 'another-key'])(
    'of a service with the key %s are set, cannot be told, and stay when something else is written',
    async (apiKey) => {
      const data = await storeFile();
      const one = await emulatorForTest({ data, apiKey: KEY, dialect: 'agent-server' });
      expect(await write(one.url, 'PATCH', AGENT, DIFF)).toBe(200);
      const other = await emulatorForTest({
        data,
        dialect: 'agent-server',
        ...(apiKey === undefined ? {} : { apiKey }),
      });
      const headers = { ...JSON_TYPE, 'X-Session-API-Key': apiKey ?? '' };
      const seen = await send(other.url, { path: AGENT, headers: { ...headers, ...PLAINTEXT } });
      expect(JSON.parse(seen.text)).toMatchObject({ ...masked, llm_api_key_is_set: true });
      const body = JSON.stringify({ agent_settings_diff: { agent: 'Mine' } });
      const sent = { method: 'PATCH', path: AGENT, headers, body };
      expect((await send(other.url, sent)).status).toBe(200);
      expect(await read(one.url, AGENT, PLAINTEXT)).toMatchObject(clear);
    },
  );

  it('of an app server are never in the store in clear', async () => {
    const data = await storeFile();
    const app = await emulatorForTest({ data, dialect: 'app-server' });
    const body = {
      ...DIFF,
      search_api_key: 'search-canary-4',
      sandbox_api_key: 'sandbox-canary-5',
    };
    expect(await write(app.url, 'POST', APP, body)).toBe(200);
    expect(readFileSync(data, 'utf8')).not.toContain('canary');
    expect(await read(app.url, APP)).toMatchObject({
      llm_api_key_set: true,
      search_api_key_set: true,
    });
  });
});

it('a refused mcp entry is echoed without what its names call a secret', async () => {
  const { url } = await emulatorForTest({ dialect: 'agent-server', apiKey: KEY });
  const auth = { strategy: 'bearer' };
  const entry = { url: 'https://a.example.com', headers: { Authorization: 'head-canary' }, auth };
  const path = `${AGENT}/mcp/a`;
  const sent = { method: 'POST', path, headers: JSON_TYPE, body: JSON.stringify(entry) };
  const { status, text } = await send(url, sent);
  expect(status).toBe(422);
  expect(text).toContain("use auth.strategy='header' instead");
  expect(text).toContain('"Authorization":"<redacted>"');
  expect(text).not.toContain('canary');
});

describe('paths beside those of the settings', () => {
  const SANDBOXES = '/api/v1/sandboxes/search';

  it.each([
    ['settings-v0', 200],
    ['app-server', 200],
    ['agent-server', 404],
  ] as const)('sandboxes of %s: %i', async (dialect, status) => {
    const { url } = await emulatorForTest({ dialect, apiKey: KEY });
    expect((await send(url, { path: SANDBOXES, headers: JSON_TYPE })).status).toBe(status);
  });

  it('a conversation of an app server gets the model of its settings', async () => {
    const { url, pass } = await emulatorAtRest({ dialect: 'app-server', apiKey: KEY });
    const body = { agent_settings_diff: { llm: { model: 'my/model' } } };
    expect(await write(url, 'POST', APP, body)).toBe(200);
    expect(await write(url, 'POST', '/api/v1/app-conversations', {})).toBe(200);
    pass(60_000);
    expect(await read(url, '/api/v1/app-conversations/search')).toMatchObject({
      items: [{ llm_model: 'my/model' }],
    });
  });

  it('another dialect is refused', async () => {
    const dialect = 'v2' as 'app-server';
    await expect(emulatorForTest({ dialect })).rejects.toThrow(
      'not one of settings-v0, app-server, agent-server',
    );
  });
});

it('the store of each dialect names the dialect', async () => {
  for (const dialect of ['app-server', 'agent-server'] as const) {
    const data = await storeFile();
    const { url } = await emulatorForTest({ data, apiKey: KEY, dialect });
    const [method, path] = dialect === 'app-server' ? ['POST', APP] : ['PATCH', AGENT];
    expect(await write(url, method, path, { conversation_settings_diff: {} })).toBe(200);
    expect(JSON.parse(readFileSync(data, 'utf8'))).toMatchObject({ settings: { dialect } });
  }
});
