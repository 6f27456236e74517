import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startFronted, type Fronted } from '../../fixture/before-service.ts';
import { setpoint } from '../../fixture/command-here.ts';
import { folderWith } from '../../fixture/command.ts';

const LLM = 'llm_profiles: { main: { model: openai/gpt-5 } }';

/** Each place of a file that names an item of another block: a file that declares all but what it names, and how another client makes that. */
const PLACES = {
  'active.llm_profile': ['active: { llm_profile: it }', 'llm'],
  'active.agent_profile': ['active: { agent_profile: it }', 'agent'],
  'active.meta_profile': ['active: { meta_profile: it }', 'meta'],
  'llm_profile.connection': [
    'llm_profiles: { a: { model: openai/gpt-5, connection: it } }',
    'connection',
  ],
  'meta_profile.classifier': [
    `${LLM}\nmeta_profiles: { a: { classifier: it, classes: [{ model: main, description: x }] } }`,
    'llm',
  ],
  'meta_profile.classes.model': [
    `${LLM}\nmeta_profiles: { a: { classifier: main, classes: [{ model: it, description: x }] } }`,
    'llm',
  ],
  'agent_profile.llm_profile': ['agent_profiles: { a: { llm_profile: it } }', 'llm'],
  'agent_profile.mcp_servers': [
    `${LLM}\nagent_profiles: { a: { llm_profile: main, mcp_servers: [it] } }`,
    'server',
  ],
  'agent_profile.meta_profile': [
    `${LLM}\nagent_profiles: { a: { llm_profile: main, meta_profile: it } }`,
    'meta',
  ],
  'automation.model': ['automations: { a: { prompt: x, cron: "@daily", model: it } }', 'llm'],
  'automation.agent_profile': [
    'automations: { a: { prompt: x, cron: "@daily", agent_profile: it } }',
    'agent',
  ],
  'automation.event.source': [
    'automations: { a: { prompt: x, event: { source: it, events: ["*"] } } }',
    'webhook',
  ],
} as const;

/** Names that a server looks up when an agent runs: a file may declare them before they are there. */
const LATER = ['agent_profile.secrets'];

const MADE: Readonly<
  Record<(typeof PLACES)[keyof typeof PLACES][1], (server: Fronted) => Promise<void>>
> = {
  llm: (server) => post(server, '/api/profiles/it', { llm: { model: 'openai/gpt-5' } }),
  agent: async (server) => {
    await post(server, '/api/profiles/other', { llm: { model: 'openai/gpt-5' } });
    await post(server, '/api/agent-profiles/it', { llm_profile_ref: 'other' });
  },
  meta: async (server) => {
    await post(server, '/api/profiles/other', { llm: { model: 'openai/gpt-5' } });
    await post(server, '/api/meta-profiles/it', {
      classifier_model: 'other',
      classes: [{ description: 'x', model: 'other' }],
    });
  },
  webhook: (server) => post(server, '/api/automation/v1/webhooks', { name: 'it', source: 'it' }),
  connection: (server) =>
    post(server, '/api/llm/provider-connections', {
      display_name: 'it',
      provider: 'openai',
      api_key: 'k',
    }),
  server: (server) =>
    post(
      server,
      '/api/settings',
      { agent_settings_diff: { mcp_config: { it: { command: 'uvx' } } } },
      'PATCH',
    ),
};

async function post(server: Fronted, path: string, body: unknown, method = 'POST'): Promise<void> {
  const { status } = await server.ask(method, path, body);
  expect(status).toBeLessThan(300);
}

async function started() {
  const server = await startFronted({ dialect: 'agent-server' });
  onTestFinished(() => server.close());
  const run = (text: string, ...args: string[]) => {
    const folder = folderWith({
      'settings.yaml': `version: 1\nserver: { url: "${server.url}" }\n${text}\n`,
    });
    onTestFinished(() => folder.remove());
    return setpoint(args, { cwd: folder.path, env: { A_NAME: 'it', NO_NAME: 'canary-name' } });
  };
  return { server, run };
}

interface Node {
  readonly item?: string;
  readonly properties?: Readonly<
    Record<string, Node & { readonly 'x-setpoint'?: { readonly item?: string } }>
  >;
}

