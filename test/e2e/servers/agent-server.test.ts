import { describe, expect, it, onTestFinished } from 'vitest';
import { apply } from '../../../src/reconciler/operations/apply.ts';
import { get } from '../../../src/reconciler/operations/get.ts';
import { plan } from '../../../src/reconciler/operations/plan.ts';
import { setpoint } from '../../fixture/command-here.ts';
import { folderWith } from '../../fixture/command.ts';
import { startAgentServer, type AgentServer } from '../../fixture/agent-server.ts';
import { dedent } from '../../fixture/dedent.ts';
import { request } from '../../fixture/settings.ts';
import type { JsonRecord } from '../../fixture/store-server.ts';

const CANARY = 'CANARY-4d1b7e90';
const ENV = {
  SETPOINT_API_KEY: 'contract-key',
  LLM_KEY: `${CANARY}-llm`,
  MCP_KEY: `${CANARY}-mcp`,
};

const SERVERS = {
  events: {
    url: 'https://sse.example.com/sse',
    transport: 'sse',
    auth: { strategy: 'api_key', value: `${CANARY}-sse` },
  },
  fs: { command: 'npx', args: ['-y', 'server-fs'], env: { TOKEN: `${CANARY}-env`, PLAIN: 'x' } },
  tools: {
    url: 'https://http.example.com/mcp',
    transport: 'http',
    timeout: 30,
    headers: { 'X-Token': `${CANARY}-head` },
  },
};

/** What is stored before most cases: a bit of everything, with secrets that no file knows. */
const STORED = {
  agent_settings_diff: {
    llm: {
      model: 'anthropic/claude-sonnet-4-5',
      api_key: `${CANARY}-stored-llm`,
      aws_session_token: `${CANARY}-aws`,
      temperature: 0.5,
    },
    mcp_config: SERVERS,
    verification: { critic_api_key: `${CANARY}-critic` },
    agent_context: { secrets: { DEPLOY: `${CANARY}-deploy` } },
  },
  conversation_settings_diff: { max_iterations: 100 },
  misc_settings_diff: { app_preferences: { language: 'en', title_llm_profile: 'fast' }, own: [1] },
};

async function serverWith(stored: JsonRecord | null): Promise<AgentServer> {
  const server = await startAgentServer(stored);
  onTestFinished(() => server.close());
  return server;
}

function asked(
  { url }: AgentServer,
  settings: string,
  more: Parameters<typeof request>[2] & { compares?: boolean } = {},
) {
  const { compares = false, ...options } = more;
  const indented = dedent`${settings}`.replaceAll(/^(?=.)/gm, '  ');
  const made = request(url, indented, { env: ENV, ...options });
  const text = made.text?.replace('server:\n', 'server:\n  compare_secrets: true\n');
  return compares && text !== undefined ? { ...made, text } : made;
}

function sent({ seen }: AgentServer): string[] {
  return seen.map(({ method, path }) => `${method} ${path}`);
}

/** The requests for the settings: a plan lists what the service has of other blocks, too. */
function ofSettings({ seen }: AgentServer): AgentServer['seen'] {
  return seen.filter(({ path }) => path === '/api/settings');
}

