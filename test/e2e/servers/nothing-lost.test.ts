import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { apply } from '../../../src/reconciler/operations/apply.ts';
import { drift } from '../../../src/reconciler/operations/plan.ts';
import { plan } from '../../../src/reconciler/operations/plan.ts';
import { startFront } from '../../fixture/faulty-front.ts';
import { quickClock, request } from '../../fixture/settings.ts';
import {
  loaded,
  RECORDED,
  DEFAULTS,
  startStore,
  type Json,
  type JsonRecord,
  type StoreServer,
} from '../../fixture/store-server.ts';

const STORED = { language: 'en', agent: 'A', mcp_config: null };
const SETTINGS = '  language: fr\n  sandbox_api_key: null\n';

let store: StoreServer;
afterEach(() => store?.close());

async function outcomeOf(settings = SETTINGS, more = {}) {
  const [outcome] = (await apply(request(store.url, settings, more))).environments;
  if (outcome === undefined) throw new Error('no outcome');
  return outcome;
}

async function planOf(settings: string) {
  const [planned] = (await plan(request(store.url, settings))).environments;
  if (planned === undefined) throw new Error('no plan');
  return planned;
}

/** Something happens after the effect of the n-th POST, before it is answered or any later request is. */
function afterPost(nth: number, act: (stored: JsonRecord) => JsonRecord): void {
  let posts = 0;
  store.intercept = (incoming, _, proceed) => {
    if (incoming.method !== 'POST') return false;
    proceed();
    if ((posts += 1) === nth) store.stored = act(store.stored ?? {});
    return true;
  };
}

function json(response: ServerResponse, status: number, body: Json): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

const NO_FLAGS: [string, Json][] = [
  ['a text', 'dark'],
  ['a number', 3],
  ['an object', { a: [1, { b: null }] }],
  ['a list', ['x']],
  ['null', null],
  ['a secret', 'CANARY-vault'],
];

describe('a flag is boolean: any other field that ends in _set is kept', () => {
  it.each(NO_FLAGS)('%s', async (_, value) => {
    store = await startStore({}, { ...STORED, theme_set: value, token_set: value });
    const outcome = await outcomeOf();
    expect(outcome).toMatchObject({ status: 'applied', error: null });
    expect(store.stored).toMatchObject({ language: 'fr', theme_set: value, token_set: value });
    expect(JSON.stringify([outcome, await planOf('')])).not.toContain('CANARY-vault"');
  });

  it('and a write that changes one is not converged, naming it', async () => {
    store = await startStore({}, { ...STORED, theme_set: 'dark' });
    afterPost(1, (stored) => ({ ...stored, theme_set: 'light' }));
    expect(await outcomeOf()).toMatchObject({
      status: 'not-converged',
      remaining: [{ path: ['theme_set'], expected: '(sensitive)', actual: '(sensitive)' }],
    });
  });

  it('and a true flag that nothing explains is not lost without a word', async () => {
    store = await startStore({}, { ...STORED, onboarding_set: true });
    expect(await outcomeOf()).toMatchObject({ status: 'refused', requests: { post: 0 } });
  });
});

describe('a secret of a later version that its flag reports and no answer shows', () => {
  it.each(['null', 'empty', 'absent', 'mask'] as const)(
    'as %s is named as what a write would lose, and nothing is sent',
    async (laterSecrets) => {
      const stored = { ...STORED, smtp_pwd: 'CANARY-smtp' };
      store = await startStore({ laterSecrets }, structuredClone(stored));
      const planned = await planOf(SETTINGS);
      expect(planned.refusals).toContainEqual(
        expect.objectContaining({ rule: 'lose-unreadable', path: ['smtp_pwd'] }),
      );
      expect(await outcomeOf()).toMatchObject({ status: 'refused', requests: { post: 0 } });
      expect(store.stored).toEqual(stored);
      await outcomeOf(SETTINGS, { allow: ['lose-unreadable'] });
      expect(JSON.parse(store.requests.findLast(({ body }) => body !== '')?.body ?? '')).toEqual({
        ...DEFAULTS,
        language: 'fr',
        agent: 'A',
        mcp_config: null,
        sandbox_api_key: null,
      });
    },
  );

  it('is carried, and masked whatever its name, when the answer has it in clear', async () => {
    store = await startStore({}, { ...STORED, smtp_pwd: 'CANARY-smtp' });
    afterPost(1, (stored) => ({ ...stored, smtp_pwd: 'CANARY-other' }));
    const outcome = await outcomeOf();
    expect(
      JSON.parse(store.requests.findLast(({ body }) => body !== '')?.body ?? ''),
    ).toMatchObject({ smtp_pwd: 'CANARY-smtp' });
    expect(outcome).toMatchObject({ remaining: [{ path: ['smtp_pwd'] }] });
    expect(JSON.stringify(outcome)).not.toContain('CANARY');
  });

  it('that is not stored does not stop a write', async () => {
    store = await startStore({ laterSecrets: 'null' }, { ...STORED, smtp_pwd: null });
    expect(await outcomeOf()).toMatchObject({ status: 'applied', error: null });
  });
});

