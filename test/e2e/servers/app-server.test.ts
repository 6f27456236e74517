import { describe, expect, it, onTestFinished } from 'vitest';
import { startEmulator } from '../../../src/emulator/start.ts';
import { apply } from '../../../src/reconciler/operations/apply.ts';
import { plan } from '../../../src/reconciler/operations/plan.ts';
import { startAppServer, storedRecord, type AppServer } from '../../fixture/app-server.ts';
import { dedent } from '../../fixture/dedent.ts';
import { quickClock, request } from '../../fixture/settings.ts';
import { startStore, type JsonRecord } from '../../fixture/store-server.ts';

const CANARY = 'CANARY-4d1b7e90';
const ENV = {
  SETPOINT_API_KEY: 'contract-key',
  LLM_KEY: `${CANARY}-llm`,
  SEARCH_KEY: `${CANARY}-search`,
  MCP_KEY: `${CANARY}-mcp`,
};

const SERVERS = {
  events: {
    url: 'https://sse.example.com/sse',
    transport: 'sse',
    auth: { strategy: 'api_key', value: `${CANARY}-sse` },
  },
  fs: { command: 'npx', args: ['-y', 'server-fs'], env: { TOKEN: `${CANARY}-env` } },
  tools: { url: 'https://http.example.com/mcp', transport: 'http', timeout: 30 },
};

/** What is stored before most cases: a bit of everything, with secrets that no file knows. */
const STORED = {
  language: 'en',
  git_full_clone: true,
  search_api_key: `${CANARY}-stored-search`,
  agent_settings: {
    llm: {
      model: 'anthropic/claude-sonnet-4-5',
      api_key: `${CANARY}-stored-llm`,
      base_url: 'https://api.anthropic.com',
      temperature: 0.5,
    },
    mcp_config: SERVERS,
  },
  conversation_settings: { max_iterations: 100 },
};

async function serverWith(stored: JsonRecord | null): Promise<AppServer> {
  const server = await startAppServer(stored === null ? null : storedRecord(stored));
  onTestFinished(() => server.close());
  return server;
}

function asked(url: string, settings: string, more: Parameters<typeof request>[2] = {}) {
  const indented = dedent`${settings}`.replaceAll(/^(?=.)/gm, '  ');
  return request(url, indented, { env: ENV, ...more });
}

describe('every field of the file on /api/v1/settings', () => {
  it('sends only what differs, and all else that is stored stays', async () => {
    const server = await serverWith(STORED);
    const settings = dedent`
      language: fr
      max_iterations: 100
      condenser_max_size: 120
      llm_api_key: \${env:LLM_KEY}
    `;
    await apply(asked(server.url, settings));
    expect(server.posts()).toEqual([
      { language: 'fr', agent_settings_diff: { condenser: { max_size: 120 } } },
    ]);
    const { language: _, ...rest } = STORED;
    expect(server.stored).toMatchObject({ ...rest, language: 'fr' });
  });

  it('null brings back the default, or is the word for none', async () => {
    const server = await serverWith({
      ...STORED,
      email: 'a@example.com',
      conversation_settings: { max_iterations: 9, security_analyzer: 'llm' },
    });
    const settings = dedent`
      email: null
      max_iterations: null
      security_analyzer: null
      confirmation_mode: null
      llm_api_key: null
      search_api_key: null
    `;
    const outcome = await apply(asked(server.url, settings));
    expect(outcome.environments[0]).toMatchObject({ status: 'applied', error: null });
    expect(server.posts()).toEqual([
      {
        email: null,
        search_api_key: null,
        agent_settings_diff: { llm: { api_key: null } },
        conversation_settings_diff: { max_iterations: null, security_analyzer: 'none' },
      },
    ]);
    const { environments } = await plan(asked(server.url, settings));
    expect(environments[0]?.changes).toEqual([]);
  });
});

describe('the address of the model (4.3)', () => {
  const storedUrl = ({ stored }: AppServer) =>
    (stored as typeof STORED | null)?.agent_settings.llm.base_url;

  it('is inferred anew when the model changes, so that no key goes to the old provider', async () => {
    const server = await serverWith(STORED);
    await apply(asked(server.url, 'llm_model: openai/gpt-5\n'));
    expect(server.posts()).toEqual([
      { agent_settings_diff: { llm: { model: 'openai/gpt-5', base_url: null } } },
    ]);
    expect(storedUrl(server)).toBe('https://api.openai.com');
  });

  it('stays when it is not an inferred one', async () => {
    const server = await serverWith(storedRecord(STORED));
    const llm = { model: 'anthropic/claude-sonnet-4-5', base_url: 'https://llm.example.com' };
    server.stored = storedRecord({ agent_settings: { llm } });
    await apply(asked(server.url, 'llm_model: openai/gpt-5\n'));
    expect(server.posts()).toEqual([{ agent_settings_diff: { llm: { model: 'openai/gpt-5' } } }]);
    expect(storedUrl(server)).toBe('https://llm.example.com');
  });

  it.each(['https://api.anthropic.com', 'null'])(
    'declared as %s equals the null that is shown',
    async (url) => {
      const server = await serverWith(STORED);
      const { environments } = await plan(asked(server.url, `llm_base_url: ${url}\n`));
      expect(environments[0]).toMatchObject({ status: 'in-sync', changes: [], unknown: [] });
    },
  );

  it('declared as the default of another provider is a change', async () => {
    const server = await serverWith(STORED);
    const { environments } = await plan(
      asked(server.url, 'llm_base_url: https://api.openai.com\n'),
    );
    expect(environments[0]?.changes.map(({ path }) => path)).toEqual([['llm_base_url']]);
  });
});

