import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fields, hasTwoNames } from '../../../src/reconciler/model/field.ts';
import { setpoint } from '../../fixture/command-here.ts';
import { folderWith } from '../../fixture/command.ts';
import { itEach } from '../../fixture/long.ts';
import { startStore, type StoreServer } from '../../fixture/store-server.ts';
import { dedent } from '../../fixture/dedent.ts';

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

describe('a policy judges a field by both of its names, whichever the file uses', () => {
  const judged = async (rules: object, settings: string): Promise<string[]> => {
    const policy = { properties: { settings: rules } };
    writeFileSync(join(folder.path, 'policy.schema.json'), JSON.stringify(policy));
    const file = `version: 1\nserver: { url: "${store.url}" }\nsettings: ${settings}\n`;
    writeFileSync(join(folder.path, 'settings.yaml'), file);
    const { code, stderr } = await run('plan', '--policy', 'policy.schema.json');
    const found = stderr.match(/settings\.yaml:\d+:\d+ error policy/g) ?? [];
    if (found.length > 0) expect(code).toBe(5);
    return found.map((one) => one.split(' ')[0] ?? '');
  };
  const at = (place: string, rule: object): object =>
    place.split('.').reduceRight((inner, key) => ({ properties: { [key]: inner } }), rule);
  const written = (place: string, value: string): string =>
    place.split('.').reduceRight((inner, key) => `{ ${key}: ${inner} }`, value);

  const FIELDS = fields()
    .filter((field) => hasTwoNames(field) && field.type !== 'object')
    .map(({ name, place }) => ({ name, native: place.join('.') }));
  const WRONG = '${env:WRONG_VALUE}';

  itEach(FIELDS, (_, index) => index % 8 === 0)('$name and $native', async ({ name, native }) => {
    for (const place of [name, native])
      for (const spelling of [name, native]) {
        const settings = written(spelling, `"${WRONG}"`);
        const column = 11 + settings.indexOf('"');
        expect([
          place,
          spelling,
          await judged(at(place, { not: { const: WRONG } }), settings),
        ]).toEqual([place, spelling, [`settings.yaml:3:${column}`]]);
      }
  });

  it('one that is forbidden is so by either name', async () => {
    for (const place of ['llm_base_url', 'agent_settings.llm.base_url'])
      for (const spelling of ['llm_base_url', 'agent_settings.llm.base_url']) {
        const rule = place
          .split('.')
          .reduceRight<unknown>((inner, key) => ({ properties: { [key]: inner } }), false);
        const found = await judged(rule as object, written(spelling, 'https://x.example'));
        expect([place, spelling, found.length]).toEqual([place, spelling, 1]);
      }
  });

  it('one that is required may be there by either name', async () => {
    const required = (place: string): object => {
      const keys = place.split('.');
      const last = keys.pop() ?? '';
      const inner = { required: [last] };
      return keys.reduceRight<object>(
        (rule, key) => ({ required: [key], properties: { [key]: rule } }),
        inner,
      );
    };
    for (const { name, native } of FIELDS.slice(0, 3)) {
      for (const rule of [required(name), required(native)]) {
        expect(await judged(rule, written(name, '"${env:A}"'))).toEqual([]);
        expect(await judged(rule, written(native, '"${env:A}"'))).toEqual([]);
        expect(await judged(rule, '{ email: a@b.example }')).toEqual(['settings.yaml:3:11']);
      }
    }
  });

  it.each([
    ['by name', { properties: { llm_model: {} }, additionalProperties: false }, true],
    ['a part forbidden', { properties: { agent_settings: false } }, true],
    ['a part not among the names', { propertyNames: { enum: ['llm_model'] } }, true],
    [
      'by place',
      { properties: { agent_settings: at('llm', at('model', {})) }, additionalProperties: false },
      true,
    ],
    ['neither', { properties: { language: {} }, additionalProperties: false }, false],
    ['the name forbidden', { propertyNames: { not: { const: 'llm_model' } } }, false],
  ])('a closed list of names takes one of the two: %s', async (_, rules, passes) => {
    for (const spelling of ['llm_model', 'agent_settings.llm.model'])
      expect([spelling, (await judged(rules, written(spelling, 'gpt-4o'))).length === 0]).toEqual([
        spelling,
        passes,
      ]);
  });

  it('a name that is taken out is not the way around a rule', async () => {
    const rules = {
      anyOf: [{ properties: { llm_model: {} }, additionalProperties: false }, {}],
      properties: { agent_settings: at('llm', at('model', { const: 'gpt-4o' })) },
    };
    for (const spelling of ['llm_model', 'agent_settings.llm.model'])
      expect(await judged(rules, written(spelling, 'other'))).not.toEqual([]);
  });

  const LISTS = '{ mcp_config: { stdio_servers: [{ name: files, command: sh }] } }';
  const SERVERS = '{ agent_settings: { mcp_config: { files: { command: sh } } } }';
  const URLS = '{ mcp_config: { shttp_servers: [{ url: https://evil.example/mcp }] } }';
  const URL_SERVERS =
    '{ agent_settings: { mcp_config: { files: { url: https://evil.example/mcp } } } }';
  const everyServer = (rule: object) =>
    at('agent_settings.mcp_config', { additionalProperties: at('command', rule) });
  const listed = (list: string, member: string, rule: object) =>
    at(`mcp_config.${list}`, { items: at(member, rule) });

  it.each([
    [
      'a program by its list',
      listed('stdio_servers', 'command', { enum: ['npx'] }),
      LISTS,
      SERVERS,
    ],
    ['no programs at all', at('mcp_config.stdio_servers', { maxItems: 0 }), LISTS, SERVERS],
    ['a program by its name', everyServer({ enum: ['npx'] }), LISTS, SERVERS],
    [
      'an address by its list',
      listed('shttp_servers', 'url', { pattern: '^https://ok' }),
      URLS,
      URL_SERVERS,
    ],
    [
      'an address by its name',
      at('agent_settings.mcp_config', {
        additionalProperties: at('url', { pattern: '^https://ok' }),
      }),
      URLS,
      URL_SERVERS,
    ],
  ])('mcp servers too: %s', async (_, rule, lists, servers) => {
    for (const settings of [lists, servers])
      expect([settings, await judged(rule, settings)]).toEqual([
        settings,
        [expect.stringMatching(/^settings\.yaml:3:\d+$/)],
      ]);
  });
});