describe('every field of the file on the Agent Server', () => {
  it('A1: sends only the members that differ, and every other secret and value stays', async () => {
    const server = await serverWith(STORED);
    const before = await server.stored();
    await apply(asked(server, 'language: fr\nmax_iterations: 100\ncondenser_max_size: 120\n'));
    expect(server.patches()).toEqual([
      {
        misc_settings_diff: { app_preferences: { language: 'fr' } },
        agent_settings_diff: { condenser: { max_size: 120 } },
      },
    ]);
    const after = await server.stored();
    const back = {
      misc_settings_diff: { app_preferences: { language: 'en' } },
      agent_settings_diff: { condenser: { max_size: 240 } },
    };
    await server.patch(back);
    expect(after).not.toEqual(before);
    expect(await server.stored()).toEqual(before);
  });

  it('A9: null is what each part takes for the default: null, a value, or a member that goes', async () => {
    const server = await serverWith({
      ...STORED,
      conversation_settings_diff: { max_iterations: 9, confirmation_mode: true },
    });
    const settings = dedent`
      language: null
      agent: null
      max_iterations: null
      confirmation_mode: null
      security_analyzer: null
      llm_api_key: null
      condenser_max_size: null
    `;
    const outcome = await apply(asked(server, settings));
    expect(outcome.environments[0]).toMatchObject({ status: 'applied', error: null });
    expect(server.patches()).toEqual([
      {
        misc_settings_diff: { app_preferences: { language: null } },
        conversation_settings_diff: {
          max_iterations: 500,
          confirmation_mode: false,
          security_analyzer: null,
        },
        agent_settings_diff: { llm: { api_key: null } },
      },
    ]);
    const again = await apply(asked(server, settings));
    expect(again.environments[0]).toMatchObject({ status: 'in-sync' });
  });

  it('A8: nothing is emptied by {}: no server at all is null for each', async () => {
    const server = await serverWith(STORED);
    await apply(asked(server, 'mcp_config: {}\n'));
    expect(server.patches()).toEqual([
      { agent_settings_diff: { mcp_config: { events: null, fs: null, tools: null } } },
    ]);
    expect(await server.stored()).toMatchObject({ agent_settings: { mcp_config: {} } });
  });

  it('A23: the time that changes at every read of a new server is no difference', async () => {
    const server = await serverWith(null);
    const [one, other] = [await get(asked(server, '')), await get(asked(server, ''))];
    expect(one.environments[0]?.settings).toEqual(other.environments[0]?.settings);
    expect(JSON.stringify(one)).not.toContain('current_datetime');
  });
});

describe('native parts', () => {
  const native = dedent`
    agent_settings:
      llm:
        timeout: 120
        temperature: 0.7
        aws_session_token: \${env:LLM_KEY}
        litellm_extra_body: {a: {b: 1}}
      verification: {critic_enabled: true, critic_api_key: "\${env:MCP_KEY}"}
      tools: [{name: terminal}]
      persona: a pirate
    conversation_settings: {worktree_branch_prefix: me/, container_memory: 2g}
    misc_settings: {own: {n: 1}}
  `;

  it('A9: null brings each default back, secrets too', async () => {
    const server = await serverWith(null);
    await apply(asked(server, native));
    const cleared = dedent`
      agent_settings:
        llm: {timeout: null, temperature: null, aws_session_token: null, litellm_extra_body: {}}
        verification: {critic_enabled: null, critic_api_key: null}
        tools: null
        persona: null
      conversation_settings: {worktree_branch_prefix: null, container_memory: null}
      misc_settings: {own: {n: null}}
    `;
    const outcome = await apply(asked(server, cleared));
    expect(outcome.environments[0]).toMatchObject({ status: 'applied', error: null });
    expect(server.patches().at(-1)).toMatchObject({
      conversation_settings_diff: { worktree_branch_prefix: 'openhands/', container_memory: null },
    });
    const again = await apply(asked(server, cleared));
    expect(again.environments[0]).toMatchObject({ status: 'in-sync', unknown: [] });
  });

  it('secrets among them are compared, if that is asked for', async () => {
    const server = await serverWith(null);
    await apply(asked(server, native));
    const equal = await plan(asked(server, native, { compares: true }));
    expect(equal.environments[0]).toMatchObject({ status: 'in-sync', complete: true });
    const env = { ...ENV, MCP_KEY: `${CANARY}-other` };
    const { environments } = await plan(asked(server, native, { compares: true, env }));
    expect(environments[0]?.changes.map(({ path, reason }) => [path.at(-1), reason])).toEqual([
      ['critic_api_key', 'set, differs'],
    ]);
    expect(JSON.stringify([equal, environments])).not.toContain(CANARY);
  });
});

