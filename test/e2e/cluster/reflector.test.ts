import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { SYSTEM_CLOCK } from '../../../src/reconciler/host/this-process.ts';
import { KubeApi } from '../../../src/controller/cluster/kube-api.ts';
import { Reflector } from '../../../src/controller/cluster/reflector.ts';
import type { KubeResource } from '../../../src/controller/cluster/stored-object.ts';
import { fastClock } from '../../fixture/cluster-world.ts';
import { kubeServer, type KubeServer } from '../../fixture/kube-server.ts';
import { until } from '../../fixture/until.ts';

const LIST = '/apis/setpoint.dev/v1alpha1/namespaces/agents/settingstargets';

function add(kube: KubeServer, name: string): void {
  kube.put(`${LIST}/${name}`, { metadata: { name, namespace: 'agents' }, spec: { name } });
}

async function reflecting(fill: (kube: KubeServer) => void = () => {}) {
  const kube = await kubeServer();
  fill(kube);
  const clock = fastClock(50);
  const asked = {
    code: 'cluster-failed',
    purpose: 'read',
    what: 'SettingsTargets',
    namespace: 'agents',
    rule: 'RULE',
    offered: 'OFFERED',
  } as const;
  const api = new KubeApi(kube.cluster, clock, asked);
  const objects = new Reflector<KubeResource>(api, LIST, {
    clock,
    random: () => 0.5,
    changed: () => {},
  });
  const stop = new AbortController();
  const running = objects.run(stop.signal);
  onTestFinished(async () => {
    stop.abort();
    await running;
    await api.close();
  });
  await until(() => objects.isListed || objects.problem !== null);
  return { kube, objects, names: () => [...objects.objects.keys()].toSorted() };
}

describe('objects of an API server', () => {
  it('are listed in pages, and then watched', async () => {
    const { kube, objects, names } = await reflecting((one) => {
      for (let index = 0; index < 1201; index += 1) add(one, `target-${index}`);
    });
    expect(names().length).toBe(1201);
    expect(kube.requests.filter((one) => one === `GET ${LIST}`).length).toBeGreaterThanOrEqual(3);
    await until(() => kube.watchers === 1);
    add(kube, 'new');
    kube.remove(`${LIST}/target-7`);
    await until(() => objects.objects.has('agents/new') && !objects.objects.has('agents/target-7'));
    expect(names().length).toBe(1201);
    expect(kube.queries.at(-1)?.get('allowWatchBookmarks')).toBe('true');
  });

  it('are not missed when a watch breaks off', async () => {
    const { kube, objects } = await reflecting((one) => add(one, 'first'));
    await until(() => kube.watchers === 1);
    kube.cut();
    add(kube, 'while-away');
    await until(() => objects.objects.has('agents/while-away'));
    expect(kube.requests.filter((one) => one === `GET ${LIST}`).length).toBeLessThan(6);
    expect(objects.objects.size).toBe(2);
  });

  it('are listed anew if what is watched from is too old', async () => {
    const { kube, objects } = await reflecting((one) => add(one, 'first'));
    await until(() => kube.watchers === 1);
    kube.fault = (_, __, query) => (query.get('watch') === '1' ? 503 : null);
    kube.cut();
    kube.remove(`${LIST}/first`);
    add(kube, 'second');
    kube.compact();
    kube.fault = () => null;
    await until(() => objects.objects.has('agents/second') && !objects.objects.has('agents/first'));
    await until(() => objects.problem === null);
  });

  it('are listed anew after an ERROR among the events', async () => {
    const { kube, objects } = await reflecting((one) => add(one, 'first'));
    await until(() => kube.watchers === 1);
    const lists = (): number => kube.queries.filter((query) => query.has('limit')).length;
    const before = lists();
    kube.say({ type: 'ERROR', object: { kind: 'Status', code: 410, metadata: {} } });
    await until(() => lists() > before);
    await until(() => kube.watchers === 1);
    expect(objects.problem).toBeNull();
  });

  it('go on from a bookmark', async () => {
    const { kube, objects } = await reflecting((one) => add(one, 'first'));
    await until(() => kube.watchers === 1);
    kube.say({ type: 'BOOKMARK', object: { metadata: { name: '', resourceVersion: '9000' } } });
    kube.end();
    await until(() => kube.queries.some((query) => query.get('resourceVersion') === '9000'));
    expect(objects.objects.size).toBe(1);
  });

  it('stay as they were while the API server is away, and are told of once it is back', async () => {
    const { kube, objects } = await reflecting((one) => add(one, 'first'));
    await until(() => kube.watchers === 1);
    kube.fault = () => 'cut';
    kube.cut();
    await until(() => objects.problem !== null);
    expect(objects.problem?.code).toBe('cluster-failed');
    expect(objects.objects.size).toBe(1);
    add(kube, 'second');
    kube.fault = () => null;
    await until(() => objects.objects.has('agents/second'));
    await until(() => objects.problem === null);
  });

  it('are read with the token of now', async () => {
    const { kube, objects } = await reflecting((one) => add(one, 'first'));
    await until(() => kube.watchers === 1);
    kube.token = 'token-2';
    writeFileSync(join(kube.cluster.folder, 'token'), 'token-2\n');
    kube.cut();
    add(kube, 'second');
    await until(() => objects.objects.has('agents/second'));
  });

  it('that may not be listed are a problem that names the rule', async () => {
    const { objects } = await reflecting((one) => {
      one.fault = () => 403;
    });
    expect(objects.problem?.message).toBe(
      'The API server does not let this service account get SettingsTargets in the namespace agents (403).',
    );
    expect(objects.problem?.hint).toBe('RULE');
    expect(objects.problem?.message).not.toContain('secret-in-a-message');
  });

  it('whose definition is not there are a problem that says what to do', async () => {
    const { objects } = await reflecting((one) => {
      one.fault = () => 404;
    });
    expect(objects.problem?.message).toBe(
      'The API server has no namespace agents, or no SettingsTargets in it (404).',
    );
    expect(objects.problem?.hint).toBe('OFFERED');
  });

  it('are asked for no more often than the pauses allow', async () => {
    const began = SYSTEM_CLOCK.monotonic();
    const { kube } = await reflecting((one) => {
      one.fault = (method) => (method === 'GET' ? 500 : null);
    });
    await SYSTEM_CLOCK.sleep(500);
    const seconds = ((SYSTEM_CLOCK.monotonic() - began) / 1000) * 50;
    // Eight tries of a list take its half minute, and a pause follows.
    expect(kube.requests.length).toBeLessThan(seconds);
  });
});
