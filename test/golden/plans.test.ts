import { join } from 'node:path';
import { expect, it } from 'vitest';
import { apply } from '../../src/reconciler/operations/apply.ts';
import { plan } from '../../src/reconciler/operations/plan.ts';
import { outcomeText, planText } from '../../src/reconciler/render/section-text.ts';
import { request } from '../fixture/settings.ts';
import { expectGolden } from './golden-file.ts';
import { startStore, type JsonRecord, type Semantics } from '../fixture/store-server.ts';

interface Scenario {
  readonly stored: JsonRecord | null;
  readonly semantics?: Partial<Semantics>;
  readonly settings: string;
  readonly more?: Parameters<typeof request>[2];
}

const ENTRY = { url: 'https://mcp.example.com/mcp?team=7', api_key: 'stored-key', timeout: 60 };

const SCENARIOS: Readonly<Record<string, Scenario>> = {
  'an empty store': {
    stored: null,
    settings: '  language: en\n  llm_api_key: ${env:LLM_API_KEY}\n  mcp_config:\n    stdio_servers:\n      - { name: files, command: npx, args: "-y server-files", env: { LOG: info } }\n',
  },
  'a bit of everything': {
    stored: {
      language: 'fr',
      agent: 'CodeActAgent',
      max_iterations: 500,
      git_user_name: 'someone else',
      llm_api_key: 'k',
      search_api_key: 'k',
      llm_base_url: 'https://user:pass@llm.example.com',
      a_later_field: 1,
      email: 'a@example.com',
      mcp_config: { sse_servers: [{ url: 'https://old.example.com/sse', api_key: 'old' }], stdio_servers: [], shttp_servers: [ENTRY] },
    },
    settings: [
      '  language: en',
      '  max_iterations: 100',
      '  git_user_name: ${env:BOT}',
      '  llm_api_key: ${env:LLM_API_KEY}',
      '  search_api_key: null',
      '  llm_base_url: null',
      '  mcp_config:',
      '    sse_servers: []',
      '    shttp_servers:',
      '      - { url: "https://mcp.example.com/mcp?team=8", timeout: 30, api_key: "${env:LLM_API_KEY}" }',
      '',
    ].join('\n'),
    more: { guards: '{ max_changes: 3 }', allow: ['max-changes'], rotate: ['llm_api_key'] },
  },
  'nothing to do': { stored: { language: 'en', llm_api_key: 'k' }, settings: '  language: en\n' },
  'nothing to do, and something unknown': {
    stored: { language: 'en', llm_api_key: 'k' },
    settings: '  language: en\n  llm_api_key: ${env:LLM_API_KEY}\n  sandbox_api_key: ${env:LLM_API_KEY}\n',
  },
  'a value the store does not keep': { stored: { agent: 'A' }, semantics: { onNull: 'keep' }, settings: '  agent: null\n  sandbox_api_key: null\n' },
  'a long value': {
    stored: { git_user_name: 'x'.repeat(400) },
    settings: `  git_user_name: ${'y'.repeat(300)}\n  sandbox_api_key: null\n  mcp_config:\n    sse_servers: [${Array.from({ length: 2 }, (_, index) => `"https://h${index}.example.com/sse"`).join(', ')}]\n    stdio_servers:\n      - { name: long, command: npx, args: [${Array.from({ length: 30 }, () => 'x').join(', ')}] }\n`,
  },
};

it.each(Object.keys(SCENARIOS))('%s', async (name) => {
  const { stored, semantics = {}, settings, more = {} } = SCENARIOS[name] as Scenario;
  const store = await startStore(semantics, structuredClone(stored));
  try {
    const asked = request(store.url, settings, { ...more, env: { SETPOINT_API_KEY: 'k', LLM_API_KEY: 'canary-llm', BOT: 'canary-bot' } });
    const style = { color: false, width: 80, verbose: false };
    const planned = planText(await plan(asked), style);
    const drifted = planText(await plan({ ...asked, rotate: undefined }), style, 'drift');
    const outcome = outcomeText(await apply(asked), style);
    const text = [planned, drifted, outcome].join('\n--------\n\n').replaceAll(store.url, 'http://127.0.0.1:3000');
    expect(text).not.toContain('canary');
    expectGolden(join('plans', name.replaceAll(/[^a-z]+/g, '-'), 'expected.txt'), text);
  } finally {
    await store.close();
  }
});
