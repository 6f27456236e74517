import { afterEach, describe, expect, it } from 'vitest';
import { apply } from '../../src/operations/apply.ts';
import { plan } from '../../src/operations/plan.ts';
import { RULES, type Rule } from '../../src/model/guard.ts';
import { request } from '../fixture/settings.ts';
import { startStore, type JsonRecord, type StoreServer } from '../fixture/store-server.ts';

let store: StoreServer;
afterEach(() => store.close());

interface Case {
  readonly rule: Rule;
  readonly stored: JsonRecord | null;
  readonly settings: string;
  /** A word of the sentence that tells what was found. */
  readonly says: RegExp;
}

const MCP = { sse_servers: [], stdio_servers: [], shttp_servers: [] };
const HELD = { url: 'https://a.example.com/mcp', api_key: 'a-stored-key', timeout: 60 };
const SETTLED = '  sandbox_api_key: null\n';

/** One plan for each rule that can be turned on by its name. */
const CASES: readonly Case[] = [
  {
    rule: 'clear-secret',
    stored: { llm_api_key: 'k' },
    settings: '  llm_api_key: null\n',
    says: /clears llm_api_key/,
  },
  {
    rule: 'clear-secret',
    stored: { mcp_config: { ...MCP, shttp_servers: [HELD] } },
    settings: '  mcp_config: { shttp_servers: [] }\n',
    says: /removes .*holds a secret/,
  },
  {
    rule: 'move-endpoint',
    stored: { llm_api_key: 'k', llm_base_url: 'https://a.example.com/v1' },
    settings: '  llm_base_url: https://b.example.com/v1\n',
    says: /moves llm_base_url/,
  },
  {
    rule: 'move-endpoint',
    stored: { mcp_config: { ...MCP, shttp_servers: [HELD] } },
    settings:
      '  mcp_config: { shttp_servers: [{ url: "https://b.example.com/mcp", api_key: "${env:HELD}" }] }\n',
    says: /the key of an entry at another host/,
  },
  {
    rule: 'run-code',
    stored: {},
    settings: '  mcp_config: { stdio_servers: [{ name: files, command: npx }] }\n',
    says: /adds .*files.*a program/,
  },
  {
    rule: 'run-code',
    stored: { sandbox_base_container_image: 'a' },
    settings: '  sandbox_base_container_image: b\n',
    says: /sets sandbox_base_container_image/,
  },
  {
    rule: 'disable-safety',
    stored: { confirmation_mode: true },
    settings: '  confirmation_mode: false\n',
    says: /turns confirmation_mode off/,
  },
  {
    rule: 'disable-safety',
    stored: { security_analyzer: 'llm' },
    settings: '  security_analyzer: null\n',
    says: /clears security_analyzer/,
  },
  { rule: 'empty-store', stored: null, settings: '  language: en\n', says: /nothing stored yet/ },
];

const asked = ({ settings }: Case, guards?: string, allow: readonly string[] = []) =>
  request(store.url, settings + SETTLED, {
    ...(guards === undefined ? {} : { guards }),
    allow,
    env: { SETPOINT_API_KEY: 'a-session-key', HELD: 'a-stored-key' },
  });

describe.each(CASES)('$rule, $says', (one) => {
  const { rule, stored, says } = one;

  it('is a warning where no guard is named, and goes on', async () => {
    store = await startStore({}, structuredClone(stored));
    const [planned] = (await plan(asked(one))).environments;
    const said = planned?.warnings.filter(({ code }) => code === 'guard') ?? [];
    expect(said.map(({ message }) => message).join('\n')).toMatch(says);
    expect(said.some(({ message }) => message.endsWith(`(${rule})`))).toBe(true);
    await apply(asked(one));
    expect(store.posts()).toBeGreaterThan(0);
  });

  it.each([`{ ${rule.replaceAll('-', '_')}: true }`, '{ protected: true }'])(
    'is refused under %s: exit 5, the rule, the flag, nothing sent',
    async (guards) => {
      store = await startStore({}, structuredClone(stored));
      const [outcome] = (
        await apply(
          asked(
            one,
            guards,
            RULES.filter((other) => other !== rule),
          ),
        )
      ).environments;
      expect(outcome).toMatchObject({ status: 'refused', error: { code: 'guard-refused' } });
      expect(outcome?.error?.message).toMatch(says);
      expect(outcome?.error?.message).toContain(`(rule ${rule})`);
      expect(outcome?.error?.hint).toContain(`--allow ${rule}`);
      expect(store.posts()).toBe(0);
    },
  );

  it('is lifted by --allow, and turned off by its name under protected', async () => {
    store = await startStore({}, structuredClone(stored));
    const others = RULES.filter((other) => other !== rule);
    const off = `{ protected: true, ${rule.replaceAll('-', '_')}: false }`;
    expect((await apply(asked(one, off, others))).environments[0]?.status).not.toBe('refused');
    store.stored = structuredClone(stored);
    const allowed = await apply(asked(one, '{ protected: true }', RULES));
    expect(allowed.environments[0]?.status).not.toBe('refused');
  });
});

it('a harmless plan passes under protected', async () => {
  store = await startStore(
    {},
    { language: 'en', llm_api_key: 'k', llm_base_url: 'https://a.example.com/v1' },
  );
  const settings = `  language: fr\n  llm_base_url: https://a.example.com/v2\n${SETTLED}`;
  const document = await apply(request(store.url, settings, { guards: '{ protected: true }' }));
  expect(document.environments).toMatchObject([{ status: 'applied', error: null }]);
});

it('an endpoint may move together with its key', async () => {
  store = await startStore({}, { llm_api_key: 'k', llm_base_url: 'https://a.example.com' });
  const settings = `  llm_base_url: https://b.example.com\n  llm_api_key: \${env:SETPOINT_API_KEY}\n${SETTLED}`;
  const more = { guards: '{ move_endpoint: true }', rotate: ['llm_api_key'] };
  const document = await apply(request(store.url, settings, more));
  expect(document.environments).toMatchObject([{ status: 'applied' }]);
});

it('frozen refuses every write with its text, and no rule lifts it; what is in sync stays so', async () => {
  store = await startStore({}, { language: 'en' });
  const more = { guards: '{ frozen: "INC-42" }', allow: RULES };
  const [refused] = (await apply(request(store.url, `  language: fr\n${SETTLED}`, more)))
    .environments;
  expect(refused).toMatchObject({ status: 'refused', error: { code: 'guard-refused' } });
  expect(refused?.error?.message).toContain('INC-42');
  expect(store.posts()).toBe(0);
  const [same] = (await apply(request(store.url, '  language: en\n', more))).environments;
  expect(same).toMatchObject({ status: 'in-sync', error: null });
});

it('plan says what would be refused', async () => {
  store = await startStore({}, { confirmation_mode: true });
  const settings = `  confirmation_mode: false\n${SETTLED}`;
  const { environments } = await plan(
    request(store.url, settings, { guards: '{ protected: true }' }),
  );
  const codes = environments[0]?.warnings.map(({ code }) => code);
  expect(codes).toEqual(['cannot-be-read-back', 'would-be-refused', 'guard']);
});
