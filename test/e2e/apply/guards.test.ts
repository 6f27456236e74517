import { afterEach, describe, expect, it } from 'vitest';
import { apply } from '../../../src/reconciler/operations/apply.ts';
import { plan } from '../../../src/reconciler/operations/plan.ts';
import { RULES, type Rule } from '../../../src/reconciler/model/guard.ts';
import { request } from '../../fixture/settings.ts';
import { startStore, type JsonRecord, type StoreServer } from '../../fixture/store-server.ts';

let store: StoreServer;
afterEach(() => store.close());

interface Case {
  readonly rule: Rule;
  readonly stored: JsonRecord | null;
  readonly settings: string;
  /** A word of the sentence about the finding. */
  readonly reports: RegExp;
}

const MCP = { sse_servers: [], stdio_servers: [], shttp_servers: [] };
const HELD = { url: 'https://a.example.com/mcp', api_key: 'a-stored-key', timeout: 60 };
const SETTLED = '  sandbox_api_key: null\n';

/** One plan for each rule that can be turned on by its name. */
const CASES: readonly Case[] = [
  {
    rule: 'clear-secret',
    stored: { llm_api_key: 'k' },
    settings: '  llm_api_key: null\n',
    reports: /clears llm_api_key/,
  },
  {
    rule: 'clear-secret',
    stored: { mcp_config: { ...MCP, shttp_servers: [HELD] } },
    settings: '  mcp_config: { shttp_servers: [] }\n',
    reports: /removes .*contains a secret/,
  },
  {
    rule: 'move-endpoint',
    stored: { llm_api_key: 'k', llm_base_url: 'https://a.example.com/v1' },
    settings: '  llm_base_url: https://b.example.com/v1\n',
    reports: /moves llm_base_url/,
  },
  {
    rule: 'move-endpoint',
    stored: { mcp_config: { ...MCP, shttp_servers: [HELD] } },
    settings:
      '  mcp_config: { shttp_servers: [{ url: "https://b.example.com/mcp", api_key: "${env:HELD}" }] }\n',
    reports: /the key of an entry at another host/,
  },
  {
    rule: 'run-code',
    stored: {},
    settings: '  mcp_config: { stdio_servers: [{ name: files, command: npx }] }\n',
    reports: /adds .*files.*a program/,
  },
  {
    rule: 'run-code',
    stored: { sandbox_base_container_image: 'a' },
    settings: '  sandbox_base_container_image: b\n',
    reports: /sets sandbox_base_container_image/,
  },
  {
    rule: 'disable-safety',
    stored: { confirmation_mode: true },
    settings: '  confirmation_mode: false\n',
    reports: /turns confirmation_mode off/,
  },
  {
    rule: 'disable-safety',
    stored: { security_analyzer: 'llm' },
    settings: '  security_analyzer: null\n',
    reports: /clears security_analyzer/,
  },
  {
    rule: 'empty-store',
    stored: null,
    settings: '  language: en\n',
    reports: /nothing stored yet/,
  },
];

const asked = ({ settings }: Case, guards?: string, allow: readonly string[] = []) =>
  request(store.url, settings + SETTLED, {
    ...(guards === undefined ? {} : { guards }),
    allow,
    env: { SETPOINT_API_KEY: 'a-session-key', HELD: 'a-stored-key' },
  });

