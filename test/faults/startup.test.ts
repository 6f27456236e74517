import { createServer, type AddressInfo } from 'node:net';
import type { Dispatcher } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';

import { startEmulator } from '../../src/emulator/start.ts';
import type { SetpointError } from '../../src/reconciler/model/error.ts';
import type { ObservedState } from '../../src/reconciler/model/state.ts';
import { settingsObserver } from '../../src/reconciler/service/settings.ts';
import { fakeClock, type FakeClock } from './fake-clock.ts';
import { answer, rawServer, SETTINGS } from './raw-server.ts';
import { serviceAt, tellsNothing, type ServiceOptions } from './service.ts';

const MINUTES = 60_000;
const HTML = { 'content-type': 'text/html' };
const TEXT = { 'content-type': 'text/plain' };
const HALF = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{';

interface Waited {
  readonly outcome: ObservedState | SetpointError;
  /** What was waited for, in words; null once the service answered. */
  readonly problems: readonly (string | null)[];
  readonly clock: FakeClock;
  /** Milliseconds of the start-up's time that are left. */
  readonly left: number;
  /** By how much the time for the rest of the run was extended. */
  readonly extended: number;
}

/** Reads the settings of a service that is waited for, five minutes by default. */
async function observed(
  url: string,
  {
    wait = 5 * MINUTES,
    signal,
    budget = 120_000,
    ...options
  }: ServiceOptions & { wait?: number; signal?: AbortSignal } = {},
): Promise<Waited> {
  const { connection, clock } = serviceAt(url, options);
  const used = (options.clock as FakeClock | undefined) ?? clock;
  const problems: (string | null)[] = [];
  const startup = { wait, left: wait, onWait: (problem: string | null) => problems.push(problem) };
  const limits = { deadline: used.monotonic() + budget };
  const before = limits.deadline;
  const outcome = await settingsObserver(connection, limits, { startup })
    .observe(signal)
    .catch((error: unknown) => error as SetpointError);
  if (outcome instanceof Error) tellsNothing(outcome);
  const extended = limits.deadline - before;
  return { outcome, problems, clock: used, left: startup.left, extended };
}

/** A port that nobody listens on. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

describe('a service that is starting', () => {
  it('refuses connections until it listens: each read is tried again, and the time for the rest is extended', async () => {
    const port = await freePort();
    const clock = fakeClock();
    const sleeping: FakeClock = {
      ...clock,
      sleep: async (milliseconds, signal) => {
        await clock.sleep(milliseconds, signal);
        if (clock.waits.length !== 6) return;
        const service = await startEmulator({ port });
        onTestFinished(() => service.close());
      },
    };
    const { outcome, problems, left, extended } = await observed(`http://127.0.0.1:${port}`, {
      clock: sleeping,
    });
    expect(outcome).toMatchObject({ stored: false });
    expect(problems).toEqual([
      ...Array.from({ length: 6 }, () => 'the connection was refused'),
      null,
    ]);
    expect(clock.waits).toEqual([500, 750, 1_125, 1_687.5, 2_000, 2_000]);
    const slept = clock.waits.reduce((sum, one) => sum + one, 0);
    expect(left).toBeLessThanOrEqual(5 * MINUTES - slept);
    expect(extended).toBeGreaterThanOrEqual(slept);
  });

  it.each([
    ['502', answer(502, 'canary', TEXT), 'status 502'],
    ['503', answer(503, '', HTML), 'status 503'],
    ['504', answer(504), 'status 504'],
    ['500', answer(500, 'Internal Server Error', TEXT), 'status 500'],
    ['408', answer(408), 'status 408'],
    ['425', answer(425), 'status 425'],
    ['404 of a proxy without a route', answer(404, 'default backend - 404', TEXT), /proxy/],
    ['404 of a proxy, a page', answer(404, '<h1>404</h1>', HTML), /proxy/],
    ['half an answer', HALF, /middle/],
  ])('answers %s, then the settings', async (_, first, words) => {
    const server = await rawServer((socket, __, number) => {
      if (number < 6) socket.end(first);
      else socket.write(answer(200, SETTINGS));
    });
    const { outcome, problems } = await observed(server.url);
    expect(outcome).toMatchObject({ stored: true });
    expect(problems).toHaveLength(7);
    expect(problems[0]).toMatch(words);
    expect(problems.at(-1)).toBeNull();
  });

  it.each(['settings-v0', 'app-server', 'agent-server'] as const)(
    'answers 500 where %s is declared',
    async (dialect) => {
      const server = await rawServer((socket) => socket.write(answer(500, 'canary', TEXT)));
      const { outcome, problems } = await observed(server.url, {
        server: { dialect },
        wait: 9_000,
      });
      expect(problems.slice(0, 3)).toEqual(Array(3).fill('status 500'));
      expect(outcome).toMatchObject({
        code: 'server-error',
        message: expect.stringContaining('was not ready within 9 s'),
      });
    },
  );

  it('closes connections, then answers', async () => {
    const server = await rawServer((socket, _, number) => {
      if (number < 5) socket.destroy();
      else socket.write(answer(200, SETTINGS));
    });
    const { outcome, problems } = await observed(server.url);
    expect(outcome).toMatchObject({ stored: true });
    expect(problems[0]).toBe('the connection was closed before an answer came');
  });

  it('takes connections and does not answer, then does', async () => {
    const server = await rawServer((socket, _, number) => {
      if (number > 1) socket.write(answer(200, SETTINGS));
    });
    const { outcome, problems } = await observed(server.url, { timeout: 100 });
    expect(outcome).toMatchObject({ stored: true });
    expect(problems).toEqual([...Array(2).fill('no answer began within 0.1 s'), null]);
  });

  it.each([
    ['ENOTFOUND', 'the host name is unknown (ENOTFOUND)'],
    ['EAI_AGAIN', 'the host name could not be resolved just now (EAI_AGAIN)'],
    ['EHOSTUNREACH', 'there is no route to the host'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'the certificate of the service is self-signed'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'the certificate of the service is for another name'],
    ['ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR', 'no trusted TLS connection could be made'],
  ])('is not there yet by %s', async (code, words) => {
    const { outcome, problems, clock } = await observed('http://127.0.0.1:9', {
      dispatcher: failing(code),
      wait: MINUTES,
    });
    expect(problems[0]).toContain(words);
    expect(clock.waits.length).toBeGreaterThan(10);
    const { message } = outcome as SetpointError;
    expect(message).toMatch(/^The service was not ready within 60 s\. .+: GET http:/);
    expect(message.toLowerCase()).toContain(words.toLowerCase());
  });

  it('says when to come back: Retry-After is the wait, also above a minute', async () => {
    const server = await rawServer((socket, _, number) =>
      socket.write(number === 0 ? answer(503, '', { 'retry-after': '90' }) : answer(200, SETTINGS)),
    );
    const { outcome, clock } = await observed(server.url);
    expect(outcome).toMatchObject({ stored: true });
    expect(clock.waits).toEqual([90_000]);
  });

  it('says to come back later than it is waited for: that is the end at once', async () => {
    const server = await rawServer((socket) =>
      socket.write(answer(503, '', { 'retry-after': '600' })),
    );
    const { outcome, clock } = await observed(server.url);
    expect(outcome).toMatchObject({
      code: 'server-error',
      message: expect.stringMatching(
        /^The service will not be ready within 300 s\. .*, retry after 600 s \(status 503\): GET \S+\.$/,
      ),
    });
    expect(clock.waits).toEqual([]);
  });
});

describe('what is not waited for', () => {
  it.each([
    ['the service without the path', answer(404, '{"detail":"Not Found"}'), 'not-this-service'],
    ['another api', answer(404, '{"message":"canary"}'), 'not-this-service'],
    ['a web page', answer(200, '<html></html>', HTML), 'not-this-service'],
    ['a redirect', answer(302, '', { location: '/login' }), 'not-this-service'],
    ['a refused key', answer(401, '{"detail":"Unauthorized"}'), 'unauthorized'],
    ['another shape', answer(200, '{"canary":1}'), 'not-this-service'],
    ['JSON that is cut off', answer(200, '{"canary'), 'bad-response'],
  ])('%s', async (_, reply, code) => {
    const server = await rawServer((socket) => socket.write(reply));
    const { outcome, problems } = await observed(server.url);
    expect(outcome).toMatchObject({ code });
    expect(problems).toEqual([]);
  });

  it.each([
    'CERT_HAS_EXPIRED',
    'SELF_SIGNED_CERT_IN_CHAIN',
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    'ERR_SSL_WRONG_VERSION_NUMBER',
  ])('%s', async (code) => {
    const { outcome, problems } = await observed('http://127.0.0.1:9', {
      dispatcher: failing(code),
    });
    expect(outcome).toMatchObject({ code: 'tls' });
    expect(problems).toEqual([]);
  });

  it('a refused key of a service that has just come up', async () => {
    const server = await rawServer((socket, _, number) =>
      socket.write(number < 3 ? answer(503) : answer(401, '{}')),
    );
    const { outcome } = await observed(server.url);
    expect(outcome).toMatchObject({ code: 'unauthorized', exitCode: 4 });
  });
});

describe('the time', () => {
  it('ends the wait: the last problem is the error, by its own code', async () => {
    const server = await rawServer((socket, _, number) =>
      number < 5 ? socket.destroy() : socket.write(answer(503, 'canary')),
    );
    const { outcome, clock, left } = await observed(server.url, { wait: 30_000 });
    expect(outcome).toMatchObject({
      code: 'server-error',
      exitCode: 1,
      hint: "Check the service's logs.",
    });
    expect((outcome as SetpointError).message).toMatch(
      /^The service was not ready within 30 s\. The service answered with an error \(status 503\): GET http:\S+\.$/,
    );
    const slept = clock.waits.reduce((sum, one) => sum + one, 0);
    expect(slept).toBeGreaterThan(25_000);
    expect(slept).toBeLessThanOrEqual(30_000);
    expect(left).toBeLessThanOrEqual(500);
  });

  it('is that of all reads: a restart in the middle has what the start has left', async () => {
    let down = true;
    const server = await rawServer((socket) =>
      down ? socket.destroy() : socket.write(answer(200, SETTINGS)),
    );
    const clock = fakeClock();
    const until = (waits: number) => ({
      ...clock,
      sleep: async (milliseconds: number, signal?: AbortSignal) => {
        await clock.sleep(milliseconds, signal);
        if (clock.waits.length === waits) down = false;
      },
    });
    const { connection } = serviceAt(server.url, { clock: until(8) });
    const startup = { wait: 20_000, left: 20_000, onWait: () => {} };
    const observer = settingsObserver(connection, { deadline: Infinity }, { startup });
    await observer.observe();
    const { left } = startup;
    expect(left).toBeLessThan(9_000);
    await observer.observe();
    expect(left - startup.left).toBeLessThan(5_000);
    down = true;
    await expect(observer.observe()).rejects.toMatchObject({ code: 'unreachable' });
    expect(clock.waits.slice(8).reduce((sum, one) => sum + one, 0)).toBeLessThan(9_000);
  });

  it('is not what a request takes that is answered: the usual one has its usual time', async () => {
    const server = await rawServer((socket) =>
      setTimeout(() => socket.write(answer(200, SETTINGS)), 300),
    );
    const { outcome } = await observed(server.url, { wait: 50 });
    expect(outcome).toMatchObject({ stored: true });
  });
});

it.each([
  ['SIGINT', 'interrupted'],
  ['SIGTERM', 'interrupted'],
])('%s ends a wait at once', async (reason, code) => {
  const stop = new AbortController();
  const clock = fakeClock();
  const stopping: FakeClock = {
    ...clock,
    sleep: (milliseconds, signal) => {
      if (clock.waits.length === 2) stop.abort(reason);
      return clock.sleep(milliseconds, signal);
    },
  };
  const { outcome } = await observed('http://127.0.0.1:9', {
    clock: stopping,
    signal: stop.signal,
  });
  expect(outcome).toMatchObject({ code });
  expect(clock.waits).toHaveLength(3);
});

/** A network on which every connection fails with that code. */
function failing(code: string): Dispatcher {
  const dispatch: Dispatcher['dispatch'] = (_, handler) => {
    const error = Object.assign(new Error(`canary ${code}`), { code });
    queueMicrotask(() => handler.onResponseError?.(null as never, error));
    return true;
  };
  return { dispatch } as Dispatcher;
}