describe('the address of the model', () => {
  it.each(['https://api.openai.com', 'https://api.openai.com/', '', 'null'])(
    'A24: declared as %j equals the null that the server makes of it',
    async (address) => {
      const server = await serverWith(null);
      const settings = `llm_model: openai/gpt-5\nllm_base_url: ${address === 'null' ? address : JSON.stringify(address)}\n`;
      const first = await apply(asked(server, settings));
      expect(first.environments[0]).toMatchObject({ status: 'applied', error: null });
      const again = await apply(asked(server, settings));
      expect(again.environments[0]).toMatchObject({ status: 'in-sync' });
    },
  );

  it('A24: dropped with a change of the model, it is not a loss', async () => {
    const llm = { model: 'gpt-5', base_url: 'https://api.openai.com' };
    const server = await serverWith({ agent_settings_diff: { llm } });
    const outcome = await apply(asked(server, 'llm_model: openai/gpt-5\n'));
    expect(outcome.environments[0]).toMatchObject({ status: 'applied', remaining: [] });
  });
});

describe('mcp servers are merged by name', () => {
  const declared = dedent`
    mcp_config:
      sse_servers: [{url: "https://sse.example.com/sse"}]
      stdio_servers: [{name: fs, command: npx, args: [-y, server-fs]}]
      shttp_servers: [{url: "https://http.example.com/mcp", timeout: 45}]
  `;

  it('A2: a change carries no mask, and the secrets of every server stay', async () => {
    const server = await serverWith(STORED);
    const outcome = await apply(asked(server, declared));
    expect(outcome.environments[0]).toMatchObject({ status: 'applied', error: null });
    expect(server.patches()).toEqual([
      { agent_settings_diff: { mcp_config: { tools: { timeout: 45 } } } },
    ]);
    expect(await server.stored()).toMatchObject({
      agent_settings: { mcp_config: { ...SERVERS, tools: { ...SERVERS.tools, timeout: 45 } } },
    });
  });

  it('A2: a plan of it loses nothing and clears nothing', async () => {
    const server = await serverWith(STORED);
    const { environments } = await plan(asked(server, declared, { guards: '{ protected: true }' }));
    expect(environments[0]?.changes).toHaveLength(1);
    expect(environments[0]?.refusals).toEqual([]);
    expect(environments[0]?.warnings.map(({ message }) => message)).toEqual([
      'Without --base, setpoint cannot distinguish drift from edits: this may overwrite drift. (overwrite-drift)',
    ]);
  });

  it('a server is added, another removed, and the others are not named', async () => {
    const server = await serverWith(STORED);
    const settings = dedent`
      mcp_config:
        sse_servers: []
        shttp_servers:
          - {url: "https://http.example.com/mcp"}
          - {url: "https://new.example.com/mcp", api_key: "\${env:MCP_KEY}"}
    `;
    await apply(asked(server, settings));
    expect(server.patches()).toEqual([
      {
        agent_settings_diff: {
          mcp_config: {
            events: null,
            'new.example.com-mcp': {
              url: 'https://new.example.com/mcp',
              transport: 'http',
              auth: { strategy: 'api_key', value: ENV.MCP_KEY },
            },
          },
        },
      },
    ]);
  });

  it('A30: a new server is free of nulls', async () => {
    const server = await serverWith(null);
    const settings = dedent`
      mcp_config:
        stdio_servers: [{name: fs, command: npx, args: [], env: {}}]
        shttp_servers: [{url: "https://new.example.com/mcp", api_key: null}]
    `;
    const outcome = await apply(asked(server, settings));
    expect(outcome.environments[0]).toMatchObject({ status: 'applied', error: null });
    expect(JSON.stringify(server.patches())).not.toContain('null');
  });

  it('variables are those that are declared: one goes, one is new, and what cannot be compared is sent', async () => {
    const server = await serverWith(STORED);
    const settings = dedent`
      mcp_config:
        stdio_servers: [{name: fs, command: npx, env: {TOKEN: "\${env:MCP_KEY}", MORE: y}}]
    `;
    await apply(asked(server, settings));
    expect(server.patches()).toEqual([
      {
        agent_settings_diff: {
          mcp_config: { fs: { env: { PLAIN: null, TOKEN: ENV.MCP_KEY, MORE: 'y' } } },
        },
      },
    ]);
  });

  it('a secret that nothing shows to differ is not sent, and --rotate sends it', async () => {
    const server = await serverWith(STORED);
    const settings = dedent`
      mcp_config:
        sse_servers: [{url: "https://sse.example.com/sse", api_key: "\${env:MCP_KEY}"}]
        shttp_servers: [{url: "https://http.example.com/mcp", timeout: 45}]
    `;
    await apply(asked(server, settings));
    expect(JSON.stringify(server.patches())).not.toContain(CANARY);
    await apply(
      asked(server, settings, { rotate: ['mcp_config.sse_servers[https://sse.example.com/sse]'] }),
    );
    expect(server.patches().at(-1)).toEqual({
      agent_settings_diff: { mcp_config: { events: { auth: { value: ENV.MCP_KEY } } } },
    });
  });

  it.each([
    ['basic', { strategy: 'basic', username: 'u', password: `${CANARY}-old` }],
    ['header', { strategy: 'header', headers: { 'X-K': `${CANARY}-old` } }],
    ['api_key', { strategy: 'api_key', value: `${CANARY}-old`, header_name: 'X-K' }],
    ['bearer', { strategy: 'bearer', value: `${CANARY}-old` }],
  ])('A25: a key takes the place of %s, and no old secret stays', async (strategy, auth) => {
    const url = 'https://x.example.com/mcp';
    const server = await serverWith({ agent_settings_diff: { mcp_config: { x: { url, auth } } } });
    const settings = `mcp_config: {shttp_servers: [{url: "${url}", timeout: 9, api_key: "\${env:MCP_KEY}"}]}\n`;
    const outcome = await apply(asked(server, settings));
    expect(outcome.environments[0]).toMatchObject({ status: 'applied', error: null });
    const kept = ['bearer', 'api_key'].includes(strategy) ? auth : { strategy: 'api_key' };
    const stored = await server.stored();
    expect(stored).toMatchObject({
      agent_settings: { mcp_config: { x: { auth: { ...kept, value: ENV.MCP_KEY } } } },
    });
    expect(JSON.stringify(stored)).not.toContain(`${CANARY}-old`);
  });

  it('A25: a program that becomes an address loses its command, arguments and variables', async () => {
    const server = await serverWith({
      agent_settings_diff: { mcp_config: { 'x.example.com-mcp': SERVERS.fs } },
    });
    const settings =
      'mcp_config: {stdio_servers: [], shttp_servers: ["https://x.example.com/mcp"]}\n';
    const outcome = await apply(asked(server, settings));
    expect(outcome.environments[0]).toMatchObject({ status: 'applied', error: null });
    const { agent_settings: stored } = (await server.stored()) as { agent_settings: JsonRecord };
    expect(JSON.stringify(stored)).not.toContain(`${CANARY}-env`);
    expect(stored).toMatchObject({
      mcp_config: { 'x.example.com-mcp': { url: 'https://x.example.com/mcp' } },
    });
  });

  it('a key takes the place of an Authorization header, beside which the server refuses it', async () => {
    const url = 'https://x.example.com/mcp';
    const headers = { Authorization: `${CANARY}-old`, 'X-B': `${CANARY}-kept` };
    const server = await serverWith({
      agent_settings_diff: { mcp_config: { x: { url, headers } } },
    });
    const settings = `mcp_config: {shttp_servers: [{url: "${url}", api_key: "\${env:MCP_KEY}"}]}\n`;
    const outcome = await apply(asked(server, settings));
    expect(outcome.environments[0]).toMatchObject({ status: 'applied', error: null });
    expect(await server.stored()).toMatchObject({
      agent_settings: { mcp_config: { x: { headers: { 'X-B': `${CANARY}-kept` } } } },
    });
  });

  it('under another name an entry is another one: what the old one has goes with it', async () => {
    const server = await serverWith(STORED);
    const settings =
      'mcp_config: {shttp_servers: [{url: "https://http.example.com/mcp", name: other}]}\n';
    const planned = await plan(asked(server, settings));
    expect(
      planned.environments[0]?.changes.map(({ action, path }) => [action, path.at(-1)]),
    ).toEqual([
      ['remove', 'tools'],
      ['set', 'other'],
    ]);
    const outcome = await apply(asked(server, settings));
    expect(outcome.environments[0]).toMatchObject({ status: 'applied', error: null });
    expect(server.patches()).toEqual([
      {
        agent_settings_diff: {
          mcp_config: {
            tools: null,
            other: { url: 'https://http.example.com/mcp', transport: 'http' },
          },
        },
      },
    ]);
  });

  it('a name that no entry can be called by stays out of plans and writes', async () => {
    const odd = { '': { url: 'https://a.example.com' }, ' b ': { url: 'https://b.example.com' } };
    const server = await serverWith({ agent_settings_diff: { mcp_config: odd } });
    await apply(asked(server, 'mcp_config: {shttp_servers: ["https://c.example.com"]}\n'));
    expect(await server.stored()).toMatchObject({ agent_settings: { mcp_config: odd } });
  });
});

