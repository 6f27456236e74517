/** What a service keeps by name, pulled into the file that declares it: after it a plan changes nothing, and every other byte stays. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { apply } from '../../../src/reconciler/operations/apply.ts';
import { parse } from 'yaml';
import { plan } from '../../../src/reconciler/operations/plan.ts';
import { pull } from '../../../src/reconciler/operations/pull.ts';
import type { PullRequest } from '../../../src/reconciler/operations/options.ts';
import { pullEach } from '../../../src/reconciler/operations/pull-each.ts';
import { formatPulled } from '../../../src/reconciler/render/pulled-text.ts';
import { startFronted, type Fronted } from '../../fixture/before-service.ts';
import { folderWith } from '../../fixture/command.ts';
import { LONG, describeEach } from '../../fixture/long.ts';
import { quickClock } from '../../fixture/settings.ts';

const KEY = 'canary-server-key';
const ENV = {
  KEY,
  JIRA: 'canary-jira',
  DB: 'canary-db',
  TEAM: 'canary-team',
  MAIN: 'canary-main',
  CHEAP: 'canary-cheap',
  HUB: 'canary-good-github',
  LAB: 'canary-good-gitlab',
};
const STYLE = { color: false, width: null, verbose: true };
type Dialect = 'settings-v0' | 'app-server' | 'agent-server';

/** Tokens that the products at these hosts confirm contain the text. */
const PRODUCTS = [
  { product: 'github', accepts: 'good-github' },
  { product: 'gitlab', host: 'git.example.com', accepts: 'good-gitlab' },
  { product: 'gitlab', host: 'git2.example.com', accepts: 'good-gitlab' },
] as const;

let front: Fronted;
let folder: ReturnType<typeof folderWith>;
afterEach(async () => {
  await front.close();
  folder.remove();
});

async function service(dialect: Dialect): Promise<void> {
  folder = folderWith({});
  const data = join(folder.path, 'store.json');
  front = await startFronted({ dialect, apiKey: KEY, data, gitProviders: PRODUCTS });
}

const HEAD = (): string => `version: 1
server: { url: "${front.url}", api_key: "\${env:KEY}" }
`;

/** Writes the file, applies it, and has somebody else write to the service. */
async function given(blocks: string, ...requests: readonly Asked[]): Promise<void> {
  const file = join(folder.path, 'settings.yaml');
  writeFileSync(file, HEAD() + blocks);
  const { environments } = await apply({
    file,
    env: ENV,
    clock: quickClock(),
    allow: ['empty-store', 'run-code'],
  });
  expect(environments).toMatchObject([{ error: null }]);
  await ask(...requests);
}

type Asked = readonly [method: string, path: string, body?: unknown];

async function ask(...requests: readonly Asked[]): Promise<Record<string, unknown>[]> {
  const answers: Record<string, unknown>[] = [];
  for (const [method, path, body] of requests) {
    const { status, body: answer } = await front.ask(method, path, body);
    expect([path, status < 300 ? 'done' : answer]).toEqual([path, 'done']);
    answers.push(answer as Record<string, unknown>);
  }
  return answers;
}

/** The lines that went and that came, and what is reported. A plan of the result changes nothing but what is reported; a second pull nothing at all. */
async function pulled(more: Partial<PullRequest> = {}) {
  const file = join(folder.path, 'settings.yaml');
  const before = readFileSync(file, 'utf8');
  front.seen.length = 0;
  const asked = { file, env: ENV, clock: quickClock() };
  const document = await pull({ ...asked, ...more });
  const [environment] = document.environments;
  expect(environment).toMatchObject({ error: null });
  expect(front.writes()).toEqual([]);
  const text = readFileSync(file, 'utf8');
  const shown = formatPulled(document, STYLE);
  expect(text + shown + JSON.stringify(document)).not.toContain('canary');
  const planned = await plan(asked);
  const said = environment?.left.map(({ path }) => path.join('.')) ?? [];
  expect(planned.environments).toMatchObject([{ error: null }]);
  for (const { path, consequence } of planned.environments[0]?.changes ?? [])
    if (consequence !== true) expect(said).toContain(path.join('.'));
  const again = await pull(asked);
  expect(again.files).toMatchObject([{ status: 'unchanged' }]);
  const [old, now] = [before.split('\n'), text.split('\n')];
  return {
    difference: [
      ...old.filter((line) => !now.includes(line)).map((line) => `-${line}`),
      ...now.filter((line) => !old.includes(line)).map((line) => `+${line}`),
    ],
    pulled: environment?.pulled.map(({ path, action }) => `${action} ${path.join('.')}`) ?? [],
    left: environment?.left.map(({ path, reason }) => `${path.join('.')}: ${reason}`) ?? [],
    variables: environment?.variables.map(({ name }) => name) ?? [],
    shown,
    text,
  };
}

