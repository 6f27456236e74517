import { createServer } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { once } from 'node:events';

import { describe, expect, it, onTestFinished, vi } from 'vitest';

import { startEmulator } from '../../../src/emulator/start.ts';
import { send } from '../../contract/send.ts';
import { emulatorForTest, post } from './emulator.ts';

/** The head of a request whose body is waited for: the service reports when it has read it. */
const EXPECTING =
  'POST /api/settings HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: LENGTH\r\nExpect: 100-continue\r\n\r\n';

function stopTimers(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
}

describe('Host', () => {
  it.each(['localhost', 'LOCALHOST:1', '127.0.0.1:80', '127.1.2.3', '[::1]', '[::1]:8080'])(
    '%s is answered',
    async (host) => {
      const { url } = await emulatorForTest();
      expect((await send(url, { headers: { host } })).status).toBe(404);
    },
  );

  it.each([
    'example.com',
    'localhost.example.com',
    '127.0.0.1.example.com',
    '127.0.0.256',
    'user@localhost',
    '[::2]',
    'box.test',
    '0.0.0.0',
  ])('%s is misdirected', async (host) => {
    const { url } = await emulatorForTest();
    expect(await send(url, { headers: { host } })).toMatchObject({
      status: 421,
      mediaType: 'application/json',
      text: '{"detail":"Misdirected Request"}',
    });
  });

  it.each(['box.test', 'BOX.test:3000', '[fd00::1]:3000'])(
    '%s is answered if a key is required',
    async (host) => {
      const { url } = await emulatorForTest({ apiKey: 'k' });
      expect((await send(url, { headers: { host } })).status).toBe(401);
      const headers = { host, 'x-session-api-key': 'k' };
      expect((await send(url, { headers })).status).toBe(404);
    },
  );
});

describe('Origin', () => {
  it.each(['https://example.com', 'http://localhost', 'null'])('%s is refused', async (origin) => {
    const { url } = await emulatorForTest();
    const { status, text } = await send(url, { method: 'POST', headers: { origin }, body: '{}' });
    expect(status).toBe(403);
    expect(JSON.parse(text)).toEqual({ detail: expect.any(String) as string });
    expect((await send(url)).status).toBe(404);
  });
});

describe('the key', () => {
  it('is ignored when the service has none', async () => {
    const { url } = await emulatorForTest({ apiKey: '' });
    expect((await send(url, { headers: { 'x-session-api-key': 'any' } })).status).toBe(404);
  });

  it('is checked after the JSON is read, and before it is judged', async () => {
    const { url } = await emulatorForTest({ apiKey: 'k' });
    expect((await post(url, '{')).status).toBe(422);
    expect((await post(url, { language: 5 })).status).toBe(401);
  });
});

describe('paths and methods', () => {
  it.each([
    ['GET', '/api/settings?x=1', 404, { error: 'Settings not found' }],
    ['GET', '/api/other', 404, { detail: 'Not Found' }],
    ['POST', '/', 404, { detail: 'Not Found' }],
    ['PATCH', '/api/settings', 405, { detail: 'Method Not Allowed' }],
    ['DELETE', '/api/settings', 405, { detail: 'Method Not Allowed' }],
    ['GET', '/api/reset-settings', 405, { detail: 'Method Not Allowed' }],
    [
      'POST',
      '/api/reset-settings',
      410,
      { error: 'Reset settings functionality has been removed.' },
    ],
  ])('%s %s is answered with %i', async (method, path, status, body) => {
    const { url } = await emulatorForTest();
    const received = await send(url, { method, path });
    expect(received).toMatchObject({ status, mediaType: 'application/json' });
    expect(JSON.parse(received.text)).toEqual(body);
  });

  it('HEAD is not allowed and has no body', async () => {
    const { url } = await emulatorForTest();
    expect(await send(url, { method: 'HEAD' })).toMatchObject({ status: 405, text: '' });
  });
});

