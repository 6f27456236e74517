import { describe, expect, it } from 'vitest';
import {
  clusterWorld,
  MODEL_KEY,
  reasonOf,
  SERVERS,
  type ClusterWorld,
} from '../../fixture/cluster-world.ts';
import { LONG } from '../../fixture/long.ts';

const NEXT = 'sk-the-next-one-of-the-model-0123456789';
const STATE = 'setpoint-controller-state';

describe.each(SERVERS)('a rotated Secret, with an API server %s', (_, open) => {
  const test = it.skipIf(open === null);
  const world = async (): Promise<ClusterWorld> => {
    if (open === null) throw new Error('There is none.');
    const one = await clusterWorld(await open());
    await one.secret('model', { key: MODEL_KEY });
    const secretKeyRef = { name: 'model', key: 'key' };
    const valuesFrom = [{ path: 'settings.llm_api_key', secretKeyRef }];
    await one.target('production', { mode: 'Apply', settings: { language: 'en' }, valuesFrom });
    return one;
  };
  const secretPath = (one: ClusterWorld, name: string): string =>
    `/api/v1/namespaces/${one.namespace}/secrets/${name}`;
  const rotate = (one: ClusterWorld, value: string): Promise<void> =>
    one.admin.patch(secretPath(one, 'model'), {
      data: { key: Buffer.from(value).toString('base64') },
    });
  /** The Secret without a key, as the manifests have it. */
  const makeState = async (one: ClusterWorld): Promise<void> => {
    await one.admin.remove(secretPath(one, STATE));
    await one.secret(STATE, {});
  };
  const keyOf = async (one: ClusterWorld): Promise<string> => {
    const secret = (await one.admin.get(secretPath(one, STATE))) as { data?: { key?: string } };
    return Buffer.from(secret.data?.key ?? '', 'base64').toString();
  };

  test('is written once, also by another pod that has nothing of the first one', LONG, async () => {
    const one = await world();
    await makeState(one);
    await one.start({}, { stateSecret: STATE });
    const first = await one.until('production', (now) => reasonOf(now, 'Ready') === 'InSync');
    expect([first.sync, reasonOf(first, 'Verified')]).toEqual(['Synced', null]);
    const key = await keyOf(one);
    expect(key.length).toBeGreaterThan(40);
    await one.stop();

    await rotate(one, NEXT);
    const next = one.successor();
    await next.start({}, { stateSecret: STATE });
    const second = await next.until(
      'production',
      (now) =>
        reasonOf(now, 'Ready') === 'InSync' && now.lastApplied?.time !== first.lastApplied?.time,
    );
    expect(await keyOf(next)).toBe(key);
    // Another turn writes nothing more.
    const { lastLook } = second;
    const third = await next.until('production', (now) => now.lastLook?.time !== lastLook?.time);
    expect(third.lastApplied).toEqual(second.lastApplied);
    const text = JSON.stringify(await next.admin.get(next.pathOf('production')));
    for (const secret of [MODEL_KEY, NEXT, key]) expect(text).not.toContain(secret);
    expect(text).toContain('secretFingerprints');
  });

  test('is not noticed without a key: the object says so, and claims no more than was compared', async () => {
    const one = await world();
    await one.start();
    const status = await one.until(
      'production',
      (now) => reasonOf(now, 'Ready') === 'SecretsNotCompared',
    );
    expect(status.sync).toBe('Unknown');
    expect(reasonOf(status, 'Drifted')).toBe('SecretsNotCompared');
    const ready = status.conditions?.find(({ type }) => type === 'Ready');
    expect(ready).toMatchObject({ status: 'True' });
    expect(ready?.message).toContain('settings.llm_api_key'.replace('settings.', ''));
    expect(reasonOf(status, 'Verified')).toBe('NotComparable');
  });

  test(
    'is compared as soon as the Secret of the key can be read, whose key no object has sent anywhere',
    LONG,
    async () => {
      const one = await world();
      await one.admin.remove(secretPath(one, STATE));
      const { controller } = await one.start({}, { stateSecret: STATE });
      await one.until('production', (now) => reasonOf(now, 'Ready') === 'SecretsNotCompared');
      const problems = () => controller.conditions.list().map(({ message }) => message);
      expect(problems().join()).toContain(`There is no Secret ${STATE}`);
      await makeState(one);
      await expect.poll(problems).toEqual([]);
      const thief = [{ path: 'settings.llm_api_key', secretKeyRef: { name: STATE, key: 'key' } }];
      await one.target('thief', { mode: 'Apply', settings: { language: 'en' }, valuesFrom: thief });
      const status = await one.until('thief', (now) => reasonOf(now, 'Verified') !== null);
      expect(JSON.stringify(status.conditions)).toContain('does not list the origin');
      expect(JSON.stringify(status)).not.toContain(await keyOf(one));
    },
  );
});
