import type { Socket } from 'node:net';
import type { Dispatcher } from 'undici';
import { describe, expect, it } from 'vitest';

import { answer, rawServer, SETTINGS } from './raw-server.ts';
import { failure, serviceAt, written } from './service.ts';

const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n';

describe('an observation without an answer', () => {
  it('is refused: four tries with growing waits, then unreachable', async () => {
    const service = serviceAt('http://127.0.0.1:9');
    const error = await failure(service);
    expect(error).toMatchObject({ code: 'unreachable', exitCode: 1 });
    expect(error.message).toBe(
      'The connection was refused: GET http://127.0.0.1:9/api/settings, 4 tries in all.',
    );
    expect(service.clock.waits).toEqual([500, 1_000, 2_000]);
    expect(service.connection.requests.get).toBe(0);
  });

  it('has a name nobody knows', async () => {
    const error = await failure(serviceAt('http://nowhere.invalid', { timeout: 300 }));
    expect(error.code).toMatch(/unreachable|timed-out/);
    expect(error.message).toContain('nowhere.invalid');
  });

  it.each([
    ['ENOTFOUND', 2],
    ['EAI_AGAIN', 4],
    ['EHOSTUNREACH', 4],
  ])('fails with %s: %s tries', async (code, tries) => {
    const service = serviceAt('http://127.0.0.1:9', { dispatcher: failing(code) });
    const error = await failure(service);
    expect(error.code).toBe('unreachable');
    expect(error.message).toContain(`, ${tries} tries in all.`);
    expect(service.clock.waits).toHaveLength(tries - 1);
    await expect(written(service)).resolves.toMatchObject({
      kind: 'not-applied',
      retry: code !== 'ENOTFOUND',
    });
  });

  it('never connects: the connection is named', async () => {
    const dispatcher = { dispatch: () => true } as unknown as Dispatcher;
    const error = await failure(serviceAt('http://127.0.0.1:9', { dispatcher, timeout: 20 }));
    expect(error).toMatchObject({ code: 'timed-out', exitCode: 9 });
    expect(error.message).toContain('No connection was made within');
  });

  it('hangs before the headers: tried again, then timed out', async () => {
    const server = await rawServer(() => {});
    const error = await failure(serviceAt(server.url, { timeout: 600 }));
    expect(error.code).toBe('timed-out');
    expect(error.message).toContain('No answer began within');
    expect(server.requests).toHaveLength(4);
  });

  it('is reset before the headers: tried again on a fresh socket', async () => {
    const server = await rawServer((socket, _, number) => {
      if (number === 0) socket.resetAndDestroy();
      else socket.write(answer(200, SETTINGS));
    });
    const service = serviceAt(server.url);
    await expect(service.observer.observe()).resolves.toMatchObject({ stored: true });
    expect(service.connection.requests.get).toBe(2);
    expect(server.connections()).toBe(2);
  });

  it('M20: is tried again if a reused socket dies', async () => {
    const server = await rawServer((socket, _, number) => {
      if (number === 1) socket.destroy();
      else socket.write(answer(200, SETTINGS));
    });
    const service = serviceAt(server.url);
    await service.observer.observe();
    await expect(service.observer.observe()).resolves.toMatchObject({ stored: true });
    expect(service.connection.requests.get).toBe(3);
  });
});

