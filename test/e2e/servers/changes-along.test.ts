/** What a write of a named item changes on the service besides what differs from the file. */
import { afterEach, describe, expect, it } from 'vitest';
import { apply } from '../../../src/reconciler/operations/apply.ts';
import { plan } from '../../../src/reconciler/operations/plan.ts';
import { startFronted, type Fronted } from '../../fixture/before-service.ts';
import { quickClock } from '../../fixture/settings.ts';

const PROFILES = {
  'app-server': '/api/v1/settings/profiles',
  'agent-server': '/api/profiles',
} as const;
type Dialect = keyof typeof PROFILES;
const DIALECTS = ['app-server', 'agent-server'] as const;
const GUARDS = 'guards: { protected: true, empty_store: false, overwrite_drift: false }\n';
const ENV = { ID: 'canary-id', SECRET: 'canary-secret', HEADER: 'canary-header' };

let front: Fronted;
afterEach(async () => {
  await front.close();
});

async function service(dialect: Dialect): Promise<void> {
  front = await startFronted({ dialect });
  if (dialect === 'app-server') await stored('/api/v1/settings', { language: 'en' });
}

async function stored(path: string, body: object): Promise<void> {
  expect((await front.ask('POST', path, body)).status).toBeLessThan(300);
}

async function configOf(dialect: Dialect, name: string): Promise<Record<string, unknown>> {
  const headers = { 'X-Expose-Secrets': 'plaintext' };
  const { body } = await front.ask('GET', `${PROFILES[dialect]}/${name}`, undefined, headers);
  return (body as { config: Record<string, unknown> }).config;
}

function asked(blocks: string, env: Readonly<Record<string, string>> = ENV) {
  return {
    text: `version: 1\nserver: { url: "${front.url}" }\n${GUARDS}${blocks}\n`,
    env,
    clock: quickClock(),
  };
}

async function planned(blocks: string, env?: Readonly<Record<string, string>>) {
  const [environment] = (await plan(asked(blocks, env))).environments;
  const paths = environment?.changes.map(({ action, path }) => `${action} ${path.join('.')}`);
  return { environment, paths, rules: environment?.refusals.map(({ rule }) => rule) };
}

async function applied(blocks: string, env?: Readonly<Record<string, string>>) {
  const [environment] = (await apply(asked(blocks, env))).environments;
  expect(environment).toMatchObject({ status: 'applied', error: null });
}

const AWS =
  'aws_access_key_id: "${env:ID}", aws_secret_access_key: "${env:SECRET}", aws_region_name: eu-west-1';
const withAws = (temperature: number) =>
  `llm_profiles: { m: { model: bedrock/x, temperature: ${temperature}, ${AWS} } }`;

