/** LLM profiles and the active one, declared by name, on the services that have them. */
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { apply } from '../../../src/reconciler/operations/apply.ts';
import { drift, plan } from '../../../src/reconciler/operations/plan.ts';
import { validate } from '../../../src/reconciler/operations/validate.ts';
import { startFronted, type Fronted } from '../../fixture/before-service.ts';
import { setpoint } from '../../fixture/command-here.ts';
import { folderWith } from '../../fixture/command.ts';
import { itEach } from '../../fixture/long.ts';
import { quickClock } from '../../fixture/settings.ts';

const KEY = 'a-key';
const ENV = { K1: 'canary-key-1', K2: 'canary-key-2', SETPOINT_STATE_KEY: 'state' };
const PROFILES = {
  'app-server': '/api/v1/settings/profiles',
  'agent-server': '/api/profiles',
} as const;
const SETTINGS = { 'app-server': '/api/v1/settings', 'agent-server': '/api/settings' } as const;
type Dialect = keyof typeof PROFILES;
const DIALECTS = ['app-server', 'agent-server'] as const;

let folder: ReturnType<typeof folderWith>;
let front: Fronted;
afterEach(async () => {
  await front.close();
  folder.remove();
});

async function service(dialect: Dialect | 'settings-v0'): Promise<void> {
  folder = folderWith({});
  front = await startFronted({ dialect, apiKey: KEY, data: join(folder.path, 'store.json') });
}

function asked(blocks: string, env: Readonly<Record<string, string>> = {}) {
  const text = `version: 1\nserver: { url: "${front.url}" }\nsettings: { language: en }\n${blocks}\n`;
  const file = join(folder.path, 'settings.yaml');
  return { text, file, env: { ...ENV, ...env }, clock: quickClock() };
}

interface Profile {
  readonly config: Readonly<Record<string, unknown>>;
  readonly api_key_set: boolean;
}

async function profile(dialect: Dialect, name: string): Promise<Profile | null> {
  const { status, body } = await front.ask('GET', `${PROFILES[dialect]}/${name}`);
  return status === 200 ? (body as Profile) : null;
}

async function activeOf(dialect: Dialect): Promise<unknown> {
  const { body } = await front.ask('GET', PROFILES[dialect]);
  return (body as { active_profile: unknown }).active_profile;
}

/** Whether the settings have a key, as an agent would use it. */
async function settingsKey(dialect: Dialect): Promise<unknown> {
  const { body } = await front.ask('GET', SETTINGS[dialect]);
  const { llm_api_key_set: one, llm_api_key_is_set: other } = body as Record<string, unknown>;
  return one ?? other;
}

const MAIN =
  'main: { model: openai/gpt-5, base_url: "https://llm.example.com/v1", api_key: "${env:K1}" }';
const FILE = `llm_profiles: { ${MAIN}, cheap: { model: openai/gpt-5-mini, temperature: 0.2 } }\nactive: { llm_profile: main }`;

/** What is planned without what comes along with an activation, in the settings. */
function direct(
  environment: { readonly changes: readonly { readonly path: readonly string[] }[] } | undefined,
) {
  const isAlong = (block: string) => /^llm_(?!profiles)|^agent_settings$/.test(block);
  const changes = environment?.changes.filter(({ path: [block = ''] }) => !isAlong(block));
  return { ...environment, changes };
}

async function applied(blocks: string, env: Readonly<Record<string, string>> = {}) {
  const [environment] = (await apply({ ...asked(blocks, env), allow: ['empty-store'] }))
    .environments;
  expect(environment).toMatchObject({ error: null });
  return environment;
}

it('settings-v0 has no LLM profiles: the plan says so with the place, and nothing is sent', async () => {
  await service('settings-v0');
  const [planned] = (await plan(asked(FILE))).environments;
  expect(planned?.error).toMatchObject({ code: 'unfit-for-service' });
  expect(planned?.error?.message).toMatch(/llm_profiles \(.*settings\.yaml:4\), active/);
  expect(front.writes()).toEqual([]);
});