describe('mcp_config is replaced whole', () => {
  const declared = dedent`
    mcp_config:
      sse_servers: [{url: "https://sse.example.com/sse", api_key: "\${env:MCP_KEY}"}]
      stdio_servers: [{name: fs, command: npx, args: [-y, server-fs], env: {TOKEN: "\${env:MCP_KEY}"}}]
      shttp_servers: [{url: "https://http.example.com/mcp", timeout: 45}]
  `;

  it('no server that changes: nothing of it is sent', async () => {
    const server = await serverWith(STORED);
    const same = `language: fr\n${declared.replace('45', '30')}`;
    await apply(asked(server.url, same));
    expect(server.posts()).toEqual([{ language: 'fr' }]);
    expect(server.stored).toMatchObject({ agent_settings: { mcp_config: SERVERS } });
  });

  it('a change is refused unless every hidden secret is declared, and each is named', async () => {
    const server = await serverWith(STORED);
    const settings =
      'mcp_config:\n  shttp_servers: [{url: "https://http.example.com/mcp", timeout: 45}]\n';
    const outcome = await apply(asked(server.url, settings));
    const [environment] = outcome.environments;
    expect(environment).toMatchObject({ status: 'refused', error: { code: 'guard-refused' } });
    expect(environment?.refusals.map(({ rule, path }) => [rule, path.join(' ')])).toEqual([
      ['lose-unreadable', 'mcp_config sse_servers https://sse.example.com/sse api_key'],
      ['lose-unreadable', 'mcp_config stdio_servers fs env TOKEN'],
    ]);
    expect(server.posts()).toEqual([]);
  });

  it.each(['auth', 'env', 'headers'])(
    "what is lost because that is allowed is nobody else's doing: %s",
    async (member) => {
      const secrets = {
        auth: { strategy: 'basic', username: 'me', password: 'theirs' },
        env: { TOKEN: 'theirs' },
        headers: { 'X-Key': 'theirs' },
      };
      const server =
        member === 'env'
          ? { command: 'npx' }
          : { url: 'https://theirs.example.com/mcp', transport: 'http' };
      const theirs = { ...server, [member]: secrets[member as keyof typeof secrets] };
      const service = await startEmulator({ dialect: 'app-server' });
      onTestFinished(() => service.close());
      const body = JSON.stringify({
        language: 'en',
        agent_settings_diff: { mcp_config: { theirs } },
      });
      const headers = { 'content-type': 'application/json' };
      await fetch(`${service.url}/api/v1/settings`, { method: 'POST', headers, body });
      const text = `version: 1
server: { url: "${service.url}" }
mcp_servers: { own: { url: "https://own.example.com/mcp" } }
`;
      const allow = ['lose-unreadable'];
      const { environments } = await apply({ text, env: {}, allow, clock: quickClock() });
      expect(environments).toMatchObject([
        { status: 'applied', remaining: [], error: null, allowed: ['lose-unreadable'] },
      ]);
    },
  );

  it('with every secret declared it is written, and servers keep their names', async () => {
    const server = await serverWith(STORED);
    const outcome = await apply(asked(server.url, declared));
    expect(outcome.environments[0]).toMatchObject({ status: 'applied' });
    expect(server.stored).toMatchObject({
      agent_settings: {
        mcp_config: {
          events: { ...SERVERS.events, auth: { strategy: 'api_key', value: ENV.MCP_KEY } },
          fs: { ...SERVERS.fs, env: { TOKEN: ENV.MCP_KEY } },
          tools: { ...SERVERS.tools, timeout: 45 },
        },
      },
    });
    expect(JSON.stringify(server.posts())).not.toContain('***');
  });

  it.each([
    ['headers', { url: 'https://x.example.com/mcp', headers: { 'X-Token': `${CANARY}-head` } }],
    [
      'auth',
      {
        url: 'https://x.example.com/mcp',
        auth: { strategy: 'basic', username: 'u', password: CANARY },
      },
    ],
  ])('%s, which a file cannot declare, stop it too', async (member, entry) => {
    const server = await serverWith({ agent_settings: { mcp_config: { ...SERVERS, x: entry } } });
    const settings = declared.replace(
      'timeout: 45}]',
      'timeout: 45}, {url: "https://x.example.com/mcp"}]',
    );
    const outcome = await apply(asked(server.url, settings));
    expect(outcome.environments[0]?.refusals.map(({ path }) => path.at(-1))).toEqual([member]);
    expect(server.posts()).toEqual([]);
  });

  it('a bearer key stays one', async () => {
    const auth = { strategy: 'bearer', value: `${CANARY}-old` };
    const url = 'https://x.example.com/mcp';
    const server = await serverWith({ agent_settings: { mcp_config: { x: { url, auth } } } });
    const settings = `mcp_config: {shttp_servers: [{url: "${url}", timeout: 9, api_key: "\${env:MCP_KEY}"}]}\n`;
    await apply(asked(server.url, settings));
    expect(server.stored).toMatchObject({
      agent_settings: { mcp_config: { x: { timeout: 9, auth: { ...auth, value: ENV.MCP_KEY } } } },
    });
  });

  it.each(['null', '{}'])('%s is no server at all', async (none) => {
    const server = await serverWith(STORED);
    await apply(asked(server.url, `mcp_config: ${none}\n`));
    expect(server.stored).toMatchObject({ agent_settings: { mcp_config: {} } });
    const again = await apply(asked(server.url, `mcp_config: ${none}\n`));
    expect(again.environments[0]).toMatchObject({ status: 'in-sync' });
  });

  it('new servers are called after their addresses, always alike', async () => {
    const server = await serverWith(null);
    const settings = dedent`
      mcp_config:
        sse_servers: [https://a.example.com/x, "https://a.example.com/x/?k=1"]
        shttp_servers: [https://a.example.com/x]
    `;
    await apply(asked(server.url, settings));
    const record = server.stored as unknown as typeof STORED;
    expect(Object.keys(record.agent_settings.mcp_config)).toEqual([
      'a.example.com-x',
      'a.example.com-x-2',
      'a.example.com-x-3',
    ]);
    const again = await apply(asked(server.url, settings));
    expect(again.environments[0]).toMatchObject({ status: 'in-sync' });
  });
});

