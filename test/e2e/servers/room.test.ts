/** Servers that take only so many items, and files that remove one and add one. */
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import type { DialectName } from '../../../src/reconciler/model/dialect.ts';
import { apply } from '../../../src/reconciler/operations/apply.ts';
import { plan } from '../../../src/reconciler/operations/plan.ts';
import { startFronted, type Fronted } from '../../fixture/before-service.ts';
import { folderWith } from '../../fixture/command.ts';
import { LONG, describeEach } from '../../fixture/long.ts';
import { quickClock } from '../../fixture/settings.ts';

let folder: ReturnType<typeof folderWith>;
let front: Fronted;
afterEach(async () => {
  await front.close();
  folder.remove();
});

const PROFILES = {
  'app-server': { path: '/api/v1/settings/profiles', most: 10 },
  'agent-server': { path: '/api/profiles', most: 50 },
} as const;

async function stored(path: string, body: unknown): Promise<void> {
  expect((await front.ask('POST', path, body)).status).toBeLessThan(300);
}

function asked(blocks: string) {
  const text = `version: 1\nserver: { url: "${front.url}" }\nsettings: { language: en }\n${blocks}\n`;
  const env = { KEY: 'canary-key' };
  return { text, file: join(folder.path, 'settings.yaml'), env, clock: quickClock() };
}

/** A service with as many LLM profiles as it takes: t1, t2, and so on. */
async function fullOf(dialect: 'app-server' | 'agent-server'): Promise<string> {
  folder = folderWith({});
  const data = join(folder.path, 'store.json');
  front = await startFronted({ dialect: dialect satisfies DialectName, apiKey: 'a-key', data });
  await apply({ ...asked(''), allow: ['empty-store'] });
  const { path, most } = PROFILES[dialect];
  const llm = { model: 'openai/gpt-5' };
  for (let one = 1; one <= most; one += 1) await stored(`${path}/t${one}`, { llm });
  front.seen.length = 0;
  return path;
}

function writes(): string[] {
  const sent = front.seen.filter(({ method }) => method !== 'GET');
  return sent.map(({ method, path }) => `${method} ${path.split('/').at(-1)}`);
}

async function refused(blocks: string): Promise<string> {
  const [environment] = (await apply(asked(blocks))).environments;
  expect(environment?.error).toMatchObject({ code: 'unfit-for-service' });
  expect(front.writes()).toEqual([]);
  return `${environment?.error?.message} ${environment?.error?.hint}`;
}

const MINE = 'mine: { model: openai/gpt-5, api_key: "${env:KEY}" }';

describeEach(['app-server', 'agent-server'] as const, (dialect) => dialect === 'agent-server')(
  '%s: a full server',
  (dialect) => {
    it('has as many removed as it needs before what is new, and all others last', async () => {
      await fullOf(dialect);
      const file = `llm_profiles: { ${MINE}, t1: null, t2: null }`;
      const [found] = (await plan(asked(file))).environments;
      expect(found).toMatchObject({ error: null });
      const [done] = (await apply(asked(file))).environments;
      expect(JSON.stringify(done)).not.toContain('canary');
      expect(done).toMatchObject({ status: 'applied', error: null });
      expect(writes()).toEqual(['DELETE t1', 'POST mine', 'DELETE t2']);
      expect((await plan(asked(file))).environments[0]).toMatchObject({ changes: [] });
    });

    it('takes nothing new for what is active, and is sent nothing', async () => {
      const path = await fullOf(dialect);
      await stored(`${path}/t1/activate`, {});
      front.seen.length = 0;
      const { most } = PROFILES[dialect];
      const file = `llm_profiles: { ${MINE}, t1: null }\nactive: { llm_profile: mine }`;
      const told = await refused(file);
      expect(told).toMatch(/llm_profiles\.mine \(.*settings\.yaml:4\) exceeds the limit/);
      expect(told).toContain(
        `takes ${most} LLM profiles and has ${most}, of which 0 can be removed`,
      );
      expect(told).toContain(
        'llm_profiles.t1 is removed last, because what is active still names it',
      );
      expect(await refused(`llm_profiles: { ${MINE} }`)).toContain('llm_profiles.NAME as null');
    });
  },
);

it(
  'agent-server: what an agent profile or a meta profile names is removed last',
  LONG,
  async () => {
    await fullOf('agent-server');
    await stored('/api/agent-profiles/a', { llm_profile_ref: 't1' });
    const classes = [{ description: 'all', model: 't3' }];
    await stored('/api/meta-profiles/m', { classifier_model: 't2', classes });
    await front.ask('GET', '/api/agent-profiles');
    front.seen.length = 0;
    expect(await refused(`llm_profiles: { ${MINE}, t1: null }`)).toMatch(
      /t1 .* cannot be removed: the agent profile a would still name it/,
    );
    for (const [name, holder] of [
      ['t2', 'the meta profile m'],
      ['t3', 'the meta profile m'],
    ])
      expect(await refused(`llm_profiles: { ${MINE}, ${name}: null }`)).toContain(
        `${name} is removed last, because ${holder} still names it`,
      );
    const file = `llm_profiles: { ${MINE}, t4: null }`;
    expect((await apply(asked(file))).environments[0]).toMatchObject({ status: 'applied' });
  },
);

it('agent-server: meta profiles and connections make room, too', LONG, async () => {
  await fullOf('agent-server');
  const connections = '/api/llm/provider-connections';
  for (let one = 1; one <= 64; one += 1) {
    const body = { display_name: `c${one}`, provider: 'openai', api_key: 'canary-key' };
    await stored(connections, body);
    if (one <= 50)
      await stored(`/api/meta-profiles/m${one}`, {
        classifier_model: 't1',
        classes: [{ description: 'all', model: 't1' }],
      });
  }
  front.seen.length = 0;
  const team = '{ provider: openai, api_key: "${env:KEY}" }';
  const classes = '[{ description: all, model: t2 }]';
  const file = `provider_connections: { c1: null, team: ${team} }
meta_profiles: { m1: null, router: { classifier: t2, classes: ${classes} } }`;
  const [done] = (await apply(asked(file))).environments;
  expect(done).toMatchObject({ status: 'applied', error: null });
  expect(writes().map((one) => one.split(' ')[0])).toEqual(['DELETE', 'POST', 'DELETE', 'POST']);
});
