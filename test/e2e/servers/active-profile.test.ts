import { describe, expect, it, onTestFinished } from 'vitest';
import type { PlanDocument } from '../../../src/reconciler/model/plan.ts';
import { startFronted, type Fronted } from '../../fixture/before-service.ts';
import { setpoint } from '../../fixture/command-here.ts';
import { folderWith } from '../../fixture/command.ts';
import { itEach } from '../../fixture/long.ts';

const STORED = {
  agent_settings_diff: {
    llm: {
      model: 'anthropic/claude-sonnet-4-5',
      api_key: 'CANARY-stored',
      base_url: 'https://llm.example.com',
      temperature: 0.5,
      aws_session_token: 'CANARY-aws',
    },
  },
  misc_settings_diff: { app_preferences: { language: 'en' } },
};

const PROFILES = {
  nokey: { model: 'openai/gpt-5', base_url: 'https://other.example.net' },
  keyed: { model: 'openai/gpt-5', api_key: 'CANARY-profile', num_retries: 2 },
};

async function server(): Promise<Fronted> {
  const fronted = await startFronted({ dialect: 'agent-server' });
  onTestFinished(() => fronted.close());
  expect(await fronted.ask('PATCH', '/api/settings', STORED)).toMatchObject({ status: 200 });
  for (const [name, llm] of Object.entries(PROFILES))
    expect(await fronted.ask('POST', `/api/profiles/${name}`, { llm })).toMatchObject({
      status: 201,
    });
  for (const name of ['m1', 'm2'])
    expect(
      await fronted.ask('POST', `/api/meta-profiles/${name}`, {
        classifier_model: 'keyed',
        classes: [{ description: 'all', model: 'keyed' }],
      }),
    ).toMatchObject({ status: 201 });
  return fronted;
}

function runs(url: string, settings: string, more = '') {
  const text = `version: 1\nserver:\n  url: ${url}\n  api_key: "\${env:KEY}"\nsettings: { ${settings} }\n${more}`;
  const folder = folderWith({ 'settings.yaml': text });
  onTestFinished(() => folder.remove());
  return (...args: string[]) => setpoint(args, { cwd: folder.path, env: { KEY: 'k' } });
}

async function settingsOf(fronted: Fronted) {
  const { body } = await fronted.ask('GET', '/api/settings');
  return body as {
    readonly agent_settings: { readonly llm: object };
    readonly active_profile: unknown;
  };
}

async function planOf(run: ReturnType<typeof runs>) {
  const { stdout } = await run('plan', '-o', 'json');
  const { environments } = JSON.parse(stdout) as PlanDocument;
  const [environment] = environments;
  if (environment === undefined) throw new Error('no environment');
  return environment;
}

