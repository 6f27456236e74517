import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { apply } from '../../../src/reconciler/operations/apply.ts';
import { plan } from '../../../src/reconciler/operations/plan.ts';
import { quickClock, request } from '../../fixture/settings.ts';
import { loaded, RECORDED, startStore, type StoreServer } from '../../fixture/store-server.ts';

const STORED = { language: 'en', agent: 'A', llm_api_key: 'stored-llm-key', mcp_config: null };
const SETTINGS = '  language: fr\n  sandbox_api_key: null\n';

let store: StoreServer;
afterEach(() => store.close());

/** Answers a request of the given number (from 1, of its method) in another way. */
function onNth(
  method: string,
  nth: number,
  act: (proceed: () => void, response: ServerResponse) => boolean,
): void {
  let seen = 0;
  store.intercept = (incoming, response, proceed) => {
    if (incoming.method !== method) return false;
    seen += 1;
    return seen === nth && act(proceed, response);
  };
}

async function outcomeOf(settings = SETTINGS, more = {}) {
  const document = await apply(request(store.url, settings, { timeout: 2000, ...more }));
  const [outcome] = document.environments;
  if (outcome === undefined) throw new Error('no outcome');
  return outcome;
}

describe('a POST that is answered with 500', () => {
  it('after its effect is applied, and reported', async () => {
    store = await startStore({}, { ...STORED });
    onNth('POST', 1, (proceed, response) => {
      const writeHead = response.writeHead.bind(response);
      response.writeHead = ((_status: number, headers: Record<string, string>) =>
        writeHead(500, headers)) as never;
      proceed();
      return true;
    });
    const outcome = await outcomeOf();
    expect(outcome).toMatchObject({ status: 'applied', error: null, requests: { post: 1 } });
    expect(outcome.warnings.map(({ code }) => code)).toContain('answered-with-error');
  });

  it('before its effect is sent once more', async () => {
    store = await startStore({}, { ...STORED });
    onNth('POST', 1, (_, response) => {
      response.writeHead(500).end();
      return true;
    });
    expect(await outcomeOf()).toMatchObject({ status: 'applied', requests: { post: 2 } });
    expect(store.stored).toMatchObject({ ...STORED, language: 'fr' });
  });

  it('for good is sent twice, and no more, and its result is unknown', async () => {
    store = await startStore({}, { ...STORED });
    store.intercept = (incoming, response) => {
      if (incoming.method !== 'POST') return false;
      response.writeHead(500).end();
      return true;
    };
    const outcome = await outcomeOf();
    expect(outcome).toMatchObject({
      status: 'failed',
      error: { code: 'state-unknown' },
      requests: { post: 2 },
      changes: [{ result: 'unknown' }],
    });
    expect(store.stored).toEqual(STORED);
  });
});

describe('a connection that is cut', () => {
  it('before the effect: the write is sent again', async () => {
    store = await startStore({}, { ...STORED });
    onNth('POST', 1, (_, response) => {
      response.destroy();
      return true;
    });
    expect(await outcomeOf()).toMatchObject({ status: 'applied', requests: { post: 2 } });
  });

  it('after the effect: the write is seen, and not repeated', async () => {
    store = await startStore({}, { ...STORED });
    onNth('POST', 1, (proceed, response) => {
      response.end = (() => response.destroy()) as never;
      proceed();
      return true;
    });
    expect(await outcomeOf()).toMatchObject({ status: 'applied', requests: { post: 1 } });
  });

  it('with somebody else writing meanwhile: a third state is left alone', async () => {
    store = await startStore({}, { ...STORED });
    onNth('POST', 1, (_, response) => {
      store.stored = { ...STORED, agent: 'theirs' };
      response.destroy();
      return true;
    });
    const outcome = await outcomeOf();
    expect(outcome).toMatchObject({
      status: 'failed',
      error: { code: 'state-unknown' },
      requests: { post: 1 },
    });
    expect(store.stored).toEqual({ ...STORED, agent: 'theirs' });
  });
});

describe('a rotated secret, of which nothing can be seen', () => {
  it('is sent once more after an ambiguous answer, and the outcome reports that it cannot be read back', async () => {
    store = await startStore({}, { ...STORED });
    onNth('POST', 1, (proceed, response) => {
      response.end = (() => response.destroy()) as never;
      proceed();
      return true;
    });
    const outcome = await outcomeOf(
      '  llm_api_key: ${env:SETPOINT_API_KEY}\n  sandbox_api_key: null\n',
      { rotate: ['llm_api_key'] },
    );
    expect(outcome).toMatchObject({
      status: 'applied',
      requests: { post: 2 },
      changes: [{ action: 'rotate', result: 'unverifiable' }],
    });
    expect(store.stored?.['llm_api_key']).toBe('a-session-key');
  });
});