describe('a profile that is stored whole', () => {
  it.each([
    ['without fingerprints', ENV, ['rotate aws_access_key_id', 'rotate aws_secret_access_key']],
    ['with fingerprints', { ...ENV, SETPOINT_STATE_KEY: 'key' }, []],
  ])('keeps declared aws keys on an app-server, %s', async (_, env, rotated) => {
    await service('app-server');
    await applied(withAws(0.1), env);
    const { paths } = await planned(withAws(0.5), env);
    expect(paths?.toSorted()).toEqual(
      [
        'change llm_profiles.m.temperature',
        ...rotated.map((one) => one.replace(' ', ' llm_profiles.m.')),
      ].toSorted(),
    );
    await applied(withAws(0.5), env);
    expect(await configOf('app-server', 'm')).toMatchObject({
      aws_access_key_id: '**********',
      aws_secret_access_key: '**********',
    });
  });

  it.each(DIALECTS)('%s: keeps what the server filled in and somebody changed', async (dialect) => {
    await service(dialect);
    const llm = { model: 'azure/x', api_key: 'k', api_version: '2024-06-01', usage_id: 'mine' };
    const idle = dialect === 'agent-server' ? { stream_idle_timeout: 900 } : {};
    await stored(`${PROFILES[dialect]}/m`, { llm: { ...llm, ...idle } });
    await applied('llm_profiles: { m: { model: azure/x, temperature: 0.3 } }');
    const { api_key: _, ...shown } = { ...llm, ...idle };
    expect(await configOf(dialect, 'm')).toMatchObject({ ...shown, temperature: 0.3 });
  });

  it.each(DIALECTS)('%s: null is what the server fills in', async (dialect) => {
    await service(dialect);
    const file = 'llm_profiles: { m: { model: azure/x, api_version: null } }';
    await applied(file);
    expect((await configOf(dialect, 'm'))['api_version']).toBe('2024-12-01-preview');
    expect((await planned(file)).paths).toEqual([]);
    await stored(`${PROFILES[dialect]}/m`, {
      llm: { model: 'azure/x', api_version: '2024-06-01' },
    });
    expect((await planned(file)).paths).toEqual(['clear llm_profiles.m.api_version']);
    await applied(file);
    expect((await planned(file)).paths).toEqual([]);
  });

  it('shows what the server makes of another timeout', async () => {
    await service('agent-server');
    await stored('/api/profiles/m', { llm: { model: 'openai/gpt-5', timeout: 60 } });
    const { paths } = await planned('llm_profiles: { m: { model: openai/gpt-5, timeout: 90 } }');
    expect(paths).toEqual([
      'change llm_profiles.m.timeout',
      'change llm_profiles.m.stream_idle_timeout',
    ]);
    await applied('llm_profiles: { m: { model: openai/gpt-5, timeout: 90 } }');
    expect(await configOf('agent-server', 'm')).toMatchObject({ stream_idle_timeout: 90 });
  });

  it('shows the key that a connection takes the place of, and guards judge it', async () => {
    await service('agent-server');
    const connection = { display_name: 'team', provider: 'openai', api_key: 'team-key' };
    await stored('/api/llm/provider-connections', connection);
    await stored('/api/profiles/m', { llm: { model: 'openai/gpt-5', api_key: 'own-key' } });
    const { paths, rules, environment } = await planned(
      'llm_profiles: { m: { model: openai/gpt-5, connection: team } }',
    );
    expect(paths).toEqual(['set llm_profiles.m.connection', 'clear llm_profiles.m.api_key']);
    expect(rules).toEqual(['clear-secret']);
    expect(JSON.stringify(environment)).not.toContain('own-key');
  });
});

describe('a map of headers', () => {
  const text = (headers: string) =>
    `llm_profiles: { m: { model: openai/gpt-5, extra_headers: ${headers} } }`;

  it.each(DIALECTS)('%s: is declared whole: one that the file leaves out goes', async (dialect) => {
    await service(dialect);
    const extra_headers = { 'X-Key': 'stored', 'X-Other': 'somebody' };
    await stored(`${PROFILES[dialect]}/m`, { llm: { model: 'openai/gpt-5', extra_headers } });
    const one = await planned(text('{ X-Key: "${env:HEADER}" }'));
    expect(one.paths).toContain('clear llm_profiles.m.extra_headers.X-Other');
    expect(one.rules).toContain('clear-secret');
    const none = await planned(text('{}'));
    expect(none.paths).toEqual([
      'clear llm_profiles.m.extra_headers.X-Key',
      'clear llm_profiles.m.extra_headers.X-Other',
    ]);
    const kept = await planned('llm_profiles: { m: { model: openai/gpt-5, temperature: 0.1 } }');
    expect(kept.paths).toEqual(['set llm_profiles.m.temperature']);
    await applied('llm_profiles: { m: { model: openai/gpt-5, temperature: 0.1 } }');
    expect(await configOf(dialect, 'm')).toMatchObject({ extra_headers });
  });
});

