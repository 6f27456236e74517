/** Items that have another name than before, on each service that renames them: what belongs to them goes along. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { EnvironmentOutcome } from '../../../src/reconciler/model/outcome.ts';
import { apply } from '../../../src/reconciler/operations/apply.ts';
import { plan } from '../../../src/reconciler/operations/plan.ts';
import { startFronted, type Fronted } from '../../fixture/before-service.ts';
import { folderWith } from '../../fixture/command.ts';
import { describeEach, itEach } from '../../fixture/long.ts';
import { quickClock } from '../../fixture/settings.ts';

const CANARY = 'canary-of-a-rename';
const ENV = { K1: `${CANARY}-1`, K2: `${CANARY}-2`, SETPOINT_STATE_KEY: 'state' };

let folder: ReturnType<typeof folderWith>;
let front: Fronted;
afterEach(async () => {
  await front.close();
  folder.remove();
});

type Dialect = 'settings-v0' | 'app-server' | 'agent-server';

/** A collection of a service. `item`: one of it; `altered`: the same with another member. */
interface Case {
  readonly dialect: Dialect;
  readonly block: string;
  readonly item: string;
  readonly altered: string;
  /** The request that renames `one` into `two`; # stands for an id. */
  readonly request: string;
  /** A file beside that another client has changed, for the service to have it under the new name. */
  readonly theirs: readonly [method: string, path: string, body: unknown];
  readonly taken: 400 | 409;
}

const LLM = '{ model: openai/gpt-5, base_url: "https://llm.example.com", api_key: "${env:K1}" }';
const LLM_ALTERED = LLM.replace('gpt-5', 'gpt-5.1');
const SECRET = '{ value: "${env:K1}", description: ours }';
const SECRET_ALTERED = SECRET.replace('ours', 'theirs');

const CASES: readonly Case[] = [
  {
    dialect: 'settings-v0',
    block: 'secrets',
    item: SECRET,
    altered: SECRET_ALTERED,
    request: 'PUT /api/secrets/one',
    theirs: ['POST', '/api/secrets', { name: 'two', value: 'theirs' }],
    taken: 400,
  },
  {
    dialect: 'app-server',
    block: 'secrets',
    item: SECRET,
    altered: SECRET_ALTERED,
    request: 'PUT /api/v1/secrets/one',
    theirs: ['POST', '/api/v1/secrets', { name: 'two', value: 'theirs' }],
    taken: 400,
  },
  {
    dialect: 'app-server',
    block: 'llm_profiles',
    item: LLM,
    altered: LLM_ALTERED,
    request: 'POST /api/v1/settings/profiles/one/rename',
    theirs: ['POST', '/api/v1/settings/profiles/two', { llm: { model: 'openai/theirs' } }],
    taken: 409,
  },
  {
    dialect: 'agent-server',
    block: 'llm_profiles',
    item: LLM,
    altered: LLM_ALTERED,
    request: 'POST /api/profiles/one/rename',
    theirs: ['POST', '/api/profiles/two', { llm: { model: 'openai/theirs' } }],
    taken: 409,
  },
  {
    dialect: 'agent-server',
    block: 'agent_profiles',
    item: '{ llm_profile: x, persona: Reviews. }',
    altered: '{ llm_profile: x, persona: Writes. }',
    request: 'POST /api/agent-profiles/one/rename',
    theirs: ['POST', '/api/agent-profiles/two', { llm_profile_ref: 'y' }],
    taken: 409,
  },
  {
    dialect: 'agent-server',
    block: 'provider_connections',
    item: '{ provider: openai, api_key: "${env:K1}" }',
    altered: '{ provider: anthropic, api_key: "${env:K1}" }',
    request: 'PATCH /api/llm/provider-connections/#',
    theirs: ['POST', '/api/llm/provider-connections', { display_name: 'two', api_key: 'theirs' }],
    taken: 409,
  },
];

const KEYED = CASES.filter(({ item }) => item.includes('K1'));

function asked(blocks: string, env: Readonly<Record<string, string>> = {}) {
  const text = `version: 1\nserver: { url: "${front.url}" }\nsettings: { language: en }\n${blocks}\n`;
  const file = join(folder.path, 'settings.yaml');
  return { text, file, env: { ...ENV, ...env }, clock: quickClock() };
}

function declaring({ block }: Case, item: string, name = 'two'): string {
  return `${block}: { ${name}: ${item} }\n`;
}

function moved({ block }: Case): string {
  return `moved: [{ from: ${block}.one, to: "${block}[two]" }]\n`;
}