it('an Agent Server takes the connection of a profile by its name', async () => {
  await service('agent-server');
  const file = `provider_connections: { team: { provider: openai, api_key: "\${env:K2}" } }
llm_profiles: { main: { model: openai/gpt-5, connection: team } }
active: { llm_profile: main }`;
  await applied(file);
  const found = await profile('agent-server', 'main');
  expect(typeof found?.config['provider_connection_id']).toBe('string');
  expect(await settingsKey('agent-server')).toBe(true);
  expect(await applied(file)).toMatchObject({ status: 'in-sync', unknown: [] });
  const rotated = await applied(file, { K2: 'canary-key-3' });
  expect(direct(rotated).changes).toMatchObject([
    { path: ['provider_connections', 'team', 'api_key'], action: 'rotate' },
    { path: ['active', 'llm_profile'], result: 'verified' },
  ]);
});

it('a profile of an Agent Server that leaves its connection gets its own key, also one that was stored from here before', async () => {
  await service('agent-server');
  const connections = 'provider_connections: { team: { provider: openai, api_key: "${env:K2}" } }';
  const own = `${connections}\nllm_profiles: { main: { model: openai/gpt-5, api_key: "\${env:K1}" } }`;
  await applied(own);
  await applied(
    `${connections}\nllm_profiles: { main: { model: openai/gpt-5, connection: team } }`,
  );
  await applied(own);
  expect(await profile('agent-server', 'main')).toMatchObject({ api_key_set: true });
  const [quiet] = (await plan(asked(own))).environments;
  expect(quiet).toMatchObject({ status: 'in-sync', changes: [], unknown: [] });
});

describe('app-server: the profile that is active, and of which the file says nothing', () => {
  const WITHOUT = FILE.replace(/\nactive:.*/, '');

  async function activated(name: string, llm: object): Promise<void> {
    await service('app-server');
    await applied('');
    await front.ask('POST', `${PROFILES['app-server']}/${name}`, { llm });
    await front.ask('POST', `${PROFILES['app-server']}/${name}/activate`, {});
  }

  it('stays active when it is stored, with its new values, and the plan says so', async () => {
    await activated('main', { model: 'openai/gpt-5-mini', api_key: 'canary-old' });
    const [planned] = (await plan(asked(WITHOUT))).environments;
    expect(planned?.warnings).toContainEqual({
      code: 'active-profile',
      message: expect.stringMatching(/main makes it inactive.*activates it again/) as unknown,
      path: ['llm_profiles', 'main'],
    });
    await applied(WITHOUT);
    expect(await activeOf('app-server')).toBe('main');
    expect(await settingsKey('app-server')).toBe(true);
    const writes = front.writes().length;
    expect(await applied(WITHOUT)).toMatchObject({ status: 'in-sync' });
    expect(front.writes()).toHaveLength(writes);
  });

  it('stays active when another is stored while it has no base_url', async () => {
    await activated('theirs', { model: 'openai/gpt-5-mini', api_key: 'canary-theirs' });
    const [planned] = (await plan(asked(WITHOUT))).environments;
    expect(planned?.warnings.map(({ message }) => message)).toContainEqual(
      expect.stringMatching(/theirs.*no base_url/),
    );
    expect(await applied(WITHOUT)).toMatchObject({ status: 'applied' });
    expect(await activeOf('app-server')).toBe('theirs');
  });

  it('is left alone by stores of others if it has one', async () => {
    const llm = { model: 'openai/gpt-5-mini', base_url: 'https://theirs.example.com' };
    await activated('theirs', llm);
    const [planned] = (await plan(asked(WITHOUT))).environments;
    expect(planned?.warnings).toEqual([]);
    await applied(WITHOUT);
    expect(await activeOf('app-server')).toBe('theirs');
    const activations = front.seen.filter(({ path }) => path.endsWith('/activate'));
    expect(activations).toEqual([]);
  });
});

