import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Fronted, startFronted } from '../../fixture/before-service.ts';
import { setpoint } from '../../fixture/command-here.ts';
import { folderWith } from '../../fixture/command.ts';

const SETTINGS = '/api/v1/settings';
const PROFILES = `${SETTINGS}/profiles`;
const BARE = { model: 'anthropic/claude-sonnet-4-5', api_key: 'CANARY-profile', temperature: 0.5 };
const ADDRESSED = { ...BARE, base_url: 'https://llm.example.com' };

/** An app-server whose profile `main` is active. */
async function service(llm: object = BARE): Promise<Fronted> {
  const fronted = await startFronted({ dialect: 'app-server' });
  onTestFinished(() => fronted.close());
  for (const [path, body] of [
    [SETTINGS, { language: 'en' }],
    [`${PROFILES}/main`, { llm }],
    [`${PROFILES}/main/activate`, {}],
  ] as const)
    expect((await fronted.ask('POST', path, body)).status).toBeLessThan(300);
  return fronted;
}

function runs(url: string, settings: string, blocks = '') {
  const text = `version: 1\nserver:\n  url: ${url}\n  api_key: "\${env:KEY}"\nsettings: { ${settings} }\n${blocks}\n`;
  const folder = folderWith({ 'settings.yaml': text });
  onTestFinished(() => folder.remove());
  return (...args: string[]) =>
    setpoint(args, { cwd: folder.path, env: { KEY: 'k', LLM_KEY: 'CANARY-new' } });
}

async function active(fronted: Fronted): Promise<unknown> {
  const { body } = await fronted.ask('GET', PROFILES);
  return (body as { active_profile: unknown }).active_profile;
}

async function llmOf(fronted: Fronted): Promise<unknown> {
  const { body } = await fronted.ask('GET', SETTINGS);
  return (body as { agent_settings: { llm: unknown } }).agent_settings.llm;
}

interface Ended {
  readonly status: string;
  readonly changes: readonly { readonly result: string }[];
  readonly warnings: readonly { readonly code: string; readonly message: string }[];
  readonly remaining: readonly {
    readonly path: readonly string[];
    readonly expected: unknown;
    readonly actual: unknown;
  }[];
}

/** A plan, or what drift found. */
interface Found {
  readonly environments: readonly [
    {
      readonly changes: readonly { readonly class?: string; readonly consequence?: true }[];
      readonly digests: { readonly changes: readonly string[] };
      readonly warnings: readonly { readonly code: string }[];
    },
  ];
  readonly summary: { readonly environments: Readonly<Record<string, number>> };
}

function ended(stdout: string) {
  const [one] = (JSON.parse(stdout) as { environments: Ended[] }).environments;
  if (one === undefined) throw new Error('no environment');
  const told = one.warnings.filter(({ code }) => code === 'active-profile');
  return { ...one, told: told.map(({ message }) => message) };
}

const AGAIN = 'setpoint activates it again after this write';
const ENDS = 'which makes the LLM profile main inactive';