/** The service has the item under its former name. */
async function begin(one: Case): Promise<void> {
  const { dialect } = one;
  folder = folderWith({});
  front = await startFronted({ dialect, apiKey: 'k', data: join(folder.path, 'store.json') });
  if (one.block === 'agent_profiles')
    await front.ask('POST', '/api/profiles/x', { llm: { model: 'openai/gpt-5' } });
  const [environment] = (
    await apply({ ...asked(declaring(one, one.item, 'one')), allow: ['empty-store'] })
  ).environments;
  expect(environment?.error).toBeNull();
  front.seen.length = 0;
}

function sent(): string[] {
  return front.seen
    .filter(({ method }) => method !== 'GET')
    .map(({ method, path }) => `${method} ${path.replace(/[0-9a-f]{32}$/, '#')}`);
}

async function applied(
  blocks: string,
  env: Readonly<Record<string, string>> = {},
): Promise<EnvironmentOutcome> {
  front.seen.length = 0;
  const document = await apply(asked(blocks, env));
  expect(JSON.stringify(document)).not.toContain(CANARY);
  const [environment] = document.environments;
  if (environment === undefined) throw new Error('no environment');
  return environment;
}

/** What a plan would change; it ends without an error. */
async function changes(blocks: string): Promise<string[]> {
  const document = await plan(asked(blocks));
  expect(JSON.stringify(document)).not.toContain(CANARY);
  const [environment] = document.environments;
  expect(environment?.error).toBeNull();
  expect(environment?.unknown).toEqual([]);
  return (environment?.changes ?? []).map(({ action, path }) => `${action} ${path.join('.')}`);
}

/** One that is renamed by its id. */
function isOften({ dialect, block }: Case): boolean {
  return dialect === 'agent-server' && block === 'provider_connections';
}

