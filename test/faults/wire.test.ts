import { MockAgent } from 'undici';
import { describe, expect, it } from 'vitest';

import { Secret } from '../../src/reconciler/model/secret.ts';
import { connect } from '../../src/reconciler/service/connect.ts';
import { fakeClock } from './fake-clock.ts';
import { answer, rawServer, SETTINGS, STORED } from './raw-server.ts';
import { failure, KEY, serverAt, serviceAt, tellsNothing, written } from './service.ts';
import { until } from '../fixture/until.ts';

describe('a connection', () => {
  it('sends the key both ways, requests plain json, and keeps a path prefix', async () => {
    const server = await rawServer((socket, request) =>
      socket.write(answer(200, request.startsWith('GET') ? SETTINGS : STORED)),
    );
    const service = serviceAt(`${server.url}/team/a`, {
      server: { headers: new Map([['X-Access', new Secret('pass')]]) },
    });
    await expect(service.observer.observe()).resolves.toMatchObject({
      dialect: { name: 'settings-v0' },
      stored: true,
      values: { language: 'en' },
    });
    await expect(written(service)).resolves.toEqual({ kind: 'stored' });
    const [get = '', post = ''] = server.requests.map((request) => request.toLowerCase());
    expect(get).toMatch(/^get \/team\/a\/api\/settings http/);
    for (const line of [
      `x-session-api-key: ${KEY}`,
      `authorization: bearer ${KEY}`,
      'x-access: pass',
      'accept: application/json',
      'accept-encoding: identity',
      'user-agent: setpoint/test',
    ]) {
      expect(get).toContain(`\r\n${line}\r\n`);
      expect(post).toContain(`\r\n${line}\r\n`);
    }
    expect(get).not.toContain('content-type');
    expect(post).toContain('\r\ncontent-type: application/json\r\n');
    expect(post).toContain(`\r\n\r\n{"language":"en","llm_api_key":"${KEY}"}`);
    expect(service.connection.requests).toEqual({ get: 1, post: 1 });
    expect(server.connections()).toBe(1);
  });

  it.each([
    ['session-key', true, false],
    ['bearer', false, true],
  ] as const)(
    'sends the key by %s alone if the file declares that',
    async (auth, session, bearer) => {
      const server = await rawServer((socket) => socket.write(answer(200, SETTINGS)));
      await serviceAt(server.url, { server: { auth } }).observer.observe();
      expect(server.requests[0]?.includes('x-session-api-key')).toBe(session);
      expect(server.requests[0]?.includes('authorization')).toBe(bearer);
    },
  );

  it('sends no key if there is none', async () => {
    const server = await rawServer((socket) => socket.write(answer(200, SETTINGS)));
    await serviceAt(server.url, { server: { apiKey: null } }).observer.observe();
    expect(server.requests[0]).not.toMatch(/key|authorization/i);
  });

  it('M3: refuses a key that no header can carry before any library sees it', () => {
    const server = serverAt('http://127.0.0.1:9', { apiKey: new Secret('canary\nx', '${env:K}') });
    const options = { timeout: 1, clock: fakeClock(), userAgent: 'setpoint/test' };
    expect.assertions(3);
    try {
      connect(server, options);
    } catch (error) {
      expect(error).toMatchObject({ code: 'reference-missing' });
      expect(String(error)).toContain('server.api_key (${env:K})');
      tellsNothing(error);
    }
  });

  it.each(['content-length', 'Transfer-Encoding', 'Host', 'host', 'Content-Type', 'a b'])(
    'refuses a header %s',
    (name) => {
      const server = serverAt('http://127.0.0.1:9', {
        headers: new Map([[name, new Secret('5')]]),
      });
      const options = { timeout: 1, clock: fakeClock(), userAgent: 'setpoint/test' };
      expect(() => connect(server, options)).toThrow('must not contain');
    },
  );

  it('refuses an address that is not of the web, and a CA file that is none', () => {
    const options = { timeout: 1, clock: fakeClock(), userAgent: 'setpoint/test' };
    const server = serverAt('http://127.0.0.1:9');
    expect(() => connect({ ...server, url: 'embedded:' }, options)).toThrow('http or https');
    expect(() => connect(server, { ...options, ca: 'nonsense' })).toThrow('PEM');
  });

  it('shows a reference in place of an address that came from one', async () => {
    const server = await rawServer((socket) =>
      socket.write(answer(302, '', { location: 'https://canary.example/x' })),
    );
    const service = serviceAt(`${server.url}/canary`, { server: { origin: '${env:URL}' } });
    const error = await failure(service);
    expect(error.message).toContain('GET ${env:URL}/api/settings');
    expect(service.connection.origin).toBe('${env:URL}');
  });

  it('takes a dispatcher in place of the network, and leaves it open', async () => {
    const agent = new MockAgent();
    agent.disableNetConnect();
    const intercept = () =>
      agent
        .get('https://agents.example.test')
        .intercept({ path: '/api/settings' })
        .reply(200, SETTINGS, { headers: { 'content-type': 'application/json' } });
    intercept();
    const { connection, observer } = serviceAt('https://agents.example.test', {
      dispatcher: agent,
    });
    await expect(observer.observe()).resolves.toMatchObject({ stored: true });
    await connection.close();
    intercept();
    await expect(observer.observe()).resolves.toMatchObject({ stored: true });
    expect(connection.requests.get).toBe(2);
    await agent.close();
  });

  it('closes twice, and before anything was sent', async () => {
    const { connection } = serviceAt('http://127.0.0.1:9');
    await connection.close();
    await connection.close();
  });
});

describe('an abort', () => {
  it('ends an observation under way at once', async () => {
    const server = await rawServer(() => {});
    const controller = new AbortController();
    const failing = failure(serviceAt(server.url), controller.signal);
    await until(() => server.requests.length > 0);
    controller.abort();
    await expect(failing).resolves.toMatchObject({ code: 'interrupted', exitCode: 130 });
    expect(server.requests).toHaveLength(1);
  });

  it('sends nothing if it was requested before', async () => {
    const server = await rawServer(() => {});
    const service = serviceAt(server.url);
    const error = await failure(service, AbortSignal.abort());
    expect(error.code).toBe('interrupted');
    expect(service.connection.requests.get).toBe(0);
    expect(server.connections()).toBe(0);
  });

  it('ends a wait between two tries', async () => {
    const controller = new AbortController();
    const server = await rawServer((socket) => {
      socket.write(answer(500));
      setImmediate(() => controller.abort());
    });
    const clock = {
      ...fakeClock(),
      sleep: (_: number, signal?: AbortSignal) =>
        new Promise<void>((_resolve, reject) => {
          signal?.addEventListener('abort', () => reject(new Error('canary')));
          if (signal?.aborted === true) reject(new Error('canary'));
        }),
    };
    const error = await failure(serviceAt(server.url, { clock }), controller.signal);
    expect(error.code).toBe('interrupted');
    expect(server.requests).toHaveLength(1);
  });
});
