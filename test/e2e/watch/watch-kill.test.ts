import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { folderWith, quickTime, start } from '../../fixture/command.ts';
import { startStore } from '../../fixture/store-server.ts';
import { recordsOf } from '../../fixture/watch-world.ts';
import { until } from '../../fixture/until.ts';

it('a controller that is killed during a write leaves a record of it, and the next one says so once', async () => {
  const store = await startStore({}, { language: 'fr' });
  const folder = folderWith({
    'settings.yaml': `version: 1
server: { url: "${store.url}", api_key: "\${env:SETPOINT_API_KEY}" }
settings: { language: en }
watch: { mode: heal, interval: 10s }
`,
  });
  const data = join(folder.path, 'data');
  const time = quickTime();
  const watch = () =>
    start(['watch', '--data', 'data', '--lock', 'file'], {
      cwd: folder.path,
      env: { SETPOINT_API_KEY: 'a-session-key' },
      time,
    });
  const first = watch();
  store.intercept = (request) => {
    if (request.method !== 'POST') return false;
    first.child.kill('SIGKILL');
    return false;
  };
  await first.ended;
  store.intercept = null;
  expect(store.stored).toMatchObject({ language: 'en' });
  expect(recordsOf(data, 'writing')).toMatchObject([{ paths: ['language'] }]);
  expect(recordsOf(data, 'write')).toEqual([]);
  const says = [];
  for (let run = 0; run < 2; run += 1) {
    const before = store.requests.length;
    const next = watch();
    await until(() => store.requests.length > before);
    await until(() => recordsOf(data, 'state').at(-1)?.status === 'in-sync');
    next.child.kill('SIGTERM');
    const { code, stdout, stderr } = await next.ended;
    expect([code, stderr]).toEqual([0, expect.any(String)]);
    says.push(`${stdout}${stderr}`.includes('ended during a write'));
  }
  expect(says).toEqual([true, false]);
  expect(recordsOf(data, 'state').map(({ status }) => status)).toEqual(['drift', 'in-sync']);
  expect([store.posts(), readdirSync(data).includes('journal.jsonl')]).toEqual([1, true]);
  folder.remove();
  await store.close();
});
