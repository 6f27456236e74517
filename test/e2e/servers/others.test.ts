/** What a service has and the file does not name, where the file says that others go. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { DialectName } from '../../../src/reconciler/model/dialect.ts';
import type { PlanDocument } from '../../../src/reconciler/model/plan.ts';
import { apply } from '../../../src/reconciler/operations/apply.ts';
import { drift, plan } from '../../../src/reconciler/operations/plan.ts';
import { validate } from '../../../src/reconciler/operations/validate.ts';
import { startFronted, type Fronted } from '../../fixture/before-service.ts';
import { setpoint } from '../../fixture/command-here.ts';
import { folderWith } from '../../fixture/command.ts';
import { describeEach } from '../../fixture/long.ts';
import { quickClock } from '../../fixture/settings.ts';

const KEY = 'a-key';
const SECRETS: Readonly<Record<DialectName, string>> = {
  'settings-v0': '/api/secrets',
  'app-server': '/api/v1/secrets',
  'agent-server': '/api/settings/secrets',
};
const PROFILES = {
  'app-server': '/api/v1/settings/profiles',
  'agent-server': '/api/profiles',
} as const;

let folder: ReturnType<typeof folderWith>;
let front: Fronted;
afterEach(async () => {
  await front.close();
  folder.remove();
});

async function service(dialect: DialectName): Promise<void> {
  folder = folderWith({});
  front = await startFronted({ dialect, apiKey: KEY, data: join(folder.path, 'store.json') });
}

function asked(blocks: string) {
  const text = `version: 1\nserver: { url: "${front.url}" }\n${blocks}\n`;
  const env = { JIRA: 'canary-jira-1', SETPOINT_STATE_KEY: 'state' };
  return { text, file: join(folder.path, 'settings.yaml'), env, clock: quickClock() };
}

async function planned(blocks: string) {
  const document = await plan(asked(blocks));
  expect(JSON.stringify(document)).not.toContain('canary');
  return document.environments[0];
}

/** Applies with the guards lifted. */
async function applied(blocks: string) {
  const document = await apply({ ...asked(blocks), allow: ['remove-others', 'empty-store'] });
  expect(JSON.stringify(document)).not.toContain('canary');
  const [environment] = document.environments;
  expect(environment).toMatchObject({ error: null });
  return environment;
}

async function stored(method: string, path: string, body: unknown): Promise<void> {
  expect((await front.ask(method, path, body)).status).toBeLessThan(300);
}

function theirSecret(dialect: DialectName, name: string): Promise<void> {
  const method = dialect === 'agent-server' ? 'PUT' : 'POST';
  return stored(method, SECRETS[dialect], { name, value: `canary-${name}` });
}

/** The names in a list of the service, whatever it is called there. */
async function names(path: string): Promise<string[]> {
  return (await listed(path)).map((one) => one['name'] ?? one['display_name'] ?? '');
}

async function listed(path: string): Promise<readonly Readonly<Record<string, string>>[]> {
  const { body } = await front.ask('GET', path);
  const json: unknown = typeof body === 'string' ? JSON.parse(body) : body;
  const list: unknown = Array.isArray(json) ? json : Object.values(json ?? {}).find(Array.isArray);
  return list as readonly Readonly<Record<string, string>>[];
}

function secretNames(dialect: DialectName): Promise<string[]> {
  return names(dialect === 'app-server' ? `${SECRETS[dialect]}/search` : SECRETS[dialect]);
}

const OTHERS = 'secrets: { JIRA: "${env:JIRA}" }\ncollections: { secrets: { others: remove } }';

describe('what a declared item names', () => {
  it.each([
    ['active', 'active: { llm_profile: theirs }'],
    ['the pointer of the settings', 'settings: { active_profile: theirs }'],
    ['an agent profile', 'agent_profiles: { a: { llm_profile: theirs } }'],
    [
      'a class of a meta profile',
      'meta_profiles: { m: { classifier: main, classes: [{ description: all, model: theirs }] } }',
    ],
  ])('is no other one that goes: %s', async (_, naming) => {
    await service('agent-server');
    for (const name of ['theirs', 'spare'])
      await stored('POST', `/api/profiles/${name}`, { llm: { model: 'openai/gpt-5' } });
    const first = await planned(
      `llm_profiles: { main: { model: openai/gpt-5 } }\ncollections: { llm_profiles: { others: remove } }\n${naming}`,
    );
    expect(first?.error ?? null).toBeNull();
    const removed = (first?.changes ?? []).filter(({ action }) => action === 'remove');
    expect(removed.map(({ path }) => path.join('.'))).toEqual(['llm_profiles.spare']);
  });
});