/** Stands for a later release: it stores one member more, and replaces it with each POST as all others. */
function ofLaterRelease(path: string, key: string, member: string, value: unknown) {
  let held = value;
  front.changed = (seen, reply) => {
    if (seen.path !== path || reply.status !== 200) return reply;
    const shown = reply.body as Record<string, object>;
    const more = held === undefined ? {} : { [member]: held };
    return { ...reply, body: { ...shown, [key]: { ...shown[key], ...more } } };
  };
  front.instead = async ({ method, path: asking, body }) => {
    if (method !== 'POST' || asking !== path) return null;
    const { [member]: sent, ...known } = JSON.parse(body) as Record<string, unknown>;
    held = sent;
    return front.ask('POST', path, known);
  };
  return () => held;
}

/** An Agent Server with the LLM profiles that the others name. */
async function withModels(): Promise<void> {
  await service('agent-server');
  for (const name of ['x', 'y'])
    await stored(`/api/profiles/${name}`, { llm: { model: 'openai/gpt-5' } });
}

const LATER = [
  {
    path: '/api/agent-profiles/r',
    key: 'profile',
    body: { llm_profile_ref: 'x', persona: 'p' },
    file: 'agent_profiles: { r: { llm_profile: x, persona: q } }',
    changes: 'change agent_profiles.r.persona',
  },
  {
    path: '/api/meta-profiles/m',
    key: 'config',
    body: { classifier_model: 'x', classes: [] },
    file: 'meta_profiles: { m: { classifier: y } }',
    changes: 'change meta_profiles.m.classifier',
  },
];

describe.each(LATER)('$path: a member of a later release', ({ path, key, body, file, changes }) => {
  it('is read and sent along', async () => {
    await withModels();
    await stored(path, body);
    const held = ofLaterRelease(path, key, 'later', { mode: 'locked-down' });
    expect((await planned(file)).paths).toEqual([changes]);
    await applied(file);
    expect(held()).toEqual({ mode: 'locked-down' });
  });

  it('is shown as lost if it is masked', async () => {
    await withModels();
    await stored(path, body);
    ofLaterRelease(path, key, 'later_key', '**********');
    const { paths, rules } = await planned(file);
    expect(paths).toEqual([
      changes,
      `clear ${path.slice(5).replaceAll('/', '.').replace('-', '_')}.later_key`,
    ]);
    expect(rules).toEqual(['clear-secret']);
  });
});

it('nothing is sent of a profile whose secret does not show right before', async () => {
  await service('agent-server');
  const llm = { model: 'bedrock/x', api_key: 'own-key', aws_secret_access_key: 'aws-secret' };
  await stored('/api/profiles/m', { llm });
  front.changed = (seen, reply) => {
    if (seen.path !== '/api/profiles/m' || !seen.exposes) return reply;
    const { config, ...shown } = reply.body as { config: object };
    const masked = { api_key: null, aws_secret_access_key: '**********' };
    return { ...reply, body: { ...shown, config: { ...config, ...masked } } };
  };
  const [environment] = (
    await apply(asked('llm_profiles: { m: { model: bedrock/x, temperature: 0.5 } }'))
  ).environments;
  expect(environment).toMatchObject({ error: { code: 'bad-response' } });
  expect(await configOf('agent-server', 'm')).toMatchObject(llm);
});

