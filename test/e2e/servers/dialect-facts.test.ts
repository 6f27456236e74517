import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startEmulator } from '../../../src/emulator/start.ts';
import { setpoint } from '../../fixture/command-here.ts';
import { folderWith } from '../../fixture/command.ts';
import type { JsonRecord } from '../../fixture/store-server.ts';
import { describeEach } from '../../fixture/long.ts';

type Dialect = 'agent-server' | 'app-server';
const BOTH: readonly Dialect[] = ['agent-server', 'app-server'];

async function scene(dialect: Dialect, stored: JsonRecord, settings: string) {
  const service = await startEmulator({ dialect });
  onTestFinished(() => service.close());
  const path = service.url + (dialect === 'app-server' ? '/api/v1/settings' : '/api/settings');
  const send = async (body: JsonRecord) => {
    const method = dialect === 'app-server' ? 'POST' : 'PATCH';
    const headers = { 'content-type': 'application/json' };
    const reply = await fetch(path, { method, headers, body: JSON.stringify(body) });
    expect(reply.status, await reply.text()).toBe(200);
  };
  await send(stored);
  if (dialect === 'agent-server')
    await fetch(`${service.url}/api/meta-profiles/other`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ classifier_model: 'm', classes: [{ description: 'd', model: 'm' }] }),
    });
  const folder = folderWith({
    'settings.yaml': `version: 1\nserver: { url: "${service.url}" }\nsettings: ${settings}\n`,
  });
  onTestFinished(() => folder.remove());
  return {
    send,
    file: () => readFileSync(join(folder.path, 'settings.yaml'), 'utf8'),
    run: (...args: string[]) => setpoint(args, { cwd: folder.path, env: {} }),
    stored: async () => (await (await fetch(path)).json()) as JsonRecord,
  };
}

async function converges({ run }: Awaited<ReturnType<typeof scene>>) {
  const planned = await run('plan', '--exit-code');
  expect(planned.code, planned.stdout + planned.stderr).toBe(2);
  const applied = await run('apply', '--yes');
  expect(applied.code, applied.stdout + applied.stderr).toBe(0);
  expect((await run('plan', '--exit-code')).stdout).toContain('No changes.');
}

const SECRETS = { agent_settings_diff: { agent_context: { secrets: { S1: 'one', S2: 'two' } } } };
const EXTRA = (value: JsonRecord) => ({
  agent_settings_diff: { llm: { litellm_extra_body: value } },
});

describeEach(BOTH, (dialect) => dialect === 'agent-server')(
  'what is empty in the file is empty on %s',
  (dialect) => {
    it.each(['{}', 'null'])('secrets of the agent: %s revokes all', async (empty) => {
      const world = await scene(
        dialect,
        SECRETS,
        `{ agent_settings: { agent_context: { secrets: ${empty} } } }`,
      );
      await converges(world);
      expect(JSON.stringify(await world.stored())).not.toContain('"S1"');
    });

    it('and a protected file refuses to clear them', async () => {
      const settings =
        '{ agent_settings: { agent_context: { secrets: {} } } }\nguards: { protected: true }';
      const { run } = await scene(dialect, SECRETS, settings);
      expect((await run('apply', '--yes')).code).toBe(5);
    });

    it.each([
      ['a map', { k: { a: 1, b: { c: 2 } } }, '{}', {}],
      ['a text', { k: 'text' }, '{}', {}],
      ['a list', { k: [1] }, '{}', {}],
      ['a map by a text', { k: { a: 1 } }, 'text', 'text'],
      ['a map by a list', { k: { a: 1 } }, '[1]', [1]],
      ['a text by a map', { k: 'text' }, '{ a: { b: 1 } }', { a: { b: 1 } }],
      ['a list by a map', { k: [1] }, '{ a: 1 }', { a: 1 }],
    ])('free JSON: %s is replaced in one apply', async (_, stored, written, after) => {
      const settings = `{ agent_settings: { llm: { litellm_extra_body: { k: ${written} } } } }`;
      const world = await scene(dialect, EXTRA(stored), settings);
      await converges(world);
      expect(await world.stored()).toMatchObject({
        agent_settings: { llm: { litellm_extra_body: { k: after } } },
      });
    });
  },
);

describe('misc_settings', () => {
  const MISC = {
    misc_settings_diff: {
      password: 'p',
      app_preferences: { language: 'en', other: 'x' },
      deep: { a: 1 },
    },
  };

  it('{} takes every value out, fields of the specification too', async () => {
    const world = await scene('agent-server', MISC, '{ misc_settings: {} }');
    await converges(world);
    const { misc_settings: misc } = await world.stored();
    expect(JSON.stringify(misc)).not.toMatch(/"p"|"en"|"x"|1/);
  });

  it('{} leaves what the file declares beside it', async () => {
    const world = await scene('agent-server', MISC, '{ misc_settings: {}, language: en }');
    await converges(world);
    expect(await world.stored()).toMatchObject({
      misc_settings: { password: null, app_preferences: { language: 'en' } },
    });
  });

  it('app_preferences: {} takes its members out and no others', async () => {
    const world = await scene('agent-server', MISC, '{ misc_settings: { app_preferences: {} } }');
    await converges(world);
    expect(await world.stored()).toMatchObject({
      misc_settings: { password: 'p', app_preferences: {} },
    });
  });
});

