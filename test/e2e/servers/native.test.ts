import { describe, expect, it, onTestFinished } from 'vitest';
import { startEmulator } from '../../../src/emulator/start.ts';
import { apply } from '../../../src/reconciler/operations/apply.ts';
import { explain } from '../../../src/reconciler/operations/explain.ts';
import { get } from '../../../src/reconciler/operations/get.ts';
import { plan } from '../../../src/reconciler/operations/plan.ts';
import { dedent } from '../../fixture/dedent.ts';
import { request } from '../../fixture/settings.ts';
import { startStore } from '../../fixture/store-server.ts';

const CANARY = 'CANARY-71c0aa';
const ENV = {
  SETPOINT_API_KEY: 'k',
  MCP_KEY: `${CANARY}-mcp`,
  AWS: `${CANARY}-aws`,
  TOK: `${CANARY}-tok`,
};

type Dialect = 'app-server' | 'agent-server';

async function service(dialect: Dialect) {
  const server = await startEmulator({ dialect });
  onTestFinished(() => server.close());
  const path = dialect === 'app-server' ? '/api/v1/settings' : '/api/settings';
  const stored = async () =>
    JSON.parse(
      (await (await fetch(server.url + path)).text()).replace(
        /"current_datetime":"[^"]*"/,
        '"current_datetime":""',
      ),
    ) as Record<string, unknown>;
  const write = async (body: unknown) => {
    const answer = await fetch(server.url + path, {
      method: dialect === 'app-server' ? 'POST' : 'PATCH',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(answer.status, await answer.clone().text()).toBe(200);
  };
  return { url: server.url, stored, write };
}

function asked(url: string, settings: string, more: Parameters<typeof request>[2] = {}) {
  const indented = dedent`${settings}`.replaceAll(/^(?=.)/gm, '  ');
  return request(url, indented, { env: ENV, ...more });
}

async function planned(url: string, settings: string) {
  const { environments } = await plan(asked(url, settings));
  const [one] = environments;
  if (one === undefined) throw new Error('no environment');
  return one;
}

async function applied(url: string, settings: string, more = {}) {
  const { environments } = await apply(asked(url, settings, more));
  const [one] = environments;
  if (one === undefined) throw new Error('no environment');
  return one;
}

const PATHS = (changes: readonly { readonly path: readonly string[] }[]) =>
  changes.map(({ path }) => path.join('.'));

describe.each(['app-server', 'agent-server'] as const)('native values of %s', (dialect) => {
  const SETTINGS = dedent`
    llm_model: openai/gpt-5
    agent_settings:
      llm:
        timeout: 60
        reasoning_effort: low
        extra_headers: { X-Team: blue }
      tools: [{ name: TerminalTool }]
      condenser: { keep_first: 4 }
    conversation_settings: { max_iterations: 77 }
  `;

  it('come back to their defaults by null, and a map is emptied by {}', async () => {
    const { url, stored } = await service(dialect);
    await applied(url, SETTINGS);
    const cleared = dedent`
      agent_settings:
        llm: { timeout: null, extra_headers: {} }
        tools: null
      conversation_settings: { max_iterations: null }
    `;
    const { changes } = await planned(url, cleared);
    expect(changes.map(({ path, action, reason }) => [path.join('.'), action, reason])).toEqual([
      ['max_iterations', 'clear', 'set, will be its default again'],
      ['agent_settings.llm.timeout', 'clear', 'set, will be its default again'],
      ['agent_settings.llm.extra_headers', 'clear', 'set, will be cleared'],
      ['agent_settings.tools', 'clear', 'set, will be cleared'],
    ]);
    expect((await applied(url, cleared)).error).toBeNull();
    const { agent_settings: agent } = (await stored()) as { agent_settings: Record<string, never> };
    expect(agent).toMatchObject({ llm: { timeout: 300, reasoning_effort: 'low' }, tools: null });
    expect((await planned(url, cleared)).changes).toEqual([]);
  });

  it('are refused before a request if the server could not hold them', async () => {
    const { url, stored } = await service(dialect);
    const before = await stored();
    const other = dialect === 'app-server' ? 'agent-server 1.57.0' : 'app-server 1.11.0';
    const path = dialect === 'app-server' ? 'stream_idle_timeout: 5' : 'modify_params: true';
    const unknown = await planned(url, `agent_settings: { llm: { ${path} } }`);
    expect(unknown.error).toMatchObject({ code: 'unfit-for-service' });
    expect(unknown.error?.message).toContain(`${path.split(':')[0]}: ${other} has it.`);
    const wrong = await planned(
      url,
      'agent_settings: { llm: { top_p: 0.5, api_version: "${env:MCP_KEY}" }, agent_kind: "${env:TOK}" }',
    );
    expect(wrong.error?.message).toContain('agent_settings.agent_kind must be');
    expect(JSON.stringify(wrong)).not.toContain(CANARY);
    const name = `agent_settings.llm.${path.split(':')[0]}`;
    const { environments } = await plan(
      request(url, `  agent_settings: { llm: { ${path} } }\nunmanaged: [${name}]`, { env: ENV }),
    );
    expect(environments[0]).toMatchObject({ error: null, changes: [] });
    expect(await stored()).toEqual(before);
  });

  it('A10: a change of agent_kind is refused, names what is lost, and carries everything in one write', async () => {
    const { url, stored } = await service(dialect);
    const server = 'mcp_config: { shttp_servers: [{ url: "https://mcp.example.com/mcp" }] }';
    const first = await applied(url, `${SETTINGS}\nllm_api_key: \${env:MCP_KEY}\n${server}`);
    expect(first.error).toBeNull();
    const acp = dedent`
      max_iterations: 77
      agent_settings:
        agent_kind: acp
        acp_model: sonnet
        mcp_config:
          files: { command: npx, args: [files], env: { API_TOKEN: "\${env:TOK}" } }
    `;
    const { refusals, error } = await planned(url, acp);
    expect(error).toBeNull();
    expect(refusals.map(({ rule }) => rule)).toEqual(['reset-agent']);
    expect(refusals[0]?.message).toContain('agent_settings.llm.timeout');
    expect(refusals[0]?.message).toContain('llm_api_key');
    expect(refusals[0]?.message).toContain('mcp_config.shttp_servers[https://mcp.example.com/mcp]');
    const refused = await applied(url, acp);
    expect(refused.error).toMatchObject({ code: 'guard-refused' });
    expect(await stored()).toMatchObject({ agent_settings: { agent_kind: 'openhands' } });
    const outcome = await applied(url, acp, { allow: ['reset-agent'] });
    expect(outcome.error).toBeNull();
    expect(await stored()).toMatchObject({
      agent_settings: {
        agent_kind: 'acp',
        acp_model: 'sonnet',
        mcp_config: { files: { command: 'npx' } },
      },
      conversation_settings: { max_iterations: 77 },
    });
    expect((await planned(url, acp)).changes).toEqual([]);
    const back = await planned(url, 'agent: CodeActAgent');
    expect(back.error?.message).toContain('agent_settings.agent_kind is acp');
  });

  it('are one with the fields that they are: the same entry, in lists or under a name', async () => {
    const { url } = await service(dialect);
    const native = dedent`
      agent_settings:
        llm: { model: openai/gpt-5 }
        mcp_config:
          search: { url: "https://mcp.example.com/mcp", transport: http, auth: { strategy: api_key, value: "\${env:MCP_KEY}" } }
    `;
    expect((await applied(url, native)).error).toBeNull();
    const flat = dedent`
      llm_model: openai/gpt-5
      mcp_config:
        sse_servers: []
        stdio_servers: []
        shttp_servers: [{ name: search, url: "https://mcp.example.com/mcp", api_key: "\${env:MCP_KEY}" }]
    `;
    for (const settings of [native, flat])
      expect(await planned(url, settings)).toMatchObject({ changes: [], error: null });
  });

  it('hold secrets that no document shows, and that are set once', async () => {
    const { url } = await service(dialect);
    const settings = dedent`
      agent_settings:
        llm: { aws_secret_access_key: "\${env:AWS}", extra_headers: { X-Api-Key: "\${env:TOK}" } }
        agent_context: { secrets: { TOKEN: "\${env:TOK}" } }
    `;
    const first = await applied(url, settings);
    expect(first.error).toBeNull();
    const again = await planned(url, settings);
    expect(again.changes).toEqual([]);
    expect(PATHS(again.unknown)).toEqual([
      'agent_settings.llm.aws_secret_access_key',
      'agent_settings.agent_context.secrets.TOKEN',
    ]);
    const shown = await get(asked(url, settings));
    const told = await explain({
      ...asked(url, settings),
      path: 'agent_settings.llm.extra_headers',
    });
    expect(JSON.stringify([first, again, shown, told])).not.toContain(CANARY);
  });
});

describe('an active profile', () => {
  it('A12: does not take the place of the settings of the model that are declared', async () => {
    const { url, stored } = await service('agent-server');
    const llm = 'llm_model: openai/gpt-5\nagent_settings: { llm: { timeout: 60 } }';
    expect((await applied(url, llm)).error).toBeNull();
    const saved = await fetch(`${url}/api/profiles/fast`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ llm: { model: 'x/y' } }),
    });
    expect(saved.status).toBe(201);
    const both = `${llm}\nactive_profile: fast`;
    const { changes, warnings } = await planned(url, both);
    expect(PATHS(changes)).toEqual(['active_profile']);
    expect(warnings.map(({ code }) => code)).toContain('active-profile');
    expect((await applied(url, both)).error).toBeNull();
    expect(await stored()).toMatchObject({
      active_profile: 'fast',
      agent_settings: { llm: { model: 'openai/gpt-5', timeout: 60 } },
    });
  });
});