describe('what the server cannot hold', () => {
  const settings = dedent`
    search_api_key: \${env:LLM_KEY}
    max_iterations: 0
    condenser_max_size: 19
    llm_model: ''
    security_analyzer: invariant
    max_budget_per_task: 2
  `;

  it.each([plan, apply])('A7: is named before a request that would not name it', async (run) => {
    const server = await serverWith(STORED);
    const { environments } = await run(asked(server, settings.replace('19', '20')));
    expect(environments[0]?.error).toMatchObject({ code: 'unfit-for-service' });
    expect(environments[0]?.error?.message).toBe(
      'The file does not fit this service (agent-server API). max_iterations must be at least 1 there. security_analyzer must be "llm" or "none" there, or null. llm_model cannot be empty there: it is always set. It has no search_api_key: settings-v0 and app-server have it; declare what needs the key as an mcp server. It has no max_budget_per_task: settings-v0 and app-server have it.',
    );
    expect(sent(server)).toEqual(['GET /api/settings']);
  });

  it('A5: a secret that begins gAAAA is refused before the request, and so is a blank one', async () => {
    const server = await serverWith(STORED);
    const secrets = dedent`
      llm_api_key: \${env:LLM_KEY}
      mcp_config:
        stdio_servers: [{name: fs, command: npx, env: {PLAIN: "  ", TOKEN: "\${env:LLM_KEY}"}}]
        shttp_servers: [{url: "https://http.example.com/mcp", api_key: "\${env:LLM_KEY}"}]
    `;
    const env = { ...ENV, LLM_KEY: 'gAAAA-canary' };
    const { environments } = await apply(asked(server, secrets, { env }));
    const { error } = environments[0] ?? {};
    expect(error?.code).toBe('unfit-for-service');
    expect(error?.message.match(/begins with gAAAA/g)).toHaveLength(3);
    expect(error?.message.match(/it is blank/g)).toHaveLength(1);
    expect(error?.message).not.toContain('canary');
    expect(server.patches()).toEqual([]);
  });

  it('A19: half of a surrogate pair is refused before the request', async () => {
    const server = await serverWith(STORED);
    const refused = apply(asked(server, 'language: "\\uD800x"\n'));
    await expect(refused).rejects.toMatchObject({ code: 'settings-invalid' });
    expect(server.seen.filter(({ method }) => method !== 'GET')).toEqual([]);
  });

  it.each([plan, apply])('sandboxes are refused, and none is asked for', async (run) => {
    const server = await serverWith(STORED);
    const made = asked(server, 'language: fr\n');
    const text = `${made.text}sandboxes: [{ running: 1 }]\n`;
    const { environments } = await run({ ...made, text });
    expect(environments[0]?.error).toMatchObject({ code: 'unfit-for-service' });
    expect(environments[0]?.error?.message).toContain('It has no sandboxes');
    expect(sent(server)).toEqual(['GET /api/settings']);
  });

  it('A11: under acp the fields of openhands are refused, and the others are kept', async () => {
    const server = await serverWith({ agent_settings_diff: { agent_kind: 'acp' } });
    const refused = await apply(asked(server, 'llm_model: gpt-5\n'));
    expect(refused.environments[0]?.error?.message).toContain(
      'It has no llm_model: agent_settings.agent_kind is acp',
    );
    const outcome = await apply(asked(server, 'language: fr\nmax_iterations: 7\n'));
    expect(outcome.environments[0]).toMatchObject({ status: 'applied', error: null });
    expect(server.patches()).toHaveLength(1);
    expect(await server.stored()).toMatchObject({ agent_settings: { agent_kind: 'acp' } });
  });

  it('A6: a condenser without a size is not sent one, which the server would drop', async () => {
    const server = await serverWith({ agent_settings_diff: {} });
    const kind = 'agent_settings: { condenser: { condenser_kind: no_op } }\n';
    const { environments } = await apply(asked(server, `condenser_max_size: 90\n${kind}`));
    expect(environments[0]?.error?.message).toContain('condenser_kind is "no_op"');
    expect(server.patches()).toEqual([]);
  });
});