describe('an activation', () => {
  async function withOwnLlm(): Promise<void> {
    await service('agent-server');
    const llm = { model: 'openai/gpt-5', api_key: 'own-key', base_url: 'https://own.example.com' };
    const { status } = await front.ask('PATCH', '/api/settings', {
      agent_settings_diff: { llm },
    });
    expect(status).toBe(200);
  }

  const EVIL = '{ model: openai/gpt-5-mini, base_url: "https://evil.example.com" }';

  it.each([
    ['of a profile of the service', 'active: { llm_profile: evil }', true],
    [
      'of one that the same plan makes',
      `llm_profiles: { evil: ${EVIL} }\nactive: { llm_profile: evil }`,
      false,
    ],
    [
      'by its other spelling',
      `llm_profiles: { evil: ${EVIL} }\nsettings: { active_profile: evil }`,
      true,
    ],
  ])('%s shows what it replaces, and guards judge it', async (_, file, isThere) => {
    await withOwnLlm();
    const llm = { model: 'openai/gpt-5-mini', base_url: 'https://evil.example.com' };
    if (isThere) await stored('/api/profiles/evil', { llm });
    const { paths, rules, environment } = await planned(file);
    expect(paths?.slice(-4).toSorted()).toEqual([
      'change llm_base_url',
      'change llm_model',
      'clear llm_api_key',
      'set active.llm_profile',
    ]);
    expect(new Set(rules)).toEqual(new Set(['clear-secret', 'move-endpoint']));
    expect(JSON.stringify(environment)).not.toContain('own-key');
    await apply(asked(file));
    const { body } = await front.ask('GET', '/api/settings');
    expect(body).toMatchObject({ llm_api_key_is_set: true });
  });

  it.each(['', 'llm_profiles: { other: { model: openai/gpt-5 } }\n'])(
    'of a profile that a reference names, after %j',
    async (blocks) => {
      await withOwnLlm();
      const llm = { model: 'openai/gpt-5-mini', base_url: 'https://evil.example.com' };
      await stored('/api/profiles/evil', { llm });
      const file = `${blocks}settings: { active_profile: "\${env:NAME}" }`;
      const { paths, rules } = await planned(file, { NAME: 'evil' });
      expect(paths).toEqual(
        expect.arrayContaining([
          blocks === '' ? 'set active_profile' : 'set active.llm_profile',
          'change llm_base_url',
          'change llm_model',
        ]),
      );
      expect(rules).toContain('move-endpoint');
      const allow = ['move-endpoint', 'clear-secret'] as const;
      const [outcome] = (await apply({ ...asked(file, { NAME: 'evil' }), allow })).environments;
      expect(outcome).toMatchObject({ status: 'applied', error: null });
    },
  );

  it.each(DIALECTS)('%s: of an agent kind that a reference names', async (dialect) => {
    await service(dialect);
    const settings = (kind: string) => `settings: { agent_settings: { agent_kind: ${kind} } }`;
    await apply(asked('settings: { agent_settings: { agent: own } }', {}));
    const literal = await planned(settings('acp'));
    expect(literal.paths).toContain('clear agent');
    const referred = await planned(settings('"${env:KIND}"'), { KIND: 'acp' });
    expect([referred.paths, referred.rules]).toEqual([literal.paths, literal.rules]);
  });

  it('on an app-server, too', async () => {
    await service('app-server');
    const llm = { model: 'openai/gpt-5', api_key: 'own-key', base_url: 'https://own.example.com' };
    await stored('/api/v1/settings', { agent_settings_diff: { llm } });
    const evil = { model: 'openai/gpt-5', base_url: 'https://evil.example.com' };
    await stored('/api/v1/settings/profiles/evil', { llm: evil });
    const { paths, rules } = await planned('active: { llm_profile: evil }');
    expect(paths?.toSorted()).toEqual([
      'change llm_base_url',
      'clear llm_api_key',
      'set active.llm_profile',
    ]);
    expect(new Set(rules)).toEqual(new Set(['clear-secret', 'move-endpoint']));
  });

  it.each(DIALECTS)(
    '%s: shows no value that a profile hides, of whatever member',
    async (dialect) => {
      await service(dialect);
      const secrets = {
        api_key: 'canary-key',
        aws_secret_access_key: 'canary-aws',
        extra_headers: { 'X-A': 'canary-header' },
        litellm_extra_body: { own: 'canary-body' },
      };
      await stored(`${PROFILES[dialect]}/theirs`, { llm: { model: 'bedrock/x', ...secrets } });
      const file = 'active: { llm_profile: theirs }';
      const { environment, paths } = await planned(file);
      expect(paths).toContain('set agent_settings.llm.extra_headers');
      expect(JSON.stringify(environment)).not.toContain('canary');
      const outcome = await apply({ ...asked(file), allow: ['move-endpoint'] });
      expect(outcome.environments[0]).toMatchObject({ status: 'applied', error: null });
      expect(JSON.stringify(outcome)).not.toContain('canary');
    },
  );

  it('on an app-server shows each key of the active profile that goes', async () => {
    await service('app-server');
    const keys = { aws_access_key_id: 'canary-id', aws_secret_access_key: 'canary-secret' };
    await stored('/api/v1/settings/profiles/a', { llm: { model: 'bedrock/x', ...keys } });
    await stored('/api/v1/settings/profiles/b', { llm: { model: 'bedrock/x' } });
    await stored('/api/v1/settings/profiles/a/activate', {});
    const { environment, paths, rules } = await planned('active: { llm_profile: b }');
    expect(paths?.toSorted()).toEqual([
      'change active.llm_profile',
      'clear agent_settings.llm.aws_access_key_id',
      'clear agent_settings.llm.aws_secret_access_key',
    ]);
    expect(new Set(rules)).toEqual(new Set(['clear-secret']));
    expect(JSON.stringify(environment)).not.toContain('canary');
  });

  it.each(['llm_profiles', 'agent_kind'])(
    'on an app-server without an active profile shows each key that goes: %s',
    async (by) => {
      await service('app-server');
      const keys = {
        aws_access_key_id: 'canary-id',
        aws_secret_access_key: 'canary-secret',
        aws_session_token: 'canary-session',
      };
      const llm = { model: 'bedrock/x', ...keys };
      await stored('/api/v1/settings', { agent_settings_diff: { llm } });
      await stored('/api/v1/settings/profiles/b', { llm: { model: 'bedrock/x' } });
      const { environment, paths } = await planned(
        by === 'agent_kind'
          ? 'settings: { agent_settings: { agent_kind: acp } }'
          : 'active: { llm_profile: b }',
      );
      expect(paths).toEqual(
        expect.arrayContaining(Object.keys(keys).map((name) => `clear agent_settings.llm.${name}`)),
      );
      const judged = by === 'agent_kind' ? 'reset-agent' : 'clear-secret';
      expect(environment?.refusals.map(({ rule }) => rule)).toContain(judged);
      expect(JSON.stringify(environment)).not.toContain('canary');
    },
  );

  it.each(DIALECTS)(
    '%s: of a renamed profile that another client changed shows what it brings',
    async (dialect) => {
      await service(dialect);
      const llm = { model: 'own/x', base_url: 'https://llm.example.com' };
      await stored(`${PROFILES[dialect]}/a`, { llm });
      await stored(`${PROFILES[dialect]}/a/activate`, {});
      const theirs = { ...llm, api_key: 'canary-key', extra_headers: { 'X-A': 'canary-header' } };
      await stored(`${PROFILES[dialect]}/a`, { llm: theirs, include_secrets: true });
      const moved = 'moved: [{ from: llm_profiles.a, to: llm_profiles.b }]';
      const profile = 'llm_profiles: { b: { model: own/x, base_url: "https://llm.example.com" } }';
      const file = `${profile}\nactive: { llm_profile: b }\n${moved}`;
      const { environment, paths } = await planned(file);
      expect(paths?.toSorted()).toEqual([
        ...(dialect === 'agent-server' ? ['change active.llm_profile'] : []),
        'rename llm_profiles.b',
        ...(dialect === 'app-server' ? ['set active.llm_profile'] : []),
        'set agent_settings.llm.extra_headers',
        'set llm_api_key',
      ]);
      expect(JSON.stringify(environment)).not.toContain('canary');
      await applied(file);
      expect((await planned(file)).paths).toEqual([]);
    },
  );

  it.each(['acp', 'openhands'])(
    'of an app-server follows a change of agent_kind to %s, in one run',
    async (kind) => {
      await service('app-server');
      const diff = { agent_kind: kind === 'acp' ? 'openhands' : 'acp' };
      await stored('/api/v1/settings', { agent_settings_diff: diff });
      const base_url = 'https://llm.example.com';
      await stored('/api/v1/settings/profiles/a', { llm: { model: 'own/x', base_url } });
      await stored('/api/v1/settings/profiles/a/activate', {});
      const file = `settings: { agent_settings: { agent_kind: ${kind} } }\nactive: { llm_profile: a }`;
      const { environment, paths } = await planned(file);
      expect(paths).toContain('change active.llm_profile');
      expect(paths).not.toContain('clear active.llm_profile');
      const [outcome] = (await apply({ ...asked(file), allow: ['reset-agent', 'run-code'] }))
        .environments;
      for (const { warnings = [] } of [environment, outcome].flatMap((one) => one ?? []))
        expect(warnings.map(({ code }) => code)).not.toContain('active-profile');
      expect(outcome).toMatchObject({ status: 'applied', error: null });
      expect((await planned(file)).paths).toEqual([]);
    },
  );

  it('of a profile that no file declares follows the store of others', async () => {
    await service('app-server');
    await stored('/api/v1/settings/profiles/a', { llm: { model: 'anthropic/claude-sonnet-4-5' } });
    await stored('/api/v1/settings/profiles/a/activate', {});
    const file = 'llm_profiles: { b: { model: openai/gpt-5 } }\nactive: { llm_profile: a }';
    expect((await planned(file)).paths).toContain('change active.llm_profile');
    await applied(file);
    const { body } = await front.ask('GET', PROFILES['app-server']);
    expect(body).toMatchObject({ active_profile: 'a' });
    expect((await planned(file)).paths).toEqual([]);
  });

  it.each(['', '\nllm_profiles: { a: { model: own/x, temperature: 0.5 } }'])(
    'ends with a change of the llm, which the plan shows: %j',
    async (blocks) => {
      await service('app-server');
      await stored('/api/v1/settings/profiles/a', { llm: { model: 'own/x' } });
      await stored('/api/v1/settings/profiles/a/activate', {});
      const file = `settings: { llm_model: own/y }${blocks}`;
      const { paths, environment } = await planned(file);
      expect(paths?.slice(0, 2)).toEqual(['change llm_model', 'clear active.llm_profile']);
      expect(environment?.unmanaged).not.toContainEqual(['active', 'llm_profile']);
      expect(JSON.stringify(environment)).not.toContain('setpoint activates it again');
      await applied(file);
      const { body } = await front.ask('GET', PROFILES['app-server']);
      expect(body).toMatchObject({ active_profile: null });
      expect((await planned(file)).paths).toEqual([]);
    },
  );

  it('follows a write of mcp servers, before which other secrets are read', async () => {
    await service('app-server');
    await stored('/api/v1/settings/profiles/a', { llm: { model: 'anthropic/claude-sonnet-4-5' } });
    await stored('/api/v1/settings/profiles/a/activate', {});
    await applied('mcp_servers: { one: { url: "https://mcp.example.com/mcp" } }');
    const { body } = await front.ask('GET', PROFILES['app-server']);
    expect(body).toMatchObject({ active_profile: 'a' });
  });

  it('that follows the store of the active profile shows what it replaces, once', async () => {
    await service('app-server');
    const llm = { model: 'openai/gpt-5', api_key: 'own-key', aws_access_key_id: 'own-id' };
    await stored('/api/v1/settings/profiles/a', { llm });
    await stored('/api/v1/settings/profiles/a/activate', {});
    const evil = 'model: openai/gpt-5-mini, base_url: "https://evil.example.com"';
    const file = `llm_profiles: { a: { ${evil}, aws_access_key_id: "\${env:ID}" } }`;
    const { paths, rules } = await planned(file);
    expect(paths?.toSorted()).toEqual([
      'change agent_settings.llm.aws_access_key_id',
      'change llm_base_url',
      'change llm_model',
      'change llm_profiles.a.model',
      'rotate llm_profiles.a.aws_access_key_id',
      'set llm_profiles.a.base_url',
    ]);
    expect(new Set(rules)).toEqual(new Set(['move-endpoint']));
    const [outcome] = (await apply({ ...asked(file), allow: ['move-endpoint'] })).environments;
    expect(outcome).toMatchObject({ status: 'applied', error: null });
    const results = outcome?.changes.map(({ path, result }) => `${path.join('.')} ${result}`);
    expect(results).toContain('llm_base_url verified');
    expect((await planned(file)).paths).toEqual([]);
  });

  it('counts for max_changes, and is verified with its request', async () => {
    await withOwnLlm();
    await stored('/api/profiles/a', { llm: { model: 'openai/gpt-5', api_key: 'a-key' } });
    const file = 'active: { llm_profile: a }';
    const open = (guards: string) => ({
      ...asked(file),
      text: asked(file).text.replace(GUARDS, guards),
    });
    const [few] = (await plan(open('guards: { max_changes: 2 }\n'))).environments;
    expect(few?.refusals).toMatchObject([{ rule: 'max-changes' }]);
    const [outcome] = (await apply(open('guards: { max_changes: 3 }\n'))).environments;
    expect(outcome).toMatchObject({ status: 'applied', error: null });
    expect(outcome?.changes.map(({ path, result }) => [path.join('.'), result])).toEqual([
      ['active.llm_profile', 'verified'],
      ['llm_api_key', 'set'],
      ['llm_base_url', 'verified'],
    ]);
    const [quiet] = (await plan(open(''))).environments;
    expect(quiet).toMatchObject({ status: 'in-sync', changes: [] });
  });

  it('of a meta profile, and its removal, show the copy and the tool', async () => {
    await service('agent-server');
    await stored('/api/profiles/x', { llm: { model: 'openai/gpt-5' } });
    const classes = [{ description: 'd', model: 'x' }];
    await stored('/api/meta-profiles/r', { classifier_model: 'x', classes });
    const on = await planned('active: { meta_profile: r }');
    expect(on.paths?.toSorted()).toEqual([
      'change agent_settings.enable_classify_and_switch_llm_tool',
      'set active.meta_profile',
      'set agent_settings.meta_profile',
    ]);
    await applied('active: { meta_profile: r }');
    const off = await planned('meta_profiles: { r: null }');
    expect(off.paths?.toSorted()).toEqual([
      'change agent_settings.enable_classify_and_switch_llm_tool',
      'clear active_meta_profile',
      'clear agent_settings.meta_profile',
      'remove meta_profiles.r',
    ]);
    const [removed] = (await apply(asked('meta_profiles: { r: null }'))).environments;
    expect(removed).toMatchObject({ status: 'applied', error: null });
    expect(removed?.changes.map(({ result }) => result)).toEqual(Array(4).fill('verified'));
  });

  it.each(DIALECTS)(
    '%s: starts from the settings as the same plan leaves them',
    async (dialect) => {
      await service(dialect);
      const agent_settings_diff = { llm: { model: 'openai/gpt-5', api_key: 'own-key' } };
      const [method, path] =
        dialect === 'app-server' ? ['POST', '/api/v1/settings'] : ['PATCH', '/api/settings'];
      expect((await front.ask(method, path, { agent_settings_diff })).status).toBe(200);
      const llm = { model: 'openai/gpt-5-mini', api_key: 'p-key', temperature: 0.9 };
      await stored(`${PROFILES[dialect]}/p`, { llm });
      const kind = 'settings: { agent_settings: { agent_kind: acp, acp_server: codex } }';
      const file = `${kind}\nactive: { llm_profile: p }`;
      const { environment } = await planned(file);
      const changes = environment?.changes.filter(({ path }) => !path.includes('acp_file_secrets'));
      const steps = changes?.map(({ path, before, after }) => [path.join('.'), before, after]);
      // An Agent Server copies no profile into the settings of another maker's agent.
      const copied = [
        ['llm_api_key', null, '(sensitive)'],
        ['llm_model', 'gpt-5.5', 'openai/gpt-5-mini'],
        ['agent_settings.llm.temperature', null, 0.9],
      ];
      expect(steps).toEqual([
        ['agent_settings.agent_kind', 'openhands', 'acp'],
        ['agent_settings.acp_server', 'claude-code', 'codex'],
        ['llm_api_key', '(sensitive)', null],
        ['llm_model', 'openai/gpt-5', dialect === 'app-server' ? 'gpt-5.5' : null],
        ['active.llm_profile', null, 'p'],
        ...(dialect === 'app-server' ? copied : []),
      ]);
      const allow = ['clear-secret', 'reset-agent', 'run-code'] as const;
      const [outcome] = (await apply({ ...asked(file), allow: [...allow] })).environments;
      expect(outcome).toMatchObject({ status: 'applied', error: null });
      expect((await planned(file)).paths).toEqual([]);
    },
  );
});

