/** What a service has of blocks that the file does not declare: `plan` and `drift` name it. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { DialectName } from '../../../src/reconciler/model/dialect.ts';
import { apply } from '../../../src/reconciler/operations/apply.ts';
import { get } from '../../../src/reconciler/operations/get.ts';
import { drift, plan } from '../../../src/reconciler/operations/plan.ts';
import { RESOURCES } from '../../../src/reconciler/resources/resources.ts';
import { startFronted } from '../../fixture/before-service.ts';
import { folderWith } from '../../fixture/command.ts';
import { setpoint } from '../../fixture/command-here.ts';
import { GIT_HOSTS, ITEM_ENV, MODELS, SAMPLES } from '../../fixture/every-collection.ts';
import { quickClock } from '../../fixture/settings.ts';

const NAMED = RESOURCES.flatMap(({ block, named }) =>
  named === undefined ? [] : [{ block, ...named }],
);
const CASES = NAMED.flatMap(({ block, dialects, listWrites }) =>
  dialects.map((dialect) => ({ block, dialect, isListed: !listWrites(dialect) })),
);
const SETTINGS = 'settings: { language: en }';

async function startService(dialect: DialectName) {
  const folder = folderWith({});
  onTestFinished(() => folder.remove());
  const front = await startFronted({ dialect, gitProviders: GIT_HOSTS ?? [] });
  onTestFinished(() => front.close());
  const ask = (text: string, environments = '') => ({
    text: `version: 1\nserver: { url: "${front.url}" }\n${SETTINGS}\n${text}\n${environments}`,
    file: join(folder.path, 'settings.yaml'),
    env: ITEM_ENV,
    clock: quickClock(),
  });
  return { front, folder, ask };
}

function declareItem(block: string, dialect: DialectName, folder: string): string {
  if (block === 'active') return `active: { llm_profile: main }\n${MODELS}`;
  const found = SAMPLES.find((one) => one.block === block && one.dialects.includes(dialect));
  expect(found, `a sample of ${block} for ${dialect}`).toBeDefined();
  return found?.declared(folder) ?? '';
}

it.each(CASES)(
  'items of $block on $dialect, which the file does not declare, are listed: $isListed',
  async ({ block, dialect, isListed }) => {
    const { front, folder, ask } = await startService(dialect);
    const text = declareItem(block, dialect, folder.path);
    const { environments } = await apply({ ...ask(text), allow: ['empty-store'] });
    expect(environments[0]).toMatchObject({ error: null });
    const sent = front.writes().length;
    const shown = await get({ ...ask(text), resources: [block as 'secrets'] });
    const listed = (shown.environments[0] as unknown as Record<string, { name: string }[]>)[block];
    expect(listed).not.toHaveLength(0);
    for (const look of [plan, drift]) {
      const [environment] = (await look(ask(''))).environments;
      expect(environment).toMatchObject({ status: 'in-sync', complete: true, error: null });
      const names = environment?.unmanaged.flatMap(([own, name]) => (own === block ? [name] : []));
      expect(names).toEqual(isListed ? listed?.map(({ name }) => name) : []);
      expect(JSON.stringify(environment)).not.toContain('canary');
    }
    expect(front.writes()).toHaveLength(sent);
  },
);

it.each(['settings-v0', 'app-server', 'agent-server'] as const)(
  'a list of %s that cannot be read is a warning and fails no plan, and drift still ends with 0',
  async (dialect) => {
    const { front, folder, ask } = await startService(dialect);
    await apply({ ...ask(''), allow: ['empty-store'] });
    const known = new Set<string>();
    front.instead = ({ method, path }) => {
      const isSettings = path === '/api/settings' || path === '/api/v1/settings';
      if (method !== 'GET' || isSettings || !/secrets|profiles|provider-conn/.test(path))
        return null;
      known.add(path);
      return { status: 403, body: { detail: 'canary-of-an-answer' } };
    };
    const [environment] = (await plan(ask(''))).environments;
    expect(known.size).toBeGreaterThan(0);
    expect(environment).toMatchObject({ status: 'in-sync', complete: true, error: null });
    const codes = environment?.warnings.map(({ code }) => code) ?? [];
    expect(codes.filter((code) => code === 'not-listed')).toHaveLength(1);
    expect(JSON.stringify(environment)).not.toContain('canary');
    writeFileSync(join(folder.path, 'settings.yaml'), ask('').text);
    const { code, stdout } = await setpoint(['drift'], { cwd: folder.path });
    expect(code, stdout).toBe(0);
    expect(stdout).toMatch(/! Not listed here: secrets.*\(status 403\)/);
  },
);

it('a list that never answers is given up', async () => {
  const { front, ask } = await startService('settings-v0');
  await apply({ ...ask(''), allow: ['empty-store'] });
  front.instead = ({ path }) => (path.includes('secrets') ? { status: 503, body: {} } : null);
  const [environment] = (await plan(ask(''))).environments;
  expect(environment).toMatchObject({ status: 'in-sync', error: null });
  expect(environment?.warnings).toMatchObject([{ code: 'not-listed', path: ['secrets'] }]);
});

it('a run over many environments asks for nothing that its file does not declare', async () => {
  const { front, ask } = await startService('settings-v0');
  await apply({ ...ask(''), allow: ['empty-store'] });
  const names = Array.from({ length: 11 }, (_, index) => `e${index}: {}`);
  const environments = `environments: { ${names.join(', ')} }`;
  front.seen.length = 0;
  const document = await plan(ask('', environments));
  expect(document.environments).toHaveLength(11);
  expect(front.seen.filter(({ path }) => path.includes('secrets'))).toEqual([]);
});
