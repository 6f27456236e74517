import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { DialectName } from '../../../src/reconciler/model/dialect.ts';
import { apply } from '../../../src/reconciler/operations/apply.ts';
import { plan } from '../../../src/reconciler/operations/plan.ts';
import { startFronted, type Fronted } from '../../fixture/before-service.ts';
import { folderWith } from '../../fixture/command.ts';
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

const FILE = '{ JIRA: "${env:JIRA}", DB: { value: "${env:DB}", description: replica } }';

describeEach(DIALECTS, (dialect) => dialect === 'settings-v0')('%s: custom secrets', (dialect) => {
  it('whose reference has no value are unknown alone, and an apply refuses to begin', async () => {
    await service(dialect);
    const env = { JIRA: '' };
    const [planned] = (await plan(asked(FILE, env))).environments;
    expect(planned?.unknown).toMatchObject([{ path: ['secrets', 'JIRA'] }]);
    await expect(apply(asked(FILE, env))).rejects.toMatchObject({ code: 'reference-missing' });
    expect(front.writes()).toEqual([]);
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
