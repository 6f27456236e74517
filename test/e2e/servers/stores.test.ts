import { afterEach, describe, expect, it } from 'vitest';
import { apply } from '../../../src/reconciler/operations/apply.ts';
import { drift, plan } from '../../../src/reconciler/operations/plan.ts';
import { request } from '../../fixture/settings.ts';
import { startStore, type Semantics, type StoreServer } from '../../fixture/store-server.ts';

const CANARY = 'CANARY-7f3a91c2';

/** What is stored before each case: a bit of everything, with secrets that no environment knows. */
const STORED = {
  language: 'en',
  agent: 'CodeActAgent',
  max_iterations: 100,
  confirmation_mode: true,
  llm_model: 'model-a',
  llm_base_url: 'https://llm.example.com',
  llm_api_key: `${CANARY}-llm`,
  search_api_key: `${CANARY}-search`,
  enable_default_condenser: false,
  git_user_name: 'bot',
  max_budget_per_task: 2.5,
  a_later_field: { nested: [1, 'two', null] },
  mcp_config: {
    sse_servers: [{ url: 'https://sse.example.com/sse', api_key: `${CANARY}-sse` }],
    stdio_servers: [],
    shttp_servers: [
      { url: 'https://http.example.com/mcp', api_key: `${CANARY}-http`, timeout: 60 },
    ],
  },
};

const SEMANTICS: Partial<Semantics>[] = [];
for (const write of ['replace', 'merge'] as const) {
  for (const onNull of ['clear', 'keep'] as const) {
    for (const passwords of ['null', 'absent', 'empty', 'mask'] as const)
      SEMANTICS.push({ write, onNull, passwords });
  }
}

let store: StoreServer;
afterEach(() => store.close());

describe.each(SEMANTICS)('a store: $write, null $onNull, passwords $passwords', (semantics) => {
  it('sends nothing but GET for plan and drift, and shows no secret in any document', async () => {
    store = await startStore(semantics, structuredClone(STORED));
    const secret = `${CANARY}-declared`;
    const settings =
      '  llm_api_key: ${env:LLM}\n  git_user_name: ${env:NAME}\n  mcp_config:\n    sse_servers:\n      - url: https://sse.example.com/sse\n        api_key: ${env:LLM}\n';
    const env = { SETPOINT_API_KEY: `${CANARY}-key`, LLM: secret, NAME: `${CANARY}-name` };
    const documents = [
      await plan(request(store.url, settings, { env })),
      await drift(request(store.url, settings, { env })),
    ];
    expect(store.posts()).toBe(0);
    documents.push((await apply(request(store.url, settings, { env, rotate: 'all' }))) as never);
    expect(JSON.stringify(documents)).not.toContain('CANARY');
    expect(store.stored).toMatchObject({ llm_api_key: secret, git_user_name: `${CANARY}-name` });
  });
});

describe('only a mask hides a secret inside mcp_config', () => {
  it('in a declared entry as in one that is not managed: nothing is written', async () => {
    for (const declared of [
      '',
      '  mcp_config: { sse_servers: [https://sse.example.com/sse], shttp_servers: [] }\n',
    ]) {
      const unmanaged = 'unmanaged: ["mcp_config.shttp_servers[https://http.example.com/mcp]"]\n';
      store = await startStore({ mcpSecrets: 'mask' }, structuredClone(STORED));
      const settings = `  language: fr\n  sandbox_api_key: null\n${declared}`;
      const more = declared === '' ? '' : unmanaged;
      const outcome = await apply(request(store.url, settings + more));
      expect(outcome.environments[0]).toMatchObject({
        status: 'refused',
        error: { code: 'guard-refused' },
      });
      expect(outcome.environments[0]?.error?.message).toContain(
        'mcp_config.sse_servers[https://sse.example.com/sse].api_key',
      );
      expect(store.posts()).toBe(0);
      expect(store.stored).toEqual(STORED);
      await store.close();
    }
  });

  it('and then a null of the same answer may hide one, too', async () => {
    const { sse_servers: sse, ...others } = STORED.mcp_config;
    const keyless = [{ url: 'https://sse.example.com/sse', api_key: null }];
    const stored = { ...STORED, mcp_config: { ...others, sse_servers: [...sse, ...keyless] } };
    store = await startStore({ mcpSecrets: 'mask' }, structuredClone(stored));
    const refused = await plan(request(store.url, '  language: fr\n  sandbox_api_key: null\n'));
    const paths = refused.environments[0]?.refusals.map(({ path }) => path.join(' '));
    expect(paths).toContain('mcp_config sse_servers https://sse.example.com/sse#2 api_key');
  });

  it.each(['null', 'empty', 'absent'] as const)(
    'a keyless entry, answered as %s, never stops a write',
    async (mcpSecrets) => {
      const keyless = [{ url: 'https://sse.example.com/sse', api_key: null }];
      const stored = {
        ...STORED,
        mcp_config: { sse_servers: keyless, stdio_servers: [], shttp_servers: [] },
      };
      store = await startStore({ mcpSecrets }, structuredClone(stored));
      const settings = '  language: fr\n  sandbox_api_key: null\n';
      const outcome = await apply(
        request(store.url, settings, { guards: '{ protected: true, empty_store: false }' }),
      );
      expect(outcome.environments[0]).toMatchObject({ status: 'applied', error: null });
      expect(store.stored?.['language']).toBe('fr');
    },
  );
});

