import { describe, expect, it } from 'vitest';
import { SYSTEM_CLOCK } from '../../../src/reconciler/host/this-process.ts';
import { leaseLocks } from '../../../src/controller/watch/locks/lease-locks.ts';
import { describeLocks } from '../../fixture/lock-contract.ts';
import {
  administer,
  allowedAccount,
  apply,
  asServiceAccount,
  kubeApiserver,
  newAccount,
  newNamespace,
  type KubeApiserver,
} from '../../fixture/kube-apiserver.ts';

const server = kubeApiserver();

describe.skipIf(server === null)('a real kube-apiserver (SETPOINT_KUBE_APISERVER)', () => {
  describeLocks('locks as Leases', {
    ttl: 15_000,
    lostAfter: 10_000,
    open: async () => {
      const cluster = await allowedAccount(server as KubeApiserver);
      return (time) => leaseLocks(cluster, time.clock, { time });
    },
  });

  it('refuses an account without the rule, and the message names the rule', async () => {
    const real = server as KubeApiserver;
    const namespace = await newNamespace(real);
    await newAccount(real, namespace);
    const cluster = await asServiceAccount(real, namespace, 'setpoint-watch');
    const locks = leaseLocks(cluster, SYSTEM_CLOCK);
    await expect(locks.take('prod')).rejects.toMatchObject({
      code: 'lock-failed',
      message: expect.stringMatching(/does not let this service account create leases .*\(403\)/),
      hint: expect.stringContaining('verbs: [get, list, create, update, delete]'),
    });
    await locks.close();
  });

  it('takes the manifests of examples/kubernetes/watch', async () => {
    const real = server as KubeApiserver;
    const namespace = await newNamespace(real);
    for (const file of ['access.yml', 'service.yml', 'statefulset.yml'])
      await apply(real, namespace, file);
  });

  it('leaves Leases that people can read', async () => {
    const real = server as KubeApiserver;
    const cluster = await allowedAccount(real);
    const locks = leaseLocks(cluster, SYSTEM_CLOCK);
    const lock = await locks.take('Prod EU');
    expect(lock).not.toHaveProperty('heldBy');
    const path = `/apis/coordination.k8s.io/v1/namespaces/${cluster.namespace}/leases`;
    const { body } = await administer(real, 'GET', path);
    const { items } = body as { readonly items: { readonly metadata: { name: string } }[] };
    expect(items.map(({ metadata }) => metadata.name)).toEqual([
      expect.stringMatching(/^setpoint-controller-[\da-f-]{36}$/),
      expect.stringMatching(/^setpoint-lock-prod-eu-[\da-f]{32}$/),
    ]);
    expect(items[1]).toMatchObject({
      metadata: { annotations: { 'setpoint-environment': 'Prod EU' } },
      spec: { leaseDurationSeconds: 15, leaseTransitions: 0 },
    });
    await locks.close();
  });
});