describe('active_profile alone, which takes the place of the whole llm', () => {
  it('is planned with every member, the key and the address that it replaces', async () => {
    const { url } = await server();
    const { changes } = await planOf(runs(url, 'active_profile: nokey'));
    const shown = changes.map(({ path, action, before, after }) => [
      path.join('.'),
      action,
      before,
      after,
    ]);
    expect(shown).toEqual([
      ['active_profile', 'set', null, 'nokey'],
      ['llm_api_key', 'clear', '(sensitive)', null],
      ['agent_settings.llm.aws_session_token', 'clear', '(sensitive)', null],
      ['llm_base_url', 'change', 'https://llm.example.com', 'https://other.example.net'],
      ['llm_model', 'change', 'anthropic/claude-sonnet-4-5', 'openai/gpt-5'],
      ['agent_settings.llm.temperature', 'clear', 0.5, null],
    ]);
  });

  itEach(
    [
      ['clear_secret: true', 'clear-secret'],
      ['move_endpoint: true', 'move-endpoint'],
      ['protected: true', 'clear-secret'],
    ],
    (_, index) => index === 0,
  )('is refused under %s, and nothing is written', async (guard, rule) => {
    const fronted = await server();
    const before = await settingsOf(fronted);
    const run = runs(fronted.url, 'active_profile: nokey', `guards: { ${guard} }\n`);
    expect((await planOf(run)).refusals.map((refusal) => refusal.rule)).toContain(rule);
    expect((await run('apply', '--yes')).code).toBe(5);
    expect(fronted.writes()).toEqual([]);
    expect(await settingsOf(fronted)).toEqual(before);
  });

  itEach(['nokey', 'keyed'], (name) => name === 'keyed')(
    'ends as applied for %s, and the next plan is empty',
    async (name) => {
      const fronted = await server();
      const run = runs(fronted.url, `active_profile: ${name}`);
      const { code, stdout } = await run('apply', '--yes');
      expect([code, stdout]).toEqual([0, expect.stringContaining('active_profile')]);
      expect(await settingsOf(fronted)).toMatchObject({
        active_profile: name,
        agent_settings: { llm: { model: 'openai/gpt-5', temperature: null } },
      });
      expect((await run('plan', '--exit-code')).code).toBe(0);
    },
  );

  it('says of the key of a profile that it was sent and cannot be read back', async () => {
    const fronted = await server();
    const run = runs(fronted.url, 'active_profile: keyed');
    const { stdout } = await run('apply', '--yes', '-o', 'json');
    const { environments } = JSON.parse(stdout) as {
      environments: { changes: { path: string[]; result: string }[] }[];
    };
    const results = environments[0]?.changes.map(({ path, result }) => [path.join('.'), result]);
    expect(results).toContainEqual(['llm_api_key', 'unverifiable']);
    expect(results).toContainEqual(['llm_model', 'verified']);
    expect(results).toContainEqual(['agent_settings.llm.aws_session_token', 'verified']);
  });

  it('names what somebody else changes of the llm right after the write', async () => {
    const fronted = await server();
    let written = false;
    fronted.before = async ({ method }) => {
      if (method === 'GET' && written)
        await fronted.ask('PATCH', '/api/settings', {
          agent_settings_diff: { llm: { num_retries: 9, model: 'x/y' } },
        });
      written ||= method === 'PATCH';
    };
    const { code, stdout, stderr } = await runs(fronted.url, 'active_profile: nokey')(
      'apply',
      '--yes',
    );
    expect(code).toBe(8);
    expect(stdout + stderr).toContain('llm_model');
  });

  it('is approved by a saved plan only as the profile was then', async () => {
    const fronted = await server();
    const run = runs(fronted.url, 'active_profile: nokey');
    expect((await run('plan', '--out', 'plan.json')).code).toBe(0);
    const llm = { ...PROFILES.nokey, base_url: 'https://third.example.org' };
    await fronted.ask('POST', '/api/profiles/nokey', { llm });
    expect((await run('apply', 'plan.json')).code).toBe(6);
    expect(fronted.writes()).toEqual([]);
    await fronted.ask('POST', '/api/profiles/nokey', { llm: PROFILES.nokey });
    expect((await run('apply', 'plan.json')).code).toBe(0);
  });

  it('moves the pointer alone beside any declared member of the llm', async () => {
    const fronted = await server();
    const run = runs(
      fronted.url,
      'active_profile: nokey, llm_model: "anthropic/claude-sonnet-4-5"',
    );
    expect((await planOf(run)).changes.map(({ path }) => path)).toEqual([['active_profile']]);
    expect((await run('apply', '--yes')).code).toBe(0);
    expect(await settingsOf(fronted)).toMatchObject({
      active_profile: 'nokey',
      agent_settings: { llm: { base_url: 'https://llm.example.com', temperature: 0.5 } },
    });
  });
});

