import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { openVault } from '../../../src/emulator/native/vault.ts';
import type { DialectName } from '../../../src/reconciler/model/dialect.ts';
import { apply } from '../../../src/reconciler/operations/apply.ts';
import { drift, plan } from '../../../src/reconciler/operations/plan.ts';
import { startFronted, type Fronted } from '../../fixture/before-service.ts';
import { setpoint } from '../../fixture/command-here.ts';
import { folderWith, start } from '../../fixture/command.ts';
import { describeEach, itEach } from '../../fixture/long.ts';
import { quickClock } from '../../fixture/settings.ts';

const KEY = 'a-key';
const DIALECTS = ['settings-v0', 'app-server', 'agent-server'] as const;
const PATHS: Readonly<Record<DialectName, string>> = {
  'settings-v0': '/api/secrets',
  'app-server': '/api/v1/secrets',
  'agent-server': '/api/settings/secrets',
};

let folder: ReturnType<typeof folderWith>;
let front: Fronted;
afterEach(async () => {
  await front.close();
  folder.remove();
});

async function service(dialect: DialectName): Promise<void> {
  folder = folderWith({});
  front = await startFronted({ dialect, apiKey: KEY, data: join(folder.path, 'store.json') });
}

const ENV = { JIRA: 'canary-jira-1', DB: 'canary-db-1', SETPOINT_STATE_KEY: 'state' };

function asked(secrets: string, env: Readonly<Record<string, string>> = {}) {
  const text = `version: 1\nserver: { url: "${front.url}" }\nsecrets: ${secrets}\n`;
  const file = join(folder.path, 'settings.yaml');
  return { text, file, env: { ...ENV, ...env }, clock: quickClock() };
}

/** Somebody else stores a secret. */
async function theirs(dialect: DialectName, name: string, value = 'theirs'): Promise<void> {
  const method = dialect === 'agent-server' ? 'PUT' : 'POST';
  await front.ask(method, PATHS[dialect], { name, value, description: 'of somebody' });
}

/** The names and descriptions that the service lists. */
async function names(dialect: DialectName): Promise<Record<string, string>> {
  const path = dialect === 'app-server' ? `${PATHS[dialect]}/search` : PATHS[dialect];
  const { body } = await front.ask('GET', path);
  const [list = []] = Object.values(
    body as Record<string, { name: string; description: string }[]>,
  );
  return Object.fromEntries(list.map((one) => [one.name, one.description ?? '']));
}

/** The secrets in the store of the service, opened. */
function stored(): unknown {
  const vault = openVault(KEY);
  const text = readFileSync(join(folder.path, 'store.json'), 'utf8');
  const { custom_secrets: secrets } = JSON.parse(text) as {
    custom_secrets: readonly { name: string; value: string }[];
  };
  return secrets.map(({ name, value }) => ({ name, value: vault.open(value) }));
}

const FILE = '{ JIRA: "${env:JIRA}", DB: { value: "${env:DB}", description: replica } }';

