import { describe, expect, it } from 'vitest';

import { Secret } from '../../../src/reconciler/model/secret.ts';
import {
  isRecord,
  maskSecrets,
  WireNumber,
  type Value,
} from '../../../src/reconciler/model/value.ts';
import { concealV0Record } from '../../../src/reconciler/service/settings-v0/read.ts';

describe('conceal', () => {
  it('wraps password fields, but not the lack of one', () => {
    const record = concealV0Record({ llm_api_key: 'a', search_api_key: '', sandbox_api_key: null });
    expect(maskSecrets(record)).toEqual({
      llm_api_key: '(sensitive)',
      search_api_key: '',
      sandbox_api_key: null,
    });
  });

  it('M24: wraps what mcp entries hold beside their names', () => {
    const record = concealV0Record({
      mcp_config: {
        sse_servers: [
          { url: 'https://a.example/sse', api_key: 'k' },
          { url: ' https://u:p@b.example/sse?t=1#f', api_key: null },
          'https://c.example/?t=1',
        ],
        stdio_servers: [
          { name: 'n', command: 'c', args: ['-v', 'x'], env: { PATH: 'p', N: 1, B: true } },
          { name: 'm', command: 'c', args: 'a b', env: null },
        ],
        shttp_servers: null,
        session_token: 't',
      },
    });
    expect(maskSecrets(record)).toEqual({
      mcp_config: {
        sse_servers: [
          { url: 'https://a.example/sse', api_key: '(sensitive)' },
          { url: '(sensitive)', api_key: null },
          '(sensitive)',
        ],
        stdio_servers: [
          {
            name: 'n',
            command: 'c',
            args: ['(sensitive)', '(sensitive)'],
            env: { PATH: '(sensitive)', N: '(sensitive)', B: true },
          },
          { name: 'm', command: 'c', args: '(sensitive)', env: null },
        ],
        shttp_servers: null,
        session_token: '(sensitive)',
      },
    });
  });

  it('members of mcp entries and lists that are not known are masked, whatever they are called', () => {
    const record = concealV0Record({
      mcp_config: {
        sse_servers: [
          { url: 'user:canary@b.example/sse', headers: { A: 'canary' }, note: 'canary' },
        ],
        stdio_servers: [
          { name: 'n', command: 'npx -y server', smtp_pwd: 'canary', cwd: ['canary'] },
          { name: 'm', command: 'npx server --token canary', url: 'canary' },
          { name: 'q', command: "sh -c 'API_KEY=canary npx server'" },
          'canary',
        ],
        mcpServers: { a: { command: 'canary', headers: ['canary'], n: 7 } },
        default: 'canary',
      },
    });
    expect(JSON.stringify(maskSecrets(record))).not.toContain('canary');
    expect(maskSecrets(record)).toMatchObject({
      mcp_config: {
        sse_servers: [{ url: '(sensitive)', headers: { A: '(sensitive)' }, note: '(sensitive)' }],
        stdio_servers: [
          { name: 'n', command: 'npx -y server', smtp_pwd: '(sensitive)' },
          { name: 'm', command: '(sensitive)' },
          { name: 'q', command: '(sensitive)' },
          '(sensitive)',
        ],
        mcpServers: { a: { command: '(sensitive)', n: '(sensitive)' } },
      },
    });
  });

  it('of a field that is not known, every text and number is masked at any depth', () => {
    const record = concealV0Record({
      mail: { from: 'canary', deep: [{ id: 'canary', port: 25, tls: true, none: null }] },
      later: ['canary', new WireNumber('1.0')],
      some_token_set: 'canary',
      auth_mode: 'canary',
      empty: '',
    });
    expect(maskSecrets(record)).toEqual({
      mail: {
        from: '(sensitive)',
        deep: [{ id: '(sensitive)', port: '(sensitive)', tls: true, none: null }],
      },
      later: ['(sensitive)', '(sensitive)'],
      some_token_set: '(sensitive)',
      auth_mode: '(sensitive)',
      empty: '',
    });
  });

  it('of a known field, a text with the form of a secret is masked', () => {
    const record = concealV0Record({
      git_user_name: 'ghp_canary',
      agent: 'see sk-canary for it',
      language: ['canary'],
      email: 'a@b.example',
      max_iterations: 7,
    });
    expect(maskSecrets(record)).toEqual({
      git_user_name: '(sensitive)',
      agent: '(sensitive)',
      language: ['(sensitive)'],
      email: 'a@b.example',
      max_iterations: 7,
    });
  });

  it('keeps what a url is known by, and its bytes', () => {
    const record = concealV0Record({
      mcp_config: { sse_servers: [{ url: ' https://u:p@b.example/sse?t=1#f' }] },
    });
    const found = dig(record, 'mcp_config', 'sse_servers', 0, 'url');
    expect(found).toBeInstanceOf(Secret);
    expect((found as Secret).identity?.shown).toBe('https://b.example/sse');
    expect((found as Secret).sameAs(' https://u:p@b.example/sse?t=1#f')).toBe(true);
  });

  it('wraps every text of secrets_store, whatever its name', () => {
    const record = concealV0Record({
      secrets_store: { provider_tokens: { github: { host: 'h', user: null } }, custom: ['x'] },
    });
    expect(maskSecrets(record)).toEqual({
      secrets_store: {
        provider_tokens: { github: { host: '(sensitive)', user: null } },
        custom: ['(sensitive)'],
      },
    });
  });

  it('leaves flags and the names of tokens alone', () => {
    const record = concealV0Record({
      llm_api_key_set: true,
      provider_tokens_set: { github: 'github.com' },
      language: 'en',
      llm_base_url: 'https://u:p@x.example/v1',
    });
    expect(maskSecrets(record)).toEqual({
      llm_api_key_set: true,
      provider_tokens_set: { github: 'github.com' },
      language: 'en',
      llm_base_url: '(sensitive)',
    });
  });
});

function dig(value: Value, ...path: readonly (string | number)[]): unknown {
  let found: unknown = value;
  for (const step of path) {
    if (Array.isArray(found)) found = found[Number(step)];
    else found = isRecord(found as Value) ? (found as Record<string, unknown>)[step] : undefined;
  }
  return found;
}