describe.each(CASES)('$rule, $reports', (one) => {
  const { rule, stored, reports } = one;

  it('is a warning if no guard is named, and goes on', async () => {
    store = await startStore({}, structuredClone(stored));
    const [planned] = (await plan(asked(one))).environments;
    const warned = planned?.warnings.filter(({ code }) => code === 'guard') ?? [];
    expect(warned.map(({ message }) => message).join('\n')).toMatch(reports);
    expect(warned.some(({ message }) => message.endsWith(`(${rule})`))).toBe(true);
    await apply(asked(one));
    expect(store.posts()).toBeGreaterThan(0);
  });

  it.each([`{ ${rule.replaceAll('-', '_')}: true }`, '{ protected: true }'])(
    'is refused under %s: exit 5, the rule, the flag, nothing sent',
    async (guards) => {
      store = await startStore({}, structuredClone(stored));
      const [outcome] = (
        await apply(
          asked(
            one,
            guards,
            RULES.filter((other) => other !== rule),
          ),
        )
      ).environments;
      expect(outcome).toMatchObject({ status: 'refused', error: { code: 'guard-refused' } });
      expect(outcome?.error?.message).toMatch(reports);
      expect(outcome?.error?.message).toContain(`(rule ${rule})`);
      expect(outcome?.error?.hint).toContain(`--allow ${rule}`);
      expect(store.posts()).toBe(0);
    },
  );

  it('is lifted by --allow, and turned off by its name under protected', async () => {
    store = await startStore({}, structuredClone(stored));
    const others = RULES.filter((other) => other !== rule);
    const off = `{ protected: true, ${rule.replaceAll('-', '_')}: false }`;
    expect((await apply(asked(one, off, others))).environments[0]?.status).not.toBe('refused');
    store.stored = structuredClone(stored);
    const allowed = await apply(asked(one, '{ protected: true }', RULES));
    expect(allowed.environments[0]?.status).not.toBe('refused');
  });
});

it('a harmless plan passes under protected', async () => {
  store = await startStore(
    {},
    { language: 'en', llm_api_key: 'k', llm_base_url: 'https://a.example.com/v1' },
  );
  const settings = `  language: fr\n  llm_base_url: https://a.example.com/v2\n${SETTLED}`;
  const document = await apply(request(store.url, settings, { guards: '{ protected: true }' }));
  expect(document.environments).toMatchObject([{ status: 'applied', error: null }]);
});

it('an endpoint may move together with its key', async () => {
  store = await startStore({}, { llm_api_key: 'k', llm_base_url: 'https://a.example.com' });
  const settings = `  llm_base_url: https://b.example.com\n  llm_api_key: \${env:SETPOINT_API_KEY}\n${SETTLED}`;
  const more = { guards: '{ move_endpoint: true }', rotate: ['llm_api_key'] };
  const document = await apply(request(store.url, settings, more));
  expect(document.environments).toMatchObject([{ status: 'applied' }]);
});

it('frozen refuses every write with its text, and no rule lifts it; what is in sync stays so', async () => {
  store = await startStore({}, { language: 'en' });
  const more = { guards: '{ frozen: "INC-42" }', allow: RULES };
  const [refused] = (await apply(request(store.url, `  language: fr\n${SETTLED}`, more)))
    .environments;
  expect(refused).toMatchObject({ status: 'refused', error: { code: 'guard-refused' } });
  expect(refused?.error?.message).toContain('INC-42');
  expect(store.posts()).toBe(0);
  const [same] = (await apply(request(store.url, '  language: en\n', more))).environments;
  expect(same).toMatchObject({ status: 'in-sync', error: null });
});

const entry = (name: string, more: JsonRecord = {}): JsonRecord => ({
  url: `https://${name}.example.com/mcp`,
  api_key: null,
  timeout: 60,
  ...more,
});
const program = (more: JsonRecord = {}): JsonRecord => ({
  name: 'files',
  command: 'npx',
  args: ['--token', 'an-argument'],
  env: { FILES_TOKEN: 'a-token', MODE: 'fast' },
  ...more,
});
const mcp = (lists: JsonRecord): JsonRecord => ({ mcp_config: { ...MCP, ...lists } });
const held = mcp({ shttp_servers: [HELD] });
const runs = mcp({ stdio_servers: [program()] });
const stdio = (rest: string) =>
  `  mcp_config: { stdio_servers: [{ name: files, command: npx, ${rest} }] }\n`;
const shttp = (rest: string) => `  mcp_config: { shttp_servers: [{ ${rest} }] }\n`;
const A = 'url: "https://a.example.com/mcp"';
const AT = 'mcp_config.stdio_servers[files]';