describe('what the service cannot hold', () => {
  const settings = dedent`
    enable_solvability_analysis: false
    llm_model: null
    security_analyzer: invariant
    language: fr
  `;

  it.each([plan, apply])('is named at once with who has it, and nothing is sent', async (run) => {
    const server = await serverWith(STORED);
    const { environments } = await run(asked(server.url, settings));
    expect(environments[0]?.error).toEqual({
      code: 'unfit-for-service',
      message:
        'The file does not fit this service (app-server API). security_analyzer must be "llm" or "none" there, or null. llm_model cannot be null there: it is always set. It has no enable_solvability_analysis: releases up to 1.6 (settings-v0) have it.',
      hint: 'Change the fields named, or list them under unmanaged for this environment.',
    });
    expect(server.posts()).toEqual([]);
  });

  it('is left out if it is unmanaged', async () => {
    const server = await serverWith(STORED);
    const unmanaged = '[enable_solvability_analysis, llm_model, security_analyzer]';
    const outcome = await apply(asked(server.url, settings, { unmanaged }));
    expect(outcome.environments[0]).toMatchObject({ status: 'applied', error: null });
    expect(server.posts()).toEqual([{ language: 'fr' }]);
  });

  it('a key that the service loses is said by the plan', async () => {
    const server = await serverWith(STORED);
    const { environments } = await plan(asked(server.url, 'sandbox_api_key: ${env:LLM_KEY}\n'));
    expect(environments[0]?.warnings).toContainEqual({
      code: 'not-kept',
      message:
        'sandbox_api_key is lost: the service stores asterisks in its place, so that the key never works.',
      path: ['sandbox_api_key'],
    });
  });
});

it('one file before and after an upgrade: the plan shows what was lost, and apply puts it back', async () => {
  const earlier = await startStore({}, null);
  onTestFinished(() => earlier.close());
  const settings = dedent`
    language: de
    llm_model: anthropic/claude-sonnet-4-5
    llm_api_key: \${env:LLM_KEY}
    max_iterations: 250
    sandbox_api_key: null
  `;
  const done = await apply(asked(earlier.url, settings));
  expect(done.environments[0]).toMatchObject({ status: 'applied', dialect: 'settings-v0' });
  // The later release reads the same store without what has moved.
  const server = await serverWith({ language: 'de' });
  const { environments } = await plan(asked(server.url, settings));
  expect(environments[0]?.changes.map(({ path }) => path[0])).toEqual([
    'max_iterations',
    'llm_model',
    'llm_api_key',
  ]);
  await apply(asked(server.url, settings));
  const again = await apply(asked(server.url, settings));
  expect(again.environments[0]).toMatchObject({ status: 'in-sync', dialect: 'app-server' });
});
