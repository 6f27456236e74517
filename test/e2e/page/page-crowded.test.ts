import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { serveProbes, servePage } from '../../../src/controller/page/serve-page.ts';
import { Secret } from '../../../src/reconciler/model/secret.ts';
import { Events, SetClock, startPage, TOKEN } from '../../fixture/page.ts';
import { longWatched } from '../../fixture/watched-fleet.ts';
import { MadeUpWatching } from '../../fixture/watching.ts';
import { LONG, describeEach, itEach } from '../../fixture/long.ts';

const ATTEMPTS = 1500;

/** Opens connections that send half a request, and keeps them open as long as the other side does. */
async function crowd(url: string, begun: string, localAddress = '127.0.0.1'): Promise<void> {
  const sockets: Socket[] = [];
  onTestFinished(() => sockets.forEach((socket) => void socket.destroy()));
  const { port } = new URL(url);
  const opened = Array.from({ length: ATTEMPTS }, () => {
    const socket = connect({ port: Number(port), host: '127.0.0.1', localAddress });
    sockets.push(socket);
    return new Promise<void>((resolve) => {
      const tried = (): void => resolve();
      socket.on('error', tried).on('close', tried);
      socket.on('connect', () => socket.write(begun, tried));
    });
  });
  await Promise.all(opened);
}

const HALVES: readonly (readonly [string, string])[] = [
  ['nothing', ''],
  ['half a head', 'GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: '],
  [
    'half a form',
    'POST /login HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: same-origin\r\nContent-Length: 99\r\n\r\nt',
  ],
];

function statusOf(url: string, path: string, host = 'localhost'): Promise<number | string> {
  return new Promise((resolve) => {
    const asked = request(url + path, { agent: false, headers: { host } }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0));
    });
    asked.on('error', ({ message }) => resolve(message)).end();
  });
}

describeEach(HALVES, (_, index) => index === 1)(
  'a client that opens more connections than there are and sends %s',
  (_, half) => {
    it('keeps nobody from the health of the page, wherever they come from', async () => {
      const { page, ask } = await startPage([longWatched()]);
      await crowd(page.url, half);
      for (let times = 0; times < 20; times += 1)
        expect(await statusOf(page.url, '/healthz')).toBe(200);
      expect((await ask('/')).status).toBe(200);
    });

    it('keeps nobody from a page with TLS', LONG, async () => {
      const cert = (name: string): string =>
        readFileSync(new URL(`../../faults/certs/${name}`, import.meta.url), 'utf8');
      const tls = { cert: cert('server.pem'), key: new Secret(cert('server.key')) };
      const { page, ask } = await startPage([longWatched()], { tls });
      await crowd(page.url, half);
      for (let times = 0; times < 5; times += 1) expect((await ask('/healthz')).status).toBe(200);
    });
  },
);

it('a connection whose whole request is being answered stays; the client with most connections loses its own', async () => {
  const { page, open, watching } = await startPage([longWatched()]);
  const events = new Events();
  open('/events', {}, (response) => events.take(response)).on('error', () => {});
  await events.until(({ all }) => all.length > 0);
  await crowd(
    page.url,
    'GET / HTTP/1.1\r\n',
    process.platform === 'linux' ? '127.0.0.2' : undefined,
  );
  watching.set('production', { status: 'drift' });
  await events.until(({ all }) => all.length > 1);
  expect(events.ended).toBe(false);
});

describe('probes', () => {
  async function probes(metrics: (() => Promise<{ type: string; text: string }>) | null = null) {
    const watching = new MadeUpWatching(longWatched());
    const clock = new SetClock();
    const failed = (): void => {};
    const door = await serveProbes(watching, {
      host: '127.0.0.1',
      port: 0,
      clock,
      failed,
      metrics,
    });
    onTestFinished(() => door.close());
    return { door, watching, clock };
  }

  it('have health on a port of their own, and metrics only if that is asked for', async () => {
    const { door, clock } = await probes();
    const paths = [
      '/healthz',
      '/readyz',
      '/metrics',
      '/',
      '/api/environments',
      '/login',
      '/events',
    ];
    const statuses = await Promise.all(paths.map((path) => statusOf(door.url, path)));
    expect(statuses).toEqual([200, 200, 404, 404, 404, 404, 404]);
    clock.pass(60_000);
    expect(await statusOf(door.url, '/healthz')).toBe(503);
    const measured = await probes(async () => ({ type: 'text/plain', text: 'a 1\n' }));
    expect(await statusOf(measured.door.url, '/metrics')).toBe(200);
    // Another site's name that resolves to this machine reads nothing.
    expect(await statusOf(measured.door.url, '/metrics', 'evil.example')).toBe(421);
  });

  itEach(HALVES, (_, index) => index === 0)(
    'answer while one client fills their port and that of the page with %s',
    async (_, half) => {
      const { door, watching, clock } = await probes();
      const page = await servePage(watching, {
        host: '127.0.0.1',
        port: 0,
        publicOrigin: null,
        token: new Secret(TOKEN),
        tls: null,
        allowActions: false,
        metrics: null,
        failed: () => {},
        clock,
      });
      onTestFinished(() => page.close());
      await Promise.all([crowd(page.url, half), crowd(door.url, half)]);
      for (let times = 0; times < 20; times += 1)
        expect(await statusOf(door.url, '/healthz')).toBe(200);
    },
  );
});
