import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { startEmulator } from '../../../src/emulator/start.ts';
import { readDotenv, withDotenv } from '../../../src/reconciler/host/reference-source.ts';
import { init } from '../../../src/reconciler/operations/init.ts';
import { pull } from '../../../src/reconciler/operations/pull.ts';
import type { InitRequest } from '../../../src/reconciler/operations/options.ts';
import { plan } from '../../../src/reconciler/operations/plan.ts';
import { validate } from '../../../src/reconciler/operations/validate.ts';
import { planText } from '../../../src/reconciler/render/section-text.ts';
import { folderWith } from '../../fixture/command.ts';
import { quickClock } from '../../fixture/settings.ts';
import {
  startStore,
  type JsonRecord,
  type Semantics,
  type StoreServer,
} from '../../fixture/store-server.ts';
import { itEach } from '../../fixture/long.ts';

const CANARY = 'CANARY-7f3a91c2';
const ENV = { SETPOINT_API_KEY: `${CANARY}-key` };
const STYLE = { color: false, width: null, verbose: true };

const stores: StoreServer[] = [];
const folders: { remove(): void }[] = [];
afterEach(async () => {
  await Promise.all(stores.splice(0).map((store) => store.close()));
  for (const folder of folders.splice(0)) folder.remove();
});

async function storeWith(stored: JsonRecord | null, semantics: Partial<Semantics> = {}) {
  const store = await startStore(semantics, stored);
  stores.push(store);
  return store;
}

function folderOf(files: Record<string, string> = {}): string {
  const folder = folderWith(files);
  folders.push(folder);
  return folder.path;
}

function read(folder: string, name = 'settings.yaml'): string {
  return readFileSync(join(folder, name), 'utf8');
}

function asked(folder: string, server: string, more: Partial<InitRequest> = {}): InitRequest {
  return { file: join(folder, 'settings.yaml'), server, env: ENV, clock: quickClock(), ...more };
}

/** What a plan of a folder's file ends with, target by target. */
async function planned(folder: string, env: Record<string, string> = ENV) {
  const file = join(folder, 'settings.yaml');
  expect((await validate({ file, env })).diagnostics).toEqual([]);
  const document = await plan({ file, env, clock: quickClock() });
  expect(document.environments.flatMap(({ error }) => error ?? [])).toEqual([]);
  return { document, text: planText(document, STYLE) };
}

const STORED: JsonRecord = {
  language: 'en',
  agent: null,
  max_iterations: 100,
  confirmation_mode: true,
  llm_model: 'anthropic/claude-sonnet-4-5',
  llm_base_url: `https://user:${CANARY}@llm.example.com/v1?k=${CANARY}`,
  llm_api_key: `${CANARY}-llm`,
  search_api_key: `${CANARY}-search`,
  enable_default_condenser: false,
  enable_sound_notifications: false,
  git_user_name: 'a "bot": #1',
  git_user_email: '',
  max_budget_per_task: 2.5,
  condenser_max_size: 10,
  a_later_field: { nested: [1, 'two', null] },
  mcp_config: {
    sse_servers: [
      { url: 'https://mcp.example.com/sse', api_key: `${CANARY}-sse` },
      { url: 'https://mcp.example.com/other', api_key: `${CANARY}-other` },
      { url: `https://open.example.com/sse?token=${CANARY}`, api_key: null },
    ],
    stdio_servers: [
      {
        name: 'files',
        command: 'npx',
        args: [
          '-y',
          'server-files',
          '/data/dir',
          `--api-key=${CANARY}-arg`,
          '--token',
          `${CANARY}-t`,
        ],
        env: {
          LOG_LEVEL: 'info',
          FILES_TOKEN: `${CANARY}-token`,
          DATABASE: `postgres://u:${CANARY}@db/x`,
        },
      },
    ],
    shttp_servers: [],
  },
};