const SECRETS = {
  'settings-v0': '/api/secrets',
  'app-server': '/api/v1/secrets',
  'agent-server': '/api/settings/secrets',
} as const;

describe('profiles of an Agent Server', () => {
  const FILE = `settings: { language: en }
provider_connections:
  team: { provider: anthropic, api_key: "\${env:TEAM}", base_url: "https://llm.example.com" }
llm_profiles:
  # the one for work
  main:
    model: anthropic/claude-sonnet-4-5 # the model
    connection: team
  cheap:
    model: openai/gpt-5-mini
    api_key: \${env:CHEAP}
    temperature: 0.2 # cool
meta_profiles:
  router:
    classifier: cheap
    classes:
      - { description: pictures, model: main } # big
agent_profiles:
  reviewer:
    llm_profile: main
    secrets: []
    persona: You review.
active:
  llm_profile: main # the one
  agent_profile: reviewer
  meta_profile: router
`;

  it('takes what somebody changed, member by member', async () => {
    await service('agent-server');
    await given(FILE);
    const list = await front.ask('GET', '/api/llm/provider-connections');
    const [{ id }] = JSON.parse(list.body as string) as [{ id: string }];
    await ask(
      ['PATCH', `/api/llm/provider-connections/${id}`, { base_url: null }],
      [
        'POST',
        '/api/profiles/cheap',
        { llm: { model: 'openai/gpt-5-nano', top_p: 0.5, api_key: 'canary-x' } },
      ],
      ['POST', '/api/profiles/made', { llm: { model: 'openai/gpt-5', api_key: 'canary-made' } }],
      [
        'POST',
        '/api/meta-profiles/router',
        { classifier_model: 'cheap', classes: [{ description: 'all else', model: 'cheap' }] },
      ],
      [
        'POST',
        '/api/agent-profiles/reviewer',
        { llm_profile_ref: 'cheap', system_message_suffix: 'Be kind.' },
      ],
      ['POST', '/api/agent-profiles/other', { llm_profile_ref: 'made' }],
      ['POST', '/api/profiles/made/activate', {}],
    );
    const [other] = await ask(['GET', '/api/agent-profiles/other']);
    const agent = (other as { profile: { id: string } }).profile.id;
    await ask(['POST', `/api/agent-profiles/${agent}/activate`, {}]);
    const first = await pulled();
    expect(first.difference).toEqual([
      '-  team: { provider: anthropic, api_key: "${env:TEAM}", base_url: "https://llm.example.com" }',
      '-    model: openai/gpt-5-mini',
      '-    temperature: 0.2 # cool',
      '-      - { description: pictures, model: main } # big',
      '-    llm_profile: main',
      '-    secrets: []',
      '-    persona: You review.',
      '-  llm_profile: main # the one',
      '-  agent_profile: reviewer',
      '+  team: { provider: anthropic, api_key: "${env:TEAM}", base_url: null }',
      '+    model: openai/gpt-5-nano',
      '+    top_p: 0.5',
      '+      - description: all else',
      '+        model: cheap',
      '+    llm_profile: cheap',
      '+    system_message_suffix: Be kind.',
      '+  llm_profile: made # the one',
      '+  agent_profile: other',
    ]);
    // The agents still work with the router of before.
    const copied =
      'active.meta_profile: the settings have another copy of it; an apply makes it active again';
    expect([first.left, first.variables]).toEqual([[copied], []]);
    const second = await pulled({ adopt: 'all' });
    expect(second.difference).toEqual([
      '+  made:',
      '+    model: openai/gpt-5',
      '+    api_key: ${env:MADE_API_KEY}',
      '+  other:',
      '+    llm_profile: made',
    ]);
    expect([second.left, second.variables]).toEqual([[copied], ['MADE_API_KEY']]);
  });
});

