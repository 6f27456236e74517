import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { setpoint } from '../fixture/command-here.ts';
import { folderWith } from '../fixture/command.ts';
import { startStore, type StoreServer } from '../fixture/store-server.ts';
import { dedent } from '../fixture/dedent.ts';

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
  writeFileSync(
    `${folder.path}/settings.yaml`,
    dedent`
      version: 1
      server: { url: "${store.url}" }
      settings:
        confirmation_mode: true
        llm_api_key: \${env:PROD_KEY}
    `,
  );
  expect((await run('plan', '--policy', 'policy.schema.json')).code).toBe(0);
});

it.each(['missing.json', 'settings.yaml'])('%s as a policy is a usage error', async (policy) => {
  const { code, stderr } = await run('plan', '--policy', policy);
  expect(code).toBe(3);
  expect(stderr).toContain(policy);
  expect(store.requests).toEqual([]);
});

describe('a policy judges mcp entries in one form, however the file spells them', () => {
  const LISTED = { items: { properties: { url: { pattern: '^https://ok\\.' } } } };
  const PROGRAMS = {
    items: {
      properties: {
        command: { enum: ['npx'] },
        args: { items: { not: { const: '--unsafe' } }, contains: { const: '-y' } },
        env: {
          properties: { TOKEN: { pattern: '^\\$\\{env:PROD_' } },
          propertyNames: { not: { const: 'LD_PRELOAD' } },
        },
      },
    },
  };
  const lists = { sse_servers: LISTED, shttp_servers: LISTED, stdio_servers: PROGRAMS };
  const policy = {
    properties: { settings: { properties: { mcp_config: { properties: lists } } } },
  };

  const judged = async (list: string, entry: string): Promise<string[]> => {
    writeFileSync(join(folder.path, 'policy.schema.json'), JSON.stringify(policy));
    writeFileSync(
      join(folder.path, 'settings.yaml'),
      dedent`
        version: 1
        server: { url: "${store.url}" }
        settings:
          mcp_config:
            ${list}:
              - ${entry}
      `,
    );
    const { code, stderr } = await run('plan', '--policy', 'policy.schema.json');
    expect(code).toBe(stderr.includes(' error policy') ? 5 : 0);
    return stderr.match(/settings\.yaml:\d+:\d+ error policy/g) ?? [];
  };
  const at = (line: number, column: number) => [`settings.yaml:${line}:${column} error policy`];

  it.each([
    ['a bare url', 'shttp_servers', 'https://evil.example/mcp', at(6, 9)],
    ['a bare url with blanks', 'sse_servers', '" https://evil.example/mcp "', at(6, 9)],
    ['a url in a map', 'shttp_servers', '{ url: https://evil.example/mcp }', at(6, 16)],
    [
      'a line of arguments',
      'stdio_servers',
      '{ name: a, command: npx, args: "-y --unsafe" }',
      at(6, 40),
    ],
    [
      'a quoted line',
      'stdio_servers',
      `{ name: a, command: npx, args: "-y '--un'safe" }`,
      at(6, 40),
    ],
    [
      'a list of arguments',
      'stdio_servers',
      '{ name: a, command: npx, args: [-y, --unsafe] }',
      at(6, 45),
    ],
    [
      'a line of variables',
      'stdio_servers',
      '{ name: a, command: npx, env: "A=1,LD_PRELOAD=/x" }',
      [...at(6, 39), ...at(6, 39)],
    ],
    [
      'a reference in a line',
      'stdio_servers',
      '{ name: a, command: npx, env: "TOKEN=${env:OTHER_KEY}" }',
      at(6, 39),
    ],
    ['a command with a blank', 'stdio_servers', '{ name: a, command: " sh" }', at(6, 29)],
  ])('refused: %s', async (_name, list, entry, places) => {
    expect(await judged(list, entry)).toEqual(places);
  });

  it.each([
    ['a bare url', 'shttp_servers', 'https://ok.example/mcp'],
    ['blanks around', 'sse_servers', '" https://ok.example/mcp "'],
    [
      'lines',
      'stdio_servers',
      '{ name: a, command: npx, args: "-y b", env: "TOKEN=${env:PROD_KEY},B=2" }',
    ],
  ])('passes: %s', async (_name, list, entry) => {
    expect(await judged(list, entry)).toEqual([]);
  });
});