describe('two writers', () => {
  it('a change between plan and write is planned for, and kept', async () => {
    store = await startStore({}, { ...STORED });
    onNth('GET', 2, (proceed) => {
      store.stored = { ...STORED, agent: 'theirs' };
      proceed();
      return true;
    });
    expect(await outcomeOf()).toMatchObject({ status: 'applied' });
    expect(store.stored).toMatchObject({ language: 'fr', agent: 'theirs' });
  });

  it('a field that flips at every observation is contended, and nothing is sent', async () => {
    store = await startStore({}, { ...STORED });
    let flip = 0;
    store.intercept = (incoming) => {
      if (incoming.method === 'GET' && store.stored !== null)
        store.stored = { ...STORED, language: `x${(flip += 1)}` };
      return false;
    };
    expect(await outcomeOf()).toMatchObject({
      status: 'failed',
      error: { code: 'contended' },
      requests: { post: 0 },
    });
  });

  it('a field that moves with the write is not converged, and named', async () => {
    store = await startStore({}, { ...STORED });
    onNth('POST', 1, (proceed) => {
      proceed();
      if (store.stored !== null) store.stored['agent'] = 'theirs';
      return true;
    });
    expect(await outcomeOf()).toMatchObject({
      status: 'not-converged',
      remaining: [{ path: ['agent'], expected: 'A', actual: 'theirs' }],
    });
  });
});

describe('a store that is slow to show a write', () => {
  it('is observed again until it does', async () => {
    store = await startStore({}, { ...STORED });
    let stale = 2;
    store.intercept = (incoming, response) => {
      if (incoming.method !== 'GET' || store.posts() === 0 || (stale -= 1) < 0) return false;
      const old = JSON.stringify(loaded({ ...STORED }, RECORDED));
      response.writeHead(200, { 'content-type': 'application/json' }).end(old);
      return true;
    };
    const clock = quickClock();
    const outcome = await outcomeOf(SETTINGS, { clock });
    expect(outcome).toMatchObject({ status: 'applied' });
    expect(clock.slept).toEqual([500, 1000]);
  });
});

describe('a flag that falls with a write', () => {
  it('of a declared secret is mended with one more write', async () => {
    store = await startStore({}, { ...STORED });
    onNth('POST', 1, (proceed) => {
      proceed();
      if (store.stored !== null) store.stored['llm_api_key'] = null;
      return true;
    });
    const outcome = await outcomeOf(`${SETTINGS}  llm_api_key: \${env:SETPOINT_API_KEY}\n`);
    expect(outcome).toMatchObject({ status: 'applied', requests: { post: 2 } });
    expect(store.stored?.['llm_api_key']).toBe('a-session-key');
  });

  it('of an undeclared one is not converged, naming it', async () => {
    store = await startStore({}, { ...STORED });
    onNth('POST', 1, (proceed) => {
      proceed();
      if (store.stored !== null) store.stored['llm_api_key'] = null;
      return true;
    });
    const outcome = await outcomeOf();
    expect(outcome).toMatchObject({
      status: 'not-converged',
      requests: { post: 1 },
      remaining: [{ path: ['llm_api_key'] }],
    });
  });
});

describe('a server that echoes the request in its errors', () => {
  it('is quoted with loc and type alone', async () => {
    store = await startStore({}, { ...STORED });
    store.intercept = (incoming, response, _, __, body) => {
      if (incoming.method !== 'POST') return false;
      const detail = [{ type: 'string_type', loc: ['body', 'language'], msg: body, input: body }];
      response
        .writeHead(422, { 'content-type': 'application/json', 'x-echo': 'a-session-key' })
        .end(JSON.stringify({ detail }));
      return true;
    };
    const outcome = await outcomeOf(`${SETTINGS}  llm_api_key: \${env:SETPOINT_API_KEY}\n`, {
      rotate: 'all',
    });
    expect(outcome).toMatchObject({
      status: 'failed',
      error: { code: 'settings-refused' },
      requests: { post: 1 },
    });
    expect(outcome.error?.message).toContain('language');
    expect(JSON.stringify(outcome)).not.toContain('a-session-key');
    expect(store.stored).toEqual(STORED);
  });
});

describe('429 on a POST', () => {
  it('waits as long as the service asks, observes again, and sends again', async () => {
    store = await startStore({}, { ...STORED });
    onNth('POST', 1, (_, response) => {
      response.writeHead(429, { 'retry-after': '3', 'content-type': 'application/json' }).end('{}');
      return true;
    });
    const clock = quickClock();
    const outcome = await outcomeOf(SETTINGS, { clock, timeout: 30_000 });
    expect(outcome).toMatchObject({ status: 'applied', requests: { post: 2 } });
    expect(clock.slept).toContain(3000);
  });
});

describe('one clear sentence', () => {
  it.each([
    [
      'an HTML page',
      'not-this-service',
      (response: ServerResponse) =>
        response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'),
    ],
    [
      'a refused key',
      'unauthorized',
      (response: ServerResponse) =>
        response
          .writeHead(401, { 'content-type': 'application/json' })
          .end('{"detail":"Unauthorized"}'),
    ],
    [
      'a redirect',
      'not-this-service',
      (response: ServerResponse) =>
        response.writeHead(302, { location: 'https://elsewhere.example.com/?key=secret' }).end(),
    ],
    [
      'the later API',
      'dialect-not-spoken',
      (response: ServerResponse) =>
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end('{"agent_settings":{},"llm_api_key_set":false}'),
    ],
  ])('for %s, and nothing is written', async (_, code, respond) => {
    store = await startStore({}, { ...STORED });
    store.intercept = (_incoming, response) => {
      respond(response);
      return true;
    };
    expect(await outcomeOf()).toMatchObject({
      status: 'failed',
      error: { code },
      requests: { post: 0 },
    });
    const planned = await plan(request(store.url, SETTINGS));
    expect(planned.environments[0]).toMatchObject({ status: 'error', error: { code } });
  });
});