describe('what a plan warns of', () => {
  it('A13: fields of the llm while a profile is active', async () => {
    const server = await serverWith(STORED);
    server.instead = ({ path }) =>
      path === '/api/settings' ? { status: 200, body: profiled } : null;
    const profiled = { ...(await masked(server)), active_profile: 'fast' };
    const codes = async (settings: string) =>
      (await plan(asked(server, settings))).environments[0]?.warnings.map(({ code }) => code);
    expect(await codes('llm_model: anthropic/other\n')).toEqual(['active-profile']);
    expect(await codes('language: fr\n')).toEqual([]);
  });

  it('a later release, which is spoken to as the newest one known if its schema fits', async () => {
    const server = await serverWith(STORED);
    const record = await masked(server);
    const settings = record['agent_settings'] as JsonRecord;
    const later = { ...record, agent_settings: { ...settings, schema_version: 10 } };
    server.instead = ({ path }) => (path === '/api/settings' ? { status: 200, body: later } : null);
    const { environments } = await plan(asked(server, 'language: fr\n'));
    expect(environments[0]).toMatchObject({ release: 'later than 1.57' });
    expect(environments[0]?.warnings.map(({ code }) => code)).toEqual(['later-release']);
    const { llm: _, ...without } = settings;
    server.instead = () => ({
      status: 200,
      body: { ...later, agent_settings: { ...without, schema_version: 10 } },
    });
    const refused = await plan(asked(server, 'language: fr\n'));
    expect(refused.environments[0]?.error).toMatchObject({ code: 'dialect-not-spoken' });
  });

  async function masked(server: AgentServer): Promise<JsonRecord> {
    return (await server.ask('GET', '/api/settings')).body as JsonRecord;
  }

  it('A18: a server that shows nothing but defaults, where the guard is on', async () => {
    const server = await serverWith(null);
    const guards = '{ empty_store: true }';
    const outcome = await apply(asked(server, 'language: fr\n', { guards }));
    expect(outcome.environments[0]?.refusals).toMatchObject([
      {
        rule: 'empty-store',
        message: 'The service has nothing but its defaults: it is new, or cannot read its store.',
      },
    ]);
    expect(server.patches()).toEqual([]);
    await server.patch({ misc_settings_diff: { app_preferences: { language: 'de' } } });
    const set = await apply(asked(server, 'language: fr\n', { guards }));
    expect(set.environments[0]).toMatchObject({ status: 'applied' });
  });
});

