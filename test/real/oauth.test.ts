/** The login of a person to an mcp server, which an Agent Server stores beside what the file declares. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { describeSteps, type Step } from '../fixture/loop/steps.ts';
import { healsByWatch } from '../fixture/loop/watched.ts';
import { asked, CANARY, initsWhole, isQuiet, type World } from '../fixture/loop/world.ts';
import type { JsonRecord } from '../fixture/store-server.ts';
import { startRealServer, type RealServer } from './real-server.ts';
import { theRelease } from './releases.ts';

const { release, venv } = theRelease();
const NAME = 'logins of mcp servers';
const URL = 'https://mcp.example.com/mcp';
const SCRIPT = join(import.meta.dirname, 'oauth.py');

/** The parts of a login as the client library of the server stores them, one after the other. */
const LOGIN: JsonRecord = {
  client_info: {
    client_id: 'registered',
    client_secret: `${CANARY}-client`,
    redirect_uris: ['http://localhost:8000/callback'],
  },
  tokens: {
    access_token: `${CANARY}-access`,
    refresh_token: `${CANARY}-refresh`,
    token_type: 'Bearer',
    expires_in: 3600,
    scope: 'read',
  },
  token_expires_at: { expires_at: 1_900_000_000.5 },
};

let server: RealServer;

function login(action: 'store' | 'find', url = URL): JsonRecord {
  const printed = server.python([SCRIPT, action, url], JSON.stringify(LOGIN));
  return JSON.parse(/^LOGIN (.*)$/m.exec(printed)?.[1] ?? '') as JsonRecord;
}

function declare(world: World, more: JsonRecord = {}, blocks: JsonRecord = {}): void {
  const auth = { strategy: 'oauth2', authentication: { type: 'oauth', client_name: 'team' } };
  const tracker = { url: URL, transport: 'http', auth, ...more };
  world.file('settings.yaml', {}, { mcp_servers: { tracker }, ...blocks });
}

/** Runs an action that changes the server, after which the login is as before. */
async function keepsLogin(world: World, action: () => Promise<unknown>): Promise<void> {
  const stored = async () => {
    const { agent_settings: agent } = (await world.server.record()) as {
      agent_settings: { mcp_config: { tracker: { auth: { state: unknown } } } };
    };
    return agent.mcp_config.tracker.auth.state;
  };
  const before = await stored();
  expect(before).toMatchObject({ tokens: LOGIN['tokens'], client_info: LOGIN['client_info'] });
  await action();
  expect(await stored()).toEqual(before);
}

const STEPS: Readonly<Record<string, Step>> = {
  'a login is no difference, and no document shows it': (world) =>
    keepsLogin(world, async () => {
      await isQuiet(world);
      for (const format of ['text', 'json', 'markdown']) await world.run(['plan', '-o', format], 0);
      await world.run(['get', 'settings', '-o', 'json'], 0);
    }),

  'a login stays with a change of its server': (world) =>
    keepsLogin(world, async () => {
      const authentication = { type: 'oauth', client_name: 'team', scopes: ['read', 'write'] };
      declare(world, { timeout: 40, auth: { strategy: 'oauth2', authentication } });
      await world.run(['apply', '--yes'], 0);
      await isQuiet(world);
    }),

  'a login stays with changes of other servers and settings': (world) =>
    keepsLogin(world, async () => {
      const tracker = { url: URL, transport: 'http', auth: { strategy: 'oauth2' } };
      const files = { command: 'npx', args: ['server-fs'] };
      world.file('settings.yaml', { language: 'de' }, { mcp_servers: { tracker, files } });
      await world.run(['apply', '--yes', '--allow', 'run-code'], 0);
      await isQuiet(world);
      world.file('settings.yaml', {}, { mcp_servers: { tracker, files: null } });
      await world.run(['apply', '--yes'], 0);
      declare(world);
      await world.run(['apply', '--yes'], 0);
      await isQuiet(world);
    }),

  'a controller that puts its server back leaves the login': (world) =>
    keepsLogin(world, () =>
      healsByWatch(world, async () => {
        const diff = { mcp_config: { tracker: { transport: 'sse' } } };
        await asked(world, 'PATCH', '/api/settings', { agent_settings_diff: diff });
      }),
    ),

  'a restarted server has the login, and the plan is empty': (world) =>
    keepsLogin(world, async () => {
      await world.server.stop();
      await world.server.start();
      await isQuiet(world);
      expect(login('find')).toEqual(LOGIN);
    }),

  'init writes a file without the login whose plan is empty': (world) =>
    keepsLogin(world, async () => {
      await initsWhole(world, ['name: tracker', 'strategy: oauth2']);
      expect(world.read('full.yaml')).not.toMatch(/state:|tokens|Bearer/);
    }),

  'a login goes when the address changes, and the guard refuses that first': async (world) => {
    const moved = 'https://other.example.com/mcp';
    await keepsLogin(world, async () => {
      declare(world, { url: moved }, { guards: { clear_secret: true } });
      const { stderr } = await world.run(['apply', '--yes'], 5);
      expect(stderr).toContain('clear-secret');
    });
    await world.run(['apply', '--yes', '--allow', 'clear-secret'], 0);
    for (const url of [URL, moved]) expect(login('find', url)).toEqual({});
    await isQuiet(world);
  },
};

if (release.dialect === 'agent-server')
  describeSteps(
    NAME,
    async () => {
      server = await startRealServer(release, venv);
      return server;
    },
    {
      steps: STEPS,
      async seed(world) {
        declare(world);
        await world.run(['apply', '--yes', '--allow', 'empty-store'], 0);
        expect(login('store')).toEqual(LOGIN);
      },
      without: () => ({}),
    },
  );
else
  describe(NAME, () => {
    it.skip('are stored by Agent Servers');
  });
