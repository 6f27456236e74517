import { expect, it } from 'vitest';
import { OutsideReader } from '../../../src/controller/cluster/outside.ts';
import { ClusterSource } from '../../../src/controller/cluster/cluster-source.ts';
import type { TargetResource } from '../../../src/controller/cluster/target-resource.ts';

const KEY = 'agents/production';
const ALLOWANCE = {
  limits: null,
  whyNotMode: () => null,
  requiresApproval: false,
  maxTargets: null,
  maxReads: null,
};
const SERVER = { url: 'https://agents.example.com' };

/** A source of objects whose ConfigMaps and Secrets `ask` answers. */
function sourceOf(
  objects: ReadonlyMap<string, TargetResource>,
  ask: (path: string) => Promise<object>,
) {
  const clock = { monotonic: () => 0, sleep: async () => {} };
  const outside: OutsideReader = new OutsideReader({
    api: { ask: async ({ path }) => ({ kind: 'done', value: await ask(path) }) },
    secretKeys: async (namespace, name) => {
      await ask(`${namespace}/${name}`);
      return new Set(['set']);
    },
    clock,
    changed: () => source.outsideChanged(),
  });
  const source = new ClusterSource(
    { objects, isListed: true, problem: null, revision: 1 },
    {
      outside,
      policies: {
        in: () => ALLOWANCE,
        isSettled: true,
        limitsTargets: false,
        problem: null,
        revision: '',
      },
      approvals: { findApprovals: () => null },
      clock,
      isGone: (key) => !objects.has(key),
      judged: () => {},
      loaded: () => {},
      interval: 60_000,
    },
  );
  const load = async () => {
    await source.stamp();
    const { targets } = await source.load();
    for (let turns = 0; turns < 5; turns += 1) await new Promise((done) => setImmediate(done));
    return targets.map(({ name }) => name);
  };
  return { source, load };
}

function objectOf(namespace: string, name: string, spec: object): TargetResource {
  return {
    metadata: { namespace, name, generation: 1, uid: `${namespace}-${name}` },
    spec: { server: SERVER, mode: 'Observe' as const, ...spec },
  };
}

const FROM = { settingsFrom: { configMapKeyRef: { name: 'settings', key: 'file' } } };

it('reads a file that is not valid once, until its ConfigMap has another', async () => {
  let text = 'settings: [';
  let asked = 0;
  const objects = new Map([[KEY, objectOf('agents', 'production', FROM)]]);
  const { source, load } = sourceOf(objects, async () => {
    asked += 1;
    return { data: { file: text } };
  });
  const problem = async () => {
    const read = source.readOutside(KEY);
    await load();
    await load();
    await read;
    return source.findDeclaration(KEY)?.problem;
  };
  const first = await problem();
  expect(first?.code).toBe('settings-invalid');
  expect(await problem()).toBe(first);
  text = 'version: 1\nsettings: {language: en}\n';
  expect(await problem()).toBeNull();
  expect(asked).toBe(3);
});

it('watches an object while what others name is being read', async () => {
  const objects = new Map([
    ['a/slow', objectOf('a', 'slow', FROM)],
    ['b/production', objectOf('b', 'production', { settings: { language: 'en' } })],
  ]);
  const { source, load } = sourceOf(objects, () => new Promise(() => {}));
  expect(await load()).toEqual(['b/production']);
  expect(source.waiting('a/slow')?.message).toBe('Reading ConfigMap settings.');
});

it('reads a ConfigMap and a Secret once for all objects and keys that name them', async () => {
  const asked: string[] = [];
  const valuesFrom = Array.from({ length: 1_000 }, (_, index) => ({
    path: `secrets.K${index}.value`,
    secretKeyRef: { name: 'keys', key: `k${index}`, optional: true },
  }));
  const names = Array.from({ length: 40 }, (_, index) => `o${index}`);
  const objects = new Map([
    ...names.map((name) => [`a/${name}`, objectOf('a', name, FROM)] as const),
    ['a/many', objectOf('a', 'many', { settings: { language: 'en' }, valuesFrom })],
  ]);
  const { load } = sourceOf(objects, async (path) => {
    asked.push(path);
    return { data: { file: 'version: 1\nsettings: {language: en}\n' } };
  });
  await load();
  expect((await load()).length).toBe(41);
  expect(asked.toSorted()).toEqual(['/api/v1/namespaces/a/configmaps/settings', 'a/keys']);
});

it.each([
  ['too many bytes', `version: 1\nsettings: {language: en} # ${'x'.repeat(300_000)}`],
  ['too many keys', `version: 1\nsecrets:\n${'  k: {value: x}\n'.repeat(5_000)}`],
  ['too many keys in one line', `version: 1\nsettings: {${'k: x,'.repeat(5_000)}}`],
])('refuses a text with %s before it is parsed', async (_, text) => {
  const objects = new Map([[KEY, objectOf('agents', 'production', FROM)]]);
  const { source, load } = sourceOf(objects, async () => ({ data: { file: text } }));
  await load();
  await load();
  expect(source.findDeclaration(KEY)?.problem?.message).toMatch(/^The text of the ConfigMap has /);
  expect(source.findDeclaration(KEY)?.problem?.code).toBe('settings-invalid');
});

it('gives texts of a namespace a share, and others their own', async () => {
  const text = `version: 1\n# ${'x'.repeat(250 * 1024)}\nsettings: {language: en}\n`;
  const names = Array.from({ length: 30 }, (_, index) => `c${index}`);
  const from = (name: string) => ({ settingsFrom: { configMapKeyRef: { name, key: 'file' } } });
  const objects = new Map([
    ...names.map((name) => [`a/${name}`, objectOf('a', name, from(name))] as const),
    ['b/production', objectOf('b', 'production', FROM)],
  ]);
  const { source, load } = sourceOf(objects, async () => ({ data: { file: text } }));
  let loaded: readonly string[] = [];
  for (let times = 0; times < 6; times += 1) loaded = await load();
  expect(loaded).toContain('b/production');
  expect(loaded.length).toBe(17);
  expect(source.overLimit).toEqual(new Map([['a', 14]]));
});