describe('a bare string in an mcp list is an entry', () => {
  const A = { url: 'https://a.example.com/sse', api_key: null };
  const B = { url: 'https://b.example.com/mcp', api_key: null, timeout: 60 };
  const CONFIG = { sse_servers: [A], stdio_servers: [], shttp_servers: [B] };
  const declared = (lists: string) => `  sandbox_api_key: null\n  mcp_config: ${lists}\n`;
  const served = async (config: Json = CONFIG) => {
    store = await startStore(
      { urlEntries: 'strings' },
      { ...STORED, mcp_config: structuredClone(config) },
    );
  };

  it('carried back when it is not declared', async () => {
    await served();
    expect(await outcomeOf()).toMatchObject({ status: 'applied', error: null });
    expect(store.stored?.['mcp_config']).toEqual(CONFIG);
  });

  it('carried back when it is unmanaged in a declared list', async () => {
    await served();
    const outcome = await outcomeOf(declared('{ shttp_servers: ["https://new.example.com"] }'), {
      unmanaged: '["mcp_config.shttp_servers[https://b.example.com/mcp]"]',
    });
    expect(outcome).toMatchObject({ status: 'applied', error: null });
    expect(store.stored?.['mcp_config']).toMatchObject({
      sse_servers: [A],
      shttp_servers: [B, { url: 'https://new.example.com' }],
    });
  });

  it('the same as a declared one', async () => {
    await served();
    const planned = await planOf(declared('{ sse_servers: ["https://a.example.com/sse"] }'));
    expect(planned.changes).toEqual([]);
    expect(planned.unknown.filter(({ path }) => path[0] === 'mcp_config')).toEqual([]);
  });

  it('another than a declared one: its removal is listed', async () => {
    await served();
    expect(await planOf(declared('{ sse_servers: [] }'))).toMatchObject({
      changes: [{ action: 'remove', path: ['mcp_config', 'sse_servers', A.url] }],
    });
    const [found] = (
      await drift(
        request(
          store.url,
          declared('{ shttp_servers: [{ url: "https://b.example.com/mcp", timeout: 5 }] }'),
        ),
      )
    ).environments;
    expect(found?.changes).toMatchObject([{ action: 'change', reason: 'timeout differs' }]);
  });

  it('masked when its address holds a secret', async () => {
    await served({ ...CONFIG, sse_servers: [{ ...A, url: `${A.url}?key=CANARY` }] });
    const documents = [
      await planOf(declared('{ sse_servers: [] }')),
      await outcomeOf(declared('{}')),
    ];
    expect(JSON.stringify(documents)).toContain(A.url);
    expect(JSON.stringify(documents)).not.toContain('CANARY');
  });
});

