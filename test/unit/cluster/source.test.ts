import { expect, it } from 'vitest';
import type { Reflector } from '../../../src/controller/cluster/reflector.ts';
import { ClusterSource, type TargetResource } from '../../../src/controller/cluster/source.ts';

const KEY = 'agents/production';

it('reads a file that is not valid once, until its ConfigMap has another', async () => {
  let text = 'settings: [';
  let asked = 0;
  const metadata = { namespace: 'agents', name: 'production', generation: 1, uid: 'a' };
  const settingsFrom = { configMapKeyRef: { name: 'settings', key: 'file' } };
  const server = { url: 'https://agents.example.com' };
  const object = { metadata, spec: { server, mode: 'Observe' as const, settingsFrom } };
  const objects = { objects: new Map([[KEY, object]]), isListed: true, problem: null, revision: 1 };
  const allowance = { limits: null, whyNotMode: () => null };
  const source = new ClusterSource(objects as unknown as Reflector<TargetResource>, {
    api: {
      ask: async () => {
        asked += 1;
        return { kind: 'done', value: { data: { file: text } } };
      },
    },
    secrets: { has: async () => true },
    policies: { in: () => allowance, isSettled: true, problem: null, revision: '' },
    clock: { monotonic: () => 0 },
    judged: () => {},
    interval: 60_000,
  });
  const problem = async () => {
    source.readOutside(KEY);
    await source.stamp();
    await source.load();
    return source.declared(KEY)?.problem;
  };
  const first = await problem();
  expect(first?.code).toBe('settings-invalid');
  expect(await problem()).toBe(first);
  text = 'version: 1\nsettings: {language: en}\n';
  expect(await problem()).toBeNull();
  expect(asked).toBe(3);
});