describeEach(DIALECTS, (dialect) => dialect === 'settings-v0')('%s: custom secrets', (dialect) => {
  it('are created by name, told as set, and quiet the second time', async () => {
    await service(dialect);
    await theirs(dialect, 'THEIRS');
    const planned = await plan(asked(FILE));
    expect(planned.environments[0]).toMatchObject({
      changes: [
        { resource: 'secret', path: ['secrets', 'JIRA'], action: 'set', sensitive: true },
        { resource: 'secret', path: ['secrets', 'DB'], action: 'set', ref: '${env:DB}' },
      ],
      unmanaged: expect.arrayContaining([['secrets', 'THEIRS']]) as unknown,
    });
    expect(front.writes()).toEqual([]);
    const outcome = await apply(asked(FILE));
    expect(outcome.environments[0]).toMatchObject({
      status: 'applied',
      error: null,
      changes: [{ result: 'set' }, { result: 'set' }],
    });
    expect(await names(dialect)).toEqual({ JIRA: '', DB: 'replica', THEIRS: 'of somebody' });
    expect(JSON.stringify([planned, outcome])).not.toMatch(/canary|theirs"/);
    const [again] = (await apply(asked(FILE))).environments;
    expect(again).toMatchObject({ status: 'in-sync', changes: [] });
  });

  it('are rotated when their reference has another value, with their description', async () => {
    await service(dialect);
    const file = '{ DB: "${env:DB}" }';
    await theirs(dialect, 'DB');
    await apply({ ...asked(file), rotate: 'all' });
    const way = dialect === 'settings-v0' ? ' by way of DB__next' : '';
    const reason = `set, changed since last written: will be rotated${way}`;
    const [rotated] = (await apply(asked(file, { DB: 'canary-db-2' }))).environments;
    expect(rotated).toMatchObject({
      status: 'applied',
      changes: [{ action: 'rotate', result: 'unverifiable', reason }],
    });
    expect(await names(dialect)).toEqual({ DB: 'of somebody' });
    const [quiet] = (await plan(asked(file, { DB: 'canary-db-2' }))).environments;
    expect(quiet).toMatchObject({ status: 'in-sync', unknown: [] });
  });

  it('get another description, and keep one that the file does not name', async () => {
    await service(dialect);
    await apply(asked(FILE));
    const other = FILE.replace('replica', 'primary');
    const [described] = (await apply(asked(other))).environments;
    expect(described).toMatchObject({
      status: 'applied',
      changes: [{ path: ['secrets', 'DB', 'description'], before: 'replica', result: 'verified' }],
    });
    expect(await names(dialect)).toEqual({ JIRA: '', DB: 'primary' });
    const [quiet] = (await plan(asked(other))).environments;
    expect(quiet).toMatchObject({ status: 'in-sync', unknown: [] });
  });

  it('are removed if the file says null, and never because it does not name them', async () => {
    await service(dialect);
    await apply(asked(FILE));
    const [removed] = (await apply(asked('{ DB: null }'))).environments;
    expect(removed).toMatchObject({
      changes: [{ path: ['secrets', 'DB'], action: 'remove', result: 'verified' }],
    });
    expect(await names(dialect)).toEqual({ JIRA: '' });
    const guarded = asked('{ JIRA: null }\nguards: { clear_secret: true }');
    const [refused] = (await apply(guarded)).environments;
    expect(refused).toMatchObject({ status: 'refused', refusals: [{ rule: 'clear-secret' }] });
    expect(await names(dialect)).toEqual({ JIRA: '' });
  });

  it('that somebody removed are drift, and set again', async () => {
    await service(dialect);
    await apply(asked(FILE));
    await front.ask('DELETE', `${PATHS[dialect]}/JIRA`);
    const [found] = (await drift(asked(FILE))).environments;
    expect(found).toMatchObject({ changes: [{ path: ['secrets', 'JIRA'], action: 'set' }] });
    await apply(asked(FILE));
    expect(await names(dialect)).toEqual({ JIRA: '', DB: 'replica' });
  });

  it('whose reference has no value are unknown alone, and an apply refuses to begin', async () => {
    await service(dialect);
    const env = { JIRA: '' };
    const [planned] = (await plan(asked(FILE, env))).environments;
    expect(planned?.unknown).toMatchObject([{ path: ['secrets', 'JIRA'] }]);
    await expect(apply(asked(FILE, env))).rejects.toMatchObject({ code: 'reference-missing' });
    expect(front.writes()).toEqual([]);
  });

  it('are not sent twice if the answer was lost', async () => {
    await service(dialect);
    let lost = false;
    front.instead = async ({ method, body }) => {
      if (method === 'GET' || lost || !body.includes('canary-db-1')) return null;
      lost = true;
      const verb = dialect === 'agent-server' ? 'PUT' : 'POST';
      await front.ask(verb, PATHS[dialect], JSON.parse(body));
      return { status: 502, body: 'gone' };
    };
    const [outcome] = (await apply(asked('{ DB: "${env:DB}" }'))).environments;
    expect(outcome).toMatchObject({ error: null, changes: [{ result: 'set' }] });
    expect(await names(dialect)).toEqual({ DB: '' });
  });

  it('say what somebody else lost beside the write', async () => {
    await service(dialect);
    await theirs(dialect, 'THEIRS');
    front.before = async ({ method }) => {
      if (method !== 'GET') await front.ask('DELETE', `${PATHS[dialect]}/THEIRS`);
    };
    const [outcome] = (await apply(asked('{ DB: "${env:DB}" }'))).environments;
    expect(outcome).toMatchObject({
      status: 'not-converged',
      remaining: [{ path: ['secrets', 'THEIRS'], actual: null }],
    });
  });
});

it('a server without custom secrets: the plan says so, with the place, and nothing is sent', async () => {
  await service('settings-v0');
  front.instead = ({ path }) =>
    path.startsWith('/api/secrets') ? { status: 404, body: { detail: 'Not Found' } } : null;
  const [planned] = (await plan(asked(FILE))).environments;
  expect(planned?.error).toMatchObject({ code: 'unfit-for-service' });
  expect(planned?.error?.message).toMatch(/no custom secrets.*settings\.yaml:3/s);
});

it('a list that cannot be believed is no list of nothing', async () => {
  await service('agent-server');
  front.changed = ({ path }, reply) =>
    path.startsWith(PATHS['agent-server'])
      ? { status: 200, body: { secrets: [{ description: 'no name' }] } }
      : reply;
  const [planned] = (await plan(asked(FILE))).environments;
  expect(planned?.error).toMatchObject({ code: 'bad-response' });
});

describe('settings-v0 has no request that replaces a value', () => {
  const REQUESTS = ['POST /api/secrets', 'DELETE /api/secrets/DB', 'PUT /api/secrets/DB__next'];

  const moments = REQUESTS.flatMap((request) => [`before ${request}`, `after ${request}`]);
  itEach(moments, (moment) => moment.startsWith('after'))(
    'killed %s: the value is never gone, and the next run ends with the new one alone',
    async (moment) => {
      await service('settings-v0');
      await theirs('settings-v0', 'DB', 'old');
      await theirs('settings-v0', 'THEIRS');
      const yaml = asked('{ DB: "${env:DB}" }').text;
      writeFileSync(join(folder.path, 'settings.yaml'), yaml);
      const at = { cwd: folder.path, env: ENV };
      const killed = start(['apply', '--yes', '--rotate', 'all'], at);
      const [when, ...request] = moment.split(' ');
      const passed: Promise<unknown>[] = [];
      front.instead = ({ method, path, body }) => {
        if (passed.length > 0 || `${method} ${path}` !== request.join(' ')) return null;
        killed.child.kill('SIGKILL');
        const sent = body === '' ? undefined : (JSON.parse(body) as unknown);
        passed.push(when === 'after' ? front.ask(method, path, sent) : Promise.resolve());
        return { status: 500, body: '' };
      };
      await killed.ended;
      expect(passed).toHaveLength(1);
      await Promise.all(passed);
      const between = await names('settings-v0');
      expect('DB' in between || 'DB__next' in between).toBe(true);
      const planned = await setpoint(['plan'], at);
      const next = await setpoint(['apply', '--yes', '--rotate', 'all'], at);
      expect([planned.code, next.code]).toEqual([0, 0]);
      if ('DB__next' in between) expect(planned.stdout).toContain('rotation was interrupted');
      expect(await names('settings-v0')).toEqual({ DB: 'of somebody', THEIRS: 'of somebody' });
      expect(stored()).toMatchObject([{ name: 'THEIRS', value: 'theirs' }, { value: ENV.DB }]);
    },
  );
});

/** The list of an app server in two pages, the second under an id. */
function inTwoPages(id: unknown): void {
  const item = (name: string) => ({ name, description: '' });
  front.changed = ({ path }, reply) => {
    const [, query] = /^\/api\/v1\/secrets\/search(.*)$/.exec(path) ?? [];
    if (query === undefined) return reply;
    const isSecond = query.includes(`page_id=${encodeURIComponent(String(id))}`);
    const body = isSecond
      ? { items: [item('LAST')], next_page_id: null }
      : { items: [item('FIRST')], next_page_id: id };
    return { ...reply, body };
  };
}

describe('the id of a next page', () => {
  itEach(['2', 2, 'a b&c', 1e21], (id) => id === 2)('%j is asked for', async (id) => {
    await service('app-server');
    inTwoPages(id);
    const { environments } = await plan(asked('{ LAST: null }'));
    expect(environments[0]?.changes).toMatchObject([
      { action: 'remove', path: ['secrets', 'LAST'] },
    ]);
  });

  itEach([true, {}, ['2'], 'x'.repeat(2000)], (id) => id === true)(
    '%j is an error, and no shorter list',
    async (id) => {
      await service('app-server');
      inTwoPages(id);
      const { environments } = await plan(asked('{ LAST: null }'));
      expect(environments[0]?.error).toMatchObject({ code: 'bad-response' });
    },
  );
});
