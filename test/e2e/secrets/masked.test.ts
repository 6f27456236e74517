import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startEmulator } from '../../../src/emulator/start.ts';
import { setpoint } from '../../fixture/command-here.ts';
import { folderWith } from '../../fixture/command.ts';
import type { JsonRecord } from '../../fixture/store-server.ts';
import { startPage } from '../../fixture/page.ts';
import { MINUTE, settingsFile, startWatching, watchFolder } from '../../fixture/watch-world.ts';
import { describeEach, itEach } from '../../fixture/long.ts';

/** What only the service has, in free JSON, in the words of a program and under names that nobody knows. */
const FREE = {
  password: 'canary-password',
  github_token: 'ghp_canary',
  list: ['sk-live-canary', 'of canary words'],
  note: 'canary words',
  deep: { args: ['--api-key', 'canary'], env: { MODE: 'Canary' }, headers: { Accept: 'canary' } },
};

const OPENHANDS = {
  agent_settings_diff: {
    llm: {
      model: 'own/one',
      litellm_extra_body: { headers: { 'X-One': 'canary' }, route: 'by canary' },
      extra_headers: { 'X-Two': 'canary' },
    },
    tools: [{ name: 'TerminalTool', params: { ...FREE, depth: 2 } }],
  },
};
const MISC = { misc_settings_diff: { ...FREE, number: 918_273_645, theme: 'dark' } };
const ACP = {
  agent_settings_diff: {
    agent_kind: 'acp',
    acp_server: 'custom',
    acp_command: ['npx', '-y', 'agent-server', '--password', 'canary', 'of canary words'],
    acp_args: ['--api-key', 'sk-live-canary', '--token=Canary', '-v'],
    acp_model: 'sonnet',
  },
};

const CASES: [string, Kind][] = [
  ['agent-server', { dialect: 'agent-server', stored: { ...OPENHANDS, ...MISC } }],
  ['agent-server with an agent of another make', { dialect: 'agent-server', stored: ACP }],
  ['app-server', { dialect: 'app-server', stored: OPENHANDS }],
  ['app-server with an agent of another make', { dialect: 'app-server', stored: ACP }],
];

interface Kind {
  readonly dialect: 'agent-server' | 'app-server';
  readonly stored: JsonRecord;
}

/** What a file declares beside it: all of it differs, and is a literal that the file shows. */
const DECLARED = {
  openhands: `
  agent_settings:
    llm: { litellm_extra_body: { route: shown words, headers: null } }
    tools: [{ name: Shown, params: { note: shown words, password: null } }]
`,
  acp: `
  agent_settings: { acp_command: [npx, -y, shown-program], acp_args: [--verbose] }
`,
  misc: `
  misc_settings: { note: shown words, number: 7, list: [shown words], password: null }
`,
};

function declared({ dialect, stored }: Kind): string {
  const part = stored === ACP ? DECLARED.acp : DECLARED.openhands;
  return dialect === 'agent-server' && stored !== ACP ? part + DECLARED.misc : part;
}

async function served({ dialect, stored }: Kind) {
  const service = await startEmulator({ dialect });
  onTestFinished(() => service.close());
  const [path, method] =
    dialect === 'app-server' ? ['/api/v1/settings', 'POST'] : ['/api/settings', 'PATCH'];
  const reply = await fetch(service.url + path, {
    method,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(stored),
  });
  expect(reply.status).toBe(200);
  return service.url;
}

function placeWith(files: Record<string, string>) {
  const folder = folderWith(files);
  onTestFinished(() => folder.remove());
  const run = async (...args: string[]) => {
    const ended = await setpoint(args, { cwd: folder.path, env: { KEY: 'k' } });
    return { ...ended, text: [ended.stdout, ended.stderr, filesIn(folder.path)].join('\n') };
  };
  return { path: folder.path, run };
}

function filesIn(folder: string): string {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => `${name}\n${readFileSync(join(parentPath, name), 'utf8')}`)
    .join('\n');
}

const file = (url: string, settings: string): string =>
  `version: 1\nserver: { url: "${url}" }\nsettings:${settings === '' ? ' {}\n' : settings}`;

const COMMANDS = [
  ...['text', 'json', 'markdown', 'github', 'html'].flatMap((format) => [
    ['plan', '-v', '-o', format],
    ['drift', '-v', '-o', format],
    ['apply', '--dry-run', '-v', '-o', format],
  ]),
  ['get', 'settings', '-v'],
  ['get', 'settings', '-o', 'json=seen.json'],
  ['explain', '-o', 'json'],
  ['explain', 'agent_settings', '-v'],
  ['doctor', '-v', '-o', 'json'],
  ['pull', '--check', '-v'],
  ['pull', '--force', '-o', 'json'],
  ['pull', '--force', '--adopt', 'all', '-o', 'json'],
  ['apply', '--yes', '-v', '-o', 'json=outcome.json'],
];