/** The values of the variables of the file that is made of STORED. */
const VALUES = {
  ...ENV,
  LLM_BASE_URL: `https://user:${CANARY}@llm.example.com/v1?k=${CANARY}`,
  LLM_API_KEY: `${CANARY}-llm`,
  SEARCH_API_KEY: `${CANARY}-search`,
  MCP_EXAMPLE_COM_API_KEY: `${CANARY}-sse`,
  MCP_EXAMPLE_COM_OTHER_API_KEY: `${CANARY}-other`,
  OPEN_EXAMPLE_COM_URL: `https://open.example.com/sse?token=${CANARY}`,
  FILES_API_KEY: `${CANARY}-arg`,
  FILES_TOKEN_2: `${CANARY}-token`,
  FILES_TOKEN: `${CANARY}-t`,
  FILES_DATABASE: `postgres://u:${CANARY}@db/x`,
};

describe('init', () => {
  it('leaves out what later servers have as members of their own, so that the plan is empty', async () => {
    const store = await storeWith({
      language: 'en',
      sandbox_grouping_strategy: 'NO_GROUPING',
      disabled_skills: ['web'],
      user_version: 3,
    });
    const folder = folderOf();
    const { left } = await init(asked(folder, store.url));
    expect(left.map(({ path, reason }) => [path, reason])).toEqual(
      ['sandbox_grouping_strategy', 'disabled_skills', 'user_version'].map((name) => [
        [name],
        'setpoint does not manage it on a server of this kind',
      ]),
    );
    const { environments } = await plan({ file: join(folder, 'settings.yaml'), env: VALUES });
    expect(environments[0]).toMatchObject({ status: 'in-sync', changes: [], error: null });
  });

  it('writes what the service has, commented, secrets as references, and the files beside it', async () => {
    const store = await storeWith(structuredClone(STORED));
    const folder = folderOf();
    const document = await init(asked(folder, store.url));
    expect(document).toMatchObject({ kind: 'init', environment: 'default', status: 'stored' });
    expect(document.left).toEqual([
      {
        path: ['condenser_max_size'],
        reason: 'a settings file cannot contain the value on the service',
        ref: null,
      },
      { path: ['a_later_field'], reason: 'this version of setpoint does not know it', ref: null },
    ]);
    const text = read(folder);
    expect(text.replace(store.url, 'URL'))
      .toBe(`# Written from what the service had. What is absent is not managed, and never changed; null clears a field.
#   setpoint plan     shows what an apply would change
#   setpoint pull     imports what was changed on the service since
version: 1

server:
  # The service's base address, with a path prefix if a proxy adds one.
  url: URL
  # The key that the service needs.
  api_key: \${env:SETPOINT_API_KEY}

settings:
  # The language of the user interface, as a code.
  language: en
  # How many steps a conversation may take.
  max_iterations: 100
  # Whether a person confirms an agent's actions before they run.
  confirmation_mode: true
  # The model new conversations use.
  llm_model: anthropic/claude-sonnet-4-5
  # The key for the model's provider.
  llm_api_key: \${env:LLM_API_KEY}
  # The address of the model, for a provider of your own.
  llm_base_url: \${env:LLM_BASE_URL}
  # Whether long conversations are condensed.
  enable_default_condenser: false
  # The MCP servers an agent may use.
  mcp_config:
    sse_servers:
      - url: https://mcp.example.com/sse
        api_key: \${env:MCP_EXAMPLE_COM_API_KEY}
      - url: https://mcp.example.com/other
        api_key: \${env:MCP_EXAMPLE_COM_OTHER_API_KEY}
      - url: \${env:OPEN_EXAMPLE_COM_URL}
    stdio_servers:
      - name: files
        command: npx
        args:
          - -y
          - server-files
          - /data/dir
          - --api-key=\${env:FILES_API_KEY}
          - --token
          - \${env:FILES_TOKEN}
        env:
          LOG_LEVEL: info
          FILES_TOKEN: \${env:FILES_TOKEN_2}
          DATABASE: \${env:FILES_DATABASE}
    shttp_servers: []
  # The key for the search provider.
  search_api_key: \${env:SEARCH_API_KEY}
  # How much one task may cost at most, in US dollars.
  max_budget_per_task: 2.5
  # The name that commits carry.
  git_user_name: "a \\"bot\\": #1"

  # Not managed: remove a # to manage the field.
  # agent: null
  # security_analyzer: null
  # remote_runtime_resource_factor: null
  # secrets_store: {"provider_tokens":{"github":{"token":"\${env:GIT_PROVIDER_TOKEN}"}}}
  # enable_sound_notifications: false
  # enable_proactive_conversation_starters: true
  # enable_solvability_analysis: true
  # user_consents_to_analytics: false
  # sandbox_base_container_image: null
  # sandbox_runtime_container_image: null
  # sandbox_api_key: null
  # condenser_max_size: null
  # email: null
  # email_verified: null
  # git_user_email: null
`);
    expect(read(folder, '.gitignore')).toBe('.env\n.setpoint/\n');
    const example = read(folder, '.env.example');
    expect(example).toContain(
      '# server.api_key: The key that the service needs.\nSETPOINT_API_KEY=\n',
    );
    expect(example).toContain("# llm_api_key: The key for the model's provider.\nLLM_API_KEY=\n");
    expect(example).toContain(
      '# mcp_config.sse_servers[https://mcp.example.com/sse].api_key\nMCP_EXAMPLE_COM_API_KEY=\n',
    );
    expect([text, example, JSON.stringify(document)].join('')).not.toContain('CANARY');
    expect(readdirSync(folder).toSorted()).toEqual(['.env.example', '.gitignore', 'settings.yaml']);
    expect(store.posts()).toBe(0);
    expect(Object.keys(readDotenv(join(folder, '.env.example'))).toSorted()).toEqual(
      Object.keys(VALUES).toSorted(),
    );
    for (const env of [ENV, VALUES]) {
      const { document: found, text: shown } = await planned(folder, env);
      expect(found.environments).toMatchObject([{ status: 'in-sync', changes: [] }]);
      expect(shown).toContain('No changes.');
    }
  });

  it('writes a first file for one environment, with a key of its own, and its plan is empty', async () => {
    const store = await storeWith({ language: 'de' });
    const folder = folderOf();
    const first = { ...asked(folder, store.url), environment: 'staging' };
    const { environment, variables } = await init(first);
    expect(environment).toBe('staging');
    expect(variables).toMatchObject([{ name: 'STAGING_API_KEY' }]);
    const text = read(folder);
    expect(text).toMatch(/^environments:\n {2}staging:\n {4}server:\n/m);
    expect(text).not.toMatch(/^server:/m);
    const env = { STAGING_API_KEY: ENV.SETPOINT_API_KEY };
    const { environments } = await plan({ file: join(folder, 'settings.yaml'), env });
    expect(environments).toMatchObject([{ name: 'staging', status: 'in-sync', error: null }]);
    const again = init({ ...first, environment: 'a/b', file: join(folder, 'other.yaml') });
    await expect(again).rejects.toThrow('The name of an environment');
  });

  it('writes no key if none was sent', async () => {
    const store = await storeWith({ language: 'en' });
    const folder = folderOf();
    await init(asked(folder, store.url, { env: {} }));
    expect(read(folder)).not.toContain('api_key: ${env:SETPOINT');
    expect(read(folder, '.env.example')).not.toContain('SETPOINT');
    expect((await planned(folder, {})).text).toContain('No changes.');
  });

  it('of an empty store is a file that declares nothing', async () => {
    const store = await storeWith(null);
    const folder = folderOf();
    expect(await init(asked(folder, store.url))).toMatchObject({ status: 'empty' });
    expect(read(folder)).toContain(
      '\n# Not managed: remove the # of settings and of a field to manage it.\n# settings:\n#   language: null\n',
    );
    expect((await planned(folder)).text).toContain('No changes.');
  });

  it('writes over nothing, and adds to the files beside it only what is not there', async () => {
    const store = await storeWith(structuredClone(STORED));
    const folder = folderOf({
      'settings.yaml': 'mine',
      '.gitignore': 'node_modules/\r\n/.env',
      '.env.example': '# mine\nLLM_API_KEY=put it here',
    });
    await expect(init(asked(folder, store.url))).rejects.toMatchObject({ code: 'usage' });
    expect(read(folder)).toBe('mine');
    expect(store.requests).toHaveLength(0);
    const other = { file: join(folder, 'other.yaml') };
    await init(asked(folder, store.url, other));
    expect(read(folder, '.gitignore')).toBe('node_modules/\r\n/.env\r\n.setpoint/\r\n');
    expect(read(folder, '.env.example')).toMatch(
      /^# mine\nLLM_API_KEY=put it here\n# server\.api_key/,
    );
    expect(read(folder, '.env.example').match(/LLM_API_KEY=/g)).toHaveLength(1);
    await expect(init(asked(folder, store.url, other))).rejects.toMatchObject({ code: 'usage' });
  });

  it('requires a valid address', async () => {
    const folder = folderOf();
    for (const server of [undefined, 'agents.example.com', 'https://u:p@x', 'https://x?y=1'])
      await expect(init({ ...asked(folder, ''), server })).rejects.toMatchObject({ code: 'usage' });
    expect(readdirSync(folder)).toEqual([]);
  });

  it('works with the embedded service', async () => {
    const folder = folderOf();
    await init(asked(folder, 'embedded:', { env: {} }));
    expect(read(folder)).toContain('  url: "embedded:"\n');
    expect((await planned(folder, {})).text).toContain('No changes.');
    const emulator = await startEmulator({});
    try {
      const second = folderOf();
      await init(asked(second, emulator.url, { env: {} }));
      expect((await planned(second, {})).text).toContain('No changes.');
    } finally {
      await emulator.close();
    }
  });

  const KINDS: Partial<Semantics>[] = [];
  for (const write of ['replace', 'merge'] as const)
    for (const passwords of ['null', 'absent', 'empty', 'mask'] as const)
      for (const mcpSecrets of ['clear', 'null', 'mask', 'empty', 'absent'] as const)
        for (const flags of ['all', 'without-search'] as const)
          KINDS.push({ write, passwords, mcpSecrets, flags });

  itEach(KINDS, (_, index) => index % 13 === 0)(
    'then plan prints "No changes." on $write, $passwords, $mcpSecrets, $flags',
    async (kind) => {
      for (const stored of [STORED, null]) {
        const store = await storeWith(structuredClone(stored), kind);
        const folder = folderOf();
        await init(asked(folder, store.url));
        expect(read(folder)).not.toMatch(/CANARY|\*\*\*/);
        for (const env of [ENV, VALUES]) {
          const { document, text } = await planned(folder, env);
          expect(document.environments).toMatchObject([{ status: 'in-sync', changes: [] }]);
          expect(text).toContain('No changes.');
        }
      }
    },
  );

  it('imports no list that it could not declare whole', async () => {
    const store = await storeWith({
      mcp_config: {
        sse_servers: [{ url: 'https://x.example.com/sse' }, { url: 'https://x.example.com/sse' }],
        stdio_servers: [{ name: 'two words', command: 'npx' }],
        shttp_servers: [{ url: 'https://y.example.com/mcp', timeout: 60 }],
      },
    });
    const folder = folderOf();
    const { left } = await init(asked(folder, store.url));
    expect(left.map(({ path, reason }) => [path.slice(1).join(' '), reason])).toEqual([
      ['sse_servers https://x.example.com/sse#2', 'the service has this entry more than once'],
      ['stdio_servers two words', 'a settings file cannot contain the value on the service'],
    ]);
    expect(read(folder)).toContain(
      '  mcp_config:\n    shttp_servers:\n      - url: https://y.example.com/mcp\n',
    );
    expect((await planned(folder)).text).toContain('No changes.');
  });
});

