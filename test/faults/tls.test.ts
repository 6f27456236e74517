import { readFileSync } from 'node:fs';
import { afterEach, expect, it, vi } from 'vitest';

import { answer, rawServer, SETTINGS, type RawServer } from './raw-server.ts';
import { failure, serviceAt, written } from './service.ts';
import { greeter, tunnel } from './tunnel.ts';

const file = (name: string) => readFileSync(new URL(`certs/${name}`, import.meta.url), 'utf8');
const ca = file('ca.pem');

afterEach(() => void vi.unstubAllEnvs());

function secured(certificate: string): Promise<RawServer> {
  return rawServer((socket) => socket.write(answer(200, SETTINGS)), {
    key: file('server.key'),
    cert: file(certificate),
  });
}

it('trusts the authority it was given', async () => {
  const server = await secured('server.pem');
  await expect(serviceAt(server.url, { ca }).observer.observe()).resolves.toMatchObject({
    stored: true,
  });
});

it.each([
  ['self-signed.pem', ca, 'is self-signed (DEPTH_ZERO_SELF_SIGNED_CERT)', /ca_file/],
  ['server.pem', null, 'is not trusted here (UNABLE_TO_VERIFY_LEAF_SIGNATURE)', /ca_file/],
  ['expired.pem', ca, 'has expired (CERT_HAS_EXPIRED)', /clock/],
  ['future.pem', ca, 'is not valid yet (CERT_NOT_YET_VALID)', /clock/],
  ['wrong-name.pem', ca, 'is for another name (ERR_TLS_CERT_ALTNAME_INVALID)', /name/],
])('refuses %s, once, and sends nothing', async (certificate, authority, words, hint) => {
  const server = await secured(certificate);
  const service = serviceAt(server.url, { ca: authority });
  const error = await failure(service);
  expect(error).toMatchObject({ code: 'tls', exitCode: 1 });
  expect(error.message).toContain(words);
  expect(error.hint).toMatch(hint);
  expect(service.clock.waits).toEqual([]);
  await expect(written(service)).resolves.toMatchObject({
    kind: 'not-applied',
    retry: false,
    error: { code: 'tls' },
  });
  expect(server.requests).toHaveLength(0);
  expect(service.connection.requests).toEqual({ get: 0, post: 0 });
});

it('reports it if nothing answers in TLS', async () => {
  const server = await greeter();
  const error = await failure(serviceAt(server));
  expect(error.code).toBe('tls');
  expect(error.message).toContain('does not use TLS');
});

it('names the connection if the handshake hangs', async () => {
  const server = await rawServer(() => {});
  const error = await failure(serviceAt(server.url.replace('http:', 'https:'), { timeout: 60 }));
  expect(error.code).toBe('timed-out');
  expect(error.message).toContain('No connection was made');
});

it('refuses a CA file with nonsense in it, at the first request', async () => {
  const nonsense = '-----BEGIN CERTIFICATE-----\ncanary\n-----END CERTIFICATE-----\n';
  const error = await failure(serviceAt('https://127.0.0.1:9', { ca: nonsense }));
  expect(error.code).toBe('file-unreadable');
});

it('M20: NODE_TLS_REJECT_UNAUTHORIZED switches nothing off but on this machine', async () => {
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
  const server = await secured('self-signed.pem');
  const proxy = await rawServer((socket) => tunnel(socket, server.port));
  const service = serviceAt('https://agents.example.test', {
    proxy: { url: proxy.url, bypass: null },
  });
  expect((await failure(service)).code).toBe('tls');
  expect(server.requests).toHaveLength(0);
});
