/** Random servers and random files that declare what a server keeps by name, in every spelling, by environments and with a base. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect } from 'vitest';
import { RULES } from '../../../src/reconciler/model/guard.ts';
import type { Json } from '../../../src/reconciler/model/value.ts';
import { apply } from '../../../src/reconciler/operations/apply.ts';
import { effective } from '../../../src/reconciler/operations/effective.ts';
import { plan } from '../../../src/reconciler/operations/plan.ts';
import { pull } from '../../../src/reconciler/operations/pull.ts';
import { validate } from '../../../src/reconciler/operations/validate.ts';
import { formatPulled } from '../../../src/reconciler/render/pulled-text.ts';
import { startFronted, type Fronted } from '../../fixture/before-service.ts';
import { folderWith } from '../../fixture/command.ts';
import { hand, writer, type Hand } from '../../fixture/hand-written.ts';
import { itHolds } from '../../fixture/property-runs.ts';
import { quickClock } from '../../fixture/settings.ts';
import { describeEach } from '../../fixture/long.ts';

type Blocks = Readonly<Record<string, Json>>;
type Dialect = 'settings-v0' | 'app-server' | 'agent-server';

const KEY = 'canary-server-key';
const ENV = {
  KEY,
  A: 'canary-secret-a',
  B: 'canary-secret-b',
  HUB: 'canary-good-github',
  LAB: 'canary-good-gitlab',
};
const STYLE = { color: false, width: null, verbose: true };
const PRODUCTS = [
  { product: 'github', accepts: 'good-github' },
  { product: 'gitlab', host: 'git.example.com', accepts: 'good-gitlab' },
  { product: 'gitlab', host: 'git2.example.com', accepts: 'good-gitlab' },
] as const;

const reference = fc.constantFrom('${env:A}', '${env:B}');

/** Some of these names, each with an item. */
function named(names: readonly string[], item: fc.Arbitrary<Json>): fc.Arbitrary<Blocks> {
  return fc.dictionary(fc.constantFrom(...names), item, {
    maxKeys: names.length,
    noNullPrototype: true,
  });
}

function members(of: Readonly<Record<string, fc.Arbitrary<Json>>>, needed: readonly string[]) {
  return fc.record(of, { requiredKeys: [...needed], noNullPrototype: true }) as fc.Arbitrary<Json>;
}

const secret = fc.oneof(
  reference,
  members({ value: reference, description: fc.constantFrom('', 'one', 'two # "x"') }, ['value']),
);

const git = fc.record(
  {
    github: fc.constant({ token: '${env:HUB}' }),
    gitlab: fc.constantFrom('git.example.com', 'git2.example.com').map((host) => ({
      token: '${env:LAB}',
      host,
    })),
  },
  { requiredKeys: [], noNullPrototype: true },
) as fc.Arbitrary<Blocks>;

const connection = members(
  {
    provider: fc.constantFrom('openai', 'anthropic'),
    base_url: fc.constantFrom('https://a.example.com', 'https://b.example.com'),
    api_key: reference,
  },
  ['provider', 'api_key'],
);

const model = {
  model: fc.constantFrom('openai/gpt-5', 'openai/gpt-5-mini', 'anthropic/claude-sonnet-4-5'),
  temperature: fc.constantFrom(0, 0.2, 1),
  num_retries: fc.constantFrom(2, 5),
  extra_headers: fc.constantFrom<Json>({ 'X-Team': '${env:A}' }),
  drop_params: fc.boolean(),
};
const keyed = members(
  {
    ...model,
    api_key: reference,
    base_url: fc.constantFrom('https://a.example.com/v1', 'https://b.example.com/v1'),
  },
  ['model', 'base_url'],
);
const linked = members({ ...model, connection: fc.constantFrom('team', 'old') }, [
  'model',
  'connection',
]);

const meta = members(
  {
    classifier: fc.constantFrom('main', 'cheap'),
    classes: fc.array(
      fc.record({
        description: fc.constantFrom('pictures', 'all else'),
        model: fc.constantFrom('main', 'cheap'),
      }),
      { maxLength: 2 },
    ),
  },
  ['classifier', 'classes'],
);

