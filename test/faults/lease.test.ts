import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { detectCluster } from '../../src/controller/cluster/kube-api.ts';
import { leaseLocks } from '../../src/controller/watch/locks/lease-locks.ts';
import { isLockRefused, type Lock, type Locks } from '../../src/controller/watch/locks/locks.ts';
import { clusterOf, leaseServer, podVariables, type LeaseFault } from '../fixture/lease-server.ts';
import { testTime } from '../fixture/lock-time.ts';
import { LONG, itEach } from '../fixture/long.ts';

async function world() {
  const server = await leaseServer();
  const time = testTime();
  const start = () => {
    const process = time.process();
    return { process, locks: leaseLocks(clusterOf(server), process.clock, { time: process }) };
  };
  return { server, time, start };
}

async function taken(locks: Locks, name: string): Promise<Lock> {
  const result = await locks.take(name);
  if (isLockRefused(result)) throw new Error(`${name} is held by ${result.heldBy}`);
  return result;
}

it('finds no cluster where there is none, or without a token', async () => {
  const { folder } = await leaseServer();
  expect(detectCluster({ SETPOINT_SERVICE_ACCOUNT: folder })).toBeNull();
  expect(detectCluster(podVariables('https://10.0.0.1', join(folder, 'other')))).toBeNull();
  expect(
    detectCluster({ KUBERNETES_SERVICE_HOST: 'fd00::1', SETPOINT_SERVICE_ACCOUNT: folder }),
  ).toMatchObject({
    origin: 'https://[fd00::1]:443',
    namespace: 'agents',
  });
});

it.each<[LeaseFault, RegExp, RegExp]>([
  [401, /refuses the token of this service account \(401\)/, /mounts its token/],
  [
    403,
    /create leases in the namespace agents \(403\)/,
    /verbs: \[get, list, create, update, delete\]/,
  ],
  [404, /no namespace agents.*\(404\)/, /coordination\.k8s\.io\/v1/],
  [422, /cannot keep the locks \(422\)/, /nothing is written/],
  [410, /cannot keep the locks \(410\)/, /nothing is written/],
  [429, /too many \(429\)/, /fewer environments/],
  [500, /cannot keep the locks \(500\)/, /nothing is written/],
  ['cut', /cannot be reached/, /network policy/],
])('says what %s means, what to do, and nothing that was answered', async (fault, words, hint) => {
  const { server, time, start } = await world();
  server.fault = () => fault;
  const { locks } = start();
  const thrown: unknown = await time.passFor(locks.take('prod')).catch((error: unknown) => error);
  expect(thrown).toMatchObject({ code: 'lock-failed' });
  const { message, hint: what } = thrown as { message: string; hint: string };
  expect(message).toMatch(words);
  expect(what).toMatch(hint);
  expect(`${message} ${what}`).not.toMatch(/canary|token-1/);
  await locks.close();
});

it('does not trust another authority', async () => {
  const { server, time, start } = await world();
  writeFileSync(
    join(server.folder, 'ca.crt'),
    readFileSync(new URL('certs/self-signed.pem', import.meta.url)),
  );
  const { locks } = start();
  await expect(time.passFor(locks.take('prod'))).rejects.toMatchObject({
    code: 'lock-failed',
    message: 'The certificate of the API server cannot be trusted.',
  });
  expect(server.requests).toEqual([]);
  await locks.close();
});

it('reads the token anew when it was replaced', async () => {
  const { server, time, start } = await world();
  const { locks } = start();
  const lock = await taken(locks, 'prod');
  server.token = 'token-2';
  writeFileSync(join(server.folder, 'token'), 'token-2');
  await time.pass(60_000);
  expect(await lock.stillHeld()).toBe(true);
  expect(lock.lost.aborted).toBe(false);
  await locks.close();
});

itEach<LeaseFault>([500, 503, 429, 410, 'cut', 'lost'], (fault) => fault === 'lost')(
  'holds on when single requests fail (%s)',
  async (fault) => {
    const { server, time, start } = await world();
    let count = 0;
    server.fault = () => ((count += 1) % 2 === 1 ? fault : null);
    const { locks } = start();
    const lock = await time.passFor(taken(locks, 'prod'));
    await time.pass(60_000);
    expect(await time.passFor(lock.stillHeld())).toBe(true);
    await time.passFor(lock.release());
    await time.passFor(taken(locks, 'prod'));
    await time.passFor(locks.close());
  },
);

itEach<LeaseFault>([500, 'cut', 'hang', 401, 403], (fault) => fault === 'hang')(
  'loses its locks after ten seconds without a renewal (%s), and takes them again later',
  async (fault) => {
    const { server, time, start } = await world();
    const { locks } = start();
    const lock = await taken(locks, 'prod');
    server.fault = () => fault;
    await time.pass(9000);
    expect(lock.lost.aborted).toBe(false);
    await time.pass(3000);
    expect(lock.lost.aborted).toBe(true);
    expect(lock.lost.reason).toMatchObject({
      code: 'lock-lost',
      message: expect.stringMatching(/could not be renewed for 1\d s/),
    });
    expect(await lock.stillHeld()).toBe(false);
    server.fault = () => null;
    // What it was sending may still arrive; nobody else has the lock.
    await expect(locks.take('prod')).rejects.toMatchObject({
      code: 'lock-failed',
      message: 'This process lost its locks, and takes them again within 15 s.',
    });
    await time.pass(15_000);
    const again = await taken(locks, 'prod');
    expect(await again.stillHeld()).toBe(true);
    await locks.close();
  },
);