describe('an observation with half an answer', () => {
  const half = SETTINGS.slice(0, 20);

  it('is reset in the middle: tried again', async () => {
    const server = await rawServer((socket, _, number) => {
      if (number > 0) return socket.write(answer(200, SETTINGS));
      socket.write(`${HEAD}content-length: 500\r\n\r\n${half}`);
      return setTimeout(() => socket.resetAndDestroy(), 20);
    });
    await expect(serviceAt(server.url).observer.observe()).resolves.toMatchObject({ stored: true });
  });

  it('is reset in the middle each time: bad response after four tries', async () => {
    const server = await rawServer((socket) => {
      socket.end(`${HEAD}content-length: 500\r\n\r\n${half}`);
    });
    const error = await failure(serviceAt(server.url));
    expect(error.code).toBe('bad-response');
    expect(server.requests).toHaveLength(4);
  });

  it('M15: ends cleanly in the middle of the json: tried once more, then a bad response', async () => {
    const server = await rawServer((socket) =>
      socket.end(`${HEAD}connection: close\r\n\r\n{"llm_api_key_set":true,"x":"canary`),
    );
    const error = await failure(serviceAt(server.url));
    expect(error.code).toBe('bad-response');
    expect(error.message).toContain('cut off or malformed: GET');
    expect(server.requests).toHaveLength(2);
  });

  it('M15: ends in the middle of a letter', async () => {
    const server = await rawServer((socket) =>
      socket.end(
        Buffer.concat([
          Buffer.from(`${HEAD}connection: close\r\n\r\n{"a":"`),
          Buffer.from('é').subarray(0, 1),
        ]),
      ),
    );
    expect((await failure(serviceAt(server.url))).code).toBe('bad-response');
  });

  it('M16: drips: the whole request has a deadline, and one more try', async () => {
    const server = await rawServer((socket) => {
      socket.write(`${HEAD}content-length: 5000\r\n\r\n`);
      drip(socket);
    });
    const error = await failure(serviceAt(server.url, { timeout: 600 }));
    expect(error).toMatchObject({ code: 'timed-out', exitCode: 9 });
    expect(error.message).toContain('The answer was not complete within 0.6 s');
    expect(server.requests).toHaveLength(2);
  });

  it('is not http: as a reset, and nothing of it is shown', async () => {
    const server = await rawServer((socket) => socket.end('canary canary canary\r\n\r\n'));
    const error = await failure(serviceAt(server.url));
    expect(error.code).toBe('bad-response');
    expect(server.requests).toHaveLength(4);
  });

  it('survives informational answers', async () => {
    const server = await rawServer((socket) => {
      socket.write('HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n');
      socket.write(answer(200, SETTINGS));
    });
    await expect(serviceAt(server.url).observer.observe()).resolves.toMatchObject({ stored: true });
  });

  it('is switched to another protocol: an error', async () => {
    const server = await rawServer((socket) =>
      socket.write('HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: canary\r\n\r\n'),
    );
    expect((await failure(serviceAt(server.url))).code).toMatch(/unreachable|bad-response/);
  });
});

describe('an observation answered with a status', () => {
  it.each([408, 425, 500, 502, 503, 504])('%s, then 200: is tried again', async (status) => {
    const server = await rawServer((socket, _, number) =>
      socket.write(number === 0 ? answer(status, 'canary') : answer(200, SETTINGS)),
    );
    const service = serviceAt(server.url);
    await expect(service.observer.observe()).resolves.toMatchObject({ stored: true });
    expect(service.connection.requests.get).toBe(2);
  });

  it('500 each time: exactly four tries', async () => {
    const server = await rawServer((socket) => socket.write(answer(500, '"canary"')));
    const service = serviceAt(server.url);
    const error = await failure(service);
    expect(error.code).toBe('server-error');
    expect(error.message).toMatch(/status 500\): GET \S+, 4 tries in all\.$/);
    expect(service.connection.requests.get).toBe(4);
    expect(server.requests).toHaveLength(4);
  });

  it('500 whose body drips: the status is enough', async () => {
    const server = await rawServer((socket) => {
      socket.write('HTTP/1.1 500 X\r\ncontent-length: 5000\r\n\r\n');
      drip(socket);
    });
    expect((await failure(serviceAt(server.url))).code).toBe('server-error');
  });

  it('500 within a budget: no wait goes past it', async () => {
    const server = await rawServer((socket) => socket.write(answer(500)));
    const service = serviceAt(server.url, { budget: 1_200 });
    expect((await failure(service)).code).toBe('server-error');
    expect(service.clock.waits).toEqual([500]);
  });

  it('nothing is sent once the budget is used up', async () => {
    const service = serviceAt('http://127.0.0.1:9', { budget: -1 });
    expect(await failure(service)).toMatchObject({ code: 'timed-out' });
    expect(service.clock.waits).toEqual([]);
  });

  it('a request has no more time than the budget', async () => {
    const server = await rawServer(() => {});
    const error = await failure(serviceAt(server.url, { budget: 100 }));
    expect(error.code).toBe('timed-out');
    expect(server.requests).toHaveLength(1);
  });

  it.each([401, 403])('%s: refused the key, one try', async (status) => {
    const server = await rawServer((socket) => socket.write(answer(status, '{"error":"canary"}')));
    const error = await failure(serviceAt(server.url));
    expect(error).toMatchObject({ code: 'unauthorized', exitCode: 4 });
    expect(error.message).toContain('refused the key');
    expect(error.message).not.toContain('wrong');
    expect(server.requests).toHaveLength(1);
  });

  it('401 if no key was sent: reports that', async () => {
    const server = await rawServer((socket) => socket.write(answer(401)));
    const error = await failure(serviceAt(server.url, { server: { apiKey: null } }));
    expect(error.message).toContain('no key was sent');
  });

  it.each([405, 406, 410, 415, 421])('%s: not this service, one try', async (status) => {
    const server = await rawServer((socket) => socket.write(answer(status)));
    expect((await failure(serviceAt(server.url))).code).toBe('not-this-service');
    expect(server.requests).toHaveLength(1);
  });

  it.each([400, 402, 418, 451, 201, 202, 204])('%s: a bad response, one try', async (status) => {
    const server = await rawServer((socket) =>
      socket.write(answer(status, '', status === 204 ? { 'content-length': '0' } : {})),
    );
    expect((await failure(serviceAt(server.url))).code).toBe('bad-response');
    expect(server.requests).toHaveLength(1);
  });
});

