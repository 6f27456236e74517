/** What people ask of agents, each played by a client of the SDK with tools alone: what it changes is on the server in the end. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startFronted, type Fronted } from '../../fixture/before-service.ts';
import { folderWith } from '../../fixture/command.ts';
import { setpoint } from '../../fixture/command-here.ts';
import { approvePlan, callTool, startMcpClient, type Called } from '../../fixture/mcp-client.ts';

const CANARY = 'canary-51c0de';
const VARIABLES = {
  KEY: 'k',
  LLM_API_KEY: `${CANARY}-llm`,
  TRACKER_TOKEN: `${CANARY}-tracker`,
};

let front: Fronted;
let folder: ReturnType<typeof folderWith>;
let client: Client | null;

beforeEach(async () => {
  front = await startFronted({ dialect: 'agent-server', apiKey: 'k' });
  folder = folderWith({});
  client = null;
});

afterEach(async () => {
  await client?.close();
  await front.close();
  folder.remove();
});

const FILE = () => `version: 1
server: { url: "${front.url}", api_key: "\${env:KEY}" }
settings:
  llm_model: openai/gpt-5
  llm_api_key: \${env:LLM_API_KEY} # rotated each quarter
  confirmation_mode: true
secrets:
  JIRA_TOKEN: { value: "\${env:TRACKER_TOKEN}" }
`;

function environment(more: Record<string, string> = {}): Record<string, string> {
  return {
    ...VARIABLES,
    SETPOINT_ALLOWED_ORIGINS: `${front.url},https://tracker.example.com`,
    SETPOINT_ALLOWED_VARIABLES: Object.keys(VARIABLES).join(','),
    SETPOINT_APPROVAL_KEY: 'a-key-of-the-people-0123456789',
    ...more,
  };
}

/** The file is there, and the server is as it says; or not yet. */
async function begin(text: string | null, isApplied = true): Promise<Client> {
  if (text !== null) writeFileSync(join(folder.path, 'settings.yaml'), text);
  if (text !== null && isApplied)
    expect(await setpoint(['apply', '--yes'], at())).toMatchObject({ code: 0 });
  client = await startMcpClient(folder.path, ['--allow-apply'], environment());
  return client;
}

function at(more: Record<string, string> = {}) {
  return { cwd: folder.path, env: { ...environment(more) } };
}

async function call(agent: Client, name: string, args: Record<string, unknown> = {}) {
  const called = await callTool(agent, name, args);
  expect(called.whole).not.toContain(CANARY);
  return called;
}

/** The agent plans, a person approves, the agent applies: then nothing is left to do. */
async function applyApproved(agent: Client, args: Record<string, unknown> = {}): Promise<void> {
  const planned = await call(agent, 'plan', { ...args, save_as: 'change.plan.json' });
  expect(planned.exit, planned.text).toBe(0);
  const { code, name, text } = await approvePlan(folder.path, 'change.plan.json', environment());
  expect(code, text).toBe(0);
  const applied = await call(agent, 'apply', { approval: name });
  expect(applied.exit, applied.text).toBe(0);
  expect((await call(agent, 'drift')).exit).toBe(0);
}

/** The agent proposes values one after another, each of which is written. */
async function propose(agent: Client, values: Readonly<Record<string, unknown>>): Promise<void> {
  for (const [path, value] of Object.entries(values)) {
    const called = await call(agent, 'propose_change', { path, value });
    expect(called.failed, called.text).toBe(false);
  }
}

interface Placed {
  readonly path: readonly string[];
  readonly code: string;
  readonly fix?: { readonly rename?: string; readonly value?: string };
}

/** A member of a document, by the names that lead to it. */
function member({ document }: Called, ...names: readonly string[]): unknown {
  return names.reduce<unknown>(
    (all, name) => (all as Readonly<Record<string, unknown>>)[name],
    document,
  );
}

async function stored(path = '/api/settings'): Promise<Record<string, unknown>> {
  const headers = { 'X-Expose-Secrets': 'plaintext' };
  const { body } = await front.ask('GET', path, undefined, headers);
  return (typeof body === 'string' ? JSON.parse(body) : body) as Record<string, unknown>;
}

function file(): string {
  return readFileSync(join(folder.path, 'settings.yaml'), 'utf8');
}