it('the removal of the active agent profile shows the settings that go with it', async () => {
  await service('agent-server');
  const mcp_config = { one: { url: 'https://mcp.example.com/mcp' } };
  const agent_settings_diff = { agent_kind: 'acp', acp_server: 'codex', mcp_config };
  expect((await front.ask('PATCH', '/api/settings', { agent_settings_diff })).status).toBe(200);
  await stored('/api/agent-profiles/mine', { agent_kind: 'acp', acp_server: 'codex' });
  const { body } = await front.ask('GET', '/api/agent-profiles/mine');
  await stored(
    `/api/agent-profiles/${(body as { profile: { id: string } }).profile.id}/activate`,
    {},
  );
  const file = 'agent_profiles: { mine: null }';
  const { paths, rules } = await planned(file);
  expect(paths?.toSorted()).toEqual([
    'change agent_settings.agent_kind',
    'clear agent_settings.acp_file_secrets',
    'clear agent_settings.acp_server',
    'remove agent_profiles.mine',
  ]);
  expect(rules).toEqual(['reset-agent']);
  const [outcome] = (await apply({ ...asked(file), allow: ['reset-agent'] })).environments;
  expect(outcome).toMatchObject({ status: 'applied', error: null });
  expect(outcome?.changes.map(({ result }) => result)).toEqual(Array(4).fill('verified'));
  expect((await front.ask('GET', '/api/settings')).body).toMatchObject({
    agent_settings: { agent_kind: 'openhands', mcp_config },
  });
});