describeEach(
  ['settings-v0', 'app-server', 'agent-server'] as const,
  (dialect) => dialect === 'agent-server',
)('%s: others of the custom secrets', (dialect) => {
  it('that a saved plan removes because the file says null are not covered as others', async () => {
    await service(dialect);
    await theirSecret(dialect, 'THEIRS');
    const approved = await plan(asked('secrets: { THEIRS: null }'));
    const others = 'collections: { secrets: { others: remove } }';
    const [refused] = (await apply({ ...asked(others), approved })).environments;
    expect(refused?.error).toMatchObject({ code: 'not-covered' });
    expect(await secretNames(dialect)).toEqual(['THEIRS']);
  });

  it('are none if the list is empty, and an error if it cannot be read', async () => {
    await service(dialect);
    await theirSecret(dialect, 'THEIRS');
    const others = 'collections: { secrets: { others: remove } }';
    front.instead = ({ path }) =>
      path.startsWith(SECRETS[dialect]) ? { status: 400, body: {} } : null;
    expect((await planned(others))?.error).not.toBeNull();
    const empty = { custom_secrets: [], items: [], secrets: [], next_page_id: null };
    front.instead = ({ path }) =>
      path.startsWith(SECRETS[dialect]) ? { status: 200, body: empty } : null;
    expect(await planned(others)).toMatchObject({ error: null, changes: [] });
  });

  it('that are the service’s own, or wait under a second name, stay', async () => {
    await service(dialect);
    await theirSecret(dialect, 'OPENHANDS_API_KEY');
    if (dialect === 'settings-v0') await theirSecret(dialect, 'a/b');
    await applied(OTHERS);
    await theirSecret(dialect, 'JIRA__next');
    const found = await planned(OTHERS);
    const removed = found?.changes.filter(({ action }) => action === 'remove');
    // Where a request replaces a value, no value waits under another name.
    expect(removed?.map(({ path }) => path)).toEqual(
      dialect === 'settings-v0' ? [] : [['secrets', 'JIRA__next']],
    );
    expect(found?.unmanaged).toContainEqual(['secrets', 'OPENHANDS_API_KEY']);
  });

  it('are drift to an earlier file that removed others, and pending to one that did not', async () => {
    await service(dialect);
    await theirSecret(dialect, 'THEIRS');
    const base = (name: string, text: string) => {
      mkdirSync(folder.path, { recursive: true });
      writeFileSync(join(folder.path, name), text);
      return join(folder.path, name);
    };
    const classOf = async (earlier: string): Promise<unknown> => {
      const { environments } = await drift({ ...asked(OTHERS), base: earlier });
      return environments[0]?.changes.find(({ path }) => path[1] === 'THEIRS')?.class;
    };
    expect(await classOf(base('same.yaml', asked(OTHERS).text))).toBe('drift');
    const kept = OTHERS.replace('remove', 'keep');
    expect(await classOf(base('kept.yaml', asked(kept).text))).toBe('pending');
  });
});

