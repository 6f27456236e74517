import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { fileLocks } from '../../../src/controller/watch/locks/file-locks.ts';
import { leaseLocks } from '../../../src/controller/watch/locks/lease-locks.ts';
import { clusterOf, leaseServer } from '../../fixture/lease-server.ts';
import { describeLocks } from '../../fixture/lock-contract.ts';

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
    const cluster = clusterOf(await leaseServer());
    return (time) => leaseLocks(cluster, time.clock, { time });
  },
});