describe('an item of a list that is no entry is never lost', () => {
  const LINE = 'npx -y tool --key CANARY-line';
  const stored = (): JsonRecord => ({
    ...STORED,
    mcp_config: { sse_servers: [], stdio_servers: [LINE], shttp_servers: [] },
  });

  it('when the list is not declared', async () => {
    store = await startStore({}, stored());
    expect(await outcomeOf()).toMatchObject({ status: 'applied', error: null });
    expect(store.stored?.['mcp_config']).toEqual(stored()['mcp_config']);
  });

  it('when the list is declared: it is kept, and nothing is claimed of it', async () => {
    store = await startStore({}, stored());
    const settings =
      '  sandbox_api_key: null\n  mcp_config: { stdio_servers: [{ name: a, command: npx }] }\n';
    const outcome = await outcomeOf(settings);
    expect(outcome).toMatchObject({
      status: 'applied',
      unknown: [{ path: ['mcp_config', 'stdio_servers', '(unnamed)'] }],
    });
    expect(store.stored?.['mcp_config']).toMatchObject({
      stdio_servers: [{ name: 'a', command: 'npx' }, LINE],
    });
    expect(await planOf(settings)).toMatchObject({ status: 'in-sync', complete: false });
    expect(JSON.stringify([outcome, await planOf('')])).not.toContain('CANARY');
  });

  it('and a write that changes it is not converged', async () => {
    store = await startStore({}, stored());
    afterPost(1, (record) => ({
      ...record,
      mcp_config: { sse_servers: [], stdio_servers: [], shttp_servers: [] },
    }));
    expect(await outcomeOf()).toMatchObject({
      status: 'not-converged',
      remaining: [{ path: ['mcp_config', 'stdio_servers', '(unnamed)'] }],
    });
  });
});

describe('the corrective write starts from the latest observation', () => {
  const LLM = `${SETTINGS}  llm_api_key: \${env:SETPOINT_API_KEY}\n`;
  const OWN = { url: 'https://own.example.com/sse', api_key: 'k' };
  const MINE = { url: 'https://mine.example.com/sse', api_key: 'k' };
  const THEIRS = { url: 'https://theirs.example.com/sse', api_key: 'k' };
  const config = (...entries: JsonRecord[]) => ({
    sse_servers: entries,
    stdio_servers: [],
    shttp_servers: [],
  });

  it('a secret that fell out comes back, and what somebody wrote meanwhile stays', async () => {
    store = await startStore({}, { ...STORED, llm_api_key: 'stored', a_later_field: 1 });
    afterPost(1, (stored) => ({ ...stored, llm_api_key: null, agent: 'theirs', a_later_field: 2 }));
    expect(await outcomeOf(LLM)).toMatchObject({
      status: 'not-converged',
      requests: { post: 2 },
      remaining: [{ path: ['agent'] }, { path: ['a_later_field'] }],
    });
    expect(store.stored).toMatchObject({
      language: 'fr',
      agent: 'theirs',
      a_later_field: 2,
      llm_api_key: 'a-session-key',
    });
  });

  it('an entry that doubled goes, and one that somebody added meanwhile stays', async () => {
    store = await startStore({ own: [OWN] }, { ...STORED, mcp_config: config(MINE) });
    afterPost(1, (stored) => ({
      ...stored,
      mcp_config: config(
        ...(stored['mcp_config'] as ReturnType<typeof config>).sse_servers,
        THEIRS,
      ),
    }));
    expect(await outcomeOf()).toMatchObject({ status: 'not-converged', requests: { post: 2 } });
    expect(store.stored?.['mcp_config']).toEqual(config(MINE, THEIRS));
  });

  it('what somebody changed of a declared field meanwhile is reported, and not overwritten unseen', async () => {
    store = await startStore({}, { ...STORED, confirmation_mode: false, llm_api_key: 'stored' });
    afterPost(1, (stored) => ({ ...stored, llm_api_key: null, confirmation_mode: true }));
    expect(await outcomeOf(`${LLM}  confirmation_mode: false\n`)).toMatchObject({
      status: 'not-converged',
      requests: { post: 1 },
    });
    expect(store.stored).toMatchObject({ confirmation_mode: true });
  });

  it('a read that still shows the first write is waited for', async () => {
    store = await startStore({}, { ...STORED, llm_api_key: 'stored' });
    let stale: JsonRecord | null = null;
    store.intercept = (incoming, response, proceed) => {
      if (incoming.method === 'GET') {
        if (store.posts() < 2 || stale === null) return false;
        json(response, 200, loaded(stale, RECORDED));
        stale = null;
        return true;
      }
      proceed();
      if (store.posts() === 1 && store.stored !== null) {
        store.stored['llm_api_key'] = null;
        stale = structuredClone(store.stored);
      }
      return true;
    };
    expect(await outcomeOf(LLM)).toMatchObject({ status: 'applied', requests: { post: 2 } });
  });
});