const agent = members(
  {
    llm_profile: fc.constantFrom('main', 'cheap'),
    secrets: fc.constantFrom<Json[]>([], ['A_1'], ['B_1', 'A_1']),
    mcp_servers: fc.constantFrom<Json[]>([], ['files']),
    persona: fc.constantFrom('You review.', 'You: write'),
    tool_concurrency_limit: fc.constantFrom(1, 3),
  },
  ['llm_profile'],
);

const server = fc.oneof(
  members(
    {
      command: fc.constantFrom('npx', 'uvx'),
      args: fc.constantFrom<Json[]>([], ['-y', 'server-fs'], ['x']),
      env: fc.constantFrom<Json>({ LEVEL: 'info' }, { LEVEL: 'debug', TOKEN: '${env:A}' }),
    },
    ['command', 'args', 'env'],
  ),
  members(
    {
      url: fc.constantFrom('https://mcp.example.com/mcp', 'https://mcp.example.com/sse'),
      timeout: fc.constantFrom(30, 60),
    },
    ['url'],
  ),
);

const marketplace = members(
  {
    source: fc.constantFrom('github:example/a', 'github:example/b'),
    ref: fc.constantFrom('v1', 'v2'),
    auto_load: fc.boolean(),
  },
  ['source'],
);

const skills = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 3 });

const BLOCKS: Readonly<Record<Dialect, Readonly<Record<string, fc.Arbitrary<Json>>>>> = {
  'settings-v0': { secrets: named(['A_1', 'B_1', 'C_1'], secret), git_providers: git },
  'app-server': {
    secrets: named(['A_1', 'B_1', 'C_1'], secret),
    git_providers: git,
    llm_profiles: named(['main', 'cheap', 'third'], keyed),
    mcp_servers: named(['files', 'tracker', 'docs'], server),
    marketplaces: named(['team', 'other'], marketplace),
    disabled_skills: skills,
  },
  'agent-server': {
    secrets: named(['A_1', 'B_1', 'C_1'], secret),
    provider_connections: named(['team', 'old'], connection),
    llm_profiles: named(['main', 'cheap', 'third'], fc.oneof(keyed, linked)),
    meta_profiles: named(['router', 'other'], meta),
    agent_profiles: named(['reviewer', 'coder'], agent),
    mcp_servers: named(['files', 'tracker', 'docs'], server),
    marketplaces: named(['team', 'other'], marketplace),
    disabled_skills: skills,
  },
};

const PLAIN_MODEL = { model: 'openai/gpt-5', base_url: 'https://a.example.com/v1' };

/** A server has what its own items refer to. */
function whole(blocks: Blocks, dialect: Dialect, active: string): Blocks {
  if (dialect === 'settings-v0') return blocks;
  const profiles = { main: PLAIN_MODEL, cheap: PLAIN_MODEL, ...(blocks['llm_profiles'] as Blocks) };
  const connections = {
    team: { provider: 'openai', api_key: '${env:A}' },
    old: { provider: 'openai', api_key: '${env:B}' },
    ...(blocks['provider_connections'] as Blocks | undefined),
  };
  const files = { command: 'npx', args: [], env: { LEVEL: 'info' } };
  const servers = { files, ...(blocks['mcp_servers'] as Blocks | undefined) };
  return {
    ...blocks,
    llm_profiles: profiles,
    ...(dialect === 'agent-server'
      ? { provider_connections: connections, mcp_servers: servers }
      : {}),
    ...(active === '' ? {} : { active: { llm_profile: active } }),
  };
}

/** How the file spells what has two spellings. */
const spelling = fc.record({
  store: fc.boolean(),
  pointer: fc.boolean(),
  native: fc.boolean(),
  layered: fc.constantFrom('flat', 'environment', 'base'),
});
type Spelling = typeof spelling extends fc.Arbitrary<infer T> ? T : never;