it('an agent profile that runs a program of its own is judged when it is made active', async () => {
  await withModels();
  await stored('/api/agent-profiles/plain', { llm_profile_ref: 'x' });
  const program = { agent_kind: 'acp', acp_server: 'custom', acp_command: 'run-anything' };
  await stored('/api/agent-profiles/custom', program);
  expect((await planned('active: { agent_profile: plain }')).rules).toEqual([]);
  const { paths, rules } = await planned('active: { agent_profile: custom }');
  expect(paths).toEqual(['set active.agent_profile']);
  expect(new Set(rules)).toEqual(new Set(['run-code']));
});

it('skills that a server fills in are nothing that somebody else wrote', async () => {
  await service('agent-server');
  front.changed = (seen, reply) => {
    const { agent_settings: agent, ...others } = reply.body as { agent_settings?: Settings };
    if (seen.path !== '/api/settings' || agent?.agent_context?.load_user_skills !== true)
      return reply;
    const skills = [{ name: 'installed', content: 'Say hello.', source: '/srv/skills/x/SKILL.md' }];
    const context = { ...agent.agent_context, skills };
    return { ...reply, body: { ...others, agent_settings: { ...agent, agent_context: context } } };
  };
  const file = 'settings: { agent_settings: { agent_context: { load_user_skills: true } } }';
  const [environment] = (await apply({ ...asked(file), allow: ['run-code'] })).environments;
  expect(environment).toMatchObject({ status: 'applied', error: null });
});

interface Settings {
  readonly agent_context?: { readonly load_user_skills: boolean };
}
