import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  adminOf,
  clusterWorld,
  languageOf,
  SERVERS,
  reasonOf,
  store,
  type Admin,
  type ClusterWorld,
} from '../../fixture/cluster-world.ts';
import { kubeServer } from '../../fixture/kube-server.ts';
import { until } from '../../fixture/until.ts';
import { LONG } from '../../fixture/long.ts';

const POLICIES = '/apis/setpoint.dev/v1alpha1/settingspolicies';

/** Each policy is of the namespace of its test alone, unless it says otherwise. */
async function policyOf({ admin, namespace }: ClusterWorld, spec: object): Promise<string> {
  const name = `policy-${crypto.randomUUID()}`;
  const path = `${POLICIES}/${name}`;
  await admin.put(path, {
    apiVersion: 'setpoint.dev/v1alpha1',
    kind: 'SettingsPolicy',
    metadata: { name },
    spec: {
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
      ...spec,
    },
  });
  onTestFinished(() => admin.remove(path));
  return path;
}

const nameIn = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

describe.each(SERVERS)('a SettingsPolicy, on an API server %s', (_, open) => {
  const test = it.skipIf(open === null);
  const world = async (): Promise<ClusterWorld> => {
    const one = await clusterWorld(await (open as () => Promise<Admin>)());
    const path = `/api/v1/namespaces/${one.namespace}`;
    const labels = { 'kubernetes.io/metadata.name': one.namespace, team: 'red' };
    if ((await one.admin.get(path)) === null)
      await one.admin.put(path, { kind: 'Namespace', metadata: { name: one.namespace, labels } });
    else await one.admin.patch(path, { metadata: { labels } });
    return one;
  };
  const readyOf = async (one: ClusterWorld) => {
    const { conditions = [] } = await one.status('production');
    return conditions.find(({ type }) => type === 'Ready');
  };

  /** A target of an origin that a policy lists, and that needs a list. */
  const allowedBeyondLoopback = async (one: ClusterWorld): Promise<void> => {
    const url = 'https://agents.invalid';
    await policyOf(one, { allowedOrigins: [url] });
    const server = { url, apiKeySecretRef: { name: 'agents', key: 'api-key' } };
    await one.target('production', { server, settings: { language: 'en' } });
  };

  test('keeps the keys of a namespace to the origins that it lists', LONG, async () => {
    const one = await world();
    const path = await policyOf(one, { allowedOrigins: ['https://elsewhere.example.com'] });
    const service = await countingServer();
    const server = { url: service.url, apiKeySecretRef: { name: 'agents', key: 'api-key' } };
    await one.target('production', { server, settings: { language: 'en' } });
    await one.start();
    await one.until('production', (now) => reasonOf(now, 'Stalled') === 'Forbidden');
    expect((await readyOf(one))?.message).toContain(
      `the allowedOrigins of the SettingsPolicy ${nameIn(path)}`,
    );
    expect(service.requests).toEqual([]);
    await one.admin.patch(path, { spec: { allowedOrigins: [service.url] } });
    await one.until('production', (now) => reasonOf(now, 'Ready') === 'Unreachable');
    expect(service.requests.length).toBeGreaterThan(0);
  });

  test('lists where keys may be sent if the variable of the controller does not', async () => {
    const one = await world();
    await allowedBeyondLoopback(one);
    await one.start({ SETPOINT_ALLOWED_ORIGINS: '' });
    await one.until('production', (now) => reasonOf(now, 'Ready') === 'Unreachable');
  });

  test('is needed for loopback too, if the variable of the controller does not list it', async () => {
    const one = await world();
    const service = await countingServer();
    const server = { url: service.url, apiKeySecretRef: { name: 'agents', key: 'api-key' } };
    await one.target('production', { server, settings: { language: 'en' } });
    await one.start({ SETPOINT_ALLOWED_ORIGINS: '' });
    await one.until('production', (now) => reasonOf(now, 'Stalled') === 'Forbidden');
    expect((await readyOf(one))?.message).toContain('SETPOINT_ALLOWED_ORIGINS');
    expect(service.requests).toEqual([]);
    await policyOf(one, { allowedOrigins: [service.url] });
    await one.until('production', (now) => reasonOf(now, 'Ready') === 'Unreachable');
  });

  test('adds nothing to what the variable of the controller lists', LONG, async () => {
    const one = await world();
    await allowedBeyondLoopback(one);
    await one.start({ SETPOINT_ALLOWED_ORIGINS: 'https://other.example.com' });
    await one.until('production', (now) => reasonOf(now, 'Ready') === 'Forbidden');
    expect((await readyOf(one))?.message).toContain('SETPOINT_ALLOWED_ORIGINS');
  });

  test('says which modes objects may have', async () => {
    const one = await world();
    const path = await policyOf(one, { modes: ['Observe'] });
    await one.target('production', { mode: 'Apply', settings: { language: 'en' } });
    await one.start();
    await one.until('production', (now) => reasonOf(now, 'Stalled') === 'Forbidden');
    expect((await readyOf(one))?.message).toContain(
      `The mode Apply is not among the modes of the SettingsPolicy ${nameIn(path)}.`,
    );
    expect(one.said).toContain('It is not watched: The mode Apply is not among');
    await expect
      .poll(async () => (await one.events()).map(({ reason }) => reason))
      .toContain('Forbidden');
    await one.admin.patch(one.pathOf('production'), { spec: { mode: 'Observe' } });
    await one.until('production', (now) => reasonOf(now, 'Ready') === 'Observed');
    expect(await languageOf(one.service.url)).toBeNull();
  });

  test('forbids what no guard of an object turns off', async () => {
    const one = await world();
    const path = await policyOf(one, { forbidden: ['runCode'] });
    const stdio = [{ name: 'files', command: 'npx', args: ['server-files'] }];
    await one.target('production', {
      mode: 'Apply',
      guards: { runCode: false },
      settings: { mcp_config: { stdio_servers: stdio } },
    });
    await one.start();
    await one.until('production', (now) => reasonOf(now, 'Stalled') === 'Refused');
    expect((await readyOf(one))?.message).toContain(`The SettingsPolicy ${nameIn(path)} forbids`);
    await one.admin.patch(path, { spec: { forbidden: ['disableSafety'] } });
    await one.until('production', (now) => now.sync === 'Synced');
  });

  test('says how often a server is read at most', async () => {
    const one = await world();
    await policyOf(one, { minInterval: '12h' });
    await one.target('production', { interval: '10s', settings: { language: 'en' } });
    const { controller } = await one.start();
    await one.until('production', (now) => reasonOf(now, 'Ready') === 'Observed');
    const state = controller.state(`${one.namespace}/production`);
    expect(state?.settings.interval).toBe(12 * 3_600_000);
  });

  test('says how often a server is read for whoever asks for a look; edits are read, some of them', async () => {
    const one = await world();
    await policyOf(one, { minInterval: '12h' });
    await one.target('production', { settings: { language: 'en' } });
    const { controller } = await one.start();
    await one.until('production', (now) => reasonOf(now, 'Ready') === 'Observed');
    const reads = (): number => {
      const state = controller.state(`${one.namespace}/production`);
      return [...(state?.reads ?? [])].length;
    };
    for (let asked = 0; asked < 10; asked += 1)
      await one.admin.patch(one.pathOf('production'), {
        metadata: { annotations: { 'setpoint.dev/requestedAt': `ask ${asked}` } },
      });
    await one.admin.patch(one.pathOf('production'), { spec: { settings: { language: 'fr' } } });
    const now = await one.until('production', ({ plan }) => plan?.items[0]?.after === 'fr');
    expect(now.observedGeneration).toBe(2);
    expect(reads()).toBe(2);
    expect(controller.untilReadable(`${one.namespace}/production`)).toBeGreaterThan(11 * 3_600_000);
  });

  test('holds while it selects the namespace, by its labels', async () => {
    const one = await world();
    const namespaceSelector = {
      matchLabels: { 'kubernetes.io/metadata.name': one.namespace },
      matchExpressions: [{ key: 'team', operator: 'NotIn', values: ['red'] }],
    };
    await policyOf(one, { namespaceSelector, modes: ['Observe'] });
    await one.target('production', { mode: 'Apply', settings: { language: 'en' } });
    await one.start();
    await one.until('production', (now) => now.sync === 'Synced');
    const path = `/api/v1/namespaces/${one.namespace}`;
    await one.admin.patch(path, { metadata: { labels: { team: 'blue' } } });
    await one.until('production', (now) => reasonOf(now, 'Stalled') === 'Forbidden');
    await store(one.service.url, { language: 'de' });
    await one.admin.patch(path, { metadata: { labels: { team: 'red' } } });
    await one.until('production', (now) => now.sync === 'Synced');
    expect(await languageOf(one.service.url)).toBe('en');
  });

  test('is one of several that all have to allow', async () => {
    const one = await world();
    await policyOf(one, { modes: ['Observe', 'Apply'] });
    await policyOf(one, { modes: ['Observe'] });
    await one.target('production', { mode: 'Apply', settings: { language: 'en' } });
    await one.start();
    await one.until('production', (now) => reasonOf(now, 'Stalled') === 'Forbidden');
  });
});