describe('an observation answered by something else', () => {
  it('404 with Settings not found: an empty store', async () => {
    const server = await rawServer((socket) =>
      socket.write(answer(404, '{"error":"Settings not found"}')),
    );
    await expect(serviceAt(server.url).observer.observe()).resolves.toMatchObject({
      dialect: { name: 'settings-v0' },
      stored: false,
      values: {},
      answer: {},
    });
  });

  it('404 cut in the middle: tried again', async () => {
    const server = await rawServer((socket, _, number) => {
      if (number > 0) return socket.write(answer(404, '{"error":"Settings not found"}'));
      return socket.end(
        'HTTP/1.1 404 X\r\ncontent-type: application/json\r\ncontent-length: 30\r\n\r\n{"error"',
      );
    });
    await expect(serviceAt(server.url).observer.observe()).resolves.toMatchObject({
      stored: false,
    });
  });

  it.each([
    ['{"detail":"Not Found"}', 'application/json', ['/api/settings', '/api/v1/settings']],
    ['{"error":"Settings not found"}', 'text/plain', ['/api/settings']],
    ['{"error":"canary', 'application/json', ['/api/settings']],
    ['[]', 'application/json', ['/api/settings']],
    ['', 'text/html', ['/api/settings']],
  ])('404 with %s as %s: a wrong path', async (body, type, asked) => {
    const server = await rawServer((socket) =>
      socket.write(answer(404, body, { 'content-type': type })),
    );
    const error = await failure(serviceAt(`${server.url}/prefix`));
    expect(error.code).toBe('not-this-service');
    expect(error.message).toContain('/prefix/api/settings');
    expect(server.requests.map(pathOf)).toEqual(asked.map((path) => `/prefix${path}`));
  });

  it.each([
    ['text/html; charset=utf-8', 'an HTML page', 2],
    ['text/plain', 'text/plain', 1],
    ['application/canary', 'of another content type', 1],
    ['', 'without a content type', 1],
  ])('200 with %s: named, not read, one try of each path', async (type, words, tries) => {
    const server = await rawServer((socket) =>
      socket.write(answer(200, `<html>canary${SETTINGS}`, { 'content-type': type })),
    );
    const error = await failure(serviceAt(server.url));
    expect(error.code).toBe('not-this-service');
    expect(error.message).toContain(words);
    expect(server.requests).toHaveLength(tries);
  });

  it.each([
    ['"canary"', 'not-this-service', 'not an object'],
    ['["canary"]', 'not-this-service', 'not an object'],
    ['null', 'not-this-service', 'not an object'],
    ['{"language":"canary"}', 'not-this-service', 'llm_api_key_set'],
    ['{"llm_api_key_set":"canary"}', 'not-this-service', 'llm_api_key_set'],
    ['{"agent_settings":{},"llm_api_key_set":true}', 'dialect-not-spoken', '/api/v1/settings'],
    ['{"llm_api_key_is_set":true,"agent_settings":{}}', 'dialect-not-spoken', 'before 1.31'],
    ['{"llm_api_key_is_set":"canary"}', 'not-this-service', 'agent server'],
  ])('200 with %s: %s', async (body, code, words) => {
    const server = await rawServer((socket) => socket.write(answer(200, body)));
    const error = await failure(serviceAt(server.url));
    expect(error.code).toBe(code);
    expect(error.message).toContain(words);
    expect(server.requests).toHaveLength(1);
  });

  it('200 with an empty body: tried once more', async () => {
    const server = await rawServer((socket) => socket.write(answer(200)));
    expect((await failure(serviceAt(server.url))).code).toBe('bad-response');
    expect(server.requests).toHaveLength(2);
  });
});

/** The path of a request as it came. */
function pathOf(request: string): string {
  return request.split(' ')[1] ?? '';
}

/** A network on which no connection comes about. */
function failing(code: string): Dispatcher {
  const error = Object.assign(new Error('canary'), { code });
  const dispatch: Dispatcher['dispatch'] = (_, handler) => {
    handler.onResponseError?.({} as Dispatcher.DispatchController, error);
    return false;
  };
  return { dispatch } as Dispatcher;
}

function drip(socket: Socket): void {
  const timer = setInterval(() => socket.write(' '), 20);
  socket.on('close', () => clearInterval(timer));
}
