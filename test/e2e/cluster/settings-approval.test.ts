import { describe, expect, it, onTestFinished } from 'vitest';
import {
  clusterWorld,
  languageOf,
  reasonOf,
  SERVERS,
  store,
  type Admin,
  type ClusterWorld,
} from '../../fixture/cluster-world.ts';
import { LONG } from '../../fixture/long.ts';
import { until } from '../../fixture/until.ts';

const GROUP = '/apis/setpoint.dev/v1alpha1';

const pathOf = (one: ClusterWorld, name: string): string =>
  `${GROUP}/namespaces/${one.namespace}/settingsapprovals/${name}`;

async function approve(one: ClusterWorld, name: string, spec: object): Promise<void> {
  await one.admin.put(pathOf(one, name), {
    apiVersion: 'setpoint.dev/v1alpha1',
    kind: 'SettingsApproval',
    metadata: { name, namespace: one.namespace, creationTimestamp: new Date().toISOString() },
    spec: { target: 'production', ...spec },
  });
}

/** A policy for the namespace of a world alone, which is removed with the test. */
async function policy(one: ClusterWorld, spec: object): Promise<void> {
  const name = `approvals-${one.namespace}`;
  const path = `${GROUP}/settingspolicies/${name}`;
  onTestFinished(() => one.admin.remove(path));
  const namespaces = `/api/v1/namespaces/${one.namespace}`;
  const labels = { 'kubernetes.io/metadata.name': one.namespace };
  if ((await one.admin.get(namespaces)) === null)
    await one.admin.put(namespaces, {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: one.namespace, labels },
    });
  await one.admin.put(path, {
    apiVersion: 'setpoint.dev/v1alpha1',
    kind: 'SettingsPolicy',
    metadata: { name },
    spec: { namespaceSelector: { matchLabels: labels }, ...spec },
  });
}

/** The reason of an approval, once it is as wanted. */
async function untilReason(one: ClusterWorld, name: string, reason: string): Promise<object> {
  let status: { readonly conditions?: readonly { readonly reason: string }[] } = {};
  const look = async (): Promise<boolean> => {
    const object = (await one.admin.get(pathOf(one, name))) as { status?: typeof status } | null;
    status = object?.status ?? {};
    return status.conditions?.[0]?.reason === reason;
  };
  await until(look, { show: () => ({ reason, status }) });
  return status;
}

const notCovered = (now: Parameters<Parameters<ClusterWorld['until']>[1]>[0]): boolean =>
  reasonOf(now, 'Stalled') === 'NotCovered';

describe.each(SERVERS)('a SettingsApproval, on an API server %s', (_, open) => {
  const test = it.skipIf(open === null);
  const world = async () => {
    const one = await clusterWorld(await (open as () => Promise<Admin>)());
    await store(one.service.url, { language: 'fr' });
    return one;
  };
  const target = { mode: 'Apply', settings: { language: 'en' }, approval: {} };

  test('has its plan written, and the status of both says so', async () => {
    const one = await world();
    await one.target('production', target);
    await one.start();
    const { plan } = await one.until('production', notCovered);
    await approve(one, 'other', { planDigest: `sha256:${'0'.repeat(64)}` });
    await untilReason(one, 'other', 'NotCovered');
    expect(await languageOf(one.service.url)).toBe('fr');
    await approve(one, 'mine', { planDigest: plan?.digest, approver: 'ada' });
    const { history, nextRead } = await one.until(
      'production',
      (now) => now.sync === 'Synced' && now.history !== undefined,
    );
    expect(await languageOf(one.service.url)).toBe('en');
    expect(history).toEqual([
      expect.objectContaining({
        digest: plan?.digest,
        result: 'applied',
        changes: 1,
        generation: 1,
        approval: 'mine',
        approver: 'ada',
      }),
    ]);
    expect(Date.parse(nextRead ?? '')).not.toBeNaN();
    expect(await untilReason(one, 'mine', 'Used')).toMatchObject({
      usedAt: history?.[0]?.time,
    });
  });

  test('approves no more once it has expired, or is deleted', LONG, async () => {
    const one = await world();
    await one.target('production', target);
    await one.start();
    const { plan } = await one.until('production', notCovered);
    const expiresAt = new Date(Date.now() - 1_000).toISOString();
    await approve(one, 'late', { planDigest: plan?.digest, expiresAt });
    await untilReason(one, 'late', 'Expired');
    await approve(one, 'elsewhere', { planDigest: plan?.digest, target: 'staging' });
    await untilReason(one, 'elsewhere', 'NotWatched');
    expect(await languageOf(one.service.url)).toBe('fr');
    await approve(one, 'mine', { planDigest: plan?.digest });
    await one.until('production', (now) => now.sync === 'Synced');
    await one.admin.remove(pathOf(one, 'mine'));
    await store(one.service.url, { language: 'fr' });
    await one.until('production', notCovered);
    expect(await languageOf(one.service.url)).toBe('fr');
  });

  test(
    'adds nothing to what an object writes without approval, and nothing in mode Observe',
    LONG,
    async () => {
      const one = await world();
      await one.target('production', { mode: 'Observe', settings: { language: 'en' } });
      await one.start();
      const { plan } = await one.until('production', (now) => now.plan !== undefined);
      await approve(one, 'mine', { planDigest: plan?.digest });
      await untilReason(one, 'mine', 'NotNeeded');
      expect(await languageOf(one.service.url)).toBe('fr');
    },
  );

  test('is required by a policy, which an approval in spec does not meet', async () => {
    const one = await world();
    await policy(one, { requireApproval: true });
    await one.target('production', { mode: 'Apply', settings: { language: 'en' } });
    await one.start();
    const { plan } = await one.until('production', notCovered);
    const approval = { planDigest: plan?.digest };
    await one.admin.patch(one.pathOf('production'), { spec: { approval } });
    await one.until('production', (now) => now.observedGeneration === 2 && notCovered(now));
    expect(await languageOf(one.service.url)).toBe('fr');
    await approve(one, 'mine', approval);
    await one.until('production', (now) => now.sync === 'Synced');
    expect(await languageOf(one.service.url)).toBe('en');
  });

  test('is not written past a guard or a closed window', async () => {
    const one = await world();
    await one.target('production', { ...target, guards: { protected: true } });
    await one.start();
    const status = await one.until('production', (now) => reasonOf(now, 'Stalled') !== null);
    expect(reasonOf(status, 'Stalled')).toBe('Refused');
    await approve(one, 'mine', { planDigest: status.plan?.digest });
    await untilReason(one, 'mine', 'Covers');
    await one.until('production', (now) => reasonOf(now, 'Stalled') === 'Refused');
    expect(await languageOf(one.service.url)).toBe('fr');
  });
});

describe.each(SERVERS)('limits of a SettingsPolicy, on an API server %s', (_, open) => {
  it.skipIf(open === null)('have the newest objects of a namespace wait', async () => {
    const one = await clusterWorld(await (open as () => Promise<Admin>)());
    await policy(one, { limits: { maxTargets: 2 } });
    for (const [index, name] of ['a', 'b', 'c'].entries()) {
      const creationTimestamp = new Date(Date.UTC(2026, 0, 1 + index)).toISOString();
      await one.target(name, { settings: { language: 'en' } }, { creationTimestamp });
    }
    await one.start();
    await one.until('c', (now) => reasonOf(now, 'Stalled') === 'Forbidden');
    for (const name of ['a', 'b']) await one.until(name, (now) => now.plan !== undefined);
    await one.admin.remove(one.pathOf('a'));
    await one.until('c', (now) => now.plan !== undefined);
  });
});
