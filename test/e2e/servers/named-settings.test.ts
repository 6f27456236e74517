/** MCP servers, marketplaces and disabled skills that a file declares by name, beside its settings. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { apply } from '../../../src/reconciler/operations/apply.ts';
import { explain } from '../../../src/reconciler/operations/explain.ts';
import { drift, plan } from '../../../src/reconciler/operations/plan.ts';
import { pull } from '../../../src/reconciler/operations/pull.ts';
import { validate } from '../../../src/reconciler/operations/validate.ts';
import { startFronted, type Fronted } from '../../fixture/before-service.ts';
import { folderWith } from '../../fixture/command.ts';
import { describeEach, itEach } from '../../fixture/long.ts';
import { quickClock, request } from '../../fixture/settings.ts';
import { startStore } from '../../fixture/store-server.ts';

const KEY = 'a-key';
const ENV = { TRACKER: 'canary-tracker', FS_TOKEN: 'canary-files', OTHER: 'canary-other' };
const SETTINGS = {
  'settings-v0': '/api/settings',
  'app-server': '/api/v1/settings',
  'agent-server': '/api/settings',
} as const;
type Dialect = keyof typeof SETTINGS;
const DIALECTS = ['settings-v0', 'app-server', 'agent-server'] as const;

let folder: ReturnType<typeof folderWith>;
let front: Fronted;
afterEach(async () => {
  await front.close();
  folder.remove();
});

async function service(dialect: Dialect): Promise<void> {
  folder = folderWith({});
  front = await startFronted({ dialect, apiKey: KEY, data: join(folder.path, 'store.json') });
}

function asked(blocks: string, settings = '{ language: en }') {
  const text = `version: 1\nserver: { url: "${front.url}", api_key: "\${env:KEY}" }\nsettings: ${settings}\n${blocks}\n`;
  const file = join(folder.path, 'settings.yaml');
  return { text, file, env: { ...ENV, KEY, SETPOINT_STATE_KEY: 'state' }, clock: quickClock() };
}

async function applied(blocks: string, settings?: string) {
  const [environment] = (await apply({ ...asked(blocks, settings), allow: ['empty-store'] }))
    .environments;
  expect(environment).toMatchObject({ error: null });
  expect(JSON.stringify(environment)).not.toContain('canary');
  return environment;
}

async function planned(blocks: string, settings?: string) {
  const [environment] = (await plan(asked(blocks, settings))).environments;
  expect(JSON.stringify(environment)).not.toContain('canary');
  return environment;
}

type Json = Readonly<Record<string, unknown>>;

async function record(dialect: Dialect): Promise<Json> {
  const headers: Record<string, string> =
    dialect === 'agent-server' ? { 'X-Expose-Secrets': 'plaintext' } : {};
  const { body } = await front.ask('GET', SETTINGS[dialect], undefined, headers);
  return body as Json;
}

function at(value: unknown, ...keys: readonly string[]): unknown {
  return keys.reduce<unknown>((inner, key) => (inner as Json | null)?.[key], value);
}

/** The servers that are stored, with secrets as far as the service shows them, by name or by address. */
async function servers(dialect: Dialect): Promise<Json> {
  const body = await record(dialect);
  if (dialect !== 'settings-v0') return (at(body, 'agent_settings', 'mcp_config') ?? {}) as Json;
  const lists = Object.values((body['mcp_config'] ?? {}) as Json) as readonly Json[][];
  return Object.fromEntries(lists.flat().map((one) => [one['name'] ?? one['url'], one]));
}

/** Stores settings as somebody else does. */
async function stored(dialect: Dialect, mcp: Json): Promise<void> {
  const body = await record(dialect);
  const reply =
    dialect === 'settings-v0'
      ? await front.ask('POST', SETTINGS[dialect], { ...body, ...mcp })
      : dialect === 'app-server'
        ? await front.ask('POST', SETTINGS[dialect], mcp)
        : await front.ask('PATCH', SETTINGS[dialect], mcp);
  expect(reply.status).toBe(200);
}

function writes(): number {
  return front.writes().length;
}