/** The findings of one rule, and whether an apply under that rule alone wrote anything. */
async function judged(rule: Rule, stored: JsonRecord | null, settings: string) {
  store = await startStore({}, structuredClone(stored));
  const env = { SETPOINT_API_KEY: 'a-session-key', HELD: 'a-stored-key', OTHER: 'another-key' };
  const values = { OFF: 'false', NONE: 'none', EVIL: 'https://evil.example/v1', IMAGE: 'evil:1' };
  const asked = request(
    store.url,
    settings + (settings.includes('sandbox_api_key') ? '' : SETTLED),
    {
      guards: `{ ${rule.replaceAll('-', '_')}: true }`,
      env: { ...env, ...values },
    },
  );
  const [planned] = (await plan(asked)).environments;
  const [outcome] = (await apply(asked)).environments;
  expect(outcome?.refusals).toEqual(planned?.refusals);
  expect(outcome?.status === 'refused').toBe(planned?.refusals.length !== 0);
  expect(store.posts() === 0).toBe(outcome?.status === 'refused');
  return planned?.refusals.map(({ rule: found, message }) => `${found}: ${message}`) ?? [];
}

describe('clear-secret refuses what takes a stored secret away, however the file spells it', () => {
  const removes = [/^clear-secret: The plan removes mcp_config\..*, which contains a secret\.$/];
  const clears = (path: string) => [`clear-secret: The plan clears ${path}.`];
  it.each<[string, JsonRecord, string, unknown[]]>([
    ['mcp_config: null', held, '  mcp_config: null\n', removes],
    ['mcp_config: {}', held, '  mcp_config: {}\n', removes],
    ['an empty list', held, '  mcp_config: { shttp_servers: [] }\n', removes],
    [
      'two entries by null',
      mcp({ shttp_servers: [HELD], stdio_servers: [program()] }),
      '  mcp_config: null\n',
      [...removes, ...removes],
    ],
    [
      'api_key: null',
      held,
      shttp(`${A}, api_key: null`),
      clears('mcp_config.shttp_servers[https://a.example.com/mcp].api_key'),
    ],
    [
      'env: {}',
      runs,
      stdio('env: {}'),
      [...clears(`${AT}.env.FILES_TOKEN`), ...clears(`${AT}.env.MODE`)],
    ],
    [
      'env: null',
      runs,
      stdio('env: null'),
      [...clears(`${AT}.env.FILES_TOKEN`), ...clears(`${AT}.env.MODE`)],
    ],
    [
      'env without one variable',
      runs,
      stdio('env: { MODE: fast }'),
      clears(`${AT}.env.FILES_TOKEN`),
    ],
    [
      'env as a line without one variable',
      runs,
      stdio('env: "MODE=fast"'),
      clears(`${AT}.env.FILES_TOKEN`),
    ],
    ['args: []', runs, stdio('args: []'), clears(`${AT}.args`)],
    ['args: ""', runs, stdio('args: ""'), clears(`${AT}.args`)],
    ['args without the token', runs, stdio('args: [--token]'), clears(`${AT}.args`)],
    [
      'a url whose query is left out',
      mcp({ shttp_servers: [entry('q', { url: 'https://q.example.com/mcp?token=t' })] }),
      shttp('url: "https://q.example.com/mcp"'),
      clears('mcp_config.shttp_servers[https://q.example.com/mcp].url'),
    ],
    [
      'a url without its userinfo',
      { llm_base_url: 'https://me:pw@a.example.com/v1' },
      '  llm_base_url: https://a.example.com/v1\n',
      clears('llm_base_url'),
    ],
    [
      'llm_base_url: null with a query',
      { llm_base_url: 'https://a.example.com/v1?key=k' },
      '  llm_base_url: null\n',
      clears('llm_base_url'),
    ],
    ['llm_api_key: null', { llm_api_key: 'k' }, '  llm_api_key: null\n', clears('llm_api_key')],
    [
      'search_api_key: null',
      { search_api_key: 'k' },
      '  search_api_key: null\n',
      clears('search_api_key'),
    ],
  ])('%s', async (_name, stored, settings, expected) => {
    const found = await judged('clear-secret', stored, settings);
    expect(found).toEqual(
      expected.map((one) => (one instanceof RegExp ? expect.stringMatching(one) : one)),
    );
  });

  it.each<[string, JsonRecord, string]>([
    ['another key', held, shttp(`${A}, api_key: "\${env:OTHER}"`)],
    ['another argument', runs, stdio('args: [--token, another]')],
    ['another variable value', runs, stdio('env: { FILES_TOKEN: "${env:OTHER}", MODE: slow }')],
    [
      'another query',
      mcp({ shttp_servers: [entry('q', { url: 'https://q.example.com/mcp?token=t' })] }),
      shttp('url: "https://q.example.com/mcp?token=u"'),
    ],
    [
      'an entry without a secret that goes',
      mcp({ shttp_servers: [entry('q')] }),
      '  mcp_config: null\n',
    ],
    ['a key that is not stored', { language: 'en' }, '  llm_api_key: null\n  language: fr\n'],
    [
      'sandbox_api_key: null, of which nothing is known',
      {},
      '  sandbox_api_key: null\n  language: fr\n',
    ],
  ])('and lets pass: %s', async (_name, stored, settings) => {
    expect(await judged('clear-secret', stored, settings)).toEqual([]);
  });
});