it('every member that names an item of another block has a case here', () => {
  const read = (path: string) =>
    JSON.parse(readFileSync(join(import.meta.dirname, '../../..', path), 'utf8')) as {
      readonly $defs: Readonly<Record<string, Node>>;
      readonly types: Readonly<
        Record<string, { readonly members: Readonly<Record<string, Node>> }>
      >;
    };
  const declared = Object.entries(read('schemas/settings.schema.json').$defs).flatMap(
    ([name, { properties = {} }]) =>
      name === 'settings'
        ? []
        : Object.entries(properties).flatMap(([key, one]) =>
            one['x-setpoint']?.item === undefined ? [] : [`${name}.${key}`],
          ),
  );
  const { types } = read('schemas/servers/facts.json');
  expect(types['TaskClass']?.members['model']).toMatchObject({ item: 'llm_profiles' });
  const own = Object.keys(PLACES).filter(
    (one) => !one.startsWith('active.') && !one.includes('classes') && !one.includes('event.'),
  );
  expect(declared.toSorted()).toEqual([...own, ...LATER].toSorted());
});

it.each(Object.entries(PLACES))(
  'a plan with %s of a name that nobody has is an error, and one that the service has is not',
  async (_, [text, kind]) => {
    const { server, run } = await started();
    for (const command of ['plan', 'apply']) {
      const missing = await run(text, command, ...(command === 'apply' ? ['--yes'] : []));
      expect(missing.code).toBe(3);
      expect(missing.stderr).toMatch(
        /\(settings\.yaml:\d+\) names the .* it, which neither the file \(\w+\) nor the service has/,
      );
    }
    expect(server.writes()).toEqual([]);
    await MADE[kind](server);
    const there = await run(text, 'plan', '--exit-code');
    expect(there.stderr).toBe('');
    expect(there.code).toBe(2);
  },
);

const BLOCK_OF = {
  llm: 'llm_profiles',
  agent: 'agent_profiles',
  meta: 'meta_profiles',
  connection: 'provider_connections',
  webhook: 'webhooks',
  server: 'mcp_servers',
} as const;

it.each(Object.entries(PLACES))(
  'a plan with %s from a reference to an item that the file removes is an error',
  async (_, [text, kind]) => {
    const { server, run } = await started();
    await MADE[kind](server);
    const start = `${BLOCK_OF[kind]}: {`;
    const removing = text.includes(start)
      ? text.replace(start, `${start} it: null,`)
      : `${text}\n${start} it: null }`;
    const file = removing.replaceAll(/\bit\b(?!: null)/g, '"${env:A_NAME}"');
    const before = server.writes().length;
    const refused = await run(file, 'apply', '--yes');
    expect([refused.code, file]).toEqual([3, file]);
    expect(refused.stderr).toMatch(/which the file removes \(settings\.yaml:\d+\)|which neither/);
    expect(server.writes()).toHaveLength(before);
  },
);

it('the agent profile default is made active although the service has yet to make it', async () => {
  const { server, run } = await started();
  const text = 'active: { agent_profile: default }';
  const applied = await run(text, 'apply', '--yes');
  expect(applied.stderr).toBe('');
  expect(applied.code).toBe(0);
  expect((await server.ask('GET', '/api/agent-profiles/default')).status).toBe(200);
  expect((await run(text, 'plan', '--exit-code')).code).toBe(0);
});

it('the agent profile default is an error where another one is active', async () => {
  const { server, run } = await started();
  await MADE.agent(server);
  expect((await run('active: { agent_profile: it }', 'apply', '--yes')).code).toBe(0);
  const before = server.writes().length;
  const text = 'active: { agent_profile: default }';
  for (const args of [['plan'], ['apply', '--yes']]) {
    const refused = await run(text, ...args);
    expect([refused.code, server.writes().length]).toEqual([3, before]);
    expect(refused.stderr).toContain(
      'active.agent_profile (settings.yaml:3) names the agent profile default, which neither',
    );
  }
  // A server makes it when the active one is removed.
  const removed = await run('agent_profiles: { it: null }', 'apply', '--yes');
  expect(removed.code, removed.stderr).toBe(0);
  expect((await run(text, 'apply', '--yes')).code).toBe(0);
  expect((await run(text, 'plan', '--exit-code')).code).toBe(0);
});

it('the agent profile default is an error in an automation, for which no server makes it', async () => {
  const { server, run } = await started();
  const before = server.writes().length;
  const text =
    'automations: { weekly: { prompt: Sum up., cron: "@daily", agent_profile: default } }';
  for (const args of [['plan'], ['apply', '--yes', '--allow', 'run-code']]) {
    const refused = await run(text, ...args);
    expect([refused.code, server.writes().length]).toEqual([3, before]);
    expect(refused.stderr).toContain('names the agent profile default, which neither');
  }
});