describe('the active LLM profile without a base_url, which any write on app-server ends', () => {
  it('is told in the plan, made active again after the write, and told then', async () => {
    const fronted = await service();
    const run = runs(fronted.url, 'language: fr');
    const before = await llmOf(fronted);
    const { stdout: planned } = await run('plan');
    expect(planned).toContain(AGAIN);
    const { code, stdout } = await run('apply', '--yes', '-o', 'json');
    expect(code).toBe(0);
    const { told, status, remaining } = ended(stdout);
    expect({ status, remaining }).toEqual({ status: 'applied', remaining: [] });
    expect(told).toEqual([
      'The write made the LLM profile main inactive, and it was activated again.',
    ]);
    expect(await active(fronted)).toBe('main');
    expect(await llmOf(fronted)).toEqual(before);
    expect(await fronted.ask('GET', SETTINGS)).toMatchObject({
      body: { language: 'fr', llm_api_key_set: true },
    });
    expect(fronted.writes()).toEqual([{ language: 'fr' }, {}]);
    expect(await run('plan', '--exit-code')).toMatchObject({ code: 0 });
  });

  it('is not activated again if somebody else changed the llm meanwhile: that stays, and both are named', async () => {
    const fronted = await service();
    let written = false;
    fronted.before = async ({ method }) => {
      if (method === 'GET' && written) {
        const agent_settings_diff = { llm: { model: 'openai/gpt-5', num_retries: 9 } };
        await fronted.ask('POST', SETTINGS, { agent_settings_diff });
      }
      written ||= method === 'POST';
    };
    const { code, stdout } = await runs(fronted.url, 'language: fr')(
      'apply',
      '--yes',
      '-o',
      'json',
    );
    expect(code).toBe(8);
    expect(ended(stdout).remaining).toContainEqual(
      expect.objectContaining({ path: ['llm_profiles', 'active'], expected: 'main', actual: null }),
    );
    expect(fronted.writes()).toEqual([{ language: 'fr' }]);
    expect(await llmOf(fronted)).toMatchObject({ model: 'openai/gpt-5', num_retries: 9 });
  });

  it('is not activated again if the profile itself was changed meanwhile', async () => {
    const fronted = await service();
    let written = false;
    fronted.before = async ({ method }) => {
      if (method === 'GET' && written)
        await fronted.ask('POST', `${PROFILES}/main`, { llm: { model: 'openai/gpt-5' } });
      written ||= method === 'POST';
    };
    const { code } = await runs(fronted.url, 'language: fr')('apply', '--yes');
    expect(code).toBe(8);
    expect(fronted.writes()).toEqual([{ language: 'fr' }]);
    expect(await llmOf(fronted)).toMatchObject({ model: BARE.model });
  });

  it.each([
    ['refuses', { status: 404, body: { detail: "Profile 'main' not found" } }],
    ['fails', { status: 500, body: 'Internal Server Error' }],
  ])('is named in the end, with exit 8, if the service %s to activate it', async (_, reply) => {
    const fronted = await service();
    fronted.instead = ({ path }) => (path.endsWith('/activate') ? reply : null);
    const { code, stdout } = await runs(fronted.url, 'language: fr')(
      'apply',
      '--yes',
      '-o',
      'json',
    );
    expect(code).toBe(8);
    const { told, remaining, changes } = ended(stdout);
    expect(told).toEqual([
      expect.stringMatching(/main could not be activated again: .*POST .*\/activate/),
    ]);
    expect(remaining.map(({ path }) => path)).toEqual([['llm_profiles', 'active']]);
    expect(changes.map(({ result }) => result)).toEqual(['verified']);
  });

  it('is told as activated again if the service did so and answered with an error', async () => {
    const fronted = await service();
    fronted.instead = async ({ path }) => {
      if (!path.endsWith('/activate')) return null;
      await fronted.ask('POST', path, {});
      return { status: 500, body: 'Internal Server Error' };
    };
    const { code, stdout } = await runs(fronted.url, 'language: fr')(
      'apply',
      '--yes',
      '-o',
      'json',
    );
    expect([code, ended(stdout).told]).toEqual([0, [expect.stringContaining('activated again')]]);
    expect(ended(stdout).told).not.toContain('could not');
  });

  it('is left as it is when nothing is written', async () => {
    const fronted = await service();
    const run = runs(fronted.url, 'language: en');
    const { stdout } = await run('apply', '--yes', '-o', 'json');
    expect(ended(stdout).told).toEqual([]);
    expect(fronted.writes()).toEqual([]);
  });
});

describe('an active LLM profile beside a write on app-server', () => {
  it('with a base_url stays, and nothing is told or sent for it', async () => {
    const fronted = await service(ADDRESSED);
    const run = runs(fronted.url, 'language: fr');
    expect((await run('plan')).stdout).not.toMatch(/^ +[!~+-].*profile/m);
    const { code, stdout } = await run('apply', '--yes', '-o', 'json');
    expect([code, ended(stdout).told]).toEqual([0, []]);
    expect(fronted.writes()).toEqual([{ language: 'fr' }]);
    expect(await active(fronted)).toBe('main');
  });

  it.each([
    ['llm_model: openai/gpt-5', ADDRESSED],
    ['agent_settings: { llm: { temperature: 1 } }', ADDRESSED],
    ['llm_api_key: "${env:LLM_KEY}"', BARE],
    ['agent_settings: { llm: { num_retries: 9 } }, language: fr', BARE],
  ])(
    'that changes the llm is told before and after, and what is declared stays: %s',
    async (settings, llm) => {
      const fronted = await service(llm);
      const run = runs(fronted.url, settings);
      const args = ['--rotate', 'llm_api_key'];
      const more = settings.includes('llm_api_key') ? args : [];
      expect((await run('plan', ...more)).stdout).toContain(ENDS);
      const { code, stdout } = await run('apply', '--yes', '-o', 'json', ...more);
      expect(code).toBe(0);
      expect(ended(stdout).told).toEqual([
        expect.stringContaining(
          'The LLM profile main is no longer active, because the write changed the llm',
        ),
      ]);
      expect(fronted.writes()).toHaveLength(1);
      expect(await active(fronted)).toBe(null);
      expect(await run('plan', '--exit-code')).toMatchObject({ code: 0 });
    },
  );
});