describe('disable-safety and run-code judge the values, with references resolved', () => {
  it.each<[Rule, string, JsonRecord, string]>([
    [
      'disable-safety',
      'confirmation_mode from a reference',
      { confirmation_mode: true },
      '  confirmation_mode: ${env:OFF}\n',
    ],
    [
      'disable-safety',
      'confirmation_mode: null',
      { confirmation_mode: true },
      '  confirmation_mode: null\n',
    ],
    [
      'disable-safety',
      'security_analyzer from a reference',
      { security_analyzer: 'llm' },
      '  security_analyzer: ${env:NONE}\n',
    ],
    [
      'disable-safety',
      'security_analyzer: ""',
      { security_analyzer: 'llm' },
      '  security_analyzer: ""\n',
    ],
    [
      'disable-safety',
      'security_analyzer: None',
      { security_analyzer: 'llm' },
      '  security_analyzer: None\n',
    ],
    [
      'run-code',
      'an image from a reference',
      { sandbox_base_container_image: 'a' },
      '  sandbox_base_container_image: ${env:IMAGE}\n',
    ],
    [
      'run-code',
      'an image that is cleared',
      { sandbox_runtime_container_image: 'a' },
      '  sandbox_runtime_container_image: null\n',
    ],
    ['run-code', 'other arguments', runs, stdio('args: [-c, evil]')],
    ['run-code', 'other arguments as a line', runs, stdio('args: "-c evil"')],
    ['run-code', 'another variable', runs, stdio('env: "LD_PRELOAD=/evil.so,MODE=fast"')],
  ])('%s: %s', async (rule, _name, stored, settings) => {
    expect(await judged(rule, stored, settings)).toEqual([expect.stringContaining(`${rule}: `)]);
  });

  it.each<[Rule, string, JsonRecord, string]>([
    [
      'disable-safety',
      'confirmation_mode that is turned on',
      { confirmation_mode: false },
      '  confirmation_mode: true\n',
    ],
    [
      'disable-safety',
      'another analyzer',
      { security_analyzer: 'llm' },
      '  security_analyzer: invariant\n',
    ],
    ['run-code', 'a program that goes', runs, '  mcp_config: null\n'],
  ])('%s lets pass: %s', async (rule, _name, stored, settings) => {
    expect(await judged(rule, stored, settings)).toEqual([]);
  });
});

