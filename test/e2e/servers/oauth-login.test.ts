/** A person logs in to an mcp server in the user interface: the server keeps the tokens beside what the file declares, and for it alone. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { apply } from '../../../src/reconciler/operations/apply.ts';
import { init } from '../../../src/reconciler/operations/init.ts';
import { plan } from '../../../src/reconciler/operations/plan.ts';
import { startFronted, type Fronted } from '../../fixture/before-service.ts';
import { folderWith } from '../../fixture/command.ts';
import { quickClock } from '../../fixture/settings.ts';

const [ACCESS, REFRESH] = ['access-canary-1', 'refresh-canary-1'];
const STATE = {
  tokens: {
    access_token: ACCESS,
    refresh_token: REFRESH,
    token_type: 'Bearer',
    expires_in: 3600,
  },
  token_expires_at: 1_800_000_000.5,
};

async function started(dialect: 'agent-server' | 'app-server' = 'agent-server') {
  const folder = folderWith({});
  const front = await startFronted({
    dialect,
    apiKey: 'k',
    data: join(folder.path, 'store.json'),
  });
  onTestFinished(async () => {
    await front.close();
    folder.remove();
  });
  return { front, folder };
}

const SCOPED = (scope: string, url = 'https://n.example.com/mcp') =>
  `login: { url: "${url}", auth: { strategy: oauth2, authentication: { type: oauth, scopes: [${scope}] } } }`;

/** The spellings of one server. */
const SPELLINGS = [
  ['a block', (server: string) => `mcp_servers: { ${server} }`],
  [
    'the native map',
    (server: string) => `settings: { agent_settings: { mcp_config: { ${server} } } }`,
  ],
  [
    'the lists',
    (server: string) =>
      `settings: { mcp_config: { shttp_servers: [${server.replace('login: {', '{ name: login,')}] } }`,
  ],
] as const;

const asked = ({ url }: Fronted, blocks: string, more: object = {}) => ({
  text: `version: 1\nserver: { url: "${url}" }\n${blocks}\n`,
  env: {},
  clock: quickClock(),
  allow: ['empty-store' as const],
  ...more,
});

async function loginStored(front: Fronted): Promise<unknown> {
  const { body } = await front.ask('GET', '/api/settings', undefined, {
    'X-Expose-Secrets': 'plaintext',
  });
  const settings = body as {
    agent_settings: { mcp_config: { login: { auth: { state?: unknown } } } };
  };
  return settings.agent_settings.mcp_config.login.auth.state ?? null;
}

async function logIn(front: Fronted): Promise<void> {
  const diff = { mcp_config: { login: { auth: { state: STATE } } } };
  await front.ask('PATCH', '/api/settings', { agent_settings_diff: diff });
}

describe.each(SPELLINGS)('the login of a server that is declared in %s', (_, spelled) => {
  it('is no difference, and stays with every write that leaves its address', async () => {
    const { front } = await started();
    const first = await apply(asked(front, spelled(SCOPED('read'))));
    expect(first.environments[0]?.error ?? null).toBeNull();
    await logIn(front);
    expect(await loginStored(front)).toMatchObject({ tokens: { refresh_token: REFRESH } });

    const [same] = (await plan(asked(front, spelled(SCOPED('read'))))).environments;
    expect(same).toMatchObject({ error: null, changes: [], unknown: [] });

    const [wider] = (await apply(asked(front, spelled(SCOPED('read, write'))))).environments;
    expect(wider).toMatchObject({ error: null, status: 'applied' });
    expect(await loginStored(front)).toMatchObject({ tokens: { refresh_token: REFRESH } });
    expect(JSON.stringify([same, wider])).not.toMatch(/canary/);
  });

  it('goes when the address moves, which clear-secret refuses', async () => {
    const { front } = await started();
    await apply(asked(front, spelled(SCOPED('read'))));
    await logIn(front);
    const moved = `guards: { clear_secret: true }\n${spelled(SCOPED('read', 'https://two.example.com/mcp'))}`;
    const [refused] = (await apply(asked(front, moved))).environments;
    expect(refused?.error?.message).toContain('(rule clear-secret)');
    expect(await loginStored(front)).not.toBeNull();

    const allow = ['empty-store' as const, 'clear-secret' as const];
    const [allowed] = (await apply(asked(front, moved, { allow }))).environments;
    expect(allowed?.error ?? null).toBeNull();
    expect(await loginStored(front)).toBeNull();
  });
});

it('stays when another client has changed the transport, with all else of the server', async () => {
  const { front } = await started();
  const file = `mcp_servers: { ${SCOPED('read').replace('auth:', 'transport: http, auth:')} }`;
  await apply(asked(front, file));
  await logIn(front);
  const others = { transport: 'sse', description: 'theirs', enabled: false };
  const diff = { mcp_config: { login: others } };
  await front.ask('PATCH', '/api/settings', { agent_settings_diff: diff });
  const [differs] = (await plan(asked(front, file))).environments;
  expect(differs?.changes).toMatchObject([
    { path: ['mcp_servers', 'login'], action: 'change', reason: 'transport differs' },
  ]);
  expect(differs?.warnings).toEqual([]);
  const [healed] = (await apply(asked(front, file))).environments;
  expect(healed).toMatchObject({ status: 'applied', error: null });
  expect(await loginStored(front)).toMatchObject({ tokens: { refresh_token: REFRESH } });
  const { body } = await front.ask('GET', '/api/settings');
  expect(body).toMatchObject({
    agent_settings: {
      mcp_config: { login: { transport: 'http', description: 'theirs', enabled: false } },
    },
  });
  expect(JSON.stringify([differs, healed])).not.toMatch(/canary/);
  expect((await plan(asked(front, file))).environments[0]).toMatchObject({ status: 'in-sync' });
});

it('is not lost where a server replaces the entry and masks it: the write is refused', async () => {
  const { front } = await started('app-server');
  await front.ask('POST', '/api/v1/settings', { language: 'en' });
  const auth = { strategy: 'oauth2', authentication: { type: 'oauth', scopes: ['read'] } };
  const login = { url: 'https://n.example.com/mcp', auth: { ...auth, state: STATE } };
  await front.ask('POST', '/api/v1/settings', { agent_settings_diff: { mcp_config: { login } } });
  const [same] = (await plan(asked(front, `mcp_servers: { ${SCOPED('read')} }`))).environments;
  expect(same).toMatchObject({ error: null, changes: [] });
  const [wider] = (await apply(asked(front, `mcp_servers: { ${SCOPED('read, write')} }`)))
    .environments;
  expect(wider?.error?.message).toBe(
    'This write clears mcp_servers.login.auth.state, which the service does not show. (rule lose-unreadable)',
  );
  expect(JSON.stringify([same, wider])).not.toMatch(/canary/);
});

it('is no part of a first file, and its words are no secrets', async () => {
  const { front, folder } = await started();
  const bearer =
    'gh: { url: "https://gh.example.com/mcp", auth: { strategy: bearer, value: "${env:T}" } }';
  const both = `mcp_servers: { ${SCOPED('read')}, ${bearer} }`;
  await apply(asked(front, both, { env: { T: 'gh-canary' } }));
  await logIn(front);
  const file = join(folder.path, 'settings.yaml');
  await init({ server: front.url, file, env: {}, clock: quickClock() });
  const text = readFileSync(file, 'utf8');
  expect(text).toContain('strategy: bearer');
  expect(text).toContain('strategy: oauth2');
  expect(text).not.toMatch(/state|canary/);
});