describe('active_meta_profile, with which a server turns enable_classify_and_switch_llm_tool on and off', () => {
  const SWITCH = ['agent_settings', 'enable_classify_and_switch_llm_tool'];

  it('is planned with that, applied, and in sync after', async () => {
    const fronted = await server();
    for (const [pointer, was, is] of [
      ['m1', false, true],
      ['m2', true, true],
      ['null', true, false],
    ] as const) {
      const run = runs(fronted.url, `active_meta_profile: ${pointer}`);
      const found = (await planOf(run)).changes.find(({ path }) => path.join() === SWITCH.join());
      expect(found).toEqual(
        was === is ? undefined : expect.objectContaining({ before: was, after: is }),
      );
      expect((await run('apply', '--yes')).code).toBe(0);
      expect((await run('plan', '--exit-code')).code).toBe(0);
      expect(await settingsOf(fronted)).toMatchObject({
        agent_settings: { enable_classify_and_switch_llm_tool: is },
      });
    }
  });

  it('is planned without that if the file declares it, or the server has no such member', async () => {
    const fronted = await server();
    const declared =
      'active_meta_profile: m1, agent_settings: { enable_classify_and_switch_llm_tool: true }';
    const { changes } = await planOf(runs(fronted.url, declared));
    expect(changes.map(({ path }) => path.join())).toEqual(['active_meta_profile', SWITCH.join()]);
    expect(changes.map(({ reason }) => reason).join()).not.toContain('comes with');
    fronted.changed = (_, reply) =>
      JSON.parse(
        JSON.stringify(reply, (key, value: unknown) => (key === SWITCH[1] ? undefined : value)),
      ) as typeof reply;
    const alone = await planOf(runs(fronted.url, 'active_meta_profile: m1'));
    expect(alone.changes.map(({ path }) => path)).toEqual([['active_meta_profile']]);
  });

  it('and what somebody else does to it beside the write is named', async () => {
    const fronted = await server();
    let written = false;
    fronted.before = async ({ method }) => {
      const agent_settings_diff = { enable_classify_and_switch_llm_tool: false };
      if (method === 'GET' && written)
        await fronted.ask('PATCH', '/api/settings', { agent_settings_diff });
      written ||= method === 'PATCH';
    };
    const { code, stdout, stderr } = await runs(fronted.url, 'active_meta_profile: m1')(
      'apply',
      '--yes',
    );
    expect([code, stdout + stderr]).toEqual([8, expect.stringContaining(SWITCH.join('.'))]);
  });
});

