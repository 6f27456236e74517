import { once } from 'node:events';
import { brotliCompressSync, createGzip, deflateSync, gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';

import { answer, rawServer, SETTINGS } from './raw-server.ts';
import { failure, serviceAt, tellsNothing } from './service.ts';

async function bombOf(bytes: number): Promise<Buffer> {
  const gzip = createGzip({ level: 9 });
  const chunks: Buffer[] = [];
  gzip.on('data', (chunk: Buffer) => chunks.push(chunk));
  const zeros = Buffer.alloc(1_048_576);
  for (let written = 0; written < bytes; written += zeros.length) {
    if (!gzip.write(zeros)) await once(gzip, 'drain');
  }
  gzip.end();
  await once(gzip, 'end');
  return Buffer.concat(chunks);
}

function answering(body: string | Uint8Array, headers: Readonly<Record<string, string>> = {}) {
  return rawServer((socket) => socket.write(answer(200, body, headers)));
}

it.each([
  ['gzip', gzipSync(SETTINGS)],
  ['x-gzip', gzipSync(SETTINGS)],
  ['deflate', deflateSync(SETTINGS)],
  ['br', brotliCompressSync(SETTINGS)],
  ['identity', SETTINGS],
])('reads %s, requested or not', async (encoding, body) => {
  const server = await answering(body, { 'content-encoding': encoding });
  await expect(serviceAt(server.url).observer.observe()).resolves.toMatchObject({ stored: true });
});

it('M14: cuts a gzip bomb of 200 MB', async () => {
  const server = await answering(await bombOf(200 * 1_048_576), { 'content-encoding': 'gzip' });
  const before = process.memoryUsage().rss;
  const error = await failure(serviceAt(server.url));
  expect(error.code).toBe('bad-response');
  expect(process.memoryUsage().rss - before).toBeLessThan(100 * 1_048_576);
  expect(server.requests).toHaveLength(1);
});

it.each([
  'gzip, gzip',
  'gzip,br',
  'gzip, identity, gzip, gzip, gzip, gzip, gzip',
  'zstd',
  'canary',
])('M14: refuses %s, however small', async (encoding) => {
  const bomb = gzipSync(await bombOf(8 * 1_048_576), { level: 9 });
  const server = await answering(bomb, { 'content-encoding': encoding });
  expect((await failure(serviceAt(server.url))).code).toBe('bad-response');
  expect(server.requests).toHaveLength(1);
});

it('M14: reads a doubly packed body that owns to one layer as no json', async () => {
  const bomb = gzipSync(await bombOf(8 * 1_048_576), { level: 9 });
  const server = await answering(bomb, { 'content-encoding': 'gzip' });
  expect((await failure(serviceAt(server.url))).code).toBe('bad-response');
});

it('tries once more if a packed body cannot be unpacked', async () => {
  const server = await answering(gzipSync(SETTINGS).subarray(0, 30), {
    'content-encoding': 'gzip',
  });
  expect((await failure(serviceAt(server.url))).code).toBe('bad-response');
  expect(server.requests).toHaveLength(2);
});

it('cuts a body without end', async () => {
  let sent = 0;
  const server = await rawServer((socket) => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n');
    const more = () => {
      while (!socket.destroyed && socket.write(Buffer.alloc(65_536, ' '))) sent += 65_536;
    };
    socket.on('drain', more);
    more();
  });
  expect((await failure(serviceAt(server.url))).code).toBe('bad-response');
  expect(sent).toBeLessThan(64 * 1_048_576);
  expect(server.requests).toHaveLength(1);
});

it('takes a body of exactly 1 MiB, and not a byte more', async () => {
  const padded = SETTINGS.padEnd(1_048_576);
  const fitting = await answering(padded);
  await expect(serviceAt(fitting.url).observer.observe()).resolves.toMatchObject({ stored: true });
  const larger = await answering(`${padded} `);
  expect((await failure(serviceAt(larger.url))).code).toBe('bad-response');
});

it('cuts headers of 1 MB', async () => {
  const server = await answering(SETTINGS, { 'x-canary': 'canary'.repeat(170_000) });
  const error = await failure(serviceAt(server.url));
  expect(error.code).toBe('bad-response');
  expect(error.message).toContain('headers');
  expect(server.requests).toHaveLength(1);
});

it('M13: refuses json nested deep, packed or not', async () => {
  const deep = `{"llm_api_key_set":true,"x":${'['.repeat(500_000)}${']'.repeat(500_000)}}`;
  const plain = await answering(deep);
  const error = await failure(serviceAt(plain.url));
  expect(error.code).toBe('bad-response');
  expect(error.message).toContain('64 deep');
  expect(plain.requests).toHaveLength(1);
  const deepest = await answering(gzipSync('['.repeat(5_000_000)), { 'content-encoding': 'gzip' });
  expect((await failure(serviceAt(deepest.url))).code).toBe('bad-response');
});

it.each([
  '{"llm_api_key_set":true,"canary":1,"canary":1}',
  '{"llm_api_key_set":true,"a":{"canary":1,"c\\u0061nary":2}}',
])('M12: refuses keys twice: %s', async (body) => {
  const server = await answering(body);
  const error = await failure(serviceAt(server.url));
  expect(error.code).toBe('bad-response');
  expect(error.message).toContain('a key twice');
});

it('M13: keeps __proto__ a key like any other', async () => {
  const server = await answering(SETTINGS.replace(/\}$/, ',"__proto__":{"polluted":true}}'));
  const { answer, values } = await serviceAt(server.url).observer.observe();
  expect(Object.getPrototypeOf(answer)).toBeNull();
  expect(Object.keys(answer)).toContain('__proto__');
  expect(Object.keys(values)).toContain('__proto__');
  expect(answer['polluted']).toBeUndefined();
  expect(Object.prototype).not.toHaveProperty('polluted');
});

it('M24: wraps what the service answers in clear', async () => {
  const server = await answering(
    JSON.stringify({
      ...(JSON.parse(SETTINGS) as object),
      provider_tokens_set: { github: 'github.com' },
      mcp_config: {
        sse_servers: [{ url: 'https://u:canary@x.example/sse?t=canary', api_key: 'canary' }],
        stdio_servers: [{ name: 'n', command: 'c', args: ['canary'], env: { A: 'canary' } }],
        shttp_servers: [],
      },
    }),
  );
  const state = await serviceAt(server.url).observer.observe();
  tellsNothing(state);
  expect(JSON.stringify(state)).toContain('github.com');
});
