import { describe, expect, it } from 'vitest';
import { apply, plan } from '../../src/index.ts';
import type { Options } from '../../src/reconciler/operations/options.ts';
import {
  countingAll,
  jumpingTime,
  limitingServer,
  slidingWindow,
  tokenBucket,
  type Limiter,
  type LimitingServer,
} from '../fixture/limiting-server.ts';
import { itEach, LONG } from '../fixture/long.ts';
import { SYSTEM_CLOCK } from '../../src/reconciler/host/this-process.ts';

/** Environments of their own paths on the servers, in turn. */
function fleet(servers: readonly LimitingServer[], count: number, language = 'en'): string {
  const lines = Array.from({ length: count }, (_, number) => {
    const server = servers[number % servers.length];
    return `  e${number}: { server: { url: '${server?.url}/e${number}' } }\n`;
  });
  return `version: 1\nsettings: { language: ${language} }\nenvironments:\n${lines.join('')}`;
}

type Given = Pick<Options, 'clock' | 'dispatcher' | 'parallel' | 'timeout' | 'signal'>;

/** The options of an operation, without what a clock of the test tells. */
function given(options: Given & { readonly passed?: unknown }): Given {
  const { clock, dispatcher, parallel, timeout, signal } = options;
  return Object.fromEntries(
    Object.entries({ clock, dispatcher, parallel, timeout, signal }).filter(
      ([, value]) => value !== undefined,
    ),
  );
}

async function statuses(text: string, options: Given) {
  const { environments } = await plan({ text, env: {}, ...given(options) });
  return environments.map(({ status, error }) => error?.code ?? status);
}

const all = (count: number, word: string) => Array.from({ length: count }, () => word);

/** Limits, the seconds that 200 requests take at least, and the refusals that are allowed besides one for each of 32 that are under way. */
const LIMITS: readonly [string, () => Limiter, number, number][] = [
  ['10 a second, in bursts of 20', () => tokenBucket(10, 20), 18, 40],
  ['10 a second, in bursts of 20, with Retry-After', () => tokenBucket(10, 20, '1'), 18, 40],
  ['100 a minute, with Retry-After', () => slidingWindow(100, 60_000, true), 60, 40],
  ['100 a minute, without it', () => slidingWindow(100, 60_000, false), 60, 60],
  ['20 a second, where refused requests count', () => countingAll(20), 9, 40],
];

describe('environments of one origin that limits requests', () => {
  itEach(LIMITS, (_, index) => index === 1 || index === 4)(
    '%s: all are read, in about the least time',
    async (_, limiter, floor, more) => {
      const time = jumpingTime();
      const server = await limitingServer(limiter(), time.clock);
      expect(await statuses(fleet([server], 200), time)).toEqual(all(200, 'in-sync'));
      expect(server.taken).toHaveLength(200);
      expect(server.refused.length).toBeLessThan(32 + more);
      expect(time.passed() / 1000).toBeLessThan(2 * floor);
    },
  );

  it('fewer are refused than if each environment waited for itself', LONG, async () => {
    const [time, own] = [jumpingTime(), jumpingTime()];
    const [shared, alone] = [
      await limitingServer(tokenBucket(10, 20), time.clock),
      await limitingServer(tokenBucket(10, 20), own.clock),
    ];
    await statuses(fleet([shared], 60), time);
    // Runs of their own share nothing.
    await Promise.all(
      Array.from({ length: 60 }, async (_, number) =>
        statuses(
          `version: 1\nserver: { url: '${alone.url}/e${number}' }\nsettings: { language: en }\n`,
          own,
        ),
      ),
    );
    expect(shared.refused.length).toBeLessThan(alone.refused.length);
  });

  it('in real time: a limit of 100 a second', LONG, async () => {
    const server = await limitingServer(tokenBucket(100, 20), SYSTEM_CLOCK);
    expect(await statuses(fleet([server], 150), {})).toEqual(all(150, 'in-sync'));
    expect(server.refused.length).toBeLessThan(100);
  });

  // A machine that stalls for half a second makes one run slow; a pace that is slow by itself is so each time.
  it(
    'in real time: a high limit with a small burst is found soon, and seldom exceeded',
    { retry: 3, ...LONG },
    async () => {
      const seconds = async (server: LimitingServer) => {
        const begun = performance.now();
        expect(await statuses(fleet([server], 300), {})).toEqual(all(300, 'in-sync'));
        return (performance.now() - begun) / 1000;
      };
      // What the requests take by themselves, on a machine that may be busy.
      const own = await seconds(await limitingServer(() => null, SYSTEM_CLOCK));
      const server = await limitingServer(tokenBucket(100, 5), SYSTEM_CLOCK);
      const floor = (300 - 5) / 100;
      expect((await seconds(server)) / (floor + own)).toBeLessThan(2);
      expect(server.refused.length).toBeLessThan(32 + 30);
    },
  );

  it('a server without limits sees no wait', async () => {
    const time = jumpingTime();
    const server = await limitingServer(() => null, time.clock);
    expect(await statuses(fleet([server], 200), time)).toEqual(all(200, 'in-sync'));
    expect(time.passed()).toBe(0);
  });

  it('does not slow another origin', async () => {
    const time = jumpingTime();
    const limited = await limitingServer(() => '60', time.clock);
    const free = await limitingServer(() => null, time.clock);
    const found = await statuses(fleet([limited, free], 40), { ...time, timeout: 10_000 });
    expect(found.filter((_, number) => number % 2 === 1)).toEqual(all(20, 'in-sync'));
    expect(found.filter((_, number) => number % 2 === 0)).toEqual(all(20, 'rate-limited'));
    expect(free.refused).toEqual([]);
  });

  it('environments are read in their order', async () => {
    const time = jumpingTime();
    const server = await limitingServer(tokenBucket(2, 1), time.clock);
    await statuses(fleet([server], 12), { ...time, parallel: 12 });
    const order = server.taken.map((asked) => Number(/e(\d+)/.exec(asked)?.[1]));
    // The first to be taken was under way before there was an order.
    // Two that are sent one right after the other, on connections of their own, may arrive the other way round.
    const sorted = order.slice(1).toSorted((one, other) => one - other);
    const moved = order.slice(1).map((number, place) => Math.abs(sorted.indexOf(number) - place));
    expect(Math.max(...moved)).toBeLessThanOrEqual(1);
  });

  it('503 with Retry-After is waited for by all', async () => {
    const time = jumpingTime();
    const until = time.clock.monotonic() + 5_000;
    const server = await limitingServer((now) => (now < until ? '5' : null), time.clock, {
      status: 503,
    });
    expect(await statuses(fleet([server], 30), { ...time, parallel: 4 })).toEqual(
      all(30, 'in-sync'),
    );
    expect(server.refused.length).toBeLessThanOrEqual(4);
  });
});

