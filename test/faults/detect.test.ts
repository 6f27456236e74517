import { describe, expect, it, onTestFinished } from 'vitest';
import type { DialectName } from '../../src/reconciler/model/dialect.ts';
import { EMPTY_STORE } from '../../src/reconciler/service/app-server/read.ts';
import { startAppServer, storedRecord, type Frontend } from '../fixture/app-server.ts';
import { startStore, type JsonRecord } from '../fixture/store-server.ts';
import { answer, rawServer } from './raw-server.ts';
import { failure, serviceAt } from './service.ts';
import { Secret } from '../../src/reconciler/model/secret.ts';

const apiKey = new Secret('contract-key', '${env:KEY}');
const KEYED = { server: { apiKey } };

function pathsOf(
  requests: readonly { readonly method: string; readonly path: string }[],
): string[] {
  return requests.map(({ method, path }) => `${method} ${path}`);
}

const BOTH = ['GET /api/settings', 'GET /api/v1/settings'];

describe('which dialect a service speaks', () => {
  it.each([null, { language: 'en' }])(
    'settings-v0 is told by one GET, whatever is stored',
    async (stored) => {
      const store = await startStore({}, stored);
      onTestFinished(() => store.close());
      const state = await serviceAt(store.url).observer.observe();
      expect(state).toMatchObject({ dialect: { name: 'settings-v0' }, stored: stored !== null });
      expect(pathsOf(store.requests)).toEqual(['GET /api/settings']);
    },
  );

  it.each<[string, Frontend]>([
    ['a missing path', 'none'],
    ['a bundled web page', 'bundled'],
  ])('app-server is asked after %s, and nothing is written', async (_, frontend) => {
    const server = await startAppServer(storedRecord({ language: 'de' }), frontend);
    onTestFinished(() => server.close());
    const { observer } = serviceAt(server.url, KEYED);
    const state = await observer.observe();
    expect(state).toMatchObject({
      dialect: { name: 'app-server' },
      stored: true,
      values: { language: 'de' },
    });
    expect(pathsOf(server.requests)).toEqual(BOTH);
    await observer.observe();
    expect(pathsOf(server.requests).slice(2)).toEqual(['GET /api/v1/settings']);
  });

  it('an empty store of app-server is no missing path', async () => {
    const server = await startAppServer();
    onTestFinished(() => server.close());
    const state = await serviceAt(server.url, KEYED).observer.observe();
    expect(state).toEqual({ ...EMPTY_STORE, release: '1.11.0' });
    expect(pathsOf(server.requests)).toEqual([...BOTH, 'GET /openapi.json']);
  });

  it.each<[DialectName, string]>([
    ['settings-v0', '/api/settings'],
    ['app-server', '/api/v1/settings'],
  ])('a declared %s is the only one that is asked', async (dialect, path) => {
    const server = await rawServer((socket) =>
      socket.write(answer(404, '{"detail":"Not Found"}', { 'content-type': 'application/json' })),
    );
    const error = await failure(serviceAt(server.url, { server: { dialect } }));
    expect(error.code).toBe('dialect-not-spoken');
    expect(error.message).toBe(
      `GET ${server.url}${path} is unknown to the server (status 404), but server.dialect is ${dialect}.`,
    );
    expect(server.requests).toHaveLength(1);
  });

  it('a declared app-server is read without a detecting request', async () => {
    const server = await startAppServer(storedRecord({}));
    onTestFinished(() => server.close());
    await serviceAt(server.url, { server: { apiKey, dialect: 'app-server' } }).observer.observe();
    expect(pathsOf(server.requests)).toEqual(['GET /api/v1/settings']);
  });

  it.each([
    ['{"llm_api_key_is_set":true,"agent_settings":{}}', 'dialect-not-spoken', 'agent server'],
    ['{"agent_settings":{},"llm_api_key_set":true}', 'dialect-not-spoken', 'agent_settings'],
  ])('%s under /api/settings is not asked further', async (body, code, words) => {
    const server = await rawServer((socket) => socket.write(answer(200, body)));
    const error = await failure(serviceAt(server.url));
    expect(error.code).toBe(code);
    expect(error.message).toContain(words);
    expect(server.requests).toHaveLength(1);
  });
});

describe('an answer that is no app-server as setpoint knows it', () => {
  const settings = storedRecord({});
  const flags = { llm_api_key_set: false, search_api_key_set: false };

  it.each([
    [{}, 'not-this-service', 'no agent_settings'],
    [{ language: 'en', llm_api_key_set: true }, 'not-this-service', 'no agent_settings'],
    [
      { ...storedRecord({ agent_settings: { schema_version: 3 } }), ...flags },
      'dialect-not-spoken',
      '1.7 or 1.8',
    ],
    [
      { ...storedRecord({ agent_settings: { agent_kind: 'robot' } }), ...flags },
      'dialect-not-spoken',
      'agent_kind',
    ],
    [
      { ...storedRecord({ agent_settings: { llm: { model: 5 } } }), ...flags },
      'dialect-not-spoken',
      'agent_settings.llm.model',
    ],
    [{ ...settings, language: ['canary'], ...flags }, 'dialect-not-spoken', 'language'],
  ])('%#', async (body, code, words) => {
    const server = await rawServer((socket) => socket.write(answer(200, JSON.stringify(body))));
    const error = await failure(serviceAt(server.url, { server: { dialect: 'app-server' } }));
    expect(error.code).toBe(code);
    expect(error.message).toContain(words);
    expect(error.message).not.toContain('canary');
  });

  describe('of a later release', () => {
    const read = async (record: JsonRecord) => {
      const body = JSON.stringify({ ...record, ...flags });
      const server = await rawServer((socket) => socket.write(answer(200, body)));
      return serviceAt(server.url, { server: { dialect: 'app-server' } });
    };
    const later = storedRecord({ agent_settings: { schema_version: 5 } });

    it('is treated as the newest known one if every member is where it was, and said', async () => {
      const { observer } = await read({ ...later, further: 1 });
      const state = await observer.observe();
      expect(state.release).toBe('later than 1.11');
      expect(state.newer).toContain('agent_settings.schema_version is 5');
      expect(state.newer).toContain('treated as release 1.11');
    });

    it.each(['language', 'search_api_key', 'conversation_settings'])(
      'is refused by name without %s',
      async (name) => {
        const error = await failure(
          await read(Object.fromEntries(Object.entries(later).filter(([key]) => key !== name))),
        );
        expect(error.code).toBe('dialect-not-spoken');
        expect(error.message).toContain('by a release later than 1.11 with ');
        expect(error.message).toContain(name);
      },
    );
  });

  it('a record that the server cannot read is an error of the service', async () => {
    const server = await startAppServer(storedRecord({ language: 5 }));
    onTestFinished(() => server.close());
    const error = await failure(serviceAt(server.url, KEYED));
    expect(error.code).toBe('server-error');
    expect(error.hint).toContain('a wrong type');
    expect(error.message).toContain('The service answered with an error (status 500): GET');
  });
});