describe('SettingsPolicies', () => {
  const start = async (status: number) => {
    const kube = await kubeServer();
    let answer = status;
    kube.fault = (_, path) => (path === POLICIES && answer !== 0 ? answer : null);
    const one = await clusterWorld(adminOf(kube), 60);
    await one.target('production', { mode: 'Apply', settings: { language: 'en' } });
    const { controller } = await one.start();
    return { kube, one, controller, answer: (next: number) => (answer = next) };
  };

  it('that are not defined allow all, until they are', LONG, async () => {
    const { kube, one, answer } = await start(404);
    await one.until('production', (now) => now.sync === 'Synced');
    expect(kube.requests).not.toContain('GET /api/v1/namespaces');
    const path = await policyOf(one, { namespaceSelector: {}, modes: ['Observe'] });
    answer(0);
    await one.until('production', (now) => reasonOf(now, 'Stalled') === 'Forbidden');
    // The first that selects namespaces has them listed: until then all stays as it is.
    await one.admin.put('/api/v1/namespaces/agents', { metadata: { name: 'agents' } });
    const namespaceSelector = { matchLabels: { team: 'red' } };
    await one.admin.patch(path, { spec: { namespaceSelector } });
    await one.until('production', (now) => now.sync === 'Synced');
    expect(kube.requests).toContain('GET /api/v1/namespaces');
    expect(one.said).not.toContain('listed');
  });

  it('that may not be read stop everything, and the message names the rule', async () => {
    const { one, controller, answer } = await start(403);
    await until(() => one.said.includes('SettingsPolicies'));
    expect(one.said).toContain('does not let this service account get SettingsPolicies');
    expect(controller.states()).toEqual([]);
    expect(await languageOf(one.service.url)).toBeNull();
    answer(0);
    await one.until('production', (now) => now.sync === 'Synced');
  });

  it('hold as they were while they cannot be read', LONG, async () => {
    const { kube, one, answer } = await start(0);
    await one.until('production', (now) => now.sync === 'Synced');
    const path = await policyOf(one, { namespaceSelector: {}, modes: ['Observe'] });
    await one.until('production', (now) => reasonOf(now, 'Stalled') === 'Forbidden');
    answer(503);
    kube.cut();
    kube.remove(path);
    await one.target('staging', { mode: 'Apply', settings: { language: 'en' } });
    await one.until('staging', (now) => reasonOf(now, 'Stalled') === 'Forbidden');
    answer(0);
    await one.until('production', (now) => now.sync === 'Synced');
  });

  it('that this controller does not understand allow nothing', async () => {
    const { one } = await start(0);
    await policyOf(one, { namespaceSelector: {}, forbidden: ['ruleOfTomorrow'] });
    const status = await one.until('production', (now) => reasonOf(now, 'Stalled') === 'Forbidden');
    expect(JSON.stringify(status)).toContain('does not know the rule ruleOfTomorrow');
  });
});

/** A server that is unwell, and what it was asked. */
async function countingServer() {
  const requests: string[] = [];
  const server = createServer(({ method, url }, response) => {
    requests.push(`${method} ${url}`);
    response.writeHead(503).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, requests };
}