describe('values at the top of the record', () => {
  it('are never sent as what the service could not read again', async () => {
    const { url, stored } = await service('app-server');
    const set = 'git_full_clone: true\nsandbox_grouping_strategy: ADD_TO_ANY\nlanguage: en';
    expect((await applied(url, set)).error).toBeNull();
    const reset = 'git_full_clone: null\nsandbox_grouping_strategy: null';
    expect((await applied(url, reset)).error).toBeNull();
    expect(await stored()).toMatchObject({
      git_full_clone: false,
      sandbox_grouping_strategy: 'NO_GROUPING',
      language: 'en',
    });
    const { error } = await planned(url, 'disabled_skills: null');
    expect(error?.message).toContain('disabled_skills cannot be null there');
  });
});

describe('a service of the specification', () => {
  it('has no native values, and says who has them', async () => {
    const store = await startStore({ stored: { llm_api_key_set: false } } as never);
    onTestFinished(() => store.close());
    const { error } = await planned(store.url, 'agent_settings: { llm: { timeout: 60 } }');
    expect(error?.message).toContain(
      'It has no agent_settings.llm.timeout: agent-server 1.57.0 and app-server 1.11.0 have it.',
    );
  });

  it('has no members of mcp servers but its own, and needs no name of them', async () => {
    const store = await startStore({ stored: { llm_api_key_set: false } } as never);
    onTestFinished(() => store.close());
    const entry = (more: string) =>
      `mcp_config: { shttp_servers: [{ url: "https://mcp.example.com/mcp", name: search${more} }] }`;
    const { error } = await planned(store.url, entry(', headers: { X-Team: "${env:TOK}" }'));
    expect(error?.message).toContain(
      'It has no mcp_config.shttp_servers[https://mcp.example.com/mcp].headers: agent-server 1.57.0 and app-server 1.11.0 have it.',
    );
    const { changes } = await planned(store.url, entry(''));
    expect(changes.map(({ after }) => after)).toMatchObject([
      { url: 'https://mcp.example.com/mcp' },
    ]);
    expect(JSON.stringify(changes)).not.toContain('search');
  });
});