describe.each(['null', 'mask', 'empty', 'absent'] as const)(
  'a store that answers %s for secrets inside mcp_config',
  (mcpSecrets) => {
    it('is written once the entries are declared, their keys with them', async () => {
      store = await startStore({ mcpSecrets }, structuredClone(STORED));
      const settings = [
        '  language: fr',
        '  sandbox_api_key: null',
        '  mcp_config:',
        '    sse_servers: [{ url: https://sse.example.com/sse, api_key: "${env:SSE}" }]',
        '    shttp_servers: [{ url: https://http.example.com/mcp, api_key: "${env:HTTP}" }]',
        '',
      ].join('\n');
      const env = { SETPOINT_API_KEY: 'k', SSE: `${CANARY}-sse`, HTTP: `${CANARY}-http` };
      await apply(request(store.url, settings, { env }));
      expect(store.stored).toMatchObject({ ...STORED, language: 'fr' });
    });

    it('stores no mask in the lists that are not declared, though a loss is allowed', async () => {
      store = await startStore({ mcpSecrets }, structuredClone(STORED));
      const settings = '  mcp_config: { sse_servers: [] }\n  sandbox_api_key: null\n';
      await apply(request(store.url, settings, { allow: ['lose-unreadable'] }));
      expect(store.stored?.['mcp_config']).toMatchObject({ sse_servers: [] });
      expect(JSON.stringify(store.stored)).not.toContain('***');
    });

    it('loses what it hides only if that is allowed', async () => {
      store = await startStore({ mcpSecrets }, structuredClone(STORED));
      const outcome = await apply(
        request(store.url, '  language: fr\n', { allow: ['lose-unreadable'] }),
      );
      expect(outcome.environments[0]).toMatchObject({
        status: 'applied',
        remaining: [],
        allowed: ['lose-unreadable'],
      });
      expect(store.stored?.['language']).toBe('fr');
      expect(JSON.stringify(store.stored)).not.toContain('***');
    });
  },
);

describe('null', () => {
  it('clears a field that the store keeps on null by what does clear it', async () => {
    store = await startStore({}, structuredClone(STORED));
    const outcome = await apply(
      request(
        store.url,
        '  llm_model: null\n  llm_base_url: null\n  search_api_key: null\n  agent: null\n',
      ),
    );
    expect(outcome.environments[0]).toMatchObject({ status: 'applied' });
    expect(store.stored).toMatchObject({
      llm_model: '',
      llm_base_url: '',
      search_api_key: null,
      agent: null,
      llm_api_key: STORED.llm_api_key,
    });
  });

  it('that the store ignores is not converged, with both values', async () => {
    store = await startStore({ onNull: 'keep' }, structuredClone(STORED));
    const outcome = await apply(request(store.url, '  agent: null\n  sandbox_api_key: null\n'));
    expect(outcome.environments[0]).toMatchObject({
      status: 'not-converged',
      error: { code: 'not-converged' },
      remaining: [{ path: ['agent'], expected: null, actual: 'CodeActAgent' }],
    });
  });
});

describe('the sandbox_api_key, which nobody can see', () => {
  it('is no matter if it is not declared, and refused under protected, with null as the way', async () => {
    store = await startStore({}, structuredClone(STORED));
    const silent = await plan(request(store.url, '  language: fr\n'));
    expect(silent.environments[0]?.warnings).toEqual([]);
    const refused = await apply(
      request(store.url, '  language: fr\n', { guards: '{ protected: true }' }),
    );
    expect(refused.environments[0]).toMatchObject({ status: 'refused', requests: { post: 0 } });
    const { hint = '' } = refused.environments[0]?.error ?? {};
    expect(hint).toContain('Declare sandbox_api_key: null under settings');
    expect(hint).not.toContain('a reference');
    expect(store.posts()).toBe(0);
  });

  it('declared, is sent with every write and is no change of its own', async () => {
    store = await startStore({}, structuredClone(STORED));
    const settings = '  language: fr\n  sandbox_api_key: ${env:SETPOINT_API_KEY}\n';
    const outcome = await apply(request(store.url, settings, { guards: '{ protected: true }' }));
    expect(outcome.environments[0]).toMatchObject({
      status: 'applied',
      changes: [{ path: ['language'] }],
    });
    expect(store.stored?.['sandbox_api_key']).toBe('a-session-key');
    const again = await apply(request(store.url, settings));
    expect(again.environments[0]).toMatchObject({ status: 'in-sync', requests: { post: 0 } });
  });

  it('is written by itself with --rotate', async () => {
    store = await startStore({}, structuredClone(STORED));
    const outcome = await apply(
      request(store.url, '  sandbox_api_key: ${env:SETPOINT_API_KEY}\n', {
        rotate: ['sandbox_api_key'],
      }),
    );
    expect(outcome.environments[0]).toMatchObject({
      status: 'applied',
      changes: [{ action: 'rotate', result: 'unverifiable' }],
    });
    expect(store.stored).toMatchObject({ ...STORED, sandbox_api_key: 'a-session-key' });
  });
});