const RECORD = {
  'settings-v0': '/api/settings',
  'app-server': '/api/v1/settings',
  'agent-server': '/api/settings',
} as const;

describeEach(['app-server', 'agent-server'] as const, (dialect) => dialect === 'agent-server')(
  'mcp servers: %s',
  (dialect) => {
    it('with their secrets as references, named as the block names them', async () => {
      await service(dialect);
      await given('settings: { language: en }\nmcp_servers:\n  files: { command: npx }\n');
      const url = 'https://keyed.example.com/mcp';
      const auth = { strategy: 'bearer', value: 'canary-of-a-server' };
      const config = { files: { command: 'npx' }, keyed: { url, transport: 'http', auth } };
      const agent = { mcp_config: config };
      const method = dialect === 'app-server' ? 'POST' : 'PATCH';
      await ask([method, RECORD[dialect], { agent_settings_diff: agent }]);
      const { difference, shown } = await pulled({ adopt: ['mcp_servers.keyed'] });
      expect(difference).toContain('+      value: ${env:KEYED_API_KEY}');
      expect(shown).toContain('+ mcp_servers.keyed: imported');
      expect(shown).toContain(
        '$ KEYED_API_KEY: set this variable, for mcp_servers.keyed.auth.value',
      );
      expect(shown).not.toContain('mcp_config');
    });
  },
);

it.each([
  [
    { llm_profile: 'main', persona: 'You review.' },
    { agent_kind: 'acp', acp_server: 'codex', acp_model: 'm' },
  ],
  [
    { agent_kind: 'acp', acp_server: 'codex', acp_model: 'm' },
    { llm_profile: 'main', persona: 'You review.' },
  ],
])(
  'takes an agent of another kind with the members that only it has: %o',
  async (before, after) => {
    await service('agent-server');
    const text = (agent: object) => `settings: { language: en }
llm_profiles: { main: { model: openai/gpt-5 } }
agent_profiles:
  agent: ${JSON.stringify(agent)}
`;
    await given(text(after));
    const file = join(folder.path, 'settings.yaml');
    writeFileSync(file, readFileSync(file, 'utf8').replace(text(after), text(before)));
    const { left, text: pulledFile } = await pulled();
    expect(left).toEqual([]);
    expect(parse(pulledFile).agent_profiles).toEqual({ agent: after });
  },
);

it('knows two servers of one address by the names that the file has for them', async () => {
  await service('settings-v0');
  const address = 'url: "https://mcp.example.com/mcp"';
  await given(`settings: { language: en }
mcp_servers: { one: { ${address} }, two: { ${address}, timeout: 30 } }
`);
  const none = { sse_servers: [], shttp_servers: [] };
  const stdio_servers = [{ name: 'one', command: 'npx' }];
  await ask([
    'POST',
    RECORD['settings-v0'],
    { language: 'en', mcp_config: { ...none, stdio_servers } },
  ]);
  const file = join(folder.path, 'settings.yaml');
  const { environments } = await plan({ file, env: ENV, clock: quickClock() });
  const paths = environments[0]?.changes.map(({ path }) => path.join('.'));
  expect(paths).toEqual(['mcp_servers.one', 'mcp_servers.two']);
  const { left, text } = await pulled();
  expect(left).toEqual([]);
  expect(parse(text).mcp_servers).toEqual({ one: { command: 'npx' } });
});

it('adopts servers once, also if their addresses are references without a value', async () => {
  await service('settings-v0');
  const url = 'https://mcp.example.com/mcp?key=canary-of-a-server';
  const mcp_config = { sse_servers: [{ url }], stdio_servers: [], shttp_servers: [] };
  await given('settings: { language: en }\n', [
    'POST',
    RECORD['settings-v0'],
    { language: 'en', mcp_config },
  ]);
  const first = await pulled({ adopt: 'all' });
  expect(first.variables).toEqual(['MCP_EXAMPLE_COM_URL']);
  const second = await pulled({ adopt: 'all' });
  expect([second.difference, second.variables]).toEqual([[], []]);
});

