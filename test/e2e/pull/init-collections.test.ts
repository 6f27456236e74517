/** What a service keeps by name, in the first settings file: a plan of it changes nothing, and no secret is in it. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { init } from '../../../src/reconciler/operations/init.ts';
import { plan } from '../../../src/reconciler/operations/plan.ts';
import { startFronted, type Fronted } from '../../fixture/before-service.ts';
import { folderWith } from '../../fixture/command.ts';
import { quickClock } from '../../fixture/settings.ts';

const KEY = 'canary-server-key';

let front: Fronted;
let folder: ReturnType<typeof folderWith>;
afterEach(async () => {
  await front.close();
  folder.remove();
});

async function service(dialect: 'settings-v0' | 'app-server' | 'agent-server'): Promise<void> {
  folder = folderWith({});
  front = await startFronted({ dialect, apiKey: KEY, data: join(folder.path, 'store.json') });
}

async function ask(
  requests: readonly (readonly [string, string, unknown?])[],
): Promise<Record<string, unknown>[]> {
  const answers: Record<string, unknown>[] = [];
  for (const [method, path, body] of requests) {
    const { status, body: answer } = await front.ask(method, path, body);
    expect([path, status < 300]).toEqual([path, true]);
    answers.push(answer as Record<string, unknown>);
  }
  return answers;
}

/** The text of the file that init writes; a plan of it changes nothing, whichever of its variables are set. */
async function initial(values: Record<string, string> = {}) {
  const file = join(folder.path, 'settings.yaml');
  const env = { SETPOINT_API_KEY: KEY };
  const document = await init({ file, server: front.url, env, clock: quickClock() });
  const text = readFileSync(file, 'utf8');
  expect(text + JSON.stringify(document)).not.toContain('canary');
  const writes = front.seen.filter(({ method }) => method !== 'GET');
  expect(writes).toEqual([]);
  const others = Object.fromEntries(document.variables.map(({ name }) => [name, 'canary-any']));
  for (const one of [env, { ...others, ...values, ...env }]) {
    const planned = await plan({ file, env: one, clock: quickClock() });
    expect(planned.environments).toMatchObject([{ error: null, changes: [] }]);
    expect(JSON.stringify(planned)).not.toContain('canary');
  }
  const [settings = '', ...blocks] = text
    .slice(text.search(/^(?:# )?settings:/m))
    .split(/\n\n(?! )/);
  return {
    document,
    text,
    settings: settings.replaceAll(/^ *#.*\n/gm, ''),
    blocks:
      blocks.map((block) => block.replace(/^# (?!Left out).*\n/, '').trimEnd()).join('\n') + '\n',
  };
}

const AGENT_SERVER = [
  ['PUT', '/api/settings/secrets', { name: 'JIRA_TOKEN', value: 'canary-jira' }],
  ['PUT', '/api/settings/secrets', { name: 'DB', value: 'canary-db', description: 'a ${replica}' }],
  [
    'POST',
    '/api/profiles/cheap',
    {
      llm: {
        model: 'openai/gpt-5-mini',
        api_key: 'canary-cheap',
        temperature: 0.2,
        base_url: 'https://user:canary-password@llm.example.com/v1',
        extra_headers: { 'X-Team': 'canary-header' },
      },
    },
  ],
  [
    'POST',
    '/api/meta-profiles/router',
    { classifier_model: 'cheap', classes: [{ description: 'pictures', model: 'main' }] },
  ],
  [
    'POST',
    '/api/agent-profiles/reviewer',
    { llm_profile_ref: 'main', secret_refs: ['JIRA_TOKEN'], persona: 'You review.' },
  ],
] as const;

/** An Agent Server with something of each collection; the agent profile is active only if `isActive`. */
async function agentServer(isActive: boolean): Promise<void> {
  await service('agent-server');
  const connection = { display_name: 'team', provider: 'anthropic', api_key: 'canary-team' };
  const [made] = await ask([['POST', '/api/llm/provider-connections', connection]]);
  const llm = { model: 'anthropic/claude-sonnet-4-5', provider_connection_id: made?.['id'] };
  await ask([
    ['POST', '/api/profiles/main', { llm }],
    ...AGENT_SERVER,
    ['POST', '/api/profiles/main/activate', {}],
    ['POST', '/api/meta-profiles/router/activate', {}],
  ]);
  if (!isActive) return;
  const { body } = await front.ask('GET', '/api/agent-profiles/reviewer');
  const { id } = (body as { profile: { id: string } }).profile;
  await ask([['POST', `/api/agent-profiles/${id}/activate`, {}]]);
}

const SHOWN = {
  CHEAP_BASE_URL: 'https://user:canary-password@llm.example.com/v1',
  CHEAP_EXTRA_HEADERS_X_TEAM: 'canary-header',
};

it('has all of an Agent Server; what is active brings the llm of the settings', async () => {
  await agentServer(true);
  const { document, settings, blocks } = await initial(SHOWN);
  expect(settings).not.toMatch(/llm|meta_profile|active/);
  expect(blocks).toBe(`secrets:
  JIRA_TOKEN: \${env:JIRA_TOKEN}
  DB: \${env:DB}
  # Left out: secrets.DB.description: a settings file cannot contain the value on the service.
provider_connections:
  team:
    provider: anthropic
    api_key: \${env:TEAM_API_KEY}
llm_profiles:
  cheap:
    model: openai/gpt-5-mini
    base_url: \${env:CHEAP_BASE_URL}
    temperature: 0.2
    extra_headers:
      X-Team: \${env:CHEAP_EXTRA_HEADERS_X_TEAM}
    api_key: \${env:CHEAP_API_KEY}
  main:
    model: anthropic/claude-sonnet-4-5
    connection: team
meta_profiles:
  router:
    classifier: cheap
    classes:
      - description: pictures
        model: main
agent_profiles:
  reviewer:
    llm_profile: main
    secrets: [JIRA_TOKEN]
    persona: You review.
active:
  llm_profile: main
  meta_profile: router
  agent_profile: reviewer
`);
  expect(document.variables.map(({ name, path }) => [name, path.join('.')])).toEqual([
    ['SETPOINT_API_KEY', 'server.api_key'],
    ['JIRA_TOKEN', 'secrets.JIRA_TOKEN'],
    ['DB', 'secrets.DB'],
    ['TEAM_API_KEY', 'provider_connections.team.api_key'],
    ['CHEAP_BASE_URL', 'llm_profiles.cheap.base_url'],
    ['CHEAP_EXTRA_HEADERS_X_TEAM', 'llm_profiles.cheap.extra_headers.X-Team'],
    ['CHEAP_API_KEY', 'llm_profiles.cheap.api_key'],
  ]);
});

it('has the llm of the settings, and no active profile, where somebody has changed the copy of it', async () => {
  await service('agent-server');
  const llm = { model: 'openai/gpt-5-mini', api_key: 'canary-main' };
  await ask([
    ['POST', '/api/profiles/main', { llm }],
    ['POST', '/api/profiles/main/activate', {}],
    ['PATCH', '/api/settings', { agent_settings_diff: { llm: { model: 'openai/gpt-5' } } }],
  ]);
  const { document, settings, blocks } = await initial();
  expect(settings).toContain('llm_model: openai/gpt-5\n');
  expect(settings + blocks).not.toMatch(/^ *active/m);
  expect(document.left).toContainEqual({
    path: ['active', 'llm_profile'],
    reason: 'the settings have another copy of it; an apply makes it active again',
    ref: null,
  });
});

it('asks for no list that writes, and says so', async () => {
  await agentServer(false);
  const { blocks } = await initial(SHOWN);
  expect(front.seen.map(({ path }) => path)).not.toContain('/api/agent-profiles');
  expect(blocks).toContain(
    '# Left out: agent_profiles: listing them would create one on this server.',
  );
});

const APP_SERVER = [
  [
    'POST',
    '/api/v1/settings',
    { language: 'en', agent_settings_diff: { llm: { model: 'openai/gpt-5', temperature: 0.7 } } },
  ],
  ['POST', '/api/v1/secrets', { name: 'JIRA_TOKEN', value: 'canary-jira' }],
  [
    'POST',
    '/api/v1/settings/profiles/main',
    {
      llm: {
        model: 'openai/gpt-5',
        base_url: 'https://llm.example.com/v1',
        api_key: 'canary-main',
      },
    },
  ],
] as const;

const MAIN = `secrets:
  JIRA_TOKEN: \${env:JIRA_TOKEN}
llm_profiles:
  main:
    model: openai/gpt-5
    base_url: https://llm.example.com/v1
    api_key: \${env:MAIN_API_KEY}
`;

it('has the profiles of an app-server, and the llm of its settings while none is active', async () => {
  await service('app-server');
  await ask(APP_SERVER);
  const { settings, blocks } = await initial();
  expect(settings).toContain('llm_model: openai/gpt-5');
  expect(settings).toContain('temperature: 0.7');
  expect(blocks).toBe(MAIN);
});

it('has the active profile of an app-server in the place of that llm', async () => {
  await service('app-server');
  await ask([...APP_SERVER, ['POST', '/api/v1/settings/profiles/main/activate', {}]]);
  const { settings, blocks } = await initial();
  expect(settings).toContain('language: en');
  expect(settings).not.toContain('llm');
  expect(blocks).toBe(`${MAIN}active:\n  llm_profile: main\n`);
});

it('has the llm of the settings where the active profile is not declared', async () => {
  await service('app-server');
  await ask([...APP_SERVER, ['POST', '/api/v1/settings/profiles/main/activate', {}]]);
  const hidden = { name: 'main', model: 'openai/gpt-5', base_url: `https://x.example/${KEY}` };
  front.instead = ({ method, path }) =>
    method === 'GET' && path === '/api/v1/settings/profiles/main'
      ? { status: 200, body: { name: 'main', config: hidden } }
      : null;
  const { settings, blocks } = await initial();
  expect(settings).toContain('llm_model: openai/gpt-5');
  expect(blocks).toContain(
    '# Left out: active.llm_profile: the profile that is active is not declared.',
  );
});

it('has them in an environment that is added to a file, too', async () => {
  await service('app-server');
  await ask([
    ['POST', '/api/v1/settings', { language: 'de' }],
    ['POST', '/api/v1/secrets', { name: 'JIRA', value: 'canary-jira' }],
    [
      'POST',
      '/api/v1/settings/profiles/main',
      { llm: { model: 'openai/x', base_url: 'https://llm.example', api_key: 'canary-llm' } },
    ],
    ['POST', '/api/v1/settings/profiles/main/activate'],
  ]);
  const file = join(folder.path, 'settings.yaml');
  const before = `version: 1
environments:
  one:
    server: { url: "https://one.example.com" }
    secrets: { JIRA: "\${env:JIRA}" }
`;
  writeFileSync(file, before);
  const env = { SETPOINT_API_KEY: KEY };
  const asked = { file, env, clock: quickClock() };
  const document = await init({ ...asked, server: front.url, environment: 'two' });
  const text = readFileSync(file, 'utf8');
  expect(text + JSON.stringify(document)).not.toContain('canary');
  expect(text).toContain(before);
  expect(text.slice(text.indexOf('    secrets:\n'))).toBe(`    secrets:
      JIRA: \${env:TWO_JIRA}
    llm_profiles:
      main:
        model: openai/x
        base_url: https://llm.example
        api_key: \${env:TWO_MAIN_API_KEY}
    active:
      llm_profile: main
    settings:
      language: de
`);
  const values = Object.fromEntries(document.variables.map(({ name }) => [name, 'any']));
  const own = { ...values, ...env, TWO_API_KEY: KEY };
  const planned = await plan({ ...asked, targets: ['two'], env: own });
  expect(planned.environments).toMatchObject([{ error: null, changes: [] }]);
});

it('leaves out names that a file cannot hold, and says so in the file', async () => {
  await service('settings-v0');
  await ask([
    ['POST', '/api/settings', { language: 'en' }],
    ['POST', '/api/secrets', { name: 'JIRA_TOKEN', value: 'canary-1' }],
    ['POST', '/api/secrets', { name: 'jira_token', value: 'canary-2' }],
    ['POST', '/api/secrets', { name: 'ROTATED', value: 'canary-3' }],
    ['POST', '/api/secrets', { name: 'ROTATED__next', value: 'canary-3' }],
    ['POST', '/api/secrets', { name: 'a-b\nc', value: 'canary-4' }],
    ['POST', '/api/secrets', { name: 'ghp_0123456789abcdefghijABCDEFGHIJ456789', value: 'x' }],
  ]);
  const { document, text, blocks } = await initial();
  expect(text).not.toContain('ghp_');
  expect(document.left).toHaveLength(5);
  expect(blocks).toBe(`secrets:
  JIRA_TOKEN: \${env:JIRA_TOKEN}
  # Left out: secrets.jira_token: a settings file cannot contain both this name and another one on the service.
  # Left out: secrets.ROTATED: a rotation of it was interrupted, which would be finished; declare it by hand.
  # Left out: secrets.ROTATED__next: a rotation of it was interrupted, which would be finished; declare it by hand.
  # Left out: secrets["a-b\\nc"]: a settings file cannot contain the value on the service.
  # Left out: secrets: the value on the service may contain a secret.
`);
});

it('leaves out a collection whose list cannot be read, and says so', async () => {
  await service('app-server');
  await ask(APP_SERVER);
  front.instead = ({ path }) =>
    path.startsWith('/api/v1/secrets') ? { status: 403, body: { detail: 'canary' } } : null;
  const { blocks } = await initial();
  expect(blocks).toContain('# Left out: secrets: the service did not list them.');
  expect(blocks).toContain('llm_profiles:');
});