describeEach(['app-server', 'agent-server'] as const, (dialect) => dialect === 'agent-server')(
  '%s: others of the LLM profiles',
  (dialect) => {
    const settings = 'settings: { language: en }';
    const main = 'llm_profiles: { main: { model: openai/gpt-5 } }\nactive: { llm_profile: main }';
    const others = `${settings}\n${main}\ncollections: { llm_profiles: { others: remove } }`;
    const theirs = { llm: { model: 'openai/gpt-5-mini', api_key: 'canary-theirs' } };

    it('go once all else is written, keys of them under the guard for secrets, too', async () => {
      await service(dialect);
      await applied(settings);
      await stored('POST', `${PROFILES[dialect]}/theirs`, theirs);
      expect(await planned(`${others}\nguards: { clear_secret: true }`)).toMatchObject({
        refusals: [{ rule: 'clear-secret' }, { rule: 'remove-others' }],
      });
      const outcome = await applied(others);
      expect(outcome?.changes.map(({ path }) => path)).toContainEqual(['active', 'llm_profile']);
      expect(front.seen.filter(({ method }) => method !== 'GET').at(-1)).toMatchObject({
        method: 'DELETE',
        path: `${PROFILES[dialect]}/theirs`,
      });
      expect(await names(PROFILES[dialect])).toEqual(['main']);
      expect(await planned(others)).toMatchObject({ status: 'in-sync', changes: [] });
    });

    it('an active one is an error at the place, unless another becomes active', async () => {
      await service(dialect);
      await applied(settings);
      await stored('POST', `${PROFILES[dialect]}/theirs`, theirs);
      await stored('POST', `${PROFILES[dialect]}/theirs/activate`, {});
      const alone = others.replace('\nactive: { llm_profile: main }', '');
      const found = await planned(alone);
      expect(found?.error).toMatchObject({ code: 'unfit-for-service' });
      expect(found?.error?.message).toMatch(/theirs.*settings\.yaml:5.*while it is active/);
      await applied(others);
      expect(await names(PROFILES[dialect])).toEqual(['main']);
    });
  },
);

describe('agent-server: others', () => {
  const AGENTS = '/api/agent-profiles';
  const lists = (): number =>
    front.seen.filter(({ method, path }) => method === 'GET' && path === AGENTS).length;

  it.each([
    ['null of both', 'agent_profiles: { default: null, theirs: null }'],
    [
      'null of one that was not there',
      'agent_profiles: { default: null, theirs: null }',
      'without',
    ],
  ])(
    'default goes not together with the active one, after which it is made again: %s',
    async (_, blocks, without?: string) => {
      await service('agent-server');
      await stored('POST', '/api/profiles/main', { llm: { model: 'openai/gpt-5' } });
      for (const name of without === undefined ? ['theirs', 'default'] : ['theirs'])
        await stored('POST', `${AGENTS}/${name}`, { llm_profile_ref: 'main' });
      const { body } = await front.ask('GET', `${AGENTS}/theirs`);
      const { id } = (body as { profile: { id: string } }).profile;
      await stored('POST', `${AGENTS}/${id}/activate`, {});
      const found = await planned(blocks);
      expect(found?.error?.message).toMatch(/default.*together with theirs, which is active/);
      const others = 'collections: { agent_profiles: { others: remove } }';
      await applied(others);
      expect(await names(AGENTS)).toEqual(['default']);
      expect(await planned(others)).toMatchObject({ status: 'in-sync', changes: [] });
    },
  );

  it('of the agent profiles ask the list, which the plan says, and leave default while it is active', async () => {
    await service('agent-server');
    await stored('POST', '/api/profiles/main', { llm: { model: 'openai/gpt-5' } });
    await stored('POST', `${AGENTS}/theirs`, { llm_profile_ref: 'main' });
    const named = 'agent_profiles: { mine: { llm_profile: main } }';
    const kept = await planned(named);
    expect(kept?.warnings.map(({ code }) => code)).not.toContain('list-writes');
    expect(lists()).toBe(0);
    const others = `${named}\ncollections: { agent_profiles: { others: remove } }`;
    const found = await planned(others);
    expect(lists()).toBe(1);
    expect(found).toMatchObject({
      changes: [
        { path: ['agent_profiles', 'mine'], action: 'set' },
        { path: ['agent_profiles', 'theirs'], action: 'remove', reason: 'not declared' },
      ],
      warnings: expect.arrayContaining([
        expect.objectContaining({ code: 'list-writes', path: ['agent_profiles'] }),
      ]) as unknown,
    });
    await applied(others);
    expect((await names(AGENTS)).toSorted()).toEqual(['default', 'mine']);
    expect(await planned(others)).toMatchObject({ status: 'in-sync', changes: [] });
    const active = `${others}\nactive: { agent_profile: mine }`;
    await applied(active);
    expect(await names(AGENTS)).toEqual(['mine']);
    expect(await planned(active)).toMatchObject({ status: 'in-sync', changes: [] });
  });

  it('of the LLM profiles leave the one that its own agent profile names', async () => {
    await service('agent-server');
    await stored('PATCH', '/api/settings', {
      agent_settings_diff: { llm: { model: 'openai/gpt-5', api_key: 'canary-settings' } },
    });
    await front.ask('GET', AGENTS);
    expect(await names('/api/profiles')).toEqual(['default']);
    const file = 'llm_profiles: { main: { model: openai/gpt-5 } }';
    const others = `${file}\ncollections: { llm_profiles: { others: remove } }`;
    await applied(others);
    expect(await names('/api/profiles')).toEqual(['default', 'main']);
    expect(await planned(others)).toMatchObject({ status: 'in-sync', changes: [] });
    const freed = `${others}\nagent_profiles: { default: { llm_profile: main } }`;
    await applied(freed);
    expect(await names('/api/profiles')).toEqual(['main']);
  });

  it('of the connections and meta profiles go after what names them, and two of one name are an error', async () => {
    await service('agent-server');
    const path = '/api/llm/provider-connections';
    const body = { display_name: 'theirs', provider: 'openai', api_key: 'canary-connection' };
    await stored('POST', path, body);
    const id = (await listed(path))[0]?.['id'];
    await stored('POST', '/api/profiles/linked', {
      llm: { model: 'openai/gpt-5', provider_connection_id: id },
    });
    await stored('POST', '/api/meta-profiles/theirs', {
      classifier_model: 'linked',
      classes: [{ description: 'all', model: 'linked' }],
    });
    const both = 'provider_connections: { others: remove }, meta_profiles: { others: remove }';
    expect(await planned(`collections: { ${both} }`)).toMatchObject({
      changes: [{ path: ['meta_profiles', 'theirs'], action: 'remove' }],
      unmanaged: expect.arrayContaining([['provider_connections', 'theirs']]) as unknown,
    });
    const all = `collections: { ${both}, llm_profiles: { others: remove } }`;
    await applied(all);
    const left = [path, '/api/profiles', '/api/meta-profiles'].map(names);
    expect(await Promise.all(left)).toEqual([[], [], []]);
    for (const _ of [1, 2]) await stored('POST', path, body);
    const twice = await planned(all);
    expect(twice?.error?.message).toContain('two provider connections named theirs');
  });
});

