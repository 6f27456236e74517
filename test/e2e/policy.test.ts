import { afterEach, beforeEach, expect, it } from 'vitest';
import { folderWith, setpoint } from '../fixture/command.ts';
import { startStore, type StoreServer } from '../fixture/store-server.ts';

let store: StoreServer;
let folder: ReturnType<typeof folderWith>;
afterEach(async () => {
  await store.close();
  folder.remove();
});

const POLICY = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  properties: {
    settings: {
      required: ['confirmation_mode'],
      properties: {
        llm_model: { pattern: '^anthropic/' },
        llm_api_key: { pattern: '^\\$\\{env:PROD_' },
        max_iterations: { maximum: 100 },
      },
    },
    sandboxes: { items: { properties: { running: { maximum: 3 } } } },
  },
};

beforeEach(async () => {
  store = await startStore({}, {});
  folder = folderWith({
    'policy.schema.json': JSON.stringify(POLICY),
    'settings.yaml': [
      'version: 1',
      `server: { url: "${store.url}" }`,
      'settings:',
      '  llm_model: canary/model',
      '  llm_api_key: ${env:OTHER_KEY}',
      '  max_iterations: 500',
      'sandboxes:',
      '  - running: 4',
      '',
    ].join('\n'),
  });
});

const run = (...args: string[]) =>
  setpoint(args, { cwd: folder.path, env: { OTHER_KEY: 'canary-secret-value' } });

it.each([['plan'], ['apply', '--yes'], ['drift']])(
  '%s: exit 5, every place with line and column, nothing sent',
  async (...args) => {
    const { code, stdout, stderr } = await run(
      ...args,
      '--policy',
      'policy.schema.json',
      '-o',
      'json',
    );
    expect(code).toBe(5);
    expect(stderr.match(/settings\.yaml:\d+:\d+ error policy/g)).toEqual([
      'settings.yaml:4:3 error policy',
      'settings.yaml:4:14 error policy',
      'settings.yaml:5:16 error policy',
      'settings.yaml:6:19 error policy',
      'settings.yaml:8:14 error policy',
    ]);
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: 'policy-violated' } });
    expect(stdout + stderr).not.toContain('canary-secret');
    expect(store.requests).toEqual([]);
  },
);

it('--yes and --allow do not lift it', async () => {
  const { code } = await run(
    'apply',
    '--yes',
    '--allow',
    'max-changes',
    '--policy',
    'policy.schema.json',
  );
  expect(code).toBe(5);
  expect(store.posts()).toBe(0);
});

it('what fits goes on, references unresolved', async () => {
  const { writeFileSync } = await import('node:fs');
  writeFileSync(
    `${folder.path}/settings.yaml`,
    `version: 1\nserver: { url: "${store.url}" }\nsettings:\n  confirmation_mode: true\n  llm_api_key: \${env:PROD_KEY}\n`,
  );
  expect((await run('plan', '--policy', 'policy.schema.json')).code).toBe(0);
});

it.each(['missing.json', 'settings.yaml'])('%s as a policy is a usage error', async (policy) => {
  const { code, stderr } = await run('plan', '--policy', policy);
  expect(code).toBe(3);
  expect(stderr).toContain(policy);
  expect(store.requests).toEqual([]);
});