describeEach(CASES, isOften)('$block of $dialect', (one) => {
  const { block, item, altered, request } = one;

  it('is approved by a saved plan, and nothing beside it is', async () => {
    await begin(one);
    const file = declaring(one, item) + moved(one);
    const saved = await plan(asked(file));
    const beyond = (
      await apply({ ...asked(declaring(one, altered) + moved(one)), approved: saved })
    ).environments[0];
    expect(beyond?.error).toMatchObject({ code: 'not-covered' });
    expect(sent()).toEqual([]);
    const [end] = (await apply({ ...asked(file), approved: saved })).environments;
    expect(end).toMatchObject({ status: 'applied', error: null });
    expect(end?.changes).toMatchObject([{ action: 'rename', result: 'verified' }]);
    expect(sent()).toEqual([request]);
    const [again] = (await apply({ ...asked(file), approved: saved })).environments;
    expect(again).toMatchObject({ error: null, changes: [] });
    expect(again?.warnings).toMatchObject([{ code: 'already-made' }]);
  });

  it('is not called done by a list that lags, and the next run ends it', async () => {
    await begin(one);
    const file = declaring(one, item) + moved(one);
    // What the service answers to a GET stays as it was before the first write.
    const old = new Map<string, Parameters<Fronted['changed']>[1]>();
    let isOld = true;
    front.changed = ({ path }, reply) => {
      if (isOld && sent().length === 0) old.set(path, reply);
      return isOld ? (old.get(path) ?? reply) : reply;
    };
    const end = await applied(file);
    expect(end.changes.map(({ action }) => action)).toEqual(['rename']);
    expect(end.changes[0]?.result).not.toBe('verified');
    expect(sent().filter((one) => !one.endsWith('/activate'))).toEqual([request]);
    isOld = false;
    expect((await applied(file)).error).toBeNull();
    expect(sent()).toEqual([]);
    expect(await changes(file)).toEqual([]);
    expect(readFileSync(join(folder.path, 'store.json'), 'utf8')).not.toContain('"one"');
  });

  it('approved by a saved plan, is never done twice or lost while a list lags, and ends by the same plan', async () => {
    await begin(one);
    const file = declaring(one, item) + moved(one);
    const approved = await plan(asked(file));
    const again = async () => (await apply({ ...asked(file), approved })).environments[0];
    const old = new Map<string, Parameters<Fronted['changed']>[1]>();
    let isOld = true;
    front.changed = ({ path }, reply) => {
      if (isOld && sent().length === 0) old.set(path, reply);
      return isOld ? (old.get(path) ?? reply) : reply;
    };
    const first = await again();
    expect(first?.changes.map(({ action }) => action)).toEqual(['rename']);
    expect(first?.changes[0]?.result).not.toBe('verified');
    const second = await again();
    // The service refuses to rename what it does not have any more, and that is no claim that it is done.
    expect(second?.changes.map(({ action }) => action)).toEqual(['rename']);
    expect(second?.changes[0]?.result).not.toBe('verified');
    expect(JSON.stringify([first, second])).not.toContain(CANARY);
    isOld = false;
    front.seen.length = 0;
    expect(await again()).toMatchObject({ error: null, changes: [] });
    expect(sent()).toEqual([]);
    const store = readFileSync(join(folder.path, 'store.json'), 'utf8');
    expect(store).not.toContain('"one"');
    expect(store).toContain('"two"');
  });

  it('is refused where the service has both, before anything is sent', async () => {
    await begin(one);
    await front.ask(...one.theirs);
    const file = declaring(one, item) + moved(one);
    const { error } = await applied(file);
    expect(error).toMatchObject({ code: 'unfit-for-service' });
    expect(error?.message).toContain(`moved names ${block}.one to ${block}.two (`);
    expect(error?.message).toContain('settings.yaml:5');
    expect(sent()).toEqual([]);
  });

  it('is not written over what took the name right before', async () => {
    await begin(one);
    const file = declaring(one, item) + moved(one);
    let isTaken = false;
    front.before = async ({ method }) => {
      const isLast = method !== 'GET' || (block === 'provider_connections' && gets() === 3);
      if (isTaken || !isLast) return;
      isTaken = true;
      await front.ask(...one.theirs);
    };
    const end = await applied(file);
    expect(isTaken).toBe(true);
    expect(end.changes).toMatchObject([{ action: 'rename', result: 'not-sent' }]);
    expect(end.error?.message).toMatch(
      /one named two already|that name already exists|just created/,
    );
    front.before = async () => {};
    expect((await applied(file)).error).toMatchObject({ code: 'unfit-for-service' });
  });

  it('is not done because somebody has made one of the name since the plan', async () => {
    await begin(one);
    const file = declaring(one, item) + moved(one);
    const alike = {
      ...asked(file),
      text: asked(file).text.replace('language: en', 'language: de'),
    };
    let isFirst = true;
    front.before = async ({ method }) => {
      if (method === 'GET' || !isFirst) return;
      isFirst = false;
      await front.ask(...one.theirs);
    };
    const [end] = (await apply(alike)).environments;
    expect(end?.error?.message).toContain('this service has both');
    expect(end?.changes.map(({ result }) => result)).toEqual(['verified', 'not-sent']);
    expect(sent()).toHaveLength(1);
  });

  itEach(['502 before', '502 after', 'cut after', '404 before'] as const, (_, index) => index > 1)(
    'ends as it should although the request was answered with %s',
    async (answer) => {
      await begin(one);
      const file = declaring(one, item) + moved(one);
      let isFirst = true;
      front.instead = async ({ method, path, body }) => {
        if (method === 'GET' || !isFirst) return null;
        isFirst = false;
        if (answer.endsWith('after')) await front.ask(method, path, JSON.parse(body));
        return { status: Number.parseInt(answer, 10) || 504, body: { detail: 'x' } };
      };
      const end = await applied(file);
      const [change] = end.changes;
      if (answer === '404 before') expect(change?.result).toBe('not-sent');
      else expect(change?.result).toBe('verified');
      front.instead = () => null;
      expect((await applied(file)).error).toBeNull();
      expect(await changes(file)).toEqual([]);
    },
  );
});

function gets(): number {
  return front.seen.filter(
    ({ method, path }) => method === 'GET' && path === '/api/llm/provider-connections',
  ).length;
}

describeEach(KEYED, isOften)('a key of $block of $dialect', (one) => {
  it('goes along with what is known of it, and is replaced where the file has another', async () => {
    await begin(one);
    const file = declaring(one, one.item) + moved(one);
    const path = one.block === 'secrets' ? 'secrets.two' : `${one.block}.two.api_key`;
    const rotated = await plan(asked(file, { K1: ENV.K2 }));
    expect(rotated.environments[0]?.changes).toMatchObject([
      { action: 'rename' },
      { action: 'rotate', path: path.split('.') },
    ]);
    await applied(file);
    expect((await plan(asked(file))).environments[0]).toMatchObject({ changes: [], unknown: [] });
    expect((await plan(asked(file, { K1: ENV.K2 }))).environments[0]?.changes).toMatchObject([
      { action: 'rotate' },
    ]);
    const kept = readFileSync(join(folder.path, '.setpoint', 'fingerprints.json'), 'utf8');
    expect(kept).not.toContain('"one"');
  });

  it('is replaced by the next run if this one ends right after the rename', async () => {
    await begin(one);
    const file = declaring(one, one.item) + moved(one);
    let writes = 0;
    front.instead = ({ method }) => {
      if (method === 'GET') return null;
      writes += 1;
      return writes > 1 ? { status: 403, body: {} } : null;
    };
    const end = await applied(file, { K1: ENV.K2 });
    expect(end.status).toBe('partial');
    expect(end.changes.map(({ result }) => result)).toEqual(['verified', 'not-sent']);
    front.instead = () => null;
    const [next] = (await plan(asked(file, { K1: ENV.K2 }))).environments;
    expect(next?.changes).toMatchObject([{ action: 'rotate' }]);
    expect((await applied(file, { K1: ENV.K2 })).error).toBeNull();
  });
});

