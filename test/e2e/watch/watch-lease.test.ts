import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { startEmulator } from '../../../src/emulator/start.ts';
import { folderWith, quickTime, start } from '../../fixture/command.ts';
import { dedent } from '../../fixture/dedent.ts';
import { leaseServer, podVariables } from '../../fixture/lease-server.ts';
import { until } from '../../fixture/until.ts';

it('two controllers in a cluster, as they are built: one has the lock, and the other when that ends', async () => {
  const { origin, folder, leases } = await leaseServer();
  const service = await startEmulator({ apiKey: 'a-key' });
  const files = folderWith({
    'settings.yaml': dedent`
      version: 1
      server:
        url: ${service.url}
        api_key: \${env:KEY}
      settings:
        language: en
    `,
  });
  const env = { ...podVariables(origin, folder), KEY: 'a-key' };
  const time = quickTime();
  const watch = (data: string) =>
    start(['watch', '--lock', 'lease', '--data', data, '--interval', '10s'], {
      cwd: files.path,
      env,
      time,
    });
  const holders = () =>
    [...leases]
      .filter(([name]) => name.startsWith('setpoint-lock-'))
      .map(([, { spec }]) => spec.holderIdentity);
  const one = watch('one');
  try {
    await until(() => holders().length === 1);
    const [first] = holders();
    expect(first).toContain(`_${one.child.pid}_`);
    const two = watch('two');
    try {
      await until(() => leases.size === 3);
      await sleep(200);
      expect(holders()).toEqual([first]);
      one.child.kill('SIGTERM');
      expect(await one.ended).toMatchObject({ code: 0 });
      await until(() => holders()[0]?.includes(`_${two.child.pid}_`) === true);
      two.child.kill('SIGTERM');
      expect(await two.ended).toMatchObject({ code: 0 });
    } finally {
      two.child.kill('SIGKILL');
    }
  } finally {
    one.child.kill('SIGKILL');
    await service.close();
    files.remove();
  }
});