it('a plan knows that its list of agent profiles makes default active, which cannot be removed then', async () => {
  const { server, run } = await started();
  await post(server, '/api/profiles/it', { llm: { model: 'openai/gpt-5' } });
  await post(server, '/api/agent-profiles/default', { llm_profile_ref: 'it' });
  const before = server.writes().length;
  const text =
    'agent_profiles: { default: null }\ncollections: { agent_profiles: { others: remove } }';
  for (const args of [['plan'], ['apply', '--yes']]) {
    const refused = await run(text, ...args);
    expect([refused.code, server.writes().length]).toEqual([3, before]);
    expect(refused.stderr).toContain('cannot be removed while it is active');
  }
});

it('of two connections of one name neither is taken, also where the file declares none', async () => {
  const { server, run } = await started();
  await MADE.connection(server);
  await MADE.connection(server);
  const [text] = PLACES['llm_profile.connection'];
  const refused = await run(text, 'apply', '--yes');
  expect(refused.code).toBe(3);
  expect(refused.stderr).toContain(
    'names the provider connection it, and the service has 2 of that name',
  );
  expect(server.seen.filter(({ method }) => method !== 'GET')).toEqual([]);
});

it('an LLM profile that an agent profile of the service names is not removed before that names another', async () => {
  const { server, run } = await started();
  await MADE.agent(server);
  await MADE.llm(server);
  await post(server, '/api/agent-profiles/default', { llm_profile_ref: 'it' });
  expect((await server.ask('GET', '/api/agent-profiles')).status).toBe(200);
  const refused = await run('llm_profiles: { other: null }', 'plan');
  expect(refused.code).toBe(3);
  expect(refused.stderr).toContain(
    'llm_profiles.other (settings.yaml:3) cannot be removed: the agent profile it would still name it.',
  );
  const freed = 'llm_profiles: { other: null }\nagent_profiles: { it: { llm_profile: it } }';
  expect((await run(freed, 'apply', '--yes')).code).toBe(0);
  const kept =
    'llm_profiles: { new: { model: openai/gpt-5 } }\ncollections: { llm_profiles: { others: remove } }';
  expect((await run(kept, 'apply', '--yes')).code).toBe(0);
  expect(await run(kept, 'plan', '--exit-code')).toMatchObject({ code: 0 });
  expect((await server.ask('GET', '/api/profiles/it')).status).toBe(200);
});

it.each([
  ['a', 'b'],
  ['b', 'a'],
])(
  'plans show the active agent profile %s by its name, not by the id of the server',
  async (from, to) => {
    const { server, run } = await started();
    await post(server, '/api/profiles/main', { llm: { model: 'openai/gpt-5' } });
    await post(server, '/api/agent-profiles/a', { llm_profile_ref: 'main' });
    await post(server, '/api/agent-profiles/b', { llm_profile_ref: 'main' });
    const active = (name: string) => `active: { agent_profile: ${name} }`;
    expect((await run(active(from), 'apply', '--yes')).code).toBe(0);
    expect((await run(active(to), 'plan')).stdout).toContain(
      `active.agent_profile: "${from}" → "${to}"`,
    );
    expect((await run(active(to), 'drift')).stdout).toContain(`- on the service  "${from}"`);
  },
);

const RENAMED = [
  ['llm_profiles', '{ model: openai/gpt-5 }', true],
  [
    'provider_connections',
    '{ provider: openai, base_url: "https://llm.example.com", api_key: "${env:K}" }',
    false,
  ],
] as const;

