import { describe, expect, it } from 'vitest';
import type { Dispatcher } from 'undici';

import { Secret } from '../../src/reconciler/model/secret.ts';
import { ServiceError } from '../../src/reconciler/service/service-error.ts';
import { answer, rawServer, STORED } from './raw-server.ts';
import { KEY, serviceAt, tellsNothing, written } from './service.ts';
import { writeOf } from '../fixture/observed.ts';

const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n';

describe('a write that was not applied', () => {
  it('refused connection: may be tried again, and nothing was sent', async () => {
    const service = serviceAt('http://127.0.0.1:9');
    await expect(written(service)).resolves.toMatchObject({
      kind: 'not-applied',
      retry: true,
      error: { code: 'unreachable' },
    });
    expect(service.connection.requests.post).toBe(0);
    expect(service.clock.waits).toEqual([]);
  });

  it('no connection in time: may be tried again', async () => {
    const dispatcher = { dispatch: () => true } as unknown as Dispatcher;
    const service = serviceAt('http://127.0.0.1:9', { dispatcher, timeout: 20 });
    await expect(written(service)).resolves.toMatchObject({
      kind: 'not-applied',
      retry: true,
      error: { code: 'timed-out' },
    });
  });

  it('budget used up: nothing is sent', async () => {
    const server = await rawServer(() => {});
    await expect(written(serviceAt(server.url, { budget: -1 }))).resolves.toMatchObject({
      kind: 'not-applied',
      retry: false,
    });
    expect(server.connections()).toBe(0);
  });

  it.each([
    [400, false, 'bad-response'],
    [401, false, 'unauthorized'],
    [403, false, 'unauthorized'],
    [404, false, 'not-this-service'],
    [405, false, 'not-this-service'],
    [409, true, 'contended'],
    [410, false, 'not-this-service'],
    [412, true, 'contended'],
    [413, false, 'settings-refused'],
    [415, false, 'not-this-service'],
    [422, false, 'settings-refused'],
    [423, true, 'contended'],
    [425, true, 'server-error'],
    [429, true, 'rate-limited'],
  ])('%s: retry %s, %s', async (status, retry, code) => {
    const server = await rawServer((socket) => socket.write(answer(status, '{"x":"canary"}')));
    await expect(written(serviceAt(server.url))).resolves.toMatchObject({
      kind: 'not-applied',
      retry,
      error: { code },
    });
    expect(server.requests).toHaveLength(1);
  });

  it.each([
    ['7', true, 7_000],
    ['600', false, 600_000],
    ['nonsense', true, null],
  ])('429 with Retry-After %s: reported to the caller', async (value, retry, retryAfter) => {
    const server = await rawServer((socket) =>
      socket.write(answer(429, '', { 'retry-after': value })),
    );
    const result = await written(serviceAt(server.url));
    expect(result).toMatchObject({ kind: 'not-applied', retry, error: { retryAfter } });
    expect(result.kind === 'not-applied' && result.error).toBeInstanceOf(ServiceError);
  });

  it('422: reports places and types, and nothing of what was sent', async () => {
    const detail = [
      {
        type: 'missing',
        loc: ['body', 'mcp_config', 'sse_servers', 0, 'url'],
        msg: `canary ${KEY}`,
        input: { api_key: KEY },
        ctx: { error: KEY },
      },
      { type: KEY, loc: ['body', KEY, 'x'.repeat(50), 'sp ace', -1.5, null], input: KEY },
      { type: 'canary-type canary', loc: ['body', 'llm_model', 'key', KEY.slice(0, 12)] },
      { type: 'none', loc: 'canary' },
      'canary',
    ];
    const server = await rawServer((socket) =>
      socket.write(answer(422, JSON.stringify({ detail }))),
    );
    const result = await written(serviceAt(server.url));
    expect(result).toMatchObject({ kind: 'not-applied', retry: false });
    expect(result.kind === 'not-applied' && result.error.message).toBe(
      `POST ${server.url}/api/settings was refused as invalid (status 422): ` +
        'mcp_config.sse_servers[0].url (missing), ?.?.?.?.?, llm_model.key.?.',
    );
  });

  it('422: reports ten places at most', async () => {
    const detail = Array.from({ length: 30 }, (_, at) => ({ type: 'missing', loc: ['body', at] }));
    const server = await rawServer((socket) =>
      socket.write(answer(422, JSON.stringify({ detail }))),
    );
    const result = await written(serviceAt(server.url));
    const message = result.kind === 'not-applied' ? result.error.message : '';
    expect(message.match(/missing/g)).toHaveLength(10);
    expect(message).toContain('and more');
  });

  it('422 cut in the middle: still refused', async () => {
    const server = await rawServer((socket) =>
      socket.end('HTTP/1.1 422 X\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{'),
    );
    await expect(written(serviceAt(server.url))).resolves.toMatchObject({
      kind: 'not-applied',
      retry: false,
      error: { code: 'settings-refused' },
    });
  });
});