describe('A18: no secret reads as stored any more', () => {
  const gone = { agent_settings_diff: { llm: { api_key: null } } };

  it('a key that was written from here is gone: the next write is refused, and says where to look', async () => {
    const server = await serverWith(null);
    const folder = folderWith({
      'settings.yaml': dedent`
        version: 1
        server: { url: "${server.url}", api_key: "\${env:SETPOINT_API_KEY}" }
        settings: { language: de, llm_api_key: "\${env:LLM_KEY}" }
      `,
    });
    onTestFinished(() => folder.remove());
    const cwd = folder.path;
    const env = { ...ENV, SETPOINT_STATE_KEY: 'any-long-random-text' };
    expect((await setpoint(['apply', '--yes'], { cwd, env })).code).toBe(0);
    await server.patch(gone);
    const refused = await setpoint(['apply', '--yes'], { cwd, env });
    expect(refused.code).toBe(5);
    expect(refused.stderr).toContain(
      'No secret is stored now, but there were some before: llm_api_key.',
    );
    expect(refused.stderr).toContain("Look at the server's OH_SECRET_KEY");
    expect(server.patches()).toHaveLength(1);
    const allowed = ['apply', '--yes', '--allow', 'secrets-gone'];
    expect((await setpoint(allowed, { cwd, env })).code).toBe(0);
  });

  it('a server with a way to authenticate and no secret is enough to tell', async () => {
    const x = { url: 'https://x.example.com/mcp', auth: { strategy: 'bearer', value: CANARY } };
    const server = await serverWith({ agent_settings_diff: { mcp_config: { x } } });
    const settings = 'language: fr\n';
    const before = await plan(asked(server, settings));
    expect(before.environments[0]?.refusals).toEqual([]);
    const auth = { value: null };
    await server.patch({ agent_settings_diff: { mcp_config: { x: { auth } } } });
    const outcome = await apply(asked(server, settings));
    expect(outcome.environments[0]?.refusals).toMatchObject([{ rule: 'secrets-gone' }]);
    expect(server.patches()).toEqual([]);
    await server.patch({ agent_settings_diff: { llm: { api_key: CANARY } } });
    const again = await apply(asked(server, settings));
    expect(again.environments[0]).toMatchObject({ status: 'applied' });
  });
});

