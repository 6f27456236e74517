import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { fileLocks } from '../../src/watch/file-locks.ts';
import { clusterHere } from '../../src/watch/lease-api.ts';
import { leaseLocks } from '../../src/watch/lease-locks.ts';
import { leaseServer } from '../fixture/lease-server.ts';
import { describeLocks } from '../fixture/lock-contract.ts';

describeLocks('locks in a folder', {
  ttl: 30_000,
  lostAfter: 20_000,
  open: async () => {
    const folder = mkdtempSync(join(tmpdir(), 'setpoint-locks-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    return (time) => fileLocks(join(folder, 'locks'), time.clock, { time });
  },
});

describeLocks('locks as Leases', {
  ttl: 15_000,
  lostAfter: 10_000,
  open: async () => {
    const { origin, folder } = await leaseServer();
    const { hostname, port } = new URL(origin);
    const cluster = clusterHere(
      { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port },
      folder,
    );
    if (cluster === null) throw new Error('no cluster');
    return (time) => leaseLocks(cluster, time.clock, { time });
  },
});