function spelled(blocks: Blocks, dialect: Dialect, how: Spelling): Blocks {
  const { secrets, git_providers, mcp_servers, marketplaces, disabled_skills, active, ...rest } =
    blocks;
  const given = (all: Readonly<Record<string, Json | undefined>>): Record<string, Json> =>
    Object.fromEntries(
      Object.entries(all).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
    );
  const isNative = how.native && dialect === 'agent-server';
  const listed =
    marketplaces === undefined
      ? undefined
      : Object.entries(marketplaces as Record<string, Record<string, Json> | null>).flatMap(
          ([name, one]) => (one === null ? [] : [{ name, ...one }]),
        );
  const pointer = (active as { llm_profile?: Json } | undefined)?.llm_profile;
  const isPointer = how.pointer && pointer !== undefined && blocks['llm_profiles'] !== undefined;
  const context = given({ registered_marketplaces: listed, disabled_skills });
  const settings = {
    language: 'en',
    ...(how.store && (secrets ?? git_providers) !== undefined
      ? { secrets_store: given({ custom_secrets: secrets, provider_tokens: git_providers }) }
      : {}),
    ...(isPointer ? { active_profile: pointer } : {}),
    ...(isNative
      ? {
          agent_settings: {
            ...given({ mcp_config: mcp_servers }),
            ...(Object.keys(context).length === 0 ? {} : { agent_context: context }),
          },
        }
      : {}),
  };
  return {
    settings,
    ...(how.store ? {} : given({ secrets, git_providers })),
    ...rest,
    ...(isPointer ? {} : given({ active })),
    ...(isNative ? {} : given({ mcp_servers, marketplaces, disabled_skills })),
  };
}

interface Case {
  readonly server: Blocks;
  readonly file: Blocks;
  readonly overlay: Blocks;
  readonly active: string;
  readonly pointed: string;
  readonly removed: readonly string[];
  readonly others: readonly string[];
  readonly how: Spelling;
  readonly hand: Hand;
  readonly adopt: 'all' | undefined;
}

function cases(dialect: Dialect): fc.Arbitrary<Case> {
  const some = fc.record(BLOCKS[dialect], { requiredKeys: [] }) as fc.Arbitrary<Blocks>;
  const profile = fc.constantFrom('', 'main', 'cheap');
  return fc.record({
    server: fc.record({ ...BLOCKS[dialect] }),
    file: some,
    overlay: some,
    active: profile,
    pointed: profile,
    removed: fc.subarray(['A_1', 'main', 'third', 'router', 'files', 'github']),
    others: fc.subarray(['secrets', 'llm_profiles', 'git_providers', 'meta_profiles']),
    how: spelling,
    hand,
    adopt: fc.constantFrom(undefined, 'all' as const),
  });
}

/** What the file declares: some items as null, and blocks that name all that there may be. */
function declared(one: Case, dialect: Dialect): Blocks {
  const LISTS = new Set(['disabled_skills', 'marketplaces', 'mcp_servers']);
  const blocks = Object.fromEntries(
    Object.entries(one.file).map(([block, items]) => [
      block,
      LISTS.has(block)
        ? items
        : Object.fromEntries(
            Object.entries(items as Blocks).map(([name, item]) => [
              name,
              one.removed.includes(name) ? null : item,
            ]),
          ),
    ]),
  );
  const others = one.others.filter((block) => Object.hasOwn(BLOCKS[dialect], block));
  return {
    ...blocks,
    ...(one.pointed === '' || dialect === 'settings-v0'
      ? {}
      : { active: { llm_profile: one.pointed } }),
    ...(others.length === 0
      ? {}
      : { collections: Object.fromEntries(others.map((block) => [block, { others: 'remove' }])) }),
  };
}

/** The texts of the files, by name. The server of the environment `b` is never asked. */
function filesOf(one: Case, dialect: Dialect, url: string): Record<string, string> {
  const { layered } = one.how;
  const write = writer(one.hand);
  const top = spelled(declared(one, dialect), dialect, one.how);
  const target = { server: { url, api_key: '${env:KEY}' } };
  if (layered === 'flat') return { 'settings.yaml': write({ version: 1, ...target, ...top }) };
  const { disabled_skills: _, ...overlay } = one.overlay;
  const own = spelled(overlay, dialect, { ...one.how, pointer: false });
  const environments = {
    a: { ...target, ...own },
    b: { server: { url: 'http://127.0.0.1:9', api_key: '${env:KEY}' } },
  };
  if (layered === 'environment')
    return { 'settings.yaml': write({ version: 1, ...top, environments }) };
  return {
    'base.yaml': write({ version: 1, ...top }),
    'settings.yaml': write({ version: 1, extends: 'base.yaml', environments }),
  };
}