const URL = 'https://mcp.example.com/mcp';
const TRACKER = `tracker: { url: "${URL}", transport: http, auth: { strategy: bearer, value: "\${env:TRACKER}" } }`;
const FILES = 'files: { command: npx, args: [-y, server-fs], env: { TOKEN: "${env:FS_TOKEN}" } }';
const SERVERS = `mcp_servers:\n  ${TRACKER}\n  ${FILES}`;
/** The two as somebody else stores them. */
const OWN = {
  tracker: { url: URL, transport: 'http', auth: { strategy: 'bearer', value: ENV.TRACKER } },
  files: { command: 'npx', args: ['-y', 'server-fs'], env: { TOKEN: ENV.FS_TOKEN } },
};
const OTHER = { url: 'https://other.example.com/mcp' };

const LATER = ['app-server', 'agent-server'] as const;

function isOften(dialect: string): boolean {
  return dialect !== 'app-server';
}

function isNative(dialect: string): boolean {
  return dialect === 'agent-server';
}

describeEach(DIALECTS, isOften)('%s: mcp servers by name', (dialect) => {
  const other = dialect === 'settings-v0' ? OTHER.url : 'other';

  async function addOther(secret?: string): Promise<void> {
    if (dialect === 'settings-v0') {
      const config = at(await record(dialect), 'mcp_config') as Json;
      const list = config['shttp_servers'] as readonly Json[];
      const entry = { ...OTHER, api_key: secret ?? null };
      return stored(dialect, { mcp_config: { ...config, shttp_servers: [...list, entry] } });
    }
    const auth = secret === undefined ? {} : { auth: { strategy: 'api_key', value: secret } };
    const entry = { ...OTHER, ...auth };
    const all = dialect === 'app-server' ? { ...OWN, other: entry } : { other: entry };
    return stored(dialect, { agent_settings_diff: { mcp_config: all } });
  }

  it('keep the secrets of the others, or refuse the write that would lose them', async () => {
    await service(dialect);
    await applied(SERVERS);
    await addOther('canary-other');
    const changed = SERVERS.replace('server-fs', 'server-fs-2');
    const before = writes();
    const [environment] = (await apply(asked(changed))).environments;
    expect(JSON.stringify(environment)).not.toContain('canary');
    if (dialect === 'app-server') {
      expect(environment).toMatchObject({
        status: 'refused',
        error: { code: 'guard-refused' },
        refusals: [
          {
            rule: 'lose-unreadable',
            path: ['mcp_servers', 'other', 'auth', 'value'],
          },
        ],
      });
      expect(writes()).toBe(before);
      return;
    }
    expect(environment).toMatchObject({ status: 'applied', error: null });
    expect(JSON.stringify((await servers(dialect))[other])).toContain('canary-other');
  });
});

const LISTS = {
  'app-server': {
    marketplaces: ['registered_marketplaces'],
    skills: ['disabled_skills'],
  },
  'agent-server': {
    marketplaces: ['agent_settings', 'agent_context', 'registered_marketplaces'],
    skills: ['agent_settings', 'agent_context', 'disabled_skills'],
  },
} as const;

describeEach(LATER, isNative)('%s: marketplaces and skills', (dialect) => {
  const paths = LISTS[dialect];
  const MARKETPLACES = `marketplaces:
  team: { source: "github:example/skills", auto_load: true }
  extra: { source: "github:example/extra", ref: v3, repo_path: deploy }
disabled_skills: [b, a]`;

  it('drift, and are code that runs', async () => {
    await service(dialect);
    await applied(MARKETPLACES);
    const one = [{ name: 'evil', source: 'github:evil/skills' }];
    await stored(
      dialect,
      dialect === 'app-server'
        ? { registered_marketplaces: one }
        : { agent_settings_diff: { agent_context: { registered_marketplaces: one } } },
    );
    const [drifted] = (await drift(asked(MARKETPLACES))).environments;
    expect(drifted).toMatchObject({
      status: 'differs',
      changes: [{ path: paths.marketplaces, action: 'change' }],
    });
    const [guarded] = (await plan(asked(`${MARKETPLACES}\nguards: { run_code: true }`)))
      .environments;
    expect(guarded).toMatchObject({ refusals: [{ rule: 'run-code', path: paths.marketplaces }] });
  });
});

