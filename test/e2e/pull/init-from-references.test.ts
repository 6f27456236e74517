/** What other programs replace in their files is a reference or left out, never a value and never null, whatever file it is in. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { setpoint } from '../../fixture/command-here.ts';
import { folderWith } from '../../fixture/command.ts';

let folder: ReturnType<typeof folderWith> | undefined;
afterEach(() => folder?.remove());

/** The file that an init makes of others, without comments, and what it prints. */
async function initOf(files: Record<string, string>, from = Object.keys(files)) {
  folder?.remove();
  folder = folderWith(files);
  const cwd = folder.path;
  const flags = from.flatMap((one) => ['--from', one]);
  const ended = await setpoint(['init', ...flags, '--dialect', 'agent-server'], { cwd });
  const path = join(cwd, 'settings.yaml');
  const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
  const lines = text.split('\n').filter((line) => !/^\s*#/.test(line));
  if (text !== '')
    expect(await setpoint(['validate'], { cwd })).toMatchObject({ code: 0, stderr: '' });
  return { ...ended, text, settings: lines.join('\n') };
}

const FORMS: Readonly<Record<string, string>> = {
  GitHub: "${{ vars.LLM_MODEL || 'openai/gpt-5' }}",
  'a secret of GitHub': '${{ secrets.MODEL }}',
  Jinja: '{{ llm_model }}',
  Helm: '{{ .Values.model }}',
  Windows: '%LLM_MODEL%',
  PowerShell: '$env:LLM_MODEL',
  'a person': '<your-model>',
  words: 'your-api-key',
  'a default of another variable': '${A:-${B}}',
  'a text for a variable that is set': '${A:+b}',
  'a folder of an editor': '${workspaceFolder}/x',
  OpenCode: '{env:X_KEY}',
  'a file of OpenCode': '{file:~/.key}',
  'a command': '$(pass show x)',
  'a secret store': 'op://vault/item/field',
  'a part': 'a-{{ b }}-c',
};
const toml = (text: string): string => JSON.stringify(text);
const SOURCES: Readonly<Record<string, (form: string) => Record<string, string>>> = {
  compose: (form) => ({
    'compose.yaml': `services:\n  a:\n    environment:\n      LLM_TIMEOUT: "60"\n      LLM_MODEL: ${JSON.stringify(form)}\n      LLM_BASE_URL: ${JSON.stringify(form)}\n      LLM_API_KEY: ${JSON.stringify(form)}\n`,
  }),
  dotenv: (form) => ({
    '.env': [
      'LLM_TIMEOUT=60',
      ...['MODEL', 'BASE_URL', 'API_KEY'].map((name) => `LLM_${name}="${form}"`),
    ].join('\n'),
  }),
  'config.toml': (form) => ({
    'config.toml': `[core]\nmax_iterations = 5\n[llm]\nmodel = ${toml(form)}\nbase_url = ${toml(form)}\napi_key = ${toml(form)}\n[llm.fast]\nmodel = ${toml(form)}\n`,
  }),
  'settings.json': (form) => ({
    'settings.json': JSON.stringify({
      agent_settings: {
        agent_kind: 'openhands',
        llm: { model: form, base_url: form, api_key: form, timeout: 60 },
      },
    }),
  }),
  'mcp.json': (form) => ({
    'mcp.json': JSON.stringify({
      mcpServers: {
        open: { command: 'npx', args: ['-y', 'x'] },
        url: { url: form },
        host: { url: `https://${form}/mcp` },
        header: { url: 'https://x.example.com/mcp', headers: { 'X-Key': form } },
        env: { command: 'npx', env: { LEVEL: form, TOKEN: form } },
        args: { command: 'npx', args: [form, `--level=${form}`, '--token', form] },
        command: { command: form },
        cwd: { command: 'npx', cwd: form },
      },
    }),
  }),
  'an object of Kubernetes': (form) => ({
    'k8s.yaml': `kind: ConfigMap\nmetadata: { name: a }\ndata: { LLM_TIMEOUT: "60", LLM_MODEL: ${JSON.stringify(form)}, LLM_BASE_URL: ${JSON.stringify(form)}, LLM_API_KEY: ${JSON.stringify(form)} }\n`,
  }),
};

describe('each form in each file', () => {
  for (const [source, files] of Object.entries(SOURCES))
    it.each(Object.entries(FORMS))(`${source}: %s`, async (_, form) => {
      const { settings, code, stdout } = await initOf(files(form));
      expect(code).toBe(0);
      expect(settings).not.toMatch(/: null/);
      // What is left are references of setpoint.
      expect(settings.replaceAll(/\$\{env:\w+(?::-[^{}$]*)?\}/g, '')).not.toMatch(
        /\$|\{\{|%\w+%|<your|your-|\{env|\{file|op:\/\//,
      );
      expect(stdout).not.toMatch(/its value is in/);
    });
});

describe('what a form becomes', () => {
  it('a variable that it names, with its default', async () => {
    const { settings } = await initOf(SOURCES['compose']?.(FORMS['GitHub'] ?? '') ?? {});
    expect(settings).toContain('llm_model: ${env:LLM_MODEL:-openai/gpt-5}');
    expect(settings).toContain('llm_api_key: ${env:LLM_MODEL}');
  });

  it('a default that a file cannot have is reported', async () => {
    const text =
      'services:\n  a:\n    environment:\n      - LLM_MODEL=${A:-${B}}\n      - LLM_API_KEY=${K:-local-llm}\n';
    const { stdout, text: file } = await initOf({ 'compose.yaml': text });
    for (const told of [stdout, file]) {
      expect(told).toContain(
        'LLM_MODEL (line 4): its default is not taken: it names another variable',
      );
      expect(told).toContain(
        'LLM_API_KEY (line 5): its default is not taken: a secret has none in a settings file',
      );
    }
  });

  it('a variable of the program itself stays in its arguments', async () => {
    const server = (env: object) => ({
      command: 'npx',
      args: ['mcp-remote', 'https://x.example.com/mcp', '--header', 'Authorization:${AUTH}'],
      env,
    });
    const mcpServers = {
      own: server({ AUTH: 'Bearer canary' }),
      passed: server({ AUTH: '${AUTH}' }),
    };
    const { settings, stdout } = await initOf({ 'mcp.json': JSON.stringify({ mcpServers }) });
    expect(settings).toContain('"Authorization:$${AUTH}"');
    expect(settings).toContain('"Authorization:${env:AUTH}"');
    expect(stdout.match(/OWN_AUTH/g)).toHaveLength(1);
  });
});

describe('forms of the service itself', () => {
  it('auth in every spelling, and what a server keeps of a login is its own', async () => {
    const at = (auth: unknown) => ({ url: 'https://x.example.com/mcp', auth });
    const mcp_config = {
      bearer: at({ strategy: 'bearer', value: 'canary-1' }),
      key: at({ strategy: 'api_key', value: 'canary-2', header_name: 'X-Key' }),
      basic: at({ strategy: 'basic', username: 'me', password: 'canary-3' }),
      header: at({ strategy: 'header', headers: { 'X-A': 'canary-4' } }),
      login: at({ strategy: 'oauth2', state: { tokens: { access_token: 'canary-5' } } }),
      text: at('canary-6'),
      oauth: at('oauth'),
    };
    const { settings, stdout } = await initOf({
      'settings.json': JSON.stringify({ agent_settings: { mcp_config } }),
    });
    expect(settings + stdout).not.toContain('canary');
    for (const name of Object.keys(mcp_config)) expect(settings).toContain(`  ${name}:\n`);
    expect([...settings.matchAll(/strategy: (.*)/g)].map(([, one]) => one)).toEqual([
      'bearer',
      'api_key',
      'basic',
      'header',
      'oauth2',
      'bearer',
      'oauth2',
    ]);
    expect(settings).not.toContain('state:');
  });

  it('agent profiles of the folder, and encrypted values', async () => {
    const cipher = `gAAAAAB${'x1'.repeat(60)}==`;
    const { settings, stdout } = await initOf(
      {
        'oh/settings.json': JSON.stringify({
          agent_settings: { agent_kind: 'openhands', llm: { model: 'a/b', api_key: cipher } },
        }),
        'oh/profiles/main.json': JSON.stringify({ model: 'a/b' }),
        'oh/agent-profiles/coder.json': JSON.stringify({
          id: 'x',
          name: 'coder',
          revision: 3,
          agent_kind: 'openhands',
          llm_profile_ref: 'main',
          mcp_server_refs: ['memory'],
          persona: 'Use {{ x }}.',
        }),
      },
      ['oh'],
    );
    expect(settings).toContain(
      '  coder:\n    agent_kind: openhands\n    llm_profile: main\n    mcp_servers: [memory]\n    persona: Use {{ x }}.\n',
    );
    expect(stdout).toMatch(
      /_KEY: encrypted in \S*settings\.json: .*for the server that wrote it: enter the value itself/,
    );
  });

  it('tables under [llm] that are no models, and names with dots', async () => {
    const { settings, stdout } = await initOf({
      'config.toml':
        '[llm]\nmodel = "a/b"\ncompletion_kwargs = { x = 1 }\n[llm.claude-3.5-sonnet]\nmodel = "c/d"\nmax_input_tokens = 0\n',
    });
    expect(settings).toContain('  claude-3.5-sonnet:\n    model: c/d\n');
    expect(settings).not.toContain('completion_kwargs');
    expect(stdout).toContain('llm.completion_kwargs (line 3)');
  });
});

describe('objects of Kubernetes', () => {
  const DEPLOYMENT = `kind: Deployment
spec:
  template:
    spec:
      containers:
        - name: openhands
          envFrom: [{ configMapRef: { name: oh } }, { secretRef: { name: gone } }, { prefix: LLM_, secretRef: { name: keys } }]
          env:
            - { name: LLM_BASE_URL, valueFrom: { configMapKeyRef: { name: oh, key: base } } }
            - { name: LLM_TIMEOUT, value: "60" }
            - { name: SESSION_API_KEY, value: canary-0 }
`;
  const CONFIG = `kind: ConfigMap
metadata: { name: oh }
data: { LLM_MODEL: a/b, LLM_TIMEOUT: "5", base: "https://llm.example.com" }
---
kind: Secret
metadata: { name: keys }
data: { API_KEY: ${Buffer.from('canary-1-abc').toString('base64')} }
`;
  it.each([
    ['in one file', { 'k8s.yaml': `${DEPLOYMENT}---\n${CONFIG}` }],
    ['in two', { 'deployment.yaml': DEPLOYMENT, 'config.yaml': CONFIG }],
  ])('envFrom and valueFrom %s', async (_, files) => {
    const { settings, stdout } = await initOf(files);
    expect(settings).toContain('llm_model: a/b');
    expect(settings).toContain('llm_base_url: https://llm.example.com');
    expect(settings).toContain('llm_api_key: ${env:LLM_API_KEY}');
    expect(settings).toContain('timeout: 60');
    expect(settings + stdout).not.toMatch(/canary|hidden/);
    expect(stdout).toContain('the Secret is in no file here: give it with --from, too');
  });
});

describe('what is not taken', () => {
  it('is listed whole, also in the file', async () => {
    const names = Array.from({ length: 40 }, (_, index) => `MY_VARIABLE_${index}`);
    const { stdout, text } = await initOf({
      '.env': `LLM_MODEL=a/b\n${names.map((name) => `${name}=1`).join('\n')}\n`,
    });
    for (const name of names) {
      expect(stdout).toContain(`${name} (line `);
      expect(text).toContain(`${name} (line `);
    }
  });

  it('of two files that have a key each, the one that holds is read', async () => {
    const { stdout } = await initOf({
      'one.env': 'LLM_MODEL=a/one\nLLM_API_KEY=canary-1\n',
      'two.env': 'LLM_MODEL=a/two\nLLM_API_KEY=canary-2\n',
    });
    expect(stdout).toContain('LLM_API_KEY (line 2): two.env has another value and comes later');
    expect(stdout).toContain('Next: setpoint plan --dotenv two.env.');
  });

  it('of a chart are its values', async () => {
    const { stderr, code } = await initOf({
      'values.yaml': 'image: { tag: x }\nenv: { LLM_MODEL: a/b }\n',
    });
    expect([code, stderr]).toEqual([
      3,
      expect.stringContaining('give what helm template writes') as string,
    ]);
  });
});