describe('a service that refuses everything', () => {
  it.each([
    ['with Retry-After: 1', '1'],
    ['without it', ''],
  ])('%s: each environment ends within its time, and what follows at once', async (_, after) => {
    const time = jumpingTime();
    const server = await limitingServer(() => after, time.clock);
    const { environments } = await plan({ text: fleet([server], 300), env: {}, ...given(time) });
    expect(environments.map(({ error }) => error?.code)).toEqual(all(300, 'rate-limited'));
    expect(environments[0]?.error?.message).toMatch(
      /^The service limits requests.*: GET http:\/\/127\.0\.0\.1:\d+\/e0\/api\/settings/,
    );
    expect(environments[299]?.error?.message).toMatch(
      /was not sent: the service limits requests, and has refused all of them for 1\d\d(\.\d)? s \(status 429\)\.$/,
    );
    expect(environments[299]?.error?.hint).toContain('--timeout');
    expect(time.passed()).toBeLessThan(200_000);
    expect(server.refused.length).toBeLessThan(32 + 150);
  });

  it('for an hour: nobody waits', async () => {
    const time = jumpingTime();
    const server = await limitingServer(() => '3600', time.clock);
    const found = await statuses(fleet([server], 50), { ...time, parallel: 4 });
    expect(found).toEqual(all(50, 'rate-limited'));
    expect(time.passed()).toBe(0);
    expect(server.refused.length).toBeLessThanOrEqual(4);
  });

  it('a stop ends the wait at once', async () => {
    const server = await limitingServer(() => '50', SYSTEM_CLOCK);
    const stop = new AbortController();
    const running = statuses(fleet([server], 20), { parallel: 4, signal: stop.signal });
    await expect.poll(() => server.refused.length).toBeGreaterThan(0);
    stop.abort('SIGTERM');
    expect(await running).toEqual(all(20, 'terminated'));
    expect(server.refused.length).toBeLessThanOrEqual(4);
  });
});

describe('an apply over environments of one limited origin', () => {
  itEach([1, 8], (parallel) => parallel > 1)(
    '%s at a time: all are written once, and verified',
    async (parallel) => {
      const time = jumpingTime();
      const server = await limitingServer(tokenBucket(10, 20, '1'), time.clock);
      const { environments } = await apply({
        text: fleet([server], 40, 'fr'),
        env: {},
        ...given(time),
        parallel,
        all: true,
      });
      expect(environments.map(({ status }) => status)).toEqual(all(40, 'applied'));
      expect(server.taken.filter((asked) => asked.startsWith('POST'))).toHaveLength(40);
      expect([...server.stored.values()]).toEqual(
        Array.from({ length: 40 }, () => expect.objectContaining({ language: 'fr' })),
      );
    },
  );

  it('writes alone are refused at first: each is sent again after another look', async () => {
    const time = jumpingTime();
    const seen = new Set<string>();
    const server = await limitingServer(() => '1', time.clock, {
      limits: ({ method, url = '' }) => {
        if (method !== 'POST' || seen.has(url)) return false;
        seen.add(url);
        return true;
      },
    });
    const { environments } = await apply({
      text: fleet([server], 5, 'fr'),
      env: {},
      ...given(time),
      all: true,
    });
    expect(environments.map(({ status }) => status)).toEqual(all(5, 'applied'));
    expect(server.stored.size).toBe(5);
  });
});
