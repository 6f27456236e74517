import type { ServerResponse } from 'node:http';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { openController } from '../../../src/controller/watch/open-controller.ts';
import { DEFAULTS } from '../../fixture/store-server.ts';
import { LONG } from '../../fixture/long.ts';
import { onLoopback } from '../../fixture/on-loopback.ts';
import { watchFolder } from '../../fixture/watch-world.ts';
import { until } from '../../fixture/until.ts';

const INTERVAL = 2_000;
/** How long reads are counted, for the baseline and then beside services that are not well. */
const COUNTED = 5 * INTERVAL;
const ANSWER = JSON.stringify({
  ...DEFAULTS,
  language: 'en',
  llm_api_key_set: false,
  search_api_key_set: false,
  provider_tokens_set: {},
});

/** How a service fails to answer; each holds its request for seconds at least. */
const UNWELL: Readonly<Record<string, (response: ServerResponse, url: string) => void>> = {
  'accept and never answer': () => {},
  'drip a byte now and then': (response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    const drip = setInterval(() => response.write(' '), 500);
    response.on('close', () => clearInterval(drip));
  },
  'answer just before the time is over': (response) =>
    void setTimeout(() => answer(response), 9_500),
  'answer in three seconds': (response) => void setTimeout(() => answer(response), 3_000),
  'fail after a second and a half': (response) =>
    void setTimeout(() => response.writeHead(500).end(), 1_500),
  'redirect after a second': (response, url) =>
    void setTimeout(() => response.writeHead(307, { location: url }).end(), 1_000),
  'cut the connection after a while': (response) =>
    void setTimeout(() => response.socket?.destroy(), 1_200),
};
const KINDS = Object.keys(UNWELL);

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

function answer(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(ANSWER);
}

/** A controller of two places over services of their own; `reads` counts those of the healthy. */
async function watching(
  healthy: number,
  kinds: readonly string[],
  { parallel = 2, interval = INTERVAL } = {},
) {
  const times: number[][] = Array.from({ length: healthy }, () => []);
  const world = { reads: 0, isUnwell: false, times };
  const services = await Promise.all([
    ...times.map((own) =>
      onLoopback((_, response) => {
        world.reads += 1;
        own.push(performance.now());
        answer(response);
      }),
    ),
    ...kinds.map((kind) =>
      onLoopback((request, response) => {
        if (world.isUnwell) UNWELL[kind]?.(response, request.url ?? '/');
        else answer(response);
      }),
    ),
  ]);
  const folder = watchFolder();
  const file = join(folder, 'settings.yaml');
  const lines = services.map(({ url }, index) => `  e${index}: { server: { url: "${url}" } }\n`);
  writeFileSync(
    file,
    `version: 1\nsettings: { language: en }\nserver: { dialect: settings-v0 }\nenvironments:\n${lines.join('')}`,
  );
  const stop = new AbortController();
  const controller = openController({
    request: { file, env: {}, signal: stop.signal },
    data: join(folder, 'data'),
    interval,
    parallel,
    abandon: stop.signal,
  });
  await controller.begin();
  const ran = controller.run();
  ends.push(
    () => Promise.all(services.map((service) => service.close())),
    async () => {
      stop.abort();
      await ran;
    },
  );
  await until(() => controller.health.ready);
  expect(controller.states().map(({ plan }) => plan?.error ?? null)).toEqual(
    services.map(() => null),
  );
  return { world, controller };
}

/** How many reads of the healthy there are in the time. */
async function readsIn(world: { readonly reads: number }, time: number): Promise<number> {
  const before = world.reads;
  await new Promise((resolve) => setTimeout(resolve, time));
  return world.reads - before;
}

it('environments whose services answer are read as often as ever beside others', LONG, async () => {
  const { world } = await watching(6, [...KINDS, ...KINDS]);
  const baseline = await readsIn(world, COUNTED);
  world.isUnwell = true;
  const beside = await readsIn(world, COUNTED);
  expect(baseline).toBeGreaterThan(0);
  expect(beside).toBeGreaterThan(baseline / 1.5);
});

const TEN = 10_000;

/** The longest time that one of these was not read, while as many intervals passed. */
async function longestGap(times: readonly number[][], intervals: number): Promise<number> {
  const from = performance.now();
  await new Promise((resolve) => setTimeout(resolve, intervals * TEN));
  const to = performance.now();
  return Math.max(
    ...times.map((own) => {
      const before = own.filter((at) => at < from).at(-1) ?? from;
      const marks = [before, ...own.filter((at) => at >= from), to];
      return Math.max(...marks.slice(1).map((at, index) => at - (marks[index] ?? at)));
    }),
  );
}

it(
  'of 100 environments that are read every 10 s, 90 of which hang, the others keep it',
  LONG,
  async () => {
    const hanging = 90;
    const kinds = Array.from({ length: hanging }, () => 'accept and never answer');
    const { world, controller } = await watching(100 - hanging, kinds, {
      parallel: 8,
      interval: TEN,
    });
    const usual = Math.max(TEN, await longestGap(world.times, 2));
    world.isUnwell = true;
    expect(await longestGap(world.times, 6)).toBeLessThan(1.5 * usual);
    const failed = controller.states().filter(({ found }) => found === 'error');
    expect([failed.length, controller.health.hanging]).toEqual([hanging, hanging]);
  },
);

it(
  'all of 100 environments may hang, which are all found, and read again once they answer',
  LONG,
  async () => {
    const kinds = Array.from({ length: 100 }, () => 'accept and never answer');
    const { world, controller } = await watching(0, kinds, { parallel: 8, interval: TEN });
    world.isUnwell = true;
    await until(() => controller.states().every(({ found }) => found === 'error'));
    world.isUnwell = false;
    await until(() => controller.states().every(({ found }) => found === 'in-sync'));
    await until(() => controller.health.hanging === 0);
  },
);