describe('a write that may have been applied', () => {
  it.each([
    ['a reset before the headers', '', 'unreachable'],
    ['a reset in the middle', `${HEAD}content-length: 99\r\n\r\n{"`, 'bad-response'],
    ['M15: half of the json', `${HEAD}connection: close\r\n\r\n{"message"`, 'bad-response'],
    ['M4: json that is a key', `${HEAD}connection: close\r\n\r\n${KEY}`, 'bad-response'],
    ['a list', `${HEAD}connection: close\r\n\r\n["canary"]`, 'bad-response'],
    ['an empty body', `${HEAD}content-length: 0\r\n\r\n`, 'bad-response'],
    ['no http', 'canary\r\n\r\n', 'bad-response'],
    ['a web page', 'HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n\r\ncanary', 'not-this-service'],
  ])('%s', async (_, bytes, code) => {
    const server = await rawServer((socket) => socket.end(bytes));
    await expect(written(serviceAt(server.url))).resolves.toMatchObject({
      kind: 'ambiguous',
      error: { code },
    });
    expect(server.requests).toHaveLength(1);
  });

  it('M20: a reused socket that dies: sent once, and not behind our back again', async () => {
    const server = await rawServer((socket, _, number) => {
      if (number === 0) socket.write(answer(200, STORED));
      else socket.destroy();
    });
    const service = serviceAt(server.url);
    await expect(written(service)).resolves.toEqual({ kind: 'stored' });
    await expect(written(service)).resolves.toMatchObject({ kind: 'ambiguous' });
    expect(server.requests).toHaveLength(2);
    expect(service.connection.requests.post).toBe(2);
  });

  it.each([408, 500, 502, 503, 504, 201, 204])(
    'status %s, after the effect or before',
    async (status) => {
      const server = await rawServer((socket) =>
        socket.write(answer(status, '', { 'content-length': '0' })),
      );
      await expect(written(serviceAt(server.url))).resolves.toMatchObject({ kind: 'ambiguous' });
      expect(server.requests[0]).toContain(KEY);
      expect(server.requests).toHaveLength(1);
    },
  );

  it.each([
    ['no answer', ''],
    ['M16: a drip', `${HEAD}content-length: 99\r\n\r\n{`],
  ])('%s by the deadline', async (_, bytes) => {
    const server = await rawServer((socket) => {
      if (bytes !== '') socket.write(bytes);
    });
    await expect(written(serviceAt(server.url, { timeout: 600 }))).resolves.toMatchObject({
      kind: 'ambiguous',
      error: { code: 'timed-out' },
    });
  });
});

it('a write reveals what it was given and hides it again', async () => {
  const server = await rawServer((socket) => socket.write(answer(500)));
  const { store } = serviceAt(server.url);
  const result = await store(writeOf({ mcp_config: { list: [new Secret('canary-two')] } }));
  expect(server.requests[0]).toContain('{"mcp_config":{"list":["canary-two"]}}');
  tellsNothing(result);
});