const OWN_NAMES: ReadonlySet<string> = new Set(['name', 'display_name']);

/** The places in the store that name an item, apart from its own name. */
function readPointers(name: string): string[] {
  const found: string[] = [];
  const walk = (value: unknown, path: readonly string[]): void => {
    if (value === name && !OWN_NAMES.has(path.at(-1) ?? '')) found.push(path.join('.'));
    if (typeof value === 'object' && value !== null)
      for (const [key, inner] of Object.entries(value)) walk(inner, [...path, key]);
  };
  walk(JSON.parse(readFileSync(join(folder.path, 'store.json'), 'utf8')), []);
  return found;
}

describe('what names an item', () => {
  const file = (llm: string, agent: string, connection: string) =>
    [
      `provider_connections: { ${connection}: { provider: openai, api_key: "\${env:K1}" } }`,
      `llm_profiles: { ${llm}: { model: openai/gpt-5, connection: ${connection} } }`,
      `meta_profiles: { router: { classifier: ${llm}, classes: [{ description: all, model: ${llm} }] } }`,
      `agent_profiles: { ${agent}: { llm_profile: ${llm}, persona: Reviews. } }`,
      `active: { llm_profile: ${llm}, agent_profile: ${agent} }\n`,
    ].join('\n');
  const MOVES = [
    '{ from: llm_profiles.main, to: llm_profiles.prod }',
    '{ from: agent_profiles.reviewer, to: agent_profiles.critic }',
    '{ from: provider_connections.team, to: provider_connections.crew }',
  ];

  const WHOLE = {
    'agent-server': file,
    'app-server': (llm: string) =>
      `llm_profiles: { ${llm}: { model: openai/gpt-5, api_key: "\${env:K1}" } }\nactive: { llm_profile: ${llm} }\n`,
  };
  const RENAMED = {
    'agent-server': [
      ['llm_profiles', ['main', 'prod']],
      ['agent_profiles', ['reviewer', 'critic']],
      ['provider_connections', ['team', 'crew']],
    ],
    'app-server': [['llm_profiles', ['main', 'prod']]],
  } as const;

  async function start(dialect: Dialect, blocks: string): Promise<void> {
    folder = folderWith({});
    front = await startFronted({ dialect, apiKey: 'k', data: join(folder.path, 'store.json') });
    const [environment] = (await apply({ ...asked(blocks), allow: ['empty-store'] })).environments;
    expect(environment?.error).toBeNull();
  }

  it('goes along on an Agent Server, or is written after it', async () => {
    await start('agent-server', file('main', 'reviewer', 'team'));
    const { body: before } = await front.ask('GET', '/api/agent-profiles/reviewer');
    const renamed = `${file('prod', 'critic', 'crew')}moved: [${MOVES.join(', ')}]\n`;
    expect(await changes(renamed)).toEqual([
      'rename provider_connections.crew',
      'rename llm_profiles.prod',
      'change agent_profiles.reviewer.llm_profile',
      'change active.llm_profile',
      'change meta_profiles.router.classifier',
      'change meta_profiles.router.classes',
      'rename agent_profiles.critic',
    ]);
    expect((await applied(renamed)).error).toBeNull();
    expect(sent()).toEqual([
      'PATCH /api/llm/provider-connections/#',
      'POST /api/profiles/main/rename',
      'POST /api/meta-profiles/router',
      'POST /api/agent-profiles/reviewer/rename',
    ]);
    expect(await changes(renamed)).toEqual([]);
    const { body } = await front.ask('GET', '/api/agent-profiles/critic');
    const { profile } = before as { readonly profile: object };
    expect(body).toMatchObject({
      profile: { ...profile, name: 'critic', llm_profile_ref: 'prod' },
    });
  });

  describe.each(['agent-server', 'app-server'] as const)('on an %s', (dialect) => {
    it.each(RENAMED[dialect])(
      'what the store has otherwise after a rename in %s is in the plan, declared or not',
      async (block, names) => {
        await start(dialect, WHOLE[dialect]('main', 'reviewer', 'team'));
        const [from, to] = names;
        const own = WHOLE[dialect]('main', 'reviewer', 'team')
          .split('\n')
          .find((line) => line.startsWith(`${block}:`));
        const file = `${own?.replace(` ${from}:`, ` ${to}:`)}\nmoved: [{ from: ${block}.${from}, to: ${block}.${to} }]\n`;
        const before = readPointers(from);
        const end = await applied(file);
        expect(end).toMatchObject({ status: 'applied', error: null });
        const [rename, ...others] = end.changes;
        expect(rename).toMatchObject({ action: 'rename', path: [block, to], result: 'verified' });
        for (const other of others)
          expect(other).toMatchObject({ before: from, after: to, result: 'verified' });
        const after = readPointers(to);
        const taken = before.filter((place) => after.includes(place));
        expect(others).toHaveLength(taken.length);
        expect(await changes(file)).toEqual([]);
      },
    );
  });

  const pointed = (name: string, model: string) =>
    `llm_profiles: { ${name}: { model: openai/${model}, api_key: "\${env:K1}" } }\nactive: { llm_profile: ${name} }\n`;

  it('is not listed of an item that the same plan removes', async () => {
    await start(
      'agent-server',
      'llm_profiles: { main: { model: openai/gpt-5 } }\nagent_profiles: { reviewer: { llm_profile: main } }\n',
    );
    const renamed =
      'llm_profiles: { prod: { model: openai/gpt-5 } }\nagent_profiles: { reviewer: null }\nmoved: [{ from: llm_profiles.main, to: llm_profiles.prod }]\n';
    expect(await changes(renamed)).toEqual([
      'rename llm_profiles.prod',
      'remove agent_profiles.reviewer',
    ]);
  });

  it('goes along on an app-server', async () => {
    await start('app-server', pointed('main', 'gpt-5'));
    const renamed = `${pointed('prod', 'gpt-5')}moved: [${MOVES[0]}]\n`;
    expect(await changes(renamed)).toEqual([
      'rename llm_profiles.prod',
      'change active.llm_profile',
    ]);
    expect((await applied(renamed)).error).toBeNull();
    expect(sent()).toEqual(['POST /api/v1/settings/profiles/main/rename']);
    expect(await changes(renamed)).toEqual([]);
  });

  it('is activated again where the profile changes besides its name', async () => {
    await start('app-server', pointed('main', 'gpt-5'));
    const renamed = `${pointed('prod', 'gpt-5.1')}moved: [${MOVES[0]}]\n`;
    expect((await applied(renamed)).error).toBeNull();
    expect(sent().at(-1)).toBe('POST /api/v1/settings/profiles/prod/activate');
    expect(await changes(renamed)).toEqual([]);
  });
});