/** Something to install on an Agent Server: a folder of its own. */
function sources(block: 'skills' | 'plugins', list: readonly string[]): string {
  for (const name of list) {
    const inner = join(folder.path, 'sources', name, block === 'skills' ? '' : '.plugin');
    mkdirSync(inner, { recursive: true });
    const skill = `---\nname: ${name}\ndescription: ${name}\n---\n`;
    if (block === 'skills') writeFileSync(join(inner, 'SKILL.md'), skill);
    else writeFileSync(join(inner, 'plugin.json'), JSON.stringify({ name }));
  }
  return join(folder.path, 'sources');
}

it.each(['skills', 'plugins'] as const)(
  'agent-server: others of the %s ask the list, which the plan says, and go by their names',
  async (block) => {
    await service('agent-server');
    const path = `/api/${block}/installed`;
    const source = sources(block, ['mine', 'theirs']);
    const named = `${block}: { mine: { source: ${source}, repo_path: mine } }`;
    await applied(named);
    await stored('POST', `/api/${block}/install`, { source, repo_path: 'theirs', force: false });
    front.seen.length = 0;
    expect(await planned(named)).toMatchObject({ status: 'in-sync', changes: [], warnings: [] });
    expect(front.seen.map((one) => one.path)).not.toContain(path);
    const others = `${named}\ncollections: { ${block}: { others: remove } }`;
    expect(await planned(others)).toMatchObject({
      changes: [{ path: [block, 'theirs'], action: 'remove', reason: 'not declared' }],
      warnings: [{ code: 'list-writes', path: [block] }],
      refusals: [{ rule: 'remove-others', path: [block, 'theirs'] }],
    });
    await applied(others);
    expect(await names(path)).toEqual(['mine']);
    expect(await planned(others)).toMatchObject({ status: 'in-sync', changes: [] });
  },
);

const SETTINGS: Readonly<Record<DialectName, string>> = {
  'settings-v0': '/api/settings',
  'app-server': '/api/v1/settings',
  'agent-server': '/api/settings',
};

