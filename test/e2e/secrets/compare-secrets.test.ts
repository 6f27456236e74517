import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startAgentServer } from '../../fixture/agent-server.ts';
import { setpoint } from '../../fixture/command-here.ts';
import { folderWith } from '../../fixture/command.ts';
import { dedent } from '../../fixture/dedent.ts';
import { encodings } from '../../fixture/encodings.ts';

/** What is stored, and in no variable: the server shows it to whoever asks. */
const STORED = {
  key: 'canary p@ss"w\\ö/1+2\ncanary line2&<x>',
  mcp: 'canary-mcp-4f0c2b',
  head: 'canary-head-7d1e93',
  variable: 'canary-env-55aa10',
  critic: 'canary-critic-c0ffee',
  custom: 'canary-custom-9b31ee',
  profile: 'canary-profile-d41d8c',
};

const FORMATS = ['text', 'json', 'markdown', 'html', 'github'];

const COMMANDS = [
  ...['plan', 'drift'].flatMap((command) => FORMATS.map((format) => [command, '-o', format])),
  ['plan', '--verbose', '--out', 'plan.json'],
  ['plan', '--rotate', 'all', '-o', 'json=rotated.json'],
  ['explain', 'llm_api_key'],
  ['explain', 'mcp_config'],
  ['get', 'settings,secrets,profiles', '-o', 'json=snapshot.json'],
  ['plan', '--snapshot', 'snapshot.json'],
  ['pull', '--check'],
  ['doctor'],
  ...FORMATS.map((format) => ['apply', '--yes', '-o', format, '-o', 'json=outcome.json']),
];

it('no document of any command holds a secret that the server has shown, in any form', async () => {
  const server = await startAgentServer({
    agent_settings_diff: {
      llm: { api_key: STORED.key },
      verification: { critic_api_key: STORED.critic },
      mcp_config: {
        x: {
          url: 'https://x.example.com/mcp',
          auth: { strategy: 'api_key', value: STORED.mcp },
          headers: { 'X-Token': STORED.head },
        },
        fs: { command: 'npx', env: { PLAIN: STORED.variable } },
      },
    },
  });
  onTestFinished(() => server.close());
  const profile = {
    llm: { model: 'openai/gpt-5', api_key: STORED.profile },
    include_secrets: true,
  };
  await server.ask('POST', '/api/profiles/main', profile);
  await server.ask('PUT', '/api/settings/secrets', { name: 'JIRA', value: STORED.custom });
  const folder = folderWith({
    'settings.yaml': dedent`
      version: 1
      server: { url: "${server.url}", api_key: "\${env:KEY}", compare_secrets: true }
      settings:
        language: en
        llm_api_key: \${env:LLM}
        agent_settings: { verification: { critic_api_key: "\${env:LLM}" } }
        mcp_config:
          stdio_servers: [{ name: fs, command: npx, env: { PLAIN: other } }]
          shttp_servers: [{ url: "https://x.example.com/mcp", api_key: "\${env:LLM}", timeout: 9 }]
      secrets: { JIRA: "\${env:LLM}" }
      llm_profiles: { main: { model: openai/gpt-5, api_key: "\${env:LLM}" } }
    `,
  });
  onTestFinished(() => folder.remove());
  const env = { KEY: 'contract-key', LLM: 'sk-declared-1', SETPOINT_STATE_KEY: 'state-key' };
  const forms = Object.values(STORED).flatMap(encodings);
  for (const command of COMMANDS) {
    const { code, stdout, stderr } = await setpoint(command, { cwd: folder.path, env });
    expect(code, `${command.join(' ')}: ${stderr}`).toBeLessThanOrEqual(2);
    const told = [stdout, stderr, ...filesIn(folder.path)].join('\n');
    expect(forms.filter((form) => told.includes(form))).toEqual([]);
  }
  expect(server.seen.some(({ exposes }) => exposes)).toBe(true);
  expect(server.patches()).toHaveLength(1);
});

function filesIn(path: string): string[] {
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'));
}

it.each(['settings-v0', 'app-server'] as const)(
  'a service that speaks %s shows no secret that it hides: the file is refused, and nothing else is sent',
  async (dialect) => {
    const { startEmulator } = await import('../../../src/emulator/start.ts');
    const service = await startEmulator({ dialect, apiKey: 'contract-key' });
    onTestFinished(() => service.close());
    const folder = folderWith({
      'settings.yaml': dedent`
        version: 1
        server: { url: "${service.url}", api_key: "\${env:KEY}", compare_secrets: true }
        settings: { language: en }
      `,
    });
    onTestFinished(() => folder.remove());
    const options = { cwd: folder.path, env: { KEY: 'contract-key' } };
    const { code, stderr, stdout } = await setpoint(['plan'], options);
    expect(code).toBe(3);
    expect(stdout + stderr).toContain(
      `server.compare_secrets is set, but the ${dialect} API does not show secrets`,
    );
  },
);