describe('an agent', () => {
  it('adds an mcp server, its token a reference', async () => {
    const agent = await begin(FILE());
    await propose(agent, {
      'mcp_servers.tracker': {
        url: 'https://tracker.example.com/mcp',
        headers: { Authorization: 'Bearer ${env:TRACKER_TOKEN}' },
      },
    });
    await applyApproved(agent);
    expect(JSON.stringify(await stored())).toContain(`${CANARY}-tracker`);
    expect(file()).toContain('# rotated each quarter');
  });

  it('hears that a plan of a server that is not allowed cannot be approved', async () => {
    const agent = await begin(FILE());
    const value = { url: 'https://evil.example.com/mcp', headers: { Authorization: '${env:KEY}' } };
    await propose(agent, { 'mcp_servers.tracker': value });
    const { exit, text } = await call(agent, 'plan', { save_as: 'change.plan.json' });
    expect([exit, text]).toEqual([3, expect.stringContaining('cannot be approved')]);
    expect(text).not.toContain('setpoint approve change.plan.json');
  });

  it('changes a model, and nothing else', async () => {
    const agent = await begin(FILE());
    await propose(agent, { llm_model: 'openai/gpt-5-mini' });
    await applyApproved(agent);
    const text = JSON.stringify(await stored());
    expect(text).toContain('"model":"openai/gpt-5-mini"');
    expect(text).toContain(`${CANARY}-llm`);
  });

  it('rotates a key, whose value it never sees', async () => {
    await begin(FILE());
    await client?.close();
    const env = environment({ LLM_API_KEY: `${CANARY}-new` });
    client = await startMcpClient(folder.path, ['--allow-apply'], env);
    const { text } = await call(client, 'explain', { path: 'llm_api_key' });
    expect(text).toContain('${env:LLM_API_KEY}');
    const args = { rotate: ['llm_api_key'], save_as: 'key.plan.json' };
    const planned = await call(client, 'plan', args);
    expect(planned.failed, planned.text).toBe(false);
    const { name } = await approvePlan(folder.path, 'key.plan.json', env);
    const applied = await call(client, 'apply', { approval: name });
    expect(applied.exit, applied.text).toBe(0);
    expect(JSON.stringify(await stored())).toContain(`${CANARY}-new`);
  });

  it('finds what was changed behind the file, and what the file says', async () => {
    const agent = await begin(FILE());
    await front.ask('PATCH', '/api/settings', {
      conversation_settings_diff: { confirmation_mode: false },
    });
    const drift = await call(agent, 'drift');
    expect(drift.exit).toBe(2);
    const [environmentPlan] = member(drift, 'environments') as { changes: { path: string[] }[] }[];
    expect(environmentPlan?.changes.map(({ path }) => path)).toEqual([['confirmation_mode']]);
    const { text } = await call(agent, 'explain', { path: 'confirmation_mode' });
    expect(text).toContain('settings.yaml:6');
  });

  it('puts a change of another client back, with an approval', async () => {
    const agent = await begin(FILE());
    await front.ask('PATCH', '/api/settings', {
      conversation_settings_diff: { confirmation_mode: false },
    });
    expect((await call(agent, 'drift')).exit).toBe(2);
    await applyApproved(agent);
    expect(JSON.stringify(await stored())).toContain('"confirmation_mode":true');
  });

  it('takes a change of another client into the file, and sends nothing', async () => {
    const agent = await begin(FILE());
    await front.ask('PATCH', '/api/settings', {
      conversation_settings_diff: { confirmation_mode: false },
    });
    const before = front.writes().length;
    await propose(agent, { confirmation_mode: false });
    expect((await call(agent, 'drift')).exit).toBe(0);
    expect(front.writes()).toHaveLength(before);
  });

  it('adopts a server: a person writes the first file, and what is not in it is found', async () => {
    await front.ask('PATCH', '/api/settings', { agent_settings_diff: { llm: { model: 'a/b' } } });
    const agent = await begin(null);
    const none = await call(agent, 'plan');
    expect([none.exit, none.text]).toEqual([3, expect.stringContaining('setpoint init')]);
    const { code, stderr } = await setpoint(
      ['init', '--server', front.url],
      at({ SETPOINT_API_KEY: 'k', SETPOINT_ALLOWED_VARIABLES: 'SETPOINT_API_KEY' }),
    );
    expect(code, stderr).toBe(0);
    await agent.close();
    const key = { SETPOINT_API_KEY: 'k' };
    const names = 'SETPOINT_API_KEY,TRACKER_TOKEN';
    const env = environment({ ...key, SETPOINT_ALLOWED_VARIABLES: names });
    client = await startMcpClient(folder.path, [], env);
    expect((await call(client, 'drift')).exit).toBe(0);
    await front.ask('PUT', '/api/settings/secrets', { name: 'CI_TOKEN', value: `${CANARY}-ci` });
    expect((await call(client, 'get', { what: 'secrets' })).text).toContain('CI_TOKEN');
    await propose(client, { 'secrets.CI_TOKEN': { value: '${env:TRACKER_TOKEN}' } });
    expect((await call(client, 'validate')).exit).toBe(0);
  });

  it('removes a secret that is not used any more', async () => {
    const agent = await begin(FILE());
    await propose(agent, { 'secrets.JIRA_TOKEN': null });
    await applyApproved(agent);
    expect(JSON.stringify(await stored('/api/settings/secrets'))).not.toContain('JIRA_TOKEN');
  });

  it.each([
    ['a key with a typo', 'confirmation_mode: true', 'confirmaton_mode: true', 'unknown-key'],
    ['a secret in clear', '${env:LLM_API_KEY}', `sk-${CANARY}`, 'literal-secret'],
    ['a value of another type', 'confirmation_mode: true', 'confirmation_mode: yes!', 'wrong-type'],
  ])('mends a broken file: %s', async (_, from, to, code) => {
    const agent = await begin(FILE());
    const before = front.writes().length;
    writeFileSync(join(folder.path, 'settings.yaml'), FILE().replace(from, to));
    const checked = await call(agent, 'validate');
    expect(checked.exit).toBe(3);
    const [problem] = member(checked, 'diagnostics') as Placed[];
    expect(problem).toMatchObject({ code });
    const { path = [], fix } = problem ?? {};
    if (fix?.rename !== undefined) {
      const gone = { path: path.join('.'), remove: true };
      expect((await call(agent, 'propose_change', gone)).failed).toBe(false);
    }
    const place = fix?.rename === undefined ? path : [...path.slice(0, -1), fix.rename];
    await propose(agent, { [place.join('.')]: fix?.value ?? true });
    expect((await call(agent, 'validate')).exit).toBe(0);
    expect((await call(agent, 'drift')).exit).toBe(0);
    expect(front.writes()).toHaveLength(before);
    for (const line of FILE().split('\n')) expect(file()).toContain(line);
  });
});