it('takes by itself what the file would remove because it names all that there may be', async () => {
  await service('app-server');
  await given(`settings: { language: en }
secrets:
  JIRA: \${env:JIRA}
collections: { secrets: { others: remove } }
`);
  await ask(['POST', SECRETS['app-server'], { name: 'OTHER', value: 'canary-other' }]);
  const { difference, pulled: done } = await pulled();
  expect(difference).toEqual(['+  OTHER: ${env:OTHER}']);
  expect(done).toEqual(['add secrets.OTHER']);
});

/** Files of one environment that is pulled, and of another that is not. */
async function layered(files: Readonly<Record<string, string>>, leaves: readonly string[][] = []) {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder.path, name), text);
  const before = process.cwd();
  process.chdir(folder.path);
  onTestFinished(() => {
    process.chdir(before);
  });
  const asked = { file: 'settings.yaml', env: ENV, clock: quickClock(), targets: ['a'] };
  const { environments } = await pull(asked);
  const left = leaves.map((path) => ({ path }));
  expect(environments).toMatchObject([{ error: null, left }]);
  const planned = await plan(asked);
  expect(planned.environments).toMatchObject([{ error: null, changes: left }]);
  return (name: string): string => readFileSync(join(folder.path, name), 'utf8');
}

const ENVIRONMENTS = (a: string): string => `environments:
  a:
    server: { url: "${front.url}", api_key: "\${env:KEY}" }
${a}  b:
    server: { url: "http://127.0.0.1:9" }
`;

it('writes what another environment still needs into the own block of the one that is pulled', async () => {
  await service('app-server');
  await given(
    'settings: { language: en }\nsecrets:\n  DB: { value: "${env:DB}", description: one }\n',
  );
  const read = await layered({
    'settings.yaml': `version: 1
secrets:
  # needed by b
  JIRA: \${env:JIRA}
  DB: { value: "\${env:DB}", description: two }
${ENVIRONMENTS('')}`,
  });
  expect(read('settings.yaml')).toBe(`version: 1
secrets:
  # needed by b
  JIRA: \${env:JIRA}
  DB: { value: "\${env:DB}", description: two }
${ENVIRONMENTS(`    secrets:
      JIRA: null
      DB:
        value: \${env:DB}
        description: one
`)}`);
});

it('leaves a server of a map alone that one environment lacks and another one needs, whatever its name', async () => {
  await service('agent-server');
  await given('settings: { language: en }\n');
  const text = `version: 1
settings:
  language: de
  agent_settings:
    mcp_config:
      k8s tools: { command: npx }
${ENVIRONMENTS('')}`;
  const needed = ['mcp_config', 'stdio_servers', 'k8s tools'];
  const read = await layered({ 'settings.yaml': text }, [needed]);
  const own = ENVIRONMENTS('    settings:\n      language: en\n');
  expect(read('settings.yaml')).toBe(text.replace(ENVIRONMENTS(''), own));
});

it('clears what a base declares beside a connection, and takes an active profile that would be removed', async () => {
  await service('agent-server');
  await given(`settings: { language: en }
provider_connections:
  team: { provider: openai, api_key: "\${env:TEAM}" }
llm_profiles:
  main: { model: openai/gpt-5 }
  cheap: { model: openai/gpt-5, connection: team }
active: { llm_profile: main }
`);
  const read = await layered({
    'settings.yaml': `version: 1
llm_profiles:
  cheap: { model: openai/gpt-5, base_url: "https://a.example.com/v1", api_key: "\${env:CHEAP}" }
collections: { llm_profiles: { others: remove } }
${ENVIRONMENTS('')}`,
  });
  expect(read('settings.yaml')).toContain(`    llm_profiles:
      cheap:
        api_key: null
        base_url: null
        connection: team
      main:
        model: openai/gpt-5
`);
});

it('edits a base where every environment that reads it is to have the same', LONG, async () => {
  await service('app-server');
  await given('settings: { language: en }\nllm_profiles:\n  main: { model: openai/gpt-5 }\n');
  const read = await layered({
    'base.yaml': `version: 1
llm_profiles:
  main:
    model: openai/gpt-5-mini # old
    temperature: 0.5
  # gone
  cheap: { model: openai/gpt-5-nano }
`,
    'settings.yaml': `version: 1
extends: base.yaml
environments:
  a:
    server: { url: "${front.url}", api_key: "\${env:KEY}" }
    llm_profiles: { cheap: { temperature: 1 } } # a's
`,
  });
  expect(read('base.yaml')).toBe(
    'version: 1\nllm_profiles:\n  main:\n    model: openai/gpt-5 # old\n',
  );
  expect(read('settings.yaml')).toContain("    llm_profiles: {} # a's\n");
});