describe('init -e', () => {
  it('adds an environment that holds only what differs', async () => {
    const one = await storeWith(structuredClone(STORED));
    const other = await storeWith({
      ...structuredClone(STORED),
      language: 'fr',
      max_iterations: null,
      search_api_key: null,
      email: 'staging@example.com',
      mcp_config: {
        ...(STORED['mcp_config'] as JsonRecord),
        stdio_servers: [],
        shttp_servers: [
          { url: 'https://new.example.com/mcp', api_key: `${CANARY}-new`, timeout: 30 },
        ],
      },
    });
    const folder = folderOf();
    await init(asked(folder, one.url));
    const before = `${read(folder)}# the end, without a line break`;
    writeFileSync(join(folder, 'settings.yaml'), before);
    const env = { ...VALUES, STAGING_API_KEY: `${CANARY}-staging` };
    const document = await init(asked(folder, other.url, { environment: 'staging', env }));
    const text = read(folder);
    expect(text.startsWith(before.replace(/# the end.*$/, ''))).toBe(true);
    expect(text.slice(text.indexOf('environments:')).replace(other.url, 'URL')).toBe(`environments:
  default: {}
  staging:
    server:
      url: URL
      api_key: \${env:STAGING_API_KEY}
    settings:
      language: fr
      max_iterations: null
      search_api_key: null
      mcp_config:
        stdio_servers: []
        shttp_servers:
          - url: https://new.example.com/mcp
            api_key: \${env:STAGING_NEW_EXAMPLE_COM_API_KEY}
            timeout: 30
      email: staging@example.com
# the end, without a line break`);
    expect(document).toMatchObject({
      environment: 'staging',
      variables: [{ name: 'STAGING_API_KEY' }, { name: 'STAGING_NEW_EXAMPLE_COM_API_KEY' }],
    });
    expect(text).not.toContain('CANARY');
    expect(read(folder, '.env.example')).toContain('STAGING_API_KEY=\n');
    const all = { ...env, STAGING_NEW_EXAMPLE_COM_API_KEY: `${CANARY}-new` };
    const { document: found } = await planned(folder, all);
    expect(found.environments).toMatchObject([
      { name: 'default', status: 'in-sync' },
      { name: 'staging', status: 'in-sync' },
    ]);
    const { mtimeMs } = { mtimeMs: read(folder) };
    await expect(
      init(asked(folder, other.url, { environment: 'staging', env })),
    ).rejects.toMatchObject({ code: 'usage', message: expect.stringContaining('already') });
    expect(read(folder)).toBe(mtimeMs);
  });

  it('names no key if none was sent, though the blocks above have one', async () => {
    const one = await storeWith({ language: 'en' });
    const folder = folderOf();
    await init(asked(folder, one.url));
    const other = await storeWith({ language: 'en' });
    await init(asked(folder, other.url, { environment: 'dev', env: {} }));
    expect(read(folder)).toContain(
      `  dev:\n    server:\n      url: ${other.url}\n      api_key: null\n`,
    );
    expect((await planned(folder)).document.environments).toMatchObject([
      { status: 'in-sync' },
      { status: 'in-sync' },
    ]);
  });

  it('writes over references of the blocks above without touching them', async () => {
    const store = await storeWith({ git_user_name: 'other', llm_api_key: null, agent: 'A' });
    const text = `version: 1
settings:
  git_user_name: \${env:BOT:-bot} # from outside
  llm_api_key: \${env:LLM}
  agent: \${env:UNSET}
environments:
  prod:
    server: { url: "https://agents.example.com" }
`;
    const folder = folderOf({ 'settings.yaml': text });
    const env = { LLM: `${CANARY}-llm` };
    await init(asked(folder, store.url, { environment: 'dev-1', env }));
    expect(read(folder)).toBe(
      `${text}  dev-1:\n    server:\n      url: ${store.url}\n    settings:\n      llm_api_key: null\n      git_user_name: other\n`,
    );
  });

  it.each(['', '-x', 'a b', 'ä'])('refuses the name %j', async (environment) => {
    const folder = folderOf({ 'settings.yaml': 'version: 1\nserver: { url: "embedded:" }\n' });
    await expect(init(asked(folder, 'embedded:', { environment }))).rejects.toMatchObject({
      code: 'usage',
    });
  });
});

describe('--dotenv', () => {
  it('is read under what the environment has', () => {
    const folder = folderOf({
      '.env': '# c\nexport A=1\nB="x # y" # c\nC=\'it is\'\nD=\nE = spaced \n__proto__=1\n',
    });
    const path = join(folder, '.env');
    expect(readDotenv(path)).toMatchObject({ A: '1', B: 'x # y', C: 'it is', D: '', E: 'spaced' });
    expect(withDotenv({ A: 'mine', B: undefined }, path)).toMatchObject({ A: 'mine', B: 'x # y' });
    expect(withDotenv({ A: 'mine' }, undefined)).toEqual({ A: 'mine' });
  });

  it('never sets where keys may travel', () => {
    const folder = folderOf({ '.env': 'A=1\nSETPOINT_ALLOWED_ORIGINS=*\n' });
    expect(() => withDotenv({}, join(folder, '.env'))).toThrow(
      expect.objectContaining({
        code: 'usage',
        message: '--dotenv: SETPOINT_ALLOWED_ORIGINS cannot be set in a file.',
      }),
    );
  });

  it.each(['NODE_OPTIONS', 'node_options', 'NODE_EXTRA_CA_CERTS', 'NODE_TLS_REJECT_UNAUTHORIZED'])(
    'sets nothing that Node itself reads: %s',
    (name) => {
      const folder = folderOf({ '.env': `A=1\n${name}=--require=./evil.cjs\n` });
      expect(() => withDotenv({}, join(folder, '.env'))).toThrow(
        expect.objectContaining({
          code: 'usage',
          message: `--dotenv: ${name} cannot be set in a file.`,
        }),
      );
    },
  );

  it('holds variables for references, and leaves process.env as it is', () => {
    const folder = folderOf({ '.env': 'SETPOINT_TEST_DOTENV=1\nNODE_ENV=development\n' });
    const before = { ...process.env };
    const env = withDotenv({}, join(folder, '.env'));
    expect(env).toEqual({ SETPOINT_TEST_DOTENV: '1', NODE_ENV: 'development' });
    expect({ ...process.env }).toEqual(before);
  });

  it('is refused if CI is set', () => {
    const folder = folderOf({ '.env': 'A=1\n' });
    const path = join(folder, '.env');
    expect(() => withDotenv({ CI: 'true' }, path)).toThrow(
      expect.objectContaining({ code: 'usage' }),
    );
    expect(withDotenv({ CI: '' }, path)).toMatchObject({ A: '1' });
    expect(() => withDotenv({}, join(folder, 'none'))).toThrow(
      expect.objectContaining({ code: 'file-unreadable' }),
    );
  });
});

describe('a secret of the service is written nowhere, wherever else the service has it', () => {
  const TOKEN = 'plain-words-of-a-token';
  const stored = {
    language: `in ${TOKEN}`,
    git_user_name: TOKEN,
    agent: 'CodeActAgent',
    mcp_config: {
      sse_servers: [
        {
          url: 'https://mcp.example.com/sse',
          api_key: 'shortword',
          headers: { Authorization: TOKEN },
        },
      ],
      stdio_servers: [
        {
          name: 'one',
          command: 'npx',
          args: ['-y', '--root', 'shortword', '--mode=word', '--token', 'word'],
          env: { LEVEL: 'shortword', MODE: 'word', HOME_PAGE: '/shortword', API_TOKEN: 'abc' },
        },
        { name: 'two', command: 'npx', args: ['-y'], env: { LEVEL: 'abc', PLACE: '/abc/def' } },
      ],
      shttp_servers: [{ url: 'https://mcp.example.com/mcp', timeout: 30 }],
    },
  };
  const written = /plain-words|shortword|\bword\b|: "?abc\b/;

  it.each([{}, { mcpSecrets: 'clear' as const }])('by init (%o)', async (semantics) => {
    const store = await storeWith(stored, semantics);
    const folder = folderOf();
    await init(asked(folder, store.url));
    const text = read(folder);
    expect(text).not.toMatch(written);
    expect(text).toContain('/abc/def');
    expect(text).toContain('https://mcp.example.com/mcp');
    expect(read(folder, '.env.example')).not.toMatch(written);
  });

  it('by pull, which says so', async () => {
    const store = await storeWith(stored);
    const settings = { language: 'en', agent: 'Other' };
    const folder = folderOf({
      'settings.yaml': JSON.stringify({ version: 1, server: { url: store.url }, settings }),
    });
    const file = join(folder, 'settings.yaml');
    const { environments } = await pull({ file, env: ENV, adopt: ['git_user_name', 'mcp_config'] });
    const text = read(folder);
    expect(text).not.toMatch(written);
    expect(text).toContain('CodeActAgent');
    expect(environments[0]?.left).toContainEqual({
      path: ['language'],
      reason: 'the value on the service may contain a secret',
      ref: null,
    });
  });
});