describe('agent-server: the copies of what is active in the settings', () => {
  const META = 'meta_profiles: { router: { classifier: main } }';
  const ROUTED = `${FILE.replace('llm_profile: main', 'llm_profile: main, meta_profile: router')}\n${META}`;
  const DRIFTED = {
    llm: ['agent_settings_diff', { llm: { model: 'openai/theirs' } }, 'llm_profile'],
    router: ['agent_settings_diff', { meta_profile: null }, 'meta_profile'],
  } as const;

  it.each(['llm', 'router'] as const)(
    'somebody changes the %s in the settings alone: drift, and healed by an activation',
    async (what) => {
      await service('agent-server');
      await applied(ROUTED);
      const [member, diff, pointer] = DRIFTED[what];
      const { status } = await front.ask('PATCH', SETTINGS['agent-server'], { [member]: diff });
      expect(status).toBe(200);
      const [drifted] = (await drift(asked(ROUTED))).environments;
      expect(direct(drifted).changes).toMatchObject([
        {
          path: ['active', pointer],
          reason: 'the settings have another copy of it, will be activated again',
        },
      ]);
      const outcome = await applied(ROUTED);
      expect(direct(outcome).changes).toMatchObject([
        { path: ['active', pointer], result: 'verified' },
      ]);
      const [quiet] = (await plan(asked(ROUTED))).environments;
      expect(quiet).toMatchObject({ status: 'in-sync', changes: [], unknown: [] });
    },
  );

  it('a key that a run could not bring into the settings any more is brought by the next one', async () => {
    await service('agent-server');
    await applied(FILE);
    front.instead = ({ path }) => (path.endsWith('/activate') ? { status: 403, body: {} } : null);
    const next = { K1: 'canary-key-9' };
    const [cut] = (await apply(asked(FILE, next))).environments;
    expect(cut?.error).not.toBeNull();
    front.instead = () => null;
    const [planned] = (await plan(asked(FILE, next))).environments;
    expect(direct(planned).changes).toMatchObject([
      {
        path: ['active', 'llm_profile'],
        reason: 'its key changed since it was activated, will be activated again',
      },
    ]);
    expect(JSON.stringify([cut, planned])).not.toContain('canary');
    await applied(FILE, next);
    const { body } = await front.ask('GET', SETTINGS['agent-server'], undefined, {
      'X-Expose-Secrets': 'plaintext',
    });
    expect(JSON.stringify(body)).toContain(next.K1);
    const [quiet] = (await plan(asked(FILE, next))).environments;
    expect(quiet).toMatchObject({ status: 'in-sync', changes: [], unknown: [] });
  });
});

it('the command says why an active profile is made active again, and shows no key', async () => {
  await service('agent-server');
  await applied(FILE);
  const text = asked(FILE.replace('gpt-5,', 'gpt-5.1,')).text;
  const made = folderWith({ 'settings.yaml': text });
  const { stdout, stderr } = await setpoint(['plan'], { cwd: made.path, env: ENV });
  expect(stdout).toContain('~ active.llm_profile: changed by this plan, will be activated again');
  expect(stdout + stderr).not.toContain('canary');
  made.remove();
});

it.each([
  'active_profile: main',
  'llm_model: openai/gpt-5',
  'agent_settings: { llm: { model: x } }',
])('active.llm_profile beside settings.%s is an error at both places', async (setting) => {
  await service('agent-server');
  const { text, file, env } = asked(FILE);
  const both = text.replace('language: en', setting);
  const { diagnostics } = await validate({ text: both, file, env });
  expect(diagnostics.map(({ code, line }) => [code, line])).toEqual([
    ['declared-twice', 3],
    ['declared-twice', 5],
  ]);
});