describe('an activation that only follows from other changes', () => {
  const WITH_PROFILE = [
    'llm_profiles: { main: { model: openai/gpt-5, temperature: 0.5 } }',
    'active: { llm_profile: main }',
    '',
  ].join('\n');

  it.each([
    ['app-server', 'language: en', 'language: fr'],
    ['app-server', 'temperature: 0.5', 'temperature: 0.6'],
    ['agent-server', 'temperature: 0.5', 'temperature: 0.6'],
  ] as const)(
    'is in the plan, and neither drift nor a pending edit (%s, %s to %s)',
    async (dialect, from, to) => {
      const fronted = await startFronted({ dialect });
      onTestFinished(() => fronted.close());
      const before = `version: 1\nserver: { url: "${fronted.url}" }\nsettings: { language: en }\n${WITH_PROFILE}`;
      const folder = folderWith({ 'base.yaml': before, 'settings.yaml': before.replace(from, to) });
      onTestFinished(() => folder.remove());
      const run = async (...args: string[]) => setpoint(args, { cwd: folder.path });
      expect(await run('apply', '-f', 'base.yaml', '--yes')).toMatchObject({ code: 0 });

      const changesOf = async (...args: string[]) => {
        const { stdout } = await run(...args, '--base', 'base.yaml', '-o', 'json');
        const { environments, summary } = JSON.parse(stdout) as Found;
        const [{ changes, digests, warnings }] = environments;
        return { changes, digests, summary, codes: warnings.map(({ code }) => code) };
      };
      const planned = await changesOf('plan');
      const [first, ...others] = planned.changes;
      expect([first?.class, first?.consequence]).toEqual(['pending', undefined]);
      expect(others.length).toBeGreaterThan(0);
      for (const { class: of, consequence } of others)
        expect([of, consequence]).toEqual([undefined, true]);
      expect(planned.summary.environments).toMatchObject({ total: 1, pending: 1 });
      expect(planned.codes).not.toContain('guard');

      const found = await changesOf('drift');
      expect(found.changes.map(({ class: of }) => of)).toEqual(['pending']);
      expect(found.digests.changes).toHaveLength(1);
      const drift = await run('drift', '--base', 'base.yaml', '--fail-on', 'drift');
      expect([drift.code, drift.stdout]).toEqual([0, expect.stringContaining('1 pending edit.')]);
      expect(drift.stdout).not.toContain('active.llm_profile');

      // What was approved without it is approved with it.
      const { stdout } = await run('drift', '-o', 'json');
      await writeFile(join(folder.path, 'seen.json'), stdout);
      expect(await run('apply', 'seen.json', '--yes')).toMatchObject({ code: 0 });
      expect(await run('plan', '--exit-code')).toMatchObject({ code: 0 });
    },
  );
});

describe('a run that was killed between a store and the activation after it', () => {
  const plan = async (url: string, settings: string, blocks = '') =>
    (await runs(url, settings, blocks)('plan')).stdout;

  it('is followed by one that names the profile whose llm the settings have, until active names one', async () => {
    const fronted = await service();
    expect((await fronted.ask('POST', SETTINGS, { language: 'de' })).status).toBe(200);
    expect(await active(fronted)).toBeNull();
    const told = await plan(fronted.url, 'language: de');
    expect(told).toContain('No LLM profile is active, but the settings have the llm of main.');
    expect(told).not.toContain('CANARY');
    const declared = 'active: { llm_profile: main }';
    expect(await plan(fronted.url, 'language: de', declared)).not.toContain('No LLM profile');
    const mended = await runs(fronted.url, 'language: de', declared)('apply', '--yes');
    expect([mended.code, await active(fronted)]).toEqual([0, 'main']);
    expect(await plan(fronted.url, 'language: de')).not.toContain('No LLM profile');
  });

  it('is followed by one that says that it cannot know, where the profile has changed', async () => {
    const fronted = await service(ADDRESSED);
    const changed = { ...ADDRESSED, temperature: 0.9, api_key: null };
    expect((await fronted.ask('POST', `${PROFILES}/main`, { llm: changed })).status).toBe(201);
    expect(await active(fronted)).toBeNull();
    const ours = `llm_profiles: { main: { model: ${BARE.model}, temperature: 0.9, base_url: "${ADDRESSED.base_url}" } }`;
    const told = await plan(fronted.url, 'language: en', ours);
    expect(told).toContain('If one should be active, declare active.llm_profile');
    expect(told).toContain('No changes.');
    expect(await plan(fronted.url, 'language: en')).not.toContain('No LLM profile');
  });
});