describe('settings-v0', () => {
  it('keeps disabled skills from release 1.6 on', async () => {
    const store = await startStore({ release: '1.6' }, { language: 'en', disabled_skills: ['c'] });
    onTestFinished(() => store.close());
    const given = request(store.url, '  language: en\n  sandbox_api_key: null\n');
    const ask = { ...given, text: `${given.text}\ndisabled_skills: [a, b]\n` };
    expect((await apply(ask)).environments).toMatchObject([
      { status: 'applied', changes: [{ path: ['disabled_skills'], action: 'change' }] },
    ]);
    expect(store.stored?.['disabled_skills']).toEqual(['a', 'b']);
    expect((await plan(ask)).environments).toMatchObject([{ status: 'in-sync' }]);
    const older = await startStore({ release: '1.5' }, { language: 'en' });
    onTestFinished(() => older.close());
    const [environment] = (await plan({ ...ask, text: ask.text.replace(store.url, older.url) }))
      .environments;
    expect(environment).toMatchObject({ error: { code: 'unfit-for-service' } });
  });

  it('says that null removes no server with a url, whose name it does not keep', async () => {
    await service('settings-v0');
    await applied(SERVERS);
    expect(await planned('mcp_servers: { tracker: null, files: null }')).toMatchObject({
      changes: [{ path: ['mcp_servers', 'files'], action: 'remove' }],
      warnings: expect.arrayContaining([
        expect.objectContaining({ code: 'not-cleared', path: ['mcp_servers', 'tracker'] }),
      ]),
    });
  });
});