describe('what a refused write says', () => {
  it.each([
    [409, 'OH_SECRET_KEY'],
    [422, "server's logs"],
  ])('A18, A35: %d, without a word of the answer', async (status, words) => {
    const server = await serverWith(STORED);
    server.instead = ({ method }) =>
      method === 'PATCH' ? { status, body: { detail: `${CANARY} was here` } } : null;
    const outcome = await apply(asked(server, 'language: fr\n'));
    expect(outcome.environments[0]).toMatchObject({
      status: 'failed',
      error: { code: 'settings-refused' },
    });
    expect(outcome.environments[0]?.error?.hint).toContain(words);
    expect(JSON.stringify(outcome)).not.toContain(CANARY);
    expect(server.patches()).toHaveLength(1);
  });
});

describe('server.compare_secrets', () => {
  const settings = dedent`
    llm_api_key: \${env:LLM_KEY}
    mcp_config:
      sse_servers: [{url: "https://sse.example.com/sse", api_key: "\${env:MCP_KEY}"}]
      stdio_servers: [{name: fs, command: npx, env: {TOKEN: "\${env:MCP_KEY}", PLAIN: x}}]
  `;

  it('is off unless it is set: the server is not asked', async () => {
    const server = await serverWith(STORED);
    const { environments } = await plan(asked(server, settings));
    expect(environments[0]).toMatchObject({ complete: false, changes: [] });
    expect(server.seen.some(({ exposes }) => exposes)).toBe(false);
  });

  it('says that secrets differ, writes them, and then that they are equal', async () => {
    const server = await serverWith(STORED);
    const { environments } = await plan(asked(server, settings, { compares: true }));
    expect(environments[0]).toMatchObject({ complete: true, unknown: [] });
    expect(environments[0]?.changes.map(({ path, reason }) => [path[0], reason])).toEqual([
      ['llm_api_key', 'set, differs'],
      ['mcp_config', 'api_key differs'],
      ['mcp_config', 'env.TOKEN differs'],
    ]);
    expect(ofSettings(server).map(({ exposes }) => exposes)).toEqual([false, true]);
    const outcome = await apply(asked(server, settings, { compares: true }));
    const [applied] = outcome.environments;
    expect(applied).toMatchObject({ status: 'applied', unknown: [] });
    expect(applied?.changes.map(({ result }) => result)).toEqual([
      'verified',
      'verified',
      'verified',
    ]);
    expect(server.patches()).toEqual([
      {
        agent_settings_diff: {
          llm: { api_key: ENV.LLM_KEY },
          mcp_config: {
            events: { auth: { value: ENV.MCP_KEY } },
            fs: { env: { TOKEN: ENV.MCP_KEY } },
          },
        },
      },
    ]);
    const again = await apply(asked(server, settings, { compares: true }));
    expect(again.environments[0]).toMatchObject({ status: 'in-sync', unknown: [] });
    expect(JSON.stringify([environments, outcome, again])).not.toContain(CANARY);
  });

  it('is of no use to what saves: get asks for no secret', async () => {
    const server = await serverWith(STORED);
    const document = await get(asked(server, settings, { compares: true }));
    expect(JSON.stringify(document)).not.toContain(CANARY);
    expect(sent(server)).toEqual(['GET /api/settings']);
    expect(server.seen[0]?.exposes).toBe(false);
  });

  it('settings that change between the two reads are read again', async () => {
    const server = await serverWith(STORED);
    let writes = 0;
    server.instead = ({ exposes }) => {
      if (!exposes || writes > 0) return null;
      writes += 1;
      return { status: 200, body: { agent_settings: {}, llm_api_key_is_set: true } };
    };
    const { environments } = await plan(asked(server, settings, { compares: true }));
    expect(environments[0]).toMatchObject({ complete: true, error: null });
    expect(ofSettings(server)).toHaveLength(4);
  });

  it.each([
    [400, 'bad-response'],
    [401, 'unauthorized'],
    [503, 'server-error'],
  ])('a refused request for secrets (%d) ends the plan', async (status, code) => {
    const server = await serverWith(STORED);
    server.instead = ({ exposes }) =>
      exposes ? { status, body: { detail: `${CANARY} was here` } } : null;
    const { environments } = await plan(asked(server, settings, { compares: true }));
    expect(environments[0]?.error?.code).toBe(code);
    expect(JSON.stringify(environments)).not.toContain(CANARY);
  });

  it('never over http: to another machine, whatever is listed', async () => {
    const text = dedent`
      version: 1
      server: { url: "http://agents.example.com", api_key: "\${env:SETPOINT_API_KEY}", compare_secrets: true }
      settings: { language: en }
    `;
    const env = { ...ENV, SETPOINT_ALLOWED_ORIGINS: 'http://agents.example.com' };
    const { environments } = await plan({ text, env });
    expect(environments[0]?.error).toEqual({
      code: 'not-allowed',
      message:
        'server.compare_secrets would have http://agents.example.com send its secrets in the clear.',
      hint: 'Use https:, or remove server.compare_secrets.',
    });
  });
});