describe('a pointer to something that is not there', () => {
  itEach(
    ['active_profile: gone', 'active_profile: gone, llm_model: x/y'],
    (_, index) => index === 1,
  )('is refused by plan and apply: %s', async (settings) => {
    const fronted = await server();
    const run = runs(fronted.url, settings);
    for (const args of [['plan'], ['apply', '--yes']]) {
      const { code, stdout, stderr } = await run(...args);
      expect(code).toBe(3);
      expect(stdout + stderr).toContain(
        'active_profile names an LLM profile that it does not have',
      );
      expect(stdout + stderr).not.toContain('Could not read');
      if (args.includes('plan'))
        expect(stdout).toContain('Refused: the service cannot take what the file declares.');
    }
    expect(fronted.writes()).toEqual([]);
  });

  it('is refused of a meta profile where the server has meta profiles', async () => {
    const fronted = await server();
    fronted.instead = ({ path }) =>
      path.startsWith('/api/meta-profiles/')
        ? { status: 404, body: { detail: "Meta-profile 'gone' not found" } }
        : null;
    const { code, stdout, stderr } = await runs(fronted.url, 'active_meta_profile: gone')('plan');
    expect(code).toBe(3);
    expect(stdout + stderr).toContain('active_meta_profile names a meta profile');
  });

  it('of a connection that is not there is refused, because the server cannot activate it', async () => {
    const fronted = await server();
    const llm = { model: 'openai/gpt-5', provider_connection_id: 'no-such' };
    await fronted.ask('POST', '/api/profiles/linked', { llm });
    fronted.instead = ({ path }) =>
      path === '/api/llm/provider-connections' ? { status: 200, body: [] } : null;
    const { code, stdout, stderr } = await runs(fronted.url, 'active_profile: linked')('plan');
    expect(code).toBe(3);
    expect(stdout + stderr).toContain('whose provider connection does not exist');
  });

  const ID = '11111111-2222-3333-4444-555555555555';

  itEach(
    [
      ['active_profile: keyed', "Profile 'keyed' not found", 'active_profile names an LLM profile'],
      [
        `active_agent_profile_id: "${ID}"`,
        `Agent profile with id '${ID}' not found`,
        `active_agent_profile_id names an agent profile`,
      ],
      [
        'active_meta_profile: m1',
        "Meta-profile 'm1' not found",
        'active_meta_profile names a meta profile',
      ],
      [
        `active_profile: keyed, active_agent_profile_id: "${ID}"`,
        `Agent profile with id 'CANARY' not found`,
        `was refused: active_agent_profile_id names an agent profile`,
      ],
      [
        `active_profile: keyed, active_meta_profile: m1`,
        'CANARY',
        'active_profile names an LLM profile that the server does not have, or active_meta_profile names',
      ],
    ],
    (_, index) => index === 4,
  )('that the server refuses only at the write is named: %s', async (settings, detail, words) => {
    const fronted = await server();
    fronted.instead = ({ method }) =>
      method === 'PATCH' ? { status: 404, body: { detail } } : null;
    for (const format of ['text', 'json', 'markdown', 'html', 'github']) {
      const { code, stdout, stderr } = await runs(fronted.url, settings)(
        'apply',
        '--yes',
        '-o',
        format,
      );
      expect(code).toBe(1);
      const shown = (stdout + stderr).replaceAll(/\s+/g, ' ');
      expect(shown, format).toContain(words);
      expect(shown).toContain('(status 404)');
      expect(shown).not.toMatch(/CANARY|invalid/);
    }
  });

  it('and a 404 of a write without a pointer is of a server that has no such path', async () => {
    const fronted = await server();
    fronted.instead = ({ method }) =>
      method === 'PATCH' ? { status: 404, body: { detail: 'Not Found' } } : null;
    const { code, stdout, stderr } = await runs(fronted.url, 'llm_model: x/y')('apply', '--yes');
    expect(code).toBe(1);
    expect(stdout + stderr).toContain('The server does not know this path (status 404)');
  });
});

it.each(['active: { llm_profile: linked }', 'active: { llm_profile: "${env:LINKED}" }'])(
  'the plan of %s lists the address of its connection, which gets the key',
  async (active) => {
    const fronted = await startFronted({ dialect: 'agent-server' });
    onTestFinished(() => fronted.close());
    const connection = await fronted.ask('POST', '/api/llm/provider-connections', {
      display_name: 'team',
      provider: 'openai',
      base_url: 'https://team.example.com',
      api_key: 'CANARY-connection',
    });
    const { id } = connection.body as { readonly id: string };
    const llm = { model: 'own/model', provider_connection_id: id };
    expect((await fronted.ask('POST', '/api/profiles/linked', { llm })).status).toBe(201);
    const text = `version: 1\nserver: { url: "${fronted.url}" }\n${active}\n`;
    const folder = folderWith({ 'settings.yaml': text });
    onTestFinished(() => folder.remove());
    const run = (...args: string[]) =>
      setpoint(args, { cwd: folder.path, env: { LINKED: 'linked' } });
    const planned = await run('plan');
    expect(planned.stdout).toContain('+ llm_base_url: "https://team.example.com"');
    expect(planned.stdout).not.toMatch(new RegExp(`CANARY|${id}`));
    expect((await run('apply', '--yes')).code).toBe(0);
    expect((await settingsOf(fronted)).agent_settings.llm).toMatchObject({
      base_url: 'https://team.example.com',
    });
    expect((await run('plan', '--exit-code')).code).toBe(0);
  },
);
