/** A server whose disk is gone: one file and an environment of secrets bring back all that the file declares. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect } from 'vitest';
import { startEmulator, type Emulator } from '../../../src/emulator/start.ts';
import { setpoint } from '../../fixture/command-here.ts';
import { folderWith } from '../../fixture/command.ts';
import { itEach } from '../../fixture/long.ts';

const KEY = 'canary-server-key';
const ENV = {
  SETPOINT_API_KEY: KEY,
  SETPOINT_STATE_KEY: 'canary-state-key',
  JIRA_TOKEN: 'canary-jira',
  DATABASE_URL: 'canary-database',
  TEAM_KEY: 'canary-team',
  CHEAP_KEY: 'canary-cheap',
};
const SECRETS = {
  JIRA_TOKEN: '${env:JIRA_TOKEN}',
  DATABASE_URL: { value: '${env:DATABASE_URL}', description: 'read replica' },
};
const CHEAP = {
  model: 'openai/gpt-5-mini',
  base_url: 'https://cheap.example.com/v1',
  api_key: '${env:CHEAP_KEY}',
  temperature: 0.2,
};

/** What the file declares of each kind of server. */
const STORIES = {
  'agent-server': {
    settings: { conversation_settings: { confirmation_mode: true } },
    secrets: SECRETS,
    provider_connections: { team: { provider: 'anthropic', api_key: '${env:TEAM_KEY}' } },
    llm_profiles: {
      main: { model: 'anthropic/claude-sonnet-4-5', connection: 'team' },
      cheap: CHEAP,
    },
    meta_profiles: {
      router: { classifier: 'cheap', classes: [{ description: 'pictures', model: 'main' }] },
    },
    agent_profiles: {
      reviewer: { llm_profile: 'main', secrets: ['JIRA_TOKEN'], persona: 'You review.' },
    },
    active: { llm_profile: 'main', agent_profile: 'reviewer', meta_profile: 'router' },
  },
  'app-server': {
    settings: { language: 'en', conversation_settings: { confirmation_mode: true } },
    secrets: SECRETS,
    llm_profiles: {
      main: { ...CHEAP, model: 'openai/gpt-5', api_key: '${env:TEAM_KEY}' },
      cheap: CHEAP,
    },
    active: { llm_profile: 'main' },
  },
};

let service: Emulator;
let folder: ReturnType<typeof folderWith>;
afterEach(async () => {
  await service.close();
  folder.remove();
});

/** Runs the built command in the folder of the file. No output has a secret. */
async function run(args: readonly string[], code: number) {
  const ended = await setpoint(args, { cwd: folder.path, env: ENV });
  expect(ended.stdout + ended.stderr).not.toContain('canary');
  expect(ended).toMatchObject({ code });
  return ended.stdout;
}

/** The values of the variables that a file reads, but for the server's own key. */
function declaredSecrets(declared: unknown): string[] {
  const text = JSON.stringify(declared);
  return Object.entries(ENV).flatMap(([name, value]) =>
    text.includes(`\${env:${name}}`) ? [value] : [],
  );
}

/** What an Agent Server has of the secrets, which it shows those who ask. */
async function storedTexts(): Promise<string> {
  const headers = { 'x-session-api-key': KEY, 'x-expose-secrets': 'plaintext' };
  const secrets = ['JIRA_TOKEN', 'DATABASE_URL'].map((name) => `/api/settings/secrets/${name}`);
  const paths = [...secrets, '/api/profiles/main', '/api/profiles/cheap'];
  const texts = paths.map(async (path) => (await fetch(service.url + path, { headers })).text());
  return (await Promise.all(texts)).join('\n');
}

itEach(['agent-server', 'app-server'] as const, (dialect) => dialect === 'agent-server')(
  'a lost %s is rebuilt from one file and an environment of secrets',
  async (dialect) => {
    const declared = STORIES[dialect];
    folder = folderWith({});
    const startOn = (disk: string, port = 0) =>
      startEmulator({ dialect, apiKey: KEY, data: join(folder.path, disk), port });
    service = await startOn('first.json');
    const server = { url: service.url, api_key: '${env:SETPOINT_API_KEY}' };
    const guards = { empty_store: true, secrets_gone: true };
    const file = JSON.stringify({ version: 1, server, guards, ...declared });
    writeFileSync(join(folder.path, 'settings.yaml'), file);
    await run(['apply', '--yes', '--allow', 'empty-store'], 0);
    await run(['plan', '--strict', '--exit-code'], 0);

    await service.close();
    service = await startOn('second.json', Number(new URL(service.url).port));
    await run(['apply', '--yes'], 5);
    const applied = await run(
      ['apply', '--yes', '--allow', 'empty-store', '--allow', 'secrets-gone'],
      0,
    );
    expect(applied).toContain(`Applied ${dialect === 'agent-server' ? 16 : 11} changes.`);
    for (const _ of ['once', 'twice'])
      expect(await run(['plan', '--strict', '--exit-code'], 0)).toContain('No changes.');
    // No app-server shows a secret: there, a strict plan goes by what was last written.
    if (dialect === 'app-server') return;
    const stored = await storedTexts();
    for (const secret of declaredSecrets(declared)) expect(stored).toContain(secret);
  },
);