describe('named settings', () => {
  itEach(DIALECTS, isNative)('are named by flags as the file does: %s', async (dialect) => {
    await service(dialect);
    await applied(SERVERS);
    const rotated = await apply({ ...asked(SERVERS), rotate: ['mcp_servers.tracker'] });
    expect(rotated.environments).toMatchObject([
      {
        status: 'applied',
        changes: [{ path: ['mcp_servers', 'tracker'], action: 'rotate' }],
      },
    ]);
    const changed = SERVERS.replace('server-fs', 'server-fs-2');
    const ask = { ...asked(changed), path: 'mcp_servers.files' };
    expect((await explain(ask)).environments).toMatchObject([
      { changes: [{ path: ['mcp_servers', 'files'], action: 'change' }] },
    ]);
    expect((await explain({ ...ask, path: 'mcp_servers.tracker' })).environments).toMatchObject([
      { changes: [] },
    ]);
    expect(await planned(`${changed}\nunmanaged: [mcp_servers.files]`)).toMatchObject({
      status: 'in-sync',
      unmanaged: expect.arrayContaining([['mcp_servers', 'files']]),
    });
  });

  itEach(DIALECTS, isNative)('are judged by the guards: %s', async (dialect) => {
    await service(dialect);
    const guards = 'guards: { run_code: true, move_endpoint: true }';
    const [fresh] = (await plan(asked(`${SERVERS}\n${guards}`))).environments;
    expect(fresh).toMatchObject({
      refusals: [{ rule: 'run-code', path: ['mcp_servers', 'files'] }],
    });
    expect(JSON.stringify(fresh)).not.toContain('canary');
  });

  itEach(DIALECTS, isNative)(
    'that are null now are an edit, and drift later: %s',
    async (dialect) => {
      await service(dialect);
      await applied(SERVERS);
      const before = join(folder.path, 'before.yaml');
      const ask = asked(`mcp_servers:\n  ${TRACKER}\n  files: null`);
      writeFileSync(before, asked(SERVERS).text);
      const edit = await plan({ ...ask, base: before });
      expect(edit.environments).toMatchObject([
        { changes: [{ action: 'remove', class: 'pending' }] },
      ]);
      writeFileSync(before, ask.text);
      const came = await plan({ ...ask, base: before });
      expect(came.environments).toMatchObject([
        { changes: [{ action: 'remove', class: 'drift' }] },
      ]);
    },
  );

  itEach(DIALECTS, isNative)('are pulled where the file has them: %s', async (dialect) => {
    await service(dialect);
    await applied(SERVERS);
    const lists = dialect === 'settings-v0' ? '' : '\ndisabled_skills: [a]';
    const { text, ...ask } = asked(`${SERVERS.replace('server-fs', 'server-fs-2')}${lists}`);
    writeFileSync(ask.file, text);
    const pulled = await pull({ ...ask, adopt: 'all' });
    expect(pulled).toMatchObject({ environments: [{ error: null }] });
    expect(JSON.stringify(pulled)).not.toContain('canary');
    const edited = readFileSync(ask.file, 'utf8');
    for (const never of ['mcp_config', 'registered_marketplaces', 'canary', 'server-fs-2'])
      expect(edited).not.toContain(never);
    expect(edited).toContain(dialect === 'settings-v0' ? 'server-fs' : 'disabled_skills: []');
  });

  itEach(LATER, isNative)('move with their names: %s', async (dialect) => {
    await service(dialect);
    await applied(SERVERS);
    // The same name at another address, and as a program.
    const moved = `mcp_servers:\n  tracker: { url: "https://new.example.com/mcp", transport: sse }\n  ${FILES}`;
    const done = await applied(moved);
    expect(done).toMatchObject({ status: 'applied' });
    expect(await servers(dialect)).toMatchObject({
      tracker: { url: 'https://new.example.com/mcp', transport: 'sse' },
      files: { command: 'npx' },
    });
    expect(JSON.stringify((await servers(dialect))['tracker'])).not.toContain('canary');
    expect(await applied(moved)).toMatchObject({ status: 'in-sync' });
  });

  it('are merged by environments, and refused when they are incomplete', async () => {
    await service('agent-server');
    const [head = ''] = asked('').text.split('settings:');
    const text = `${head.replace(/server:.*/, '')}mcp_servers:
  tracker: { url: "${URL}", description: one }
  other: { enabled: true }
marketplaces: { team: { ref: v1 } }
environments:
  one:
    server: { url: "${front.url}" }
    mcp_servers: { other: { command: npx }, tracker: null }
    marketplaces: { team: { source: "github:a/b" } }
  two:
    server: { url: "${front.url}" }
`;
    const { diagnostics } = await validate({ ...asked(''), text });
    expect(diagnostics.map(({ code, path }) => [code, path])).toEqual([
      ['missing-key', ['mcp_servers', 'other']],
      ['missing-key', ['marketplaces', 'team']],
    ]);
    const wrong = await validate(
      asked('mcp_servers: { a: { url: https://x, urll: y, auth: { value: z } } }'),
    );
    expect(wrong.diagnostics.map(({ code, path }) => [code, path])).toEqual([
      ['unknown-key', ['mcp_servers', 'a', 'urll']],
      ['missing-key', ['mcp_servers', 'a', 'auth']],
      ['literal-secret', ['mcp_servers', 'a', 'auth', 'value']],
    ]);
  });

  it('are refused where a service lacks them', async () => {
    await service('settings-v0');
    const [environment] = (await plan(asked('marketplaces: { a: { source: "github:a/b" } }')))
      .environments;
    expect(environment).toMatchObject({
      status: 'error',
      error: {
        code: 'unfit-for-service',
        message:
          'The file does not fit this service (settings-v0 API). It has no marketplaces: app-server 1.11.0 and agent-server 1.57.0 have it.',
      },
    });
  });

  it.each([
    [SERVERS, '{ mcp_config: { shttp_servers: [] } }', 'settings.mcp_config'],
    [SERVERS, '{ agent_settings: { mcp_config: {} } }', 'settings.agent_settings.mcp_config'],
    ['marketplaces: {}', '{ registered_marketplaces: [] }', 'settings.registered_marketplaces'],
    ['disabled_skills: []', '{ disabled_skills: [] }', 'settings.disabled_skills'],
  ])('are refused beside the same under settings: %s', async (blocks, settings, place) => {
    await service('agent-server');
    const { diagnostics } = await validate(asked(blocks, settings));
    const [block = ''] = blocks.split(':');
    expect(diagnostics).toMatchObject([
      { code: 'declared-twice', path: place.split('.'), line: 3 },
      { code: 'declared-twice', path: [block] },
    ]);
  });
});