async function valuesOf(file: string, target: string): Promise<unknown> {
  const { document } = await effective({ file, targets: [target], env: {} });
  return document.values.map(({ path, value }) => [path, value]);
}

/** The server with what somebody has put there. */
async function furnished(front: Fronted, one: Case, dialect: Dialect): Promise<void> {
  const text = JSON.stringify({
    version: 1,
    server: { url: front.url, api_key: '${env:KEY}' },
    settings: { language: 'en' },
    ...whole(one.server, dialect, one.active),
  });
  const { environments } = await apply({
    text,
    file: '/nowhere/settings.yaml',
    env: ENV,
    clock: quickClock(),
    allow: [...RULES],
  });
  expect(environments).toMatchObject([{ error: null }]);
}

async function pulledAndChecked(one: Case, dialect: Dialect): Promise<void> {
  const folder = folderWith({});
  const data = join(folder.path, 'store.json');
  const front = await startFronted({ dialect, apiKey: KEY, data, gitProviders: PRODUCTS });
  const before = process.cwd();
  try {
    process.chdir(folder.path);
    await furnished(front, one, dialect);
    const files = filesOf(one, dialect, front.url);
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder.path, name), text);
    const file = 'settings.yaml';
    const isFlat = one.how.layered === 'flat';
    const asked = { file, env: ENV, clock: quickClock(), ...(isFlat ? {} : { targets: ['a'] }) };
    const { diagnostics } = await validate({ file, env: ENV });
    fc.pre(diagnostics.every(({ severity }) => severity !== 'error'));
    const other = isFlat ? null : await valuesOf(file, 'b');
    front.seen.length = 0;
    const document = await pull({ ...asked, adopt: one.adopt });
    const [environment] = document.environments;
    expect(environment).toMatchObject({ error: null });
    const read = () =>
      Object.keys(files).map((name) => readFileSync(join(folder.path, name), 'utf8'));
    const texts = read();
    expect(texts.join() + JSON.stringify(document) + formatPulled(document, STYLE)).not.toContain(
      'canary',
    );
    const { environments } = await plan(asked);
    expect(environments).toMatchObject([{ error: null }]);
    const said = [...(environment?.left ?? []), ...(environment?.unknown ?? [])].map(
      ({ path }) => path,
    );
    const isWithin = (path: readonly string[], above: readonly string[]): boolean =>
      above.every((key, index) => path[index] === key);
    const changes = environments[0]?.changes ?? [];
    const isActivated = changes.some(({ reason }) => reason.includes('activated again'));
    // An activation brings its model into the settings.
    const comes = ([part = '', inner]: readonly string[]): boolean =>
      isActivated && (part.startsWith('llm_') || (part === 'agent_settings' && inner === 'llm'));
    for (const { path, reason } of changes)
      if (!reason.includes('activated again') && !comes(path))
        expect([path, said.some((at) => isWithin(at, path) || isWithin(path, at))]).toEqual([
          path,
          true,
        ]);
    const again = await pull({ ...asked, adopt: one.adopt });
    expect(again.files.every(({ status }) => status === 'unchanged')).toBe(true);
    expect(read()).toEqual(texts);
    if (!isFlat) expect(await valuesOf(file, 'b')).toEqual(other);
    expect(front.writes()).toEqual([]);
    const comments = (text: string) => text.split(/\r?\n/).filter((line) => line.startsWith('#'));
    for (const [index, text] of Object.values(files).entries())
      for (const line of comments(text)) expect(comments(texts[index] ?? '')).toContain(line);
  } finally {
    process.chdir(before);
    await front.close();
    folder.remove();
  }
}

describeEach(
  ['settings-v0', 'app-server', 'agent-server'] as const,
  (dialect) => dialect === 'agent-server',
)('pull of %s', (dialect) => {
  itHolds(
    'brings in what is kept by name, and a second one changes nothing',
    12,
    async (numRuns) => {
      await fc.assert(
        fc.asyncProperty(cases(dialect), (one) => pulledAndChecked(one, dialect)),
        { numRuns },
      );
    },
  );
});