describeEach(CASES, (_, index) => index === 0)(
  'what only the service has is masked on %s',
  (named, kind) => {
    // Each command on one of them in turn.
    const turn = CASES.findIndex(([name]) => name === named);
    itEach(COMMANDS, (_, index) => index % CASES.length === turn)(
      'by %s %s %s %s %s',
      async (...args) => {
        const url = await served(kind);
        for (const settings of ['', declared(kind)]) {
          const { run } = placeWith({ 'settings.yaml': file(url, settings) });
          const { code, text } = await run(...args);
          expect([0, 2], text).toContain(code);
          expect(text).not.toMatch(/canary|918273645/i);
        }
      },
    );

    it('by init, and the file that it writes is planned without a change', async () => {
      const url = await served(kind);
      const { path, run } = placeWith({});
      const { code, text } = await run('init', '--server', url);
      expect(code, text).toBe(0);
      expect(text).not.toMatch(/canary|918273645/i);
      const planned = await run('plan', '--exit-code');
      expect(planned.code, planned.text).toBe(0);
      expect(planned.stdout).toContain('No changes.');
      const written = readFileSync(join(path, 'settings.yaml'), 'utf8');
      // What is harmless by its form, or has the name of a secret and is none, is written as it is.
      expect(written).toContain(kind.stored === ACP ? '--api-key' : 'name: TerminalTool');
      if (kind.stored === ACP) expect(written).toContain('secret_name: CODEX_AUTH_JSON');
    });

    it('by a controller, its journal and its page', async () => {
      const url = await served(kind);
      const folder = watchFolder();
      settingsFile(folder, file(url, declared(kind)));
      const world = startWatching({ folder });
      await world.pass(MINUTE);
      const { ask } = await startPage(world.controller.states());
      const pages = [
        '/',
        '/environments/default',
        '/api/environments',
        '/api/environments/default',
      ];
      const answers = await Promise.all(pages.map(async (path) => ask(path)));
      await world.stop();
      const texts = answers.map(({ status, text }) => `${status} ${text}`);
      const shown = [...texts, JSON.stringify(world.state()), filesIn(world.data)].join('\n');
      expect(shown).toContain('shown');
      expect(shown).not.toMatch(/canary|918273645/i);
    });

    it('and literals that the file declares are shown, in a plan and by get', async () => {
      const url = await served(kind);
      const { run } = placeWith({ 'settings.yaml': file(url, declared(kind)) });
      expect((await run('plan')).stdout).toContain('shown');
      expect((await run('apply', '--yes')).code).toBe(0);
      const { stdout } = await run('get', 'settings', '-o', 'json');
      expect(stdout).toContain('shown');
      expect(stdout).not.toMatch(/canary|918273645/i);
      // A snapshot knows them again.
      await run('get', 'settings', '-o', 'json=seen.json');
      const planned = await run('plan', '--snapshot', 'seen.json', '--exit-code');
      expect(planned.code, planned.text).toBe(0);
      expect(planned.stdout).toMatch(/^No changes\.$/m);
    });
  },
);

/** What somebody may have put where a name or a prompt belongs. */
const PUT_THERE = [
  'sk-live-canary4f9a',
  'use key=sk-live-canary4f9a now',
  'the "ghp_canary4f9a" one',
  'canary9f3b2c7d8e1a4b5c6d7e8f9a0b',
  'Log in with password canaryhunter2 first',
  'send Bearer canaryabc',
  'https://host.example/x?token=canary1',
];
const PLACES = {
  'agent-server': (text: string) => ({
    agent_settings_diff: {
      persona: text,
      llm: { usage_id: text, api_version: text, aws_role_name: text, reasoning_effort: text },
      verification: { critic_model_name: text },
      agent_context: {
        system_message_suffix: text,
        disabled_skills: [text],
        skills: [{ name: text, content: text, description: text, source: text }],
      },
      mcp_config: { m: { command: 'run', cwd: text, description: text, icon: text } },
    },
    misc_settings_diff: { app_preferences: { title_llm_profile: text, git_user_name: text } },
  }),
  'app-server': (text: string) => ({
    language: text,
    disabled_skills: [text],
    default_sandbox_spec_id: text,
    agent_settings_diff: {
      llm: { usage_id: text, openrouter_app_name: text },
      agent_context: { user_message_suffix: text, marketplace_path: text },
    },
  }),
};

describeEach(['agent-server', 'app-server'] as const, (dialect) => dialect === 'agent-server')(
  'a listed place of %s',
  (dialect) => {
    itEach(PUT_THERE, (_, index) => index < 2)(
      'that holds %s is masked, and init writes a reference',
      async (text) => {
        const url = await served({ dialect, stored: PLACES[dialect](text) });
        const { run } = placeWith({});
        const commands = [
          ['init', '--server', url],
          ['plan', '-v', '-o', 'json'],
          ['get', 'settings', '-v', '-o', 'json'],
        ];
        for (const args of commands) {
          const shown = await run(...args);
          expect([0, 2], shown.text).toContain(shown.code);
          expect(shown.text).not.toMatch(/canary/i);
        }
        const differs = placeWith({
          'settings.yaml': file(url, '\n  agent_settings: { llm: { usage_id: shown } }\n'),
        });
        const planned = await differs.run('plan');
        expect(planned.stdout).toContain('shown');
        expect(planned.text).not.toMatch(/canary/i);
      },
    );

    it('that holds a name, an id or plain prose is shown', async () => {
      const text = 'Reviews pull requests, in short sentences.';
      const url = await served({ dialect, stored: PLACES[dialect](text) });
      const { run } = placeWith({ 'settings.yaml': file(url, '') });
      expect((await run('get', 'settings', '-o', 'json')).stdout).toContain(text);
    });
  },
);