describeEach(
  ['settings-v0', 'app-server', 'agent-server'] as const,
  (dialect) => dialect === 'agent-server',
)('%s: others of the mcp servers', (dialect) => {
  const server = (at: string): string => `https://${at}.example.com/mcp`;
  const mine = `settings: { language: en }\nmcp_servers: { mine: { url: "${server('mine')}" } }`;
  const others = `${mine}\ncollections: { mcp_servers: { others: remove } }`;

  /** What the service has, by the first part of each address. */
  async function servers(): Promise<string[]> {
    const { body } = await front.ask('GET', SETTINGS[dialect]);
    const found = JSON.stringify(body).matchAll(/https:..(\w+)\.example\.com.mcp/g);
    return [...found].map(([, name = '']) => name).toSorted();
  }

  async function theirs(): Promise<void> {
    await applied(mine);
    const both = mine.replace('} }', `}, theirs: { url: "${server('theirs')}" } }`);
    await applied(both);
    expect(await servers()).toEqual(['mine', 'theirs']);
  }

  it('all go where the file names none, and what is unmanaged stays', async () => {
    await service(dialect);
    await theirs();
    const left = `${others}\nunmanaged: [mcp_servers.mine]`;
    const [removal, ...more] = (await planned(left))?.changes ?? [];
    expect(removal?.path.at(-1)).toContain('theirs');
    expect(more).toEqual([]);
    const none = 'collections: { mcp_servers: { others: remove } }';
    expect(await planned(`${none}\nunmanaged: [mcp_servers]`)).toMatchObject({ changes: [] });
    await applied(none);
    expect(await servers()).toEqual([]);
  });

  it('are drift to an earlier file that removed others, and pending to one that did not', async () => {
    await service(dialect);
    await theirs();
    const classOf = async (text: string): Promise<unknown> => {
      writeFileSync(join(folder.path, 'base.yaml'), asked(text).text);
      const base = join(folder.path, 'base.yaml');
      return (await drift({ ...asked(others), base })).environments[0]?.changes[0]?.class;
    };
    expect(await classOf(others)).toBe('drift');
    expect(await classOf(mine)).toBe('pending');
  });
});

it('of a block that is unmanaged stay', async () => {
  await service('settings-v0');
  await theirSecret('settings-v0', 'THEIRS');
  const left = 'unmanaged: [secrets_store]';
  const found = await planned(`collections: { secrets: { others: remove } }\n${left}`);
  expect(found).toMatchObject({ error: null, changes: [] });
});

it('of a collection that a service lacks there is nothing to remove', async () => {
  await service('settings-v0');
  const all = 'collections: { llm_profiles: { others: remove }, secrets: { others: remove } }';
  expect(await planned(all)).toMatchObject({ error: null, status: 'in-sync', changes: [] });
});

it('an environment keeps what the file above removes, and a base may say it for all', async () => {
  await service('settings-v0');
  await theirSecret('settings-v0', 'THEIRS');
  writeFileSync(
    join(folder.path, 'base.yaml'),
    'version: 1\ncollections: { secrets: { others: remove } }\n',
  );
  const server = `server: { url: "${front.url}" }`;
  const text = `version: 1\nextends: base.yaml\nenvironments:\n  a: { ${server} }\n  b: { ${server}, collections: { secrets: { others: keep } } }\n`;
  writeFileSync(join(folder.path, 'settings.yaml'), text);
  const { stdout } = await setpoint(['plan', '-o', 'json'], { cwd: folder.path });
  const { environments } = JSON.parse(stdout) as PlanDocument;
  expect(environments.map(({ changes }) => changes.length)).toEqual([1, 0]);
  expect(environments[0]?.changes[0]?.source).toMatchObject({ line: 2 });
  expect(environments[0]?.changes[0]?.source?.file).toMatch(/base\.yaml$/);
});

it.each(['secrets: { others: delete }', 'active: { others: remove }', 'secrets: remove'])(
  'collections: { %s } is an error',
  async (blocks) => {
    folder = folderWith({});
    front = { close: async () => {} } as Fronted;
    const { diagnostics } = await validate({
      text: `version: 1\nserver: { url: "http://127.0.0.1:1" }\ncollections: { ${blocks} }\n`,
      file: 'settings.yaml',
      env: {},
    });
    expect(diagnostics.filter(({ severity }) => severity === 'error')).toHaveLength(1);
  },
);