it.each([
  ['temprature: 1', 'unknown-key', 'Did you mean temperature?'],
  ['temperature: warm', 'wrong-type', 'default'],
  ['connection: team', 'declared-twice', 'one of the two'],
  ['provider_connection_id: abc', 'unknown-key', 'Write connection:'],
])('a profile with %s is not valid', async (member, code, hint) => {
  await service('agent-server');
  const { text, file, env } = asked(FILE.replace('main: {', `main: { ${member},`));
  const { diagnostics } = await validate({ text, file, env });
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  expect(errors.length).toBeGreaterThan(0);
  expect(errors[0]).toMatchObject({ code, hint: expect.stringContaining(hint) as unknown });
});

itEach(DIALECTS, (dialect) => dialect === 'agent-server')(
  '%s: settings.active_profile beside profiles is active.llm_profile',
  async (dialect) => {
    await service(dialect);
    const { text, ...request } = asked(`llm_profiles: { ${MAIN} }`);
    const pointed = text.replace('language: en', 'language: en, active_profile: main');
    const outcome = await apply({ ...request, text: pointed, allow: ['empty-store'] });
    expect(outcome.environments[0]).toMatchObject({
      error: null,
      changes: expect.arrayContaining([
        expect.objectContaining({ path: ['active', 'llm_profile'], result: 'verified' }) as unknown,
      ]) as unknown,
    });
    expect(await activeOf(dialect)).toBe('main');
    const [again] = (await plan({ ...request, text: pointed })).environments;
    expect(again).toMatchObject({ status: 'in-sync', changes: [] });
  },
);

itEach(DIALECTS, (dialect) => dialect === 'agent-server')(
  '%s: get lists profiles and what is active, without a key',
  async (dialect) => {
    await service(dialect);
    await applied(FILE);
    const made = folderWith({ 'settings.yaml': asked(FILE).text });
    const { stdout } = await setpoint(['get', 'llm_profiles,active'], { cwd: made.path, env: ENV });
    expect(stdout).toMatch(/main\s+openai\/gpt-5\s+set\s+https:\/\/llm\.example\.com\/v1/);
    expect(stdout).toMatch(/llm_profile\s+main/);
    const json = await setpoint(['get', 'settings,llm_profiles,active', '-o', 'json'], {
      cwd: made.path,
      env: ENV,
    });
    expect(JSON.parse(json.stdout)).toMatchObject({
      environments: [
        {
          llm_profiles: expect.arrayContaining([
            expect.objectContaining({ name: 'main', api_key: '(sensitive)' }) as unknown,
          ]) as unknown,
          active: [{ name: 'llm_profile', profile: 'main' }],
        },
      ],
    });
    expect(stdout + json.stdout).not.toContain('canary');
    made.remove();
  },
);

it.each(DIALECTS)(
  '%s: a number and a flag of a reference are sent as what they are',
  async (dialect) => {
    await service(dialect);
    const file =
      'llm_profiles: { main: { model: openai/gpt-5, num_retries: "${env:N}", drop_params: "${env:F}" } }';
    const env = { N: '42', F: 'false' };
    expect(await applied(file, env)).toMatchObject({ status: 'applied' });
    expect((await profile(dialect, 'main'))?.config).toMatchObject({
      num_retries: 42,
      drop_params: false,
    });
    expect(await applied(file, env)).toMatchObject({ status: 'in-sync', unknown: [] });
  },
);

it('a flag of a reference is a flag where a server takes text too, and a word is text', async () => {
  await service('agent-server');
  const file =
    'llm_profiles: { main: { model: openai/gpt-5, capability_overrides: { a: "${env:F}", b: "${env:T}", c: "${env:N}" } } }';
  const env = { F: 'true', T: 'low', N: '42' };
  expect(await applied(file, env)).toMatchObject({ status: 'applied' });
  expect((await profile('agent-server', 'main'))?.config).toMatchObject({
    capability_overrides: { a: true, b: 'low', c: '42' },
  });
  expect(await applied(file, env)).toMatchObject({ status: 'in-sync', unknown: [] });
});
