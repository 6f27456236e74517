import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

import { answer, rawServer, SETTINGS } from './raw-server.ts';
import { failure, KEY, serviceAt, written } from './service.ts';
import { tunnel } from './tunnel.ts';
import { readProxyVariables } from '../../src/reconciler/service/network.ts';

const file = (name: string) => readFileSync(new URL(`certs/${name}`, import.meta.url), 'utf8');
const ca = file('ca.pem');

function secured() {
  return rawServer((socket) => socket.write(answer(200, SETTINGS)), {
    key: file('server.key'),
    cert: file('server.pem'),
  });
}

describe('a proxy', () => {
  it('carries https to another host as a tunnel, and sees no key', async () => {
    const server = await secured();
    const proxy = await rawServer((socket) => tunnel(socket, server.port));
    const url = proxy.url.replace('http://', 'http://user:canary@');
    const service = serviceAt('https://agents.example.test', { ca, proxy: { url, bypass: null } });
    await expect(service.observer.observe()).resolves.toMatchObject({ stored: true });
    expect(proxy.requests).toHaveLength(1);
    expect(proxy.requests[0]).toMatch(/^CONNECT agents\.example\.test:443 /);
    expect(proxy.requests[0]).not.toContain(KEY);
    expect(server.requests[0]).toContain(KEY);
    expect(service.connection.requests.get).toBe(1);
  });

  it('takes an address without a scheme', async () => {
    const server = await secured();
    const proxy = await rawServer((socket) => tunnel(socket, server.port));
    const service = serviceAt('https://agents.example.test', {
      ca,
      proxy: { url: `127.0.0.1:${proxy.port}`, bypass: '' },
    });
    await expect(service.observer.observe()).resolves.toMatchObject({ stored: true });
  });

  it.each(['127.0.0.1', 'localhost'])('is never asked about %s', async (host) => {
    const server = await secured();
    const proxy = await rawServer((socket) => tunnel(socket, server.port));
    const service = serviceAt(`https://${host}:${server.port}`, {
      ca,
      proxy: { url: proxy.url, bypass: null },
    });
    await expect(service.observer.observe()).resolves.toMatchObject({ stored: true });
    expect(proxy.connections()).toBe(0);
  });

  it('is bypassed if NO_PROXY names the host', async () => {
    const proxy = await rawServer(() => {});
    const service = serviceAt('https://agents.example.invalid', {
      proxy: { url: proxy.url, bypass: 'x.example, .example.invalid' },
      timeout: 300,
    });
    expect((await failure(service)).code).toMatch(/unreachable|timed-out/);
    expect(proxy.connections()).toBe(0);
  });

  it.each([
    [407, false, 1],
    [403, false, 1],
    [503, true, 4],
  ])('that answers %s: retry %s', async (status, retry, tries) => {
    const proxy = await rawServer((socket) =>
      socket.end(`HTTP/1.1 ${status} canary\r\ncontent-length: 0\r\n\r\n`),
    );
    const url = proxy.url.replace('http://', 'http://user:canary@');
    const service = serviceAt('https://agents.example.test', { proxy: { url, bypass: null } });
    const error = await failure(service);
    expect(error.code).toBe('unreachable');
    expect(error.message).toContain(
      `The proxy of HTTPS_PROXY refused the tunnel (status ${status})`,
    );
    expect(proxy.requests).toHaveLength(tries);
    await expect(written(service)).resolves.toMatchObject({ kind: 'not-applied', retry });
  });

  it('that cuts every connection is asked once a try, and not as fast as it goes', async () => {
    const proxy = await rawServer((socket) => socket.destroy());
    const service = serviceAt('https://agents.example.test', {
      proxy: { url: proxy.url, bypass: null },
    });
    const error = await failure(service);
    expect(error.code).toBe('unreachable');
    expect(error.message).toContain('4 tries in all');
    expect(proxy.connections()).toBeLessThanOrEqual(4);
  });

  it('that is not there: hints at it', async () => {
    const service = serviceAt('https://agents.example.test', {
      proxy: { url: 'http://user:canary@127.0.0.1:9', bypass: null },
    });
    const error = await failure(service);
    expect(error.code).toBe('unreachable');
    expect(error.hint).toContain('HTTPS_PROXY');
  });

  it('of SOCKS is refused with what to do, unless the service is reached without it', async () => {
    const proxy = { url: 'socks5h://canary@127.0.0.1:9', bypass: 'other.example.test' };
    expect(() => serviceAt('https://agents.example.test', { proxy })).toThrow(
      /a SOCKS proxy, which/,
    );
    const server = await secured();
    const service = serviceAt(server.url, { ca, proxy });
    await expect(service.observer.observe()).resolves.toMatchObject({ stored: true });
    expect(() => serviceAt('https://other.example.test', { proxy })).not.toThrow();
  });

  it.each([
    [
      { HTTPS_PROXY: 'a', ALL_PROXY: 'b', NO_PROXY: 'c' },
      { url: 'a', bypass: 'c' },
    ],
    [{ ALL_PROXY: 'b' }, { url: 'b', bypass: null }],
    [
      { all_proxy: 'b', no_proxy: 'c' },
      { url: 'b', bypass: 'c' },
    ],
    [
      { HTTPS_PROXY: '', ALL_PROXY: 'b' },
      { url: '', bypass: null },
    ],
    [
      { HTTP_PROXY: 'd', http_proxy: 'd' },
      { url: null, bypass: null },
    ],
  ])('is the one that %o name', (env, expected) => {
    expect(readProxyVariables(env)).toEqual(expected);
  });

  it.each(['ftp://canary', 'http://', 'http://canary:x y'])('cannot be at %s', (url) => {
    expect(() =>
      serviceAt('https://agents.example.test', { proxy: { url, bypass: null } }),
    ).toThrow(/^HTTPS_PROXY or ALL_PROXY is not the address of a proxy/);
  });
});