it('is what a pull request about drift holds, without what is not applied yet', async () => {
  await service('app-server');
  await given(`settings: { language: en }
secrets:
  JIRA: \${env:JIRA}
  DB: \${env:DB}
`);
  const secrets = SECRETS['app-server'];
  await ask(['DELETE', `${secrets}/JIRA`], ['DELETE', `${secrets}/DB`]);
  const file = join(folder.path, 'settings.yaml');
  const asked = { file, env: ENV, clock: quickClock() };
  const { environments: plans } = await plan(asked);
  const texts: string[] = [];
  const { environments } = await pullEach({
    ...asked,
    plans,
    pulled: new Map([['default', [['secrets', 'DB']]]]),
    onFiles: (_, files) => texts.push(...files.map(({ text }) => text)),
  });
  expect(environments).toMatchObject([
    {
      pulled: [{ action: 'remove', path: ['secrets', 'JIRA'] }],
      left: [{ path: ['secrets', 'DB'], reason: 'edited in the file, and not applied yet' }],
    },
  ]);
  expect(texts).toEqual([readFileSync(file, 'utf8').replace('  JIRA: ${env:JIRA}\n', '')]);
});

it(
  'keeps a new name that the service does not have yet, and pulls the rest of the item',
  LONG,
  async () => {
    await service('app-server');
    const llm = 'model: openai/gpt-5, base_url: "https://llm.example.com"';
    await given(
      `settings: { language: en }\nllm_profiles:\n  main: { ${llm} }\nactive: { llm_profile: main }\n`,
    );
    const file = join(folder.path, 'settings.yaml');
    writeFileSync(
      file,
      `${HEAD()}settings: { language: en }
llm_profiles:
  prod: { ${llm.replace('gpt-5', 'gpt-5-mini')} }
active: { llm_profile: prod }
moved: [{ from: llm_profiles.main, to: llm_profiles.prod }]
`,
    );
    const { difference, left } = await pulled();
    expect(difference).toEqual([
      `-  prod: { ${llm.replace('gpt-5', 'gpt-5-mini')} }`,
      `+  prod: { ${llm} }`,
    ]);
    expect(left).toEqual([
      'llm_profiles.prod: renamed in the file, and not applied yet',
      'active.llm_profile: names what is renamed in the file, and that is not applied yet',
    ]);
  },
);

it('refuses to adopt what the service does not have, and names what it has', async () => {
  await service('app-server');
  await given('settings: { language: en }\n');
  await ask(['POST', SECRETS['app-server'], { name: 'OTHER', value: 'canary-other' }]);
  const file = join(folder.path, 'settings.yaml');
  const asked = { file, env: ENV, clock: quickClock(), adopt: ['secrets.OTHERS'] };
  await expect(pull(asked)).rejects.toMatchObject({
    code: 'usage',
    hint: expect.stringContaining('secrets.OTHER'),
  });
});

it('keeps what a new service lacks: nothing was removed from it', async () => {
  await service('app-server');
  const file = join(folder.path, 'settings.yaml');
  writeFileSync(file, `${HEAD()}secrets:\n  JIRA: \${env:JIRA}\n`);
  const { difference, left } = await pulled();
  expect(difference).toEqual([]);
  expect(left).toEqual(['secrets.JIRA: nothing is stored on the service yet']);
});

it('says which collections the service does not have', async () => {
  await service('settings-v0');
  await given('settings: { language: en }\n');
  const file = join(folder.path, 'settings.yaml');
  writeFileSync(
    file,
    `${HEAD()}settings: { language: en }\nllm_profiles:\n  main: { model: openai/gpt-5 }\n`,
  );
  const { environments } = await pull({ file, env: ENV, clock: quickClock() });
  expect(environments).toMatchObject([
    {
      pulled: [],
      left: [{ path: ['llm_profiles'], reason: 'the service has none of these' }],
      error: null,
    },
  ]);
});