describeEach(BOTH, (dialect) => dialect === 'agent-server')(
  'the kind of the condenser on %s',
  (dialect) => {
    const NO_OP = { agent_settings_diff: { condenser: { condenser_kind: 'no_op' } } };

    it.each([
      '{ condenser_max_size: 100 }',
      '{ condenser_max_size: 100, agent_settings: { condenser: { condenser_kind: llm_summarizing } } }',
      '{ agent_settings: { condenser: { max_size: 100, keep_first: 4 } } }',
    ])(
      'follows from what is declared, when somebody else has switched it: %s',
      async (settings) => {
        const world = await scene(dialect, NO_OP, settings);
        await converges(world);
        expect(await world.stored()).toMatchObject({
          agent_settings: { condenser: { condenser_kind: 'llm_summarizing', max_size: 100 } },
        });
      },
    );

    it('is switched off without a word of another writer', async () => {
      const stored = { agent_settings_diff: { condenser: { max_size: 77, keep_first: 5 } } };
      await converges(
        await scene(
          dialect,
          stored,
          '{ agent_settings: { condenser: { condenser_kind: no_op } } }',
        ),
      );
    });

    it('and a member that this kind has not is refused before anything is sent', async () => {
      const settings =
        '{ condenser_max_size: 77, agent_settings: { condenser: { condenser_kind: no_op } } }';
      const { run } = await scene(dialect, { agent_settings_diff: {} }, settings);
      const { code, stderr } = await run('apply', '--yes');
      expect(code).toBe(3);
      expect(stderr).toContain('It has no condenser_max_size while');
    });
  },
);

describe('what an Agent Server changes along with a write', () => {
  it.each(['null', 'other'])('is no other writer: active_meta_profile: %s', async (value) => {
    const stored = { active_meta_profile: 'm1' };
    await converges(await scene('agent-server', stored, `{ active_meta_profile: ${value} }`));
  });

  it('a base that is a reference needs one, which the plan says', async () => {
    const settings = '{ conversation_settings: { worktree_base: ref } }';
    const { run, send } = await scene('agent-server', { agent_settings_diff: {} }, settings);
    const planned = await run('plan');
    expect(planned.code).toBe(3);
    expect(planned.stderr).toContain('worktree_base_ref must be set');
    await send({ conversation_settings_diff: { worktree_base_ref: 'main' } });
    expect((await run('apply', '--yes')).code).toBe(0);
  });
});

describe('--if-empty writes nothing where anything is stored', () => {
  it.each<[string, JsonRecord]>([
    ['security_analyzer null', { conversation_settings_diff: { security_analyzer: null } }],
    ['null in misc_settings', { misc_settings_diff: { a: null } }],
    ['an empty map in misc_settings', { misc_settings_diff: { a: {} } }],
    ['app_preferences null', { misc_settings_diff: { app_preferences: null } }],
    ['an empty secret', { agent_settings_diff: { agent_context: { secrets: { A: '' } } } }],
    ['null in free JSON', EXTRA({ a: { b: null } })],
  ])('%s', async (_, stored) => {
    const { run, stored: now } = await scene('agent-server', stored, '{ language: fr }');
    const before = await now();
    const { code, stdout } = await run('apply', '--yes', '--if-empty');
    expect(code).toBe(0);
    expect(stdout).toContain('already stored');
    expect((await now())['misc_settings']).toEqual(before['misc_settings']);
  });

  it('and writes where a server has what it makes by itself', async () => {
    const { run, stored } = await scene(
      'agent-server',
      { agent_settings_diff: {} },
      '{ language: fr }',
    );
    expect((await run('apply', '--yes', '--if-empty')).code).toBe(0);
    expect(await stored()).toMatchObject({
      misc_settings: { app_preferences: { language: 'fr' } },
    });
  });
});

describe('pull writes what the next plan can hold', () => {
  it('of skills that the service has none of: an empty list', async () => {
    const { run, file } = await scene(
      'app-server',
      { git_full_clone: true },
      '{ disabled_skills: [a] }',
    );
    expect((await run('pull', '--force')).code).toBe(0);
    expect(file()).toContain('disabled_skills: []');
    expect((await run('plan', '--exit-code')).code).toBe(0);
  });

  it.each(BOTH)('of another model beside the address of its provider, on %s', async (dialect) => {
    const stored = { agent_settings_diff: { llm: { model: 'own/one' } } };
    const address =
      dialect === 'app-server' ? 'https://api.anthropic.com' : 'https://api.openai.com';
    const model = dialect === 'app-server' ? 'anthropic/claude-sonnet-4-5' : 'openai/gpt-5';
    const settings = `{ llm_model: ${model}, llm_base_url: ${address} }`;
    const { run } = await scene(dialect, stored, settings);
    const { code, stdout, stderr } = await run('pull', '--force');
    expect(code, stdout + stderr).toBe(0);
    expect((await run('plan', '--exit-code')).code).toBe(0);
  });
});