describe('bodies', () => {
  it('of 1 MiB are read, longer ones refused', async () => {
    const { url } = await emulatorForTest();
    const most = `{"nope":"${'x'.repeat(1024 * 1024 - 11)}"}`;
    expect((await post(url, most)).status).toBe(200);
    expect((await post(url, `${most} `)).status).toBe(413);
    expect((await post(url, most.repeat(8))).status).toBe(413);
  });

  it('that nobody can read are refused', async () => {
    const { url } = await emulatorForTest();
    const refused = { status: 400, text: '{"detail":"There was an error parsing the body"}' };
    const notUtf8 = Buffer.from([0x22, 0xff, 0x22]);
    expect(await send(url, { method: 'POST', body: notUtf8 })).toMatchObject(refused);
    expect(await send(url, { method: 'POST', body: '['.repeat(100_000) })).toMatchObject(refused);
  });

  it('without the media type of JSON are no object', async () => {
    const { url } = await emulatorForTest();
    const as = (type: string) =>
      send(url, { method: 'POST', headers: { 'content-type': type }, body: '{}' });
    expect((await as('text/plain')).status).toBe(422);
    expect((await as('application/json; charset=utf-8')).status).toBe(200);
    expect((await as('application/merge-patch+json')).status).toBe(200);
  });
});

describe('connections', () => {
  it('are kept after an answer, and dropped unannounced after the plain text 500', async () => {
    const { url } = await emulatorForTest();
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    let seen = '';
    socket.setEncoding('utf8').on('data', (text: string) => (seen += text));

    socket.write(request('{}'));
    await once(socket, 'data');
    socket.write(request('{"mcp_config":{"sse_servers":null}}'));
    await once(socket, 'end');

    expect(seen.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 500']);
    expect(seen).not.toMatch(/connection: close/i);
    expect(seen).toMatch(/content-type: text\/plain; charset=utf-8/);
  });

  // With no timer that fires by itself, what close() waits for shows in what it ends on.
  it('do not keep close() waiting when idle', async () => {
    const emulator = await startEmulator();
    const idle = connect(Number(new URL(emulator.url).port), '127.0.0.1');
    await once(idle, 'connect');
    idle.write(request('{}'));
    await once(idle, 'data');
    stopTimers();
    await Promise.all([emulator.close(), emulator.close()]);
    await expect(send(emulator.url)).rejects.toThrow('ECONNREFUSED');
  });

  it('with half a request keep close() waiting for a second', async () => {
    const other = await startEmulator();
    const half = connect(Number(new URL(other.url).port), '127.0.0.1').on('error', () => {});
    await once(half, 'connect');
    half.write(EXPECTING.replace('LENGTH', '9'));
    await once(half, 'data');
    stopTimers();
    let isClosed = false;
    const closed = other.close().then(() => (isClosed = true));
    await vi.advanceTimersByTimeAsync(999);
    expect(isClosed).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    await closed;
  });

  it('are not cut by close() while an answer is under way', async () => {
    const emulator = await startEmulator();
    const socket = connect(Number(new URL(emulator.url).port), '127.0.0.1');
    await once(socket, 'connect');
    let seen = '';
    socket.setEncoding('utf8').on('data', (text: string) => (seen += text));
    socket.write(EXPECTING.replace('LENGTH', '2'));
    await once(socket, 'data');

    stopTimers();
    const closed = emulator.close();
    socket.write('{}');
    await Promise.all([closed, once(socket, 'end')]);

    expect(seen).toContain('Settings stored');
  });
});

describe('startEmulator', () => {
  it.each(['0.0.0.0', '::', 'agents.example.com', ''])(
    'will not listen on "%s" without a key',
    async (host) => {
      await expect(startEmulator({ host })).rejects.toThrow(/off loopback.*API key/);
      await expect(startEmulator({ host, apiKey: '' })).rejects.toThrow(/off loopback.*API key/);
    },
  );

  it('listens on all addresses with a key, and then requires no name', async () => {
    const { url } = await emulatorForTest({ host: '0.0.0.0', apiKey: 'k' });
    const local = url.replace('0.0.0.0', '127.0.0.1');
    expect((await send(local)).status).toBe(401);
    expect((await send(local, { headers: { host: 'box.test' } })).status).toBe(401);
  });

  it('reports its address', async () => {
    expect((await emulatorForTest()).url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    const sixth = await startEmulator({ host: '::1' }).catch(() => undefined);
    if (sixth === undefined) return;
    expect(sixth.url).toMatch(/^http:\/\/\[::1\]:\d+$/);
    expect((await send(sixth.url)).status).toBe(404);
    await sixth.close();
  });

  it('reports that a port is taken', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void taken.close());
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    await expect(startEmulator({ port })).rejects.toThrow(
      `cannot listen on 127.0.0.1 port ${port}`,
    );
  });
});

function request(body: string): string {
  return `POST /api/settings HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}