describe('move-endpoint compares hosts in every spelling', () => {
  const base = (from: string | null) => ({ llm_api_key: 'k', llm_base_url: from });
  const to = (address: string) => `  llm_base_url: "${address}"\n`;
  it.each<[string, JsonRecord, string]>([
    ['from an address without a scheme', base('api.example.com/v1'), to('https://evil.example/v1')],
    ['from the provider', base(null), to('https://evil.example')],
    ['to the provider', base('https://api.example.com'), '  llm_base_url: null\n'],
    [
      'userinfo that resembles the host',
      held,
      shttp('url: "https://a.example.com@b.example.com/mcp", api_key: "${env:HELD}"'),
    ],
    [
      'a backslash, which programs read in two ways',
      base('https://api.example.com/v1'),
      to('https://api.example.com\\\\@evil.example/v1'),
    ],
    ['another port', base('https://api.example.com/v1'), to('https://api.example.com:8443/v1')],
    ['encryption left out', base('https://api.example.com/v1'), to('http://api.example.com/v1')],
    ['a reference', base('https://api.example.com/v1'), to('${env:EVIL}')],
    ['websockets', held, shttp('url: "wss://b.example.com/mcp", api_key: "${env:HELD}"')],
    [
      'an entry that takes the key of another',
      held,
      shttp('url: "https://b.example.com/mcp", api_key: "${env:HELD}"'),
    ],
    [
      'an entry there was that takes the key of another',
      mcp({ shttp_servers: [HELD, entry('b')] }),
      `  mcp_config: { shttp_servers: [{ ${A} }, { url: "https://b.example.com/mcp", api_key: "\${env:HELD}" }] }\n`,
    ],
    [
      'the key in another list',
      held,
      '  mcp_config: { sse_servers: [{ url: "https://b.example.com/mcp", api_key: "${env:HELD}" }] }\n',
    ],
    [
      'the key in the query of another',
      held,
      shttp('url: "https://b.example.com/mcp?k=${env:HELD}"'),
    ],
    [
      'an entry without a url',
      mcp({ shttp_servers: [{ api_key: 'a-stored-key', url: null }] }),
      shttp('url: "https://b.example.com/mcp", api_key: "${env:HELD}"'),
    ],
  ])('refused: %s', async (_name, stored, settings) => {
    expect(await judged('move-endpoint', stored, settings)).toEqual([
      expect.stringMatching(/^move-endpoint: The plan (moves llm_base_url|gives .* the key)/),
    ]);
  });

  it.each<[string, JsonRecord, string]>([
    ['another path', base('https://api.example.com/v1'), to('https://api.example.com/v2')],
    ['a scheme that is added', base('api.example.com/v1'), to('https://api.example.com/v1')],
    ['capitals', base('https://API.example.com/v1'), to('https://api.EXAMPLE.com/v2')],
    ['the default port', base('https://api.example.com/v1'), to('https://api.example.com:443/v1')],
    ['encryption added', base('http://api.example.com/v1'), to('https://api.example.com/v1')],
    [
      'a key that is used at that host already',
      mcp({ shttp_servers: [HELD, entry('b', { api_key: 'a-stored-key' })] }),
      shttp('url: "https://b.example.com/other", api_key: "${env:HELD}"'),
    ],
    ['a key of its own', held, shttp('url: "https://b.example.com/mcp", api_key: "${env:OTHER}"')],
  ])('passes: %s', async (_name, stored, settings) => {
    expect(await judged('move-endpoint', stored, settings)).toEqual([]);
  });
});

it('max-changes counts the entries that mcp_config: null removes', async () => {
  store = await startStore({}, mcp({ shttp_servers: ['a', 'b', 'c'].map((name) => entry(name)) }));
  for (const settings of ['  mcp_config: null\n', '  mcp_config: {}\n']) {
    const asked = request(store.url, settings + SETTLED, { guards: '{ max_changes: 2 }' });
    const [planned] = (await plan(asked)).environments;
    expect(planned?.refusals.map(({ message }) => message)).toEqual([
      expect.stringContaining('The plan makes 3 changes'),
    ]);
  }
});