/** Each secret that an Agent Server shows of what it keeps by name: how a file declares it, and how another client replaces it. */
const NAMED = [
  [
    'secrets.JIRA',
    'secrets: { JIRA: "${env:V}" }',
    'PUT',
    '/api/settings/secrets',
    (value: string) => ({ name: 'JIRA', value }),
  ],
  ...['api_key', 'aws_access_key_id', 'aws_secret_access_key', 'aws_session_token'].map(
    (member) =>
      [
        `llm_profiles.main.${member}`,
        `llm_profiles: { main: { model: openai/gpt-5, ${member}: "\${env:V}" } }`,
        'POST',
        '/api/profiles/main',
        (value: string) => ({
          llm: { model: 'openai/gpt-5', [member]: value },
          include_secrets: true,
        }),
      ] as const,
  ),
] as const;

it.each(NAMED)(
  '%s is compared, also after another client has replaced it, and written again',
  async (path, block, method, place, body) => {
    const server = await startAgentServer();
    onTestFinished(() => server.close());
    const folder = folderWith({
      'settings.yaml': `version: 1\nserver: { url: "${server.url}", api_key: "\${env:KEY}", compare_secrets: true }\nsettings: { language: en }\n${block}\n`,
    });
    onTestFinished(() => folder.remove());
    const run = (...args: string[]) =>
      setpoint(args, { cwd: folder.path, env: { KEY: 'contract-key', V: 'declared-value' } });
    expect((await run('apply', '--yes')).code).toBe(0);
    expect(await run('plan', '--strict', '--exit-code')).toMatchObject({ code: 0 });
    expect((await server.ask(method, place, body('replaced-value'))).status).toBeLessThan(300);
    const differs = await run('plan', '--strict', '--exit-code');
    expect(differs.code).toBe(2);
    expect(differs.stdout).toContain(`~ ${path}: differs`);
    const drift = await run('drift');
    expect(drift.code).toBe(2);
    expect(drift.stdout).toContain('another value');
    expect((await run('plan', '--rotate', path)).stdout).toContain('1 to change');
    expect((await run('apply', '--yes')).code).toBe(0);
    expect(await run('plan', '--strict', '--exit-code')).toMatchObject({ code: 0 });
    expect((await run('plan', '--rotate', path)).stdout).toContain('1 to rotate');
  },
);

it('an answer that keeps values back although they were asked for is not compared, and nothing is written', async () => {
  const server = await startAgentServer();
  onTestFinished(() => server.close());
  const folder = folderWith({
    'settings.yaml': `version: 1\nserver: { url: "${server.url}", api_key: "\${env:KEY}", compare_secrets: true }\nsettings: { language: en }\nsecrets: { JIRA: "\${env:V}" }\nllm_profiles: { main: { model: openai/gpt-5, api_key: "\${env:V}" } }\n`,
  });
  onTestFinished(() => folder.remove());
  const run = (...args: string[]) =>
    setpoint(args, { cwd: folder.path, env: { KEY: 'contract-key', V: 'declared-value' } });
  expect((await run('apply', '--yes')).code).toBe(0);
  server.changed = ({ path }, reply) => {
    if (path === '/api/settings/secrets/JIRA')
      return { status: 404, body: { detail: 'Secret not found' } };
    const text = JSON.stringify(reply.body).replaceAll('"declared-value"', '"**********"');
    return { ...reply, body: JSON.parse(text) as unknown };
  };
  const before = server.writes().length;
  const planned = await run('plan', '--exit-code', '-o', 'json');
  expect(planned.code).toBe(0);
  expect(JSON.parse(planned.stdout)).toMatchObject({
    environments: [
      {
        changes: [],
        unknown: [{ path: ['secrets', 'JIRA'] }, { path: ['llm_profiles', 'main', 'api_key'] }],
      },
    ],
  });
  expect((await run('apply', '--yes')).code).toBe(0);
  expect(server.writes()).toHaveLength(before);
});

it('a profile with a connection has the address of the connection beside its key, and not as its own', async () => {
  const server = await startAgentServer();
  onTestFinished(() => server.close());
  const folder = folderWith({
    'settings.yaml': dedent`
      version: 1
      server: { url: "${server.url}", api_key: "\${env:KEY}", compare_secrets: true }
      provider_connections:
        team: { provider: openai, api_key: "\${env:V}", base_url: "https://llm.example.com/v1" }
      llm_profiles: { main: { model: openai/gpt-5, connection: team } }
    `,
  });
  onTestFinished(() => folder.remove());
  const run = (...args: string[]) =>
    setpoint(args, { cwd: folder.path, env: { KEY: 'contract-key', V: 'declared-value' } });
  expect(await run('apply', '--yes', '--allow', 'empty-store')).toMatchObject({ code: 0 });
  expect(await run('plan', '--exit-code')).toMatchObject({ code: 0 });
});
