import { describe, expect, it, onTestFinished } from 'vitest';
import { adminOf, clusterWorld, KEY, reasonOf } from '../../fixture/cluster-world.ts';
import { startFronted } from '../../fixture/before-service.ts';
import { kubeServer } from '../../fixture/kube-server.ts';
import { until } from '../../fixture/until.ts';
import { LONG } from '../../fixture/long.ts';

const FROM = { configMapKeyRef: { name: 'settings', key: 'settings.yaml' } };

async function world() {
  const kube = await kubeServer();
  return { kube, one: await clusterWorld(adminOf(kube)) };
}

const messageOf = (status: {
  readonly conditions?: readonly { type: string; message: string }[];
}) => status.conditions?.find(({ type }) => type === 'Ready')?.message;

describe('what an object names and cannot be read', () => {
  it('stops that object alone, and says what may not be got', async () => {
    const { kube, one } = await world();
    kube.fault = (_, path) => (path.includes('/configmaps/') ? 403 : null);
    await one.target('from-a-map', { settingsFrom: FROM });
    await one.target('inline', { settings: { language: 'en' } });
    await one.start();
    await one.until('inline', (now) => reasonOf(now, 'Ready') === 'Observed');
    const status = await one.until('from-a-map', (now) => reasonOf(now, 'Stalled') !== null);
    expect(messageOf(status)).toBe(
      'The API server does not let this service account get ConfigMaps in the namespace agents (403). Bind a Role to it with resources: [configmaps], verbs: [get].',
    );
  });

  it('leaves an object as it was declared before', async () => {
    const { kube, one } = await world();
    await one.admin.put('/api/v1/namespaces/agents/configmaps/settings', {
      metadata: { name: 'settings', namespace: 'agents' },
      data: { 'settings.yaml': 'version: 1\nsettings:\n  language: fr\n' },
    });
    await one.target('from-a-map', { settingsFrom: FROM });
    const watching = await one.start();
    await one.until('from-a-map', (now) => reasonOf(now, 'Ready') === 'Observed');
    kube.fault = (_, path) => (path.includes('/configmaps/') ? 500 : null);
    const asked = kube.requests.length;
    const again = (): number =>
      kube.requests.slice(asked).filter((path) => path.includes('/configmaps/')).length;
    await until(() => again() >= 10);
    expect(watching.controller.state('agents/from-a-map')?.found).toBe('drift');
    expect(reasonOf(await one.status('from-a-map'), 'Ready')).toBe('Observed');
  });

  it('leaves nothing to be in sync by, once it can be read again', LONG, async () => {
    const { kube } = await world();
    const one = await clusterWorld(adminOf(kube), 1);
    const path = '/api/v1/namespaces/agents/configmaps/settings';
    const put = async (text: string): Promise<void> => {
      await one.admin.put(path, {
        metadata: { name: 'settings' },
        data: { 'settings.yaml': text },
      });
      const requestedAt = crypto.randomUUID();
      const annotations = { 'setpoint.dev/requestedAt': requestedAt };
      await one.admin.patch(one.pathOf('from-a-map'), { metadata: { annotations } });
    };
    const front = await startFronted({ port: 0 });
    onTestFinished(() => front.close());
    await one.target('from-a-map', { server: { url: front.url }, settingsFrom: FROM });
    await put('version: 1\nsettings: { language: fr }\n');
    await front.ask('POST', '/api/settings', { language: 'fr' });
    await one.start();
    await one.until('from-a-map', (now) => now.sync === 'Synced');
    await put('version: 1\nsettings: [');
    await one.until('from-a-map', (now) => reasonOf(now, 'Stalled') === 'Invalid');
    await front.ask('POST', '/api/settings', { language: 'de' });
    let [isAsked, goOn] = [false, (): void => {}];
    const gate = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    front.before = async () => {
      isAsked = true;
      await gate;
    };
    await put('version: 1\nsettings: { language: fr }\n');
    await until(() => isAsked);
    await one.admin.patch(one.pathOf('from-a-map'), { metadata: { labels: { ring: '1' } } });
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect((await one.status('from-a-map')).sync).toBe('Unknown');
    goOn();
    await one.until('from-a-map', (now) => now.sync === 'OutOfSync');
  });

  it('is a Secret that the message names, and no value', async () => {
    const { kube, one } = await world();
    kube.fault = (_, path) => (path.includes('/secrets/') ? 403 : null);
    await one.target('production', { settings: { language: 'en' } });
    await one.start();
    const status = await one.until('production', (now) => reasonOf(now, 'Stalled') !== null);
    expect(messageOf(status)).toContain(
      'the Secret agents cannot be read: The API server does not let this service account get Secrets in the namespace agents (403).',
    );
    expect(JSON.stringify(status)).not.toContain(KEY);
  });

  it(
    'is a Secret of an API server that does not answer: it is tried again soon',
    LONG,
    async () => {
      const { kube, one } = await world();
      kube.fault = (_, path) => (path.includes('/secrets/') ? 503 : null);
      await one.target('production', {
        mode: 'Apply',
        interval: '1h',
        settings: { language: 'en' },
      });
      await one.start();
      const status = await one.until(
        'production',
        (now) => reasonOf(now, 'Ready') === 'Unreachable',
      );
      const reasons = ['Ready', 'Reconciling', 'Stalled'].map((type) => reasonOf(status, type));
      expect(reasons).toEqual(['Unreachable', 'ProgressingWithRetry', null]);
      expect(messageOf(status)).toMatch(
        /^failed: The Secret agents cannot be read: The API server /,
      );
      kube.fault = () => null;
      await one.until('production', (now) => now.sync === 'Synced');
    },
  );

  it(
    'is a Secret that is made later: it is tried at the interval, however long that takes',
    LONG,
    async () => {
      const { one } = await world();
      const server = { url: one.service.url, apiKeySecretRef: { name: 'later', key: 'api-key' } };
      await one.target('production', { mode: 'Apply', server, settings: { language: 'en' } });
      const watching = await one.start();
      const state = () => watching.controller.state('agents/production');
      await until(() => (state()?.failures ?? 0) >= 8);
      expect(messageOf(await one.status('production'))).toContain(
        'there is no Secret later in the namespace agents',
      );
      await one.secret('later', { 'api-key': KEY });
      await one.until('production', (now) => now.sync === 'Synced');
    },
  );

  it('takes no default in place of an optional value', LONG, async () => {
    const { kube, one } = await world();
    const ref = { name: 'limits', key: 'iterations', optional: true };
    await one.secret('limits', { iterations: '7' });
    await one.target('production', {
      settings: { max_iterations: 100 },
      valuesFrom: [{ path: 'settings.max_iterations', secretKeyRef: ref }],
    });
    kube.fault = (_, path) => (path.endsWith('/secrets/limits') ? 500 : null);
    await one.start();
    const status = await one.until('production', (now) => reasonOf(now, 'Stalled') !== null);
    expect(reasonOf(status, 'Ready')).toBe('Invalid');
    expect(status.plan).toBeUndefined();
    kube.fault = () => null;
    const { plan } = await one.until('production', (now) => now.plan !== undefined);
    expect(plan?.items[0]?.after).not.toBe('100');
  });
});