describe('every refusal is listed in one run', () => {
  const settings = '  language: fr\n  confirmation_mode: false\n  llm_api_key: null\n';
  const stored = { confirmation_mode: true, llm_api_key: 'k', later_token: '**********' };
  const guards = '{ protected: true, max_changes: 2, frozen: "INC-42" }';
  const rules = [
    'frozen',
    'max-changes',
    'clear-secret',
    'disable-safety',
    'lose-unreadable',
    'lose-unreadable',
  ];

  it('by apply, in the document and in its error, frozen included', async () => {
    store = await startStore({}, structuredClone(stored));
    const [outcome] = (await apply(request(store.url, settings, { guards }))).environments;
    expect(outcome?.refusals.map(({ rule }) => rule)).toEqual(rules);
    for (const { message, rule } of outcome?.refusals ?? [])
      expect(outcome?.error?.message).toContain(`${message} (rule ${rule})`);
    expect(outcome?.error?.hint).toContain(
      '--allow max-changes --allow clear-secret --allow disable-safety',
    );
    expect(outcome?.error?.hint).toContain('No flag lifts this');
    expect(store.posts()).toBe(0);
  });

  it('by plan, each with its path, and no warning repeats it', async () => {
    store = await startStore({}, structuredClone(stored));
    const [planned] = (await plan(request(store.url, settings, { guards }))).environments;
    expect(planned?.refusals.map(({ rule, path }) => [rule, path])).toEqual([
      ['frozen', []],
      ['max-changes', []],
      ['clear-secret', ['llm_api_key']],
      ['disable-safety', ['confirmation_mode']],
      ['lose-unreadable', ['later_token']],
      ['lose-unreadable', ['sandbox_api_key']],
    ]);
    expect(planned?.warnings.map(({ code }) => code)).not.toContain('lose-unreadable');
  });

  it('with --allow as that apply would end: a lifted rule is a warning again', async () => {
    store = await startStore({}, structuredClone(stored));
    const allow = RULES.filter((rule) => rule !== 'clear-secret');
    const asked = request(store.url, settings, { guards: '{ protected: true }', allow });
    const [planned] = (await plan(asked)).environments;
    expect(planned?.refusals.map(({ rule }) => rule)).toEqual(['clear-secret']);
    expect(planned?.warnings.map(({ message }) => message)).toContain(
      'The plan turns confirmation_mode off. (disable-safety)',
    );
    expect(planned?.warnings.map(({ code }) => code)).toContain('lose-unreadable');
    const [outcome] = (await apply(asked)).environments;
    expect(outcome?.refusals.map(({ rule }) => rule)).toEqual(['clear-secret']);
  });
});

describe('guards are judged again on the observation right before the write', () => {
  it.each<[string, string, JsonRecord, string]>([
    [
      'move-endpoint',
      'a key was stored meanwhile',
      { llm_api_key: 'k' },
      '  llm_base_url: https://b.example.com\n',
    ],
    [
      'lose-unreadable',
      'something that is masked has appeared',
      { later_token: '**********' },
      '  language: fr\n',
    ],
  ])('%s: %s', async (rule, _name, appears, settings) => {
    store = await startStore({}, { llm_base_url: 'https://a.example.com' });
    const asked = request(store.url, settings + SETTLED, {
      guards: '{ protected: true }',
      confirm: async () => {
        store.stored = { ...store.stored, ...appears };
        return true;
      },
    });
    expect((await plan(asked)).environments[0]?.refusals).toEqual([]);
    const [outcome] = (await apply(asked)).environments;
    expect(outcome).toMatchObject({ status: 'refused', error: { code: 'guard-refused' } });
    expect(outcome?.refusals.map((one) => one.rule)).toEqual([rule]);
    expect(store.posts()).toBe(0);
  });
});

it('each environment is judged by its own guards', async () => {
  store = await startStore({}, { confirmation_mode: true });
  const text = `version: 1
settings: { confirmation_mode: false, sandbox_api_key: null }
guards: { protected: true }
environments:
  dev: { server: { url: "${store.url}" }, guards: { disable_safety: false } }
  production: { server: { url: "${store.url}" } }
`;
  const { environments } = await plan({ text, env: {} });
  expect(
    environments.map(({ name, refusals }) => [name, refusals.map(({ rule }) => rule)]),
  ).toEqual([
    ['dev', []],
    ['production', ['disable-safety']],
  ]);
});