it('an Agent Server renames no secret: that is said, with the place and what to do', async () => {
  folder = folderWith({});
  const data = join(folder.path, 'store.json');
  front = await startFronted({ dialect: 'agent-server', apiKey: 'k', data });
  await apply({ ...asked('secrets: { one: "${env:K1}" }'), allow: ['empty-store'] });
  const moves = 'moved: [{ from: secrets.one, to: secrets.two }]\n';
  const { error } = await applied(`secrets: { two: "\${env:K1}" }\n${moves}`);
  expect(error?.message).toContain('this service cannot rename custom secrets');
  expect(error?.message).toContain('settings.yaml:5');
  expect(error?.hint).toContain('secrets.one as null');
  expect(sent()).toEqual([]);
  expect((await applied('secrets: { one: null, two: "${env:K1}" }')).error).toBeNull();
});

it('a value that waits since an interrupted rotation is renamed with its secret', async () => {
  const [one] = CASES;
  if (one === undefined) return;
  await begin(one);
  await front.ask('POST', '/api/secrets', { name: 'one__next', value: ENV.K2 });
  const file = declaring(one, one.item) + moved(one);
  expect(await changes(file)).toEqual(['rename secrets.two', 'rotate secrets.two']);
  expect((await applied(file)).error).toBeNull();
  expect(sent().slice(0, 2)).toEqual(['PUT /api/secrets/one__next', 'PUT /api/secrets/one']);
  expect(await changes(file)).toEqual([]);
  const { body } = await front.ask('GET', '/api/secrets');
  expect(body).toEqual({ custom_secrets: [{ name: 'two', description: 'ours' }] });
});
