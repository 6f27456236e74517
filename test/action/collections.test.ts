import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startFronted, type Fronted } from '../fixture/before-service.ts';
import { bench } from './bench.ts';

const on = bench({ language: 'en' });
const ENV = {
  GOOD: 'canary-good-1',
  BAD: 'canary-bad-2',
  SETPOINT_ALLOWED_ORIGINS: 'llm.example.com,127.0.0.1',
};

async function service(): Promise<Fronted> {
  const front = await startFronted({
    dialect: 'agent-server',
    apiKey: 'a-session-key',
    data: join(on.path, 'store.json'),
    models: [{ model: 'openai/gpt-5', accepts: 'canary-good' }],
  });
  onTestFinished(() => front.close());
  return front;
}

function declare(front: Fronted, blocks: string): void {
  on.commit({
    'settings.yaml': `version: 1\nserver: { url: "${front.url}", api_key: "\${env:KEY}" }\n${blocks}\n`,
  });
}

const profile = (name: string, key: string): string =>
  `${name}: { model: openai/gpt-5, base_url: "https://llm.example.com/v1", api_key: "\${env:${key}}" }`;

async function step(inputs: Readonly<Record<string, string>>) {
  const ended = await on.step({ inputs, env: ENV });
  expect(JSON.stringify(ended)).not.toContain('canary');
  return ended;
}

it('renames what moved names, and shows it in the log and the summary', async () => {
  const front = await service();
  declare(front, `llm_profiles: { ${profile('main', 'GOOD')} }`);
  expect((await step({ command: 'apply', allow: 'empty-store' })).code).toBe(0);
  declare(
    front,
    `llm_profiles: { ${profile('prod', 'GOOD')} }\nmoved: [{ from: llm_profiles.main, to: llm_profiles.prod }]`,
  );
  const planned = await step({ command: 'plan' });
  expect(planned.outputs['changes']).toBe('1');
  expect(planned.log).toContain('llm_profiles.prod: renamed from main');
  expect(planned.summary).toContain('renamed from main');
  const applied = await step({ command: 'apply' });
  expect(applied.code).toBe(0);
  expect(applied.log).toContain('Applied 1 change');
  expect(applied.summary).toContain('llm_profiles.prod');
  expect((await step({ command: 'plan' })).outputs['changes']).toBe('0');
  const { body } = await front.ask('GET', '/api/profiles');
  expect(body).toMatchObject({ profiles: [{ name: 'prod', api_key_set: true }] });
});

it('has changed models tried, fails the step if one does not work, and shows it if that is allowed', async () => {
  const front = await service();
  declare(front, `llm_profiles: { ${profile('main', 'GOOD')}, ${profile('wrong', 'BAD')} }`);
  const planned = await step({ command: 'plan', check: 'true' });
  expect(planned.code).not.toBe(0);
  for (const text of [planned.log, planned.summary]) {
    expect(text).toContain('does not work: the provider refuses the key');
    expect(text).toContain('found no fault');
  }
  const refused = await step({ command: 'apply', check: 'true', allow: 'empty-store' });
  expect(refused.code).not.toBe(0);
  expect(refused.log).toContain('unproven');
  expect(
    front.seen.filter(({ method, path }) => method === 'POST' && !path.endsWith('/validate')),
  ).toEqual([]);
  const lifted = await step({ command: 'apply', check: 'true', allow: 'empty-store, unproven' });
  expect(lifted.code).toBe(0);
  expect(lifted.summary).toContain('does not work: the provider refuses the key');
  expect(lifted.summary).not.toContain('found no fault');
});

it('quotes no answer to a write that the service does not take, whichever write it is', async () => {
  const front = await service();
  const QUOTED = 'quoted-by-the-server';
  const detail = [{ type: QUOTED, loc: ['body', QUOTED], msg: QUOTED, input: QUOTED, ctx: {} }];
  declare(
    front,
    [
      'settings: { language: en }',
      'secrets: { TOKEN: "${env:GOOD}" }',
      'provider_connections: { team: { api_key: "${env:GOOD}" } }',
      `llm_profiles: { ${profile('main', 'GOOD')} }`,
      'meta_profiles: { router: { classifier: main, classes: [{ description: all, model: main }] } }',
      'agent_profiles: { reviewer: { llm_profile: main } }',
      'active: { llm_profile: main }',
    ].join('\n'),
  );
  const refused = new Set<string>();
  for (let isLast = false; !isLast;) {
    isLast = true;
    front.instead = ({ method, path }) => {
      const kind = `${method} ${path}`;
      if (method === 'GET' || !isLast || refused.has(kind)) return null;
      isLast = false;
      refused.add(kind);
      return { status: 422, body: { detail } };
    };
    const ended = await step({ command: 'apply', allow: 'empty-store' });
    expect(JSON.stringify(ended)).not.toContain(QUOTED);
    expect(ended.code === 0).toBe(isLast);
  }
  expect(refused.size).toBe(7);
});