it('loses the race if somebody writes the Lease first, and the lock if somebody removes it', async () => {
  const { server, start } = await world();
  const [one, two] = [start(), start()];
  const lock = await taken(one.locks, 'prod');
  const name = [...server.leases.keys()].find((key) => key.startsWith('setpoint-lock-')) ?? '';
  const lease = server.leases.get(name);
  if (lease === undefined) throw new Error('no Lease');
  server.leases.set(name, { ...lease, metadata: { ...lease.metadata, resourceVersion: '1' } });
  expect(await lock.stillHeld()).toBe(false);
  expect(lock.lost.reason).toMatchObject({ code: 'lock-lost' });
  const again = await taken(one.locks, 'prod');
  server.leases.delete(name);
  expect(await again.stillHeld()).toBe(false);
  await taken(two.locks, 'prod');
  await one.locks.close();
  await two.locks.close();
});

it('keeps its heartbeat when somebody else labels it, and loses it when somebody removes it', async () => {
  const { server, time, start } = await world();
  const { locks } = start();
  const lock = await taken(locks, 'prod');
  const name =
    [...server.leases.keys()].find((key) => key.startsWith('setpoint-controller-')) ?? '';
  const lease = server.leases.get(name);
  if (lease === undefined) throw new Error('no Lease');
  const labels = { team: 'platform' };
  server.leases.set(name, {
    ...lease,
    metadata: { ...lease.metadata, labels, resourceVersion: '2' },
  });
  await time.pass(5000);
  expect(lock.lost.aborted).toBe(false);
  expect(server.leases.get(name)?.metadata.labels).toEqual(labels);
  server.leases.delete(name);
  await time.pass(5000);
  expect(lock.lost.reason).toMatchObject({
    message: expect.stringMatching(/its locks were removed/),
  });
  await locks.close();
});

it('buries nobody who has beaten since it was looked at', async () => {
  const { server, time, start } = await world();
  const [one, two] = [start(), start()];
  await taken(one.locks, 'prod');
  one.process.stop();
  await two.locks.take('prod');
  await time.pass(15_000);
  server.fault = (method, name) => {
    const lease = server.leases.get(name);
    if (method === 'DELETE' && lease !== undefined) {
      const metadata = { ...lease.metadata, resourceVersion: 'beaten' };
      server.leases.set(name, { ...lease, metadata });
    }
    return null;
  };
  expect(isLockRefused(await two.locks.take('prod'))).toBe(true);
  const heartbeats = [...server.leases.keys()].filter((key) => key.includes('-controller-'));
  expect(heartbeats).toHaveLength(2);
  server.fault = () => null;
  await one.process.goOn();
  await one.locks.close();
  await two.locks.close();
});

it('respects the holder of another program as long as it renews the Lease', async () => {
  const { server, time, start } = await world();
  const { locks } = start();
  const lock = await taken(locks, 'prod');
  const name = [...server.leases.keys()].find((key) => key.startsWith('setpoint-lock-')) ?? '';
  await lock.release();
  const lease = server.leases.get(name);
  if (lease === undefined) throw new Error('no Lease');
  for (let renewal = 1; renewal <= 5; renewal += 1) {
    const metadata = { ...lease.metadata, resourceVersion: String(renewal) };
    server.leases.set(name, { ...lease, metadata, spec: { holderIdentity: 'another-program' } });
    expect(await locks.take('prod')).toMatchObject({ heldBy: 'a controller that is not known' });
    await time.pass(10_000);
  }
  await time.pass(15_000);
  await taken(locks, 'prod');
  await locks.close();
});

it('takes locks that nobody has had over a few connections', async () => {
  const { server, time, start } = await world();
  const { locks } = start();
  const names = Array.from({ length: 60 }, (_, index) => `environment-${index}`);
  await time.passFor(Promise.all(names.map((name) => taken(locks, name))));
  expect(server.requests.filter((one) => one.startsWith('POST'))).toHaveLength(61);
  // As many as are open at a time, and some that the test's server has closed because they were idle.
  expect(server.connections).toBeLessThan(20);
  await locks.close();
});

it('renews one Lease, whatever it holds, and paces its takes', LONG, async () => {
  const { server, time, start } = await world();
  const { locks, process } = start();
  const began = process.clock.monotonic();
  const names = Array.from({ length: 100 }, (_, index) => `environment-${index}`);
  await time.passFor(Promise.all(names.map((name) => taken(locks, name))));
  // 25 at once, then 50 in a second.
  expect(process.clock.monotonic() - began).toBeGreaterThanOrEqual(1500);
  server.requests.length = 0;
  await time.pass(60_000);
  expect(server.requests.length).toBeLessThanOrEqual(31);
  expect(new Set(server.requests).size).toBe(1);
  await locks.close();
});