/** How a POST is spoilt: its answer, and whether it has its effect. */
const SPOILT: [string, boolean, (response: ServerResponse) => void][] = [
  ['cut before its effect', false, (response) => response.destroy()],
  ['cut after its effect', true, (response) => response.destroy()],
  ['500 before its effect', false, (response) => json(response, 500, {})],
  ['500 after its effect', true, (response) => json(response, 500, {})],
  ['a web page after its effect', true, (response) => response.writeHead(200).end('<html>')],
  ['401 after its effect', true, (response) => json(response, 401, {})],
  ['409 after its effect', true, (response) => json(response, 409, {})],
  ['422 after its effect', true, (response) => json(response, 422, { detail: [] })],
];

/** Spoils the first POSTs; after each, reads show the record before it `lag` times. */
function spoil(
  [, effect, answer]: (typeof SPOILT)[number],
  { posts, lag }: { posts: number; lag: number },
): void {
  let left = 0;
  let stale: JsonRecord = {};
  store.intercept = (incoming, response) => {
    if (incoming.method === 'GET') {
      if (left === 0) return false;
      left -= 1;
      json(response, 200, loaded(stale, RECORDED));
      return true;
    }
    if (store.posts() > posts) return false;
    stale = structuredClone(store.stored ?? {});
    left = lag;
    if (effect) store.stored = { ...store.stored, language: 'fr' };
    answer(response);
    return true;
  };
}

describe('after an ambiguous answer a read that lags is waited for', () => {
  it.each(SPOILT.filter(([name, effect]) => effect && !name.startsWith('4')))(
    '%s: the write is seen and not repeated',
    async (...spoilt) => {
      store = await startStore({}, { ...STORED });
      spoil(spoilt, { posts: 1, lag: 4 });
      const clock = quickClock();
      expect(await outcomeOf(SETTINGS, { clock })).toMatchObject({
        status: 'applied',
        requests: { post: 1 },
        changes: [{ result: 'verified' }],
      });
      expect(clock.slept).toEqual([500, 1000, 2000, 4000]);
    },
  );

  it('so that what somebody wrote during the lag is not overwritten', async () => {
    store = await startStore({}, { ...STORED });
    const [, spoilt] = SPOILT;
    if (spoilt === undefined) throw new Error('no case');
    spoil(spoilt, { posts: 1, lag: 2 });
    const intercept = store.intercept;
    store.intercept = (...given) => {
      const done = intercept?.(...given) === true;
      if (given[0].method === 'POST') store.stored = { ...store.stored, agent: 'theirs' };
      return done;
    };
    await outcomeOf();
    expect(store.stored).toMatchObject({ language: 'fr', agent: 'theirs' });
  });
});

describe('what was sent and may have been stored is never reported as not sent', () => {
  it.each(SPOILT)('%s', async (...spoilt) => {
    for (const posts of [1, 2]) {
      for (const lag of [0, 2, 9]) {
        store = await startStore({}, { ...STORED });
        spoil(spoilt, { posts, lag });
        const outcome = await outcomeOf();
        const isClear = spoilt[0].startsWith('4') && lag > 0;
        if (!isClear) expect(outcome.changes).not.toMatchObject([{ result: 'not-sent' }]);
        if (outcome.error === null) expect(store.stored).toMatchObject({ language: 'fr' });
        await store.close();
      }
    }
  });

  it('of a sandbox, when a run is given up while its start is under way', async () => {
    for (const given of ['before', 'after'] as const) {
      const front = await startFront();
      const stop = new AbortController();
      const abandon = new AbortController();
      const giveUp = (): void => {
        stop.abort('SIGTERM');
        abandon.abort('SIGTERM');
      };
      try {
        const at =
          given === 'before'
            ? { route: 'sandboxes' as const, nth: 2 }
            : { route: 'start' as const, nth: 1 };
        front.put({ name: 'slow', at: [at.route], effect: 'done', shows: 'nothing' }, at, giveUp);
        const asked = request(front.url, '', { signal: stop.signal, abandon: abandon.signal });
        const document = await apply({
          ...asked,
          text: `${asked.text}sandboxes: [{ running: 1 }]\n`,
        });
        expect(document.environments[0]).toMatchObject({
          error: { code: 'terminated' },
          changes: [{ result: given === 'before' ? 'not-sent' : 'unknown' }],
        });
      } finally {
        await front.close();
      }
    }
  });
});