it.each(RENAMED)(
  'a plan suggests moved: where the key of an item of %s was edited',
  async (block, item, isByBase) => {
    const server = await startFronted({ dialect: 'agent-server' });
    onTestFinished(() => server.close());
    await post(server, '/api/profiles/main', { llm: { model: 'openai/gpt-4.1' } });
    const text = (items: string) =>
      `version: 1\nserver: { url: "${server.url}" }\n${block}: { ${items} }\n`;
    const folder = folderWith({
      'base.yaml': text(`cheap: ${item}`),
      'settings.yaml': text(`budget: ${item}`),
      'both.yaml': text(`cheap: ${item}, budget: ${item}`),
    });
    onTestFinished(() => folder.remove());
    const run = (...args: string[]) => setpoint(args, { cwd: folder.path, env: { K: 'k' } });
    expect((await run('apply', '--yes', '-f', 'base.yaml')).code).toBe(0);
    const base = isByBase ? ['--base', 'base.yaml'] : [];
    const { stdout } = await run('plan', ...base);
    expect(stdout).toContain(`moved: [{ from: ${block}.cheap, to: ${block}.budget }]`);
    expect((await run('plan', '-f', 'both.yaml', ...base)).stdout).not.toContain('moved:');
    expect((await run('plan', '-f', 'base.yaml', ...base)).stdout).not.toContain('moved:');
  },
);

it('init declares what a server would not fill in again, and leaves out what it would', async () => {
  const { server } = await started();
  const profiles = {
    same: { model: 'openai/gpt-5', timeout: 120 },
    longer: { model: 'openai/gpt-5', timeout: 120, stream_idle_timeout: 300 },
    shorter: { model: 'openai/gpt-5', stream_idle_timeout: 30 },
    azure: { model: 'azure/gpt-5' },
    older: { model: 'azure/gpt-5', api_version: '2024-02-01' },
  };
  for (const [name, llm] of Object.entries(profiles))
    await post(server, `/api/profiles/${name}`, { llm });
  const folder = folderWith({});
  onTestFinished(() => folder.remove());
  const run = (...args: string[]) => setpoint(args, { cwd: folder.path, env: {} });
  expect((await run('init', '--server', server.url)).code).toBe(0);
  const text = readFileSync(join(folder.path, 'settings.yaml'), 'utf8');
  expect(text.match(/stream_idle_timeout: \d+/g)).toEqual([
    'stream_idle_timeout: 300',
    'stream_idle_timeout: 30',
  ]);
  expect(text.match(/api_version: .*/g)).toEqual(['api_version: "2024-02-01"']);
  expect(await run('plan', '--exit-code')).toMatchObject({ code: 0 });
});

it.each([
  [
    'a profile that is there',
    'llm_profiles: { it: { model: openai/gpt-5, stream_idle_timeout: 5 } }',
    'llm_profiles.it',
  ],
  [
    'a new profile',
    'llm_profiles: { new: { model: openai/gpt-5, stream_idle_timeout: 5 } }',
    'llm_profiles.new',
  ],
  [
    'an agent profile',
    'agent_profiles: { a: { llm_profile: it, public_skills: [x] } }',
    'agent_profiles.a',
  ],
])('a member that a release lacks is refused before a write: %s', async (_, text, path) => {
  const { server, run } = await started();
  await post(
    server,
    '/api/settings',
    { agent_settings_diff: { llm: { model: 'openai/gpt-5' } } },
    'PATCH',
  );
  await MADE.llm(server);
  await post(server, '/api/agent-profiles/a', { llm_profile_ref: 'it' });
  expect((await run(text, 'plan')).code).toBe(0);
  server.changed = (_seen, reply) => {
    const older = JSON.stringify(reply.body, (key, value: unknown) =>
      key === 'stream_idle_timeout' || key === 'public_skills' ? undefined : value,
    );
    return { ...reply, body: JSON.parse(older) as unknown };
  };
  const before = server.writes().length;
  const refused = await run(text, 'apply', '--yes');
  expect(refused.code).toBe(3);
  expect(refused.stderr).toMatch(
    new RegExp(
      `${path} .* declares (stream_idle_timeout|public_skills), which the release of this server does not have`,
    ),
  );
  expect(server.writes()).toHaveLength(before);
});

it.each(Object.entries(PLACES).filter(([place]) => place !== 'agent_profile.mcp_servers'))(
  '%s: a name of a reference is looked for as a written one is',
  async (_, [text, kind]) => {
    const { server, run } = await started();
    const named = (name: string) => text.replaceAll(/\bit\b/g, `"\${env:${name}}"`);
    const missing = await run(named('NO_NAME'), 'apply', '--yes');
    expect(missing.code, missing.stderr).toBe(3);
    expect(missing.stdout + missing.stderr).not.toContain('canary');
    expect(server.writes()).toEqual([]);
    await MADE[kind](server);
    for (const _ of [1, 2]) {
      const found = await run(named('A_NAME'), 'apply', '--yes', '--allow', 'empty-store');
      expect(found.code, found.stderr).toBe(0);
    }
  },
);
