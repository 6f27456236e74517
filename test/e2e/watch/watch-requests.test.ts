import { expect, it } from 'vitest';
import { createMetrics } from '../../../src/controller/watch/telemetry/metrics.ts';
import { startStore } from '../../fixture/store-server.ts';
import { MINUTE, settingsFile, startWatching, watchFolder } from '../../fixture/watch-world.ts';
import { LONG } from '../../fixture/long.ts';

it('counts every request to services by method and answer: reads, heals, those that fail, and those that nobody answers', async () => {
  const store = await startStore({}, { language: 'de' });
  const folder = watchFolder();
  settingsFile(
    folder,
    `version: 1
settings: { language: en }
watch: { mode: heal, interval: 1m }
environments: { one: { server: { url: "${store.url}" } }, gone: { server: { url: "http://127.0.0.1:1" } } }
`,
  );
  const answered = new Map<string, number>();
  store.intercept = (request, response, _proceed, count) => {
    const code = count === 2 ? 500 : 200;
    const key = `method="${request.method}",code="${code}"`;
    answered.set(key, (answered.get(key) ?? 0) + 1);
    if (code === 500) response.writeHead(500).end('{}');
    return code === 500;
  };
  const watch = startWatching({ folder });
  const metrics = createMetrics(watch.controller);
  await watch.pass(10 * MINUTE);
  const { text } = await metrics.text({ perEnvironment: false });
  const counts = [...text.matchAll(/^setpoint_requests_total\{(.*)\} (\d+)$/gm)].map(
    ([, labels = '', count]) => [labels, Number(count)] as const,
  );
  const unanswered = counts.filter(([labels]) => labels.includes('"error"'));
  expect(unanswered).toEqual([['method="GET",code="error"', expect.any(Number)]]);
  expect(unanswered[0]?.[1]).toBeGreaterThan(1);
  const others = counts.filter(([labels]) => !labels.includes('"error"'));
  expect(Object.fromEntries(others)).toEqual(Object.fromEntries(answered));
  expect(answered.get('method="POST",code="200"')).toBe(1);
  expect(answered.get('method="GET",code="500"')).toBe(1);
  metrics.close();
  await watch.stop();
  await store.close();
});

it(
  'says which environments its shard has when it reads the files, and not at each read of one',
  LONG,
  async () => {
    const store = await startStore({}, { language: 'en' });
    const folder = watchFolder();
    settingsFile(
      folder,
      `version: 1
server: { url: "${store.url}" }
settings: { language: en }
environments: { one: {}, two: {} }
`,
    );
    const said: string[] = [];
    const request = {
      shard: { index: 0, count: 1 },
      onSelected: (own: number, chosen: number) => void said.push(`${own} of ${chosen}`),
    };
    const watch = startWatching({ folder, request });
    await watch.pass(30 * MINUTE);
    expect(said).toEqual(['2 of 2']);
    await watch.stop();
    await store.close();
  },
);
