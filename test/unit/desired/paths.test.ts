import { describe, expect, it } from 'vitest';
import { formatPath, parsePath } from '../../../src/reconciler/model/path.ts';
import { suggest } from '../../../src/reconciler/model/wording.ts';
import { problems, SERVER } from './reading.ts';

describe('paths', () => {
  it.each<[string[], string]>([
    [['language'], 'language'],
    [['secrets_store', 'custom_secrets', 'DEPLOY_KEY'], 'secrets_store.custom_secrets.DEPLOY_KEY'],
    [['secrets_store', 'custom_secrets', 'a.b'], 'secrets_store.custom_secrets["a.b"]'],
    [['secrets_store', 'custom_secrets', 'a"b\\c'], 'secrets_store.custom_secrets["a\\"b\\\\c"]'],
    [['secrets_store', 'custom_secrets', '1'], 'secrets_store.custom_secrets[1]'],
    [['secrets_store', 'custom_secrets', ''], 'secrets_store.custom_secrets[""]'],
    [
      ['mcp_config', 'sse_servers', 'https://x/sse', 'api_key'],
      'mcp_config.sse_servers[https://x/sse].api_key',
    ],
    [
      ['mcp_config', 'sse_servers', 'http://[::1]:3000/sse'],
      'mcp_config.sse_servers["http://[::1]:3000/sse"]',
    ],
    [['mcp_config', 'sse_servers', 'https://x/sse#2'], 'mcp_config.sse_servers[https://x/sse#2]'],
    [['mcp_config', 'sse_servers', '${env:MCP URL}'], 'mcp_config.sse_servers["${env:MCP URL}"]'],
    [
      ['mcp_config', 'stdio_servers', 'files', 'env', 'A.B'],
      'mcp_config.stdio_servers[files].env["A.B"]',
    ],
  ])('%j is %s, and back', (path, text) => {
    expect(formatPath(path)).toBe(text);
    expect(parsePath(text)).toEqual(path);
  });

  it.each([
    '',
    '.',
    'a.',
    '.a',
    'a..b',
    'a b',
    'a[',
    'a[]',
    'a["x]',
    'a["x"',
    'a]b',
    'a["\\x"]',
    '1a',
  ])('%j is no path', (text) => expect(parsePath(text)).toBeNull());
});

describe('unmanaged', () => {
  it.each([
    ['language', []],
    ['mcp_config', []],
    ['mcp_config.sse_servers', []],
    ['mcp_config.sse_servers[https://x/sse]', []],
    ['mcp_config.sse_servers[https://x/sse#2]', []],
    ['mcp_config.sse_servers["http://[::1]:3000/sse"]', []],
    ['mcp_config.sse_servers[${env:URL}]', []],
    ['mcp_config.stdio_servers[files]', []],
    ['mcp_config.sse_servers[https://x/sse?a]', ['3:15 unknown-key']],
    ['mcp_config.stdio_servers[files].env', ['3:15 unknown-key']],
    ['mcp_config.servers[x]', ['3:15 unknown-key']],
    ['settings.language', ['3:15 unknown-key']],
    ['llm_api_key_set', ['3:15 unknown-key']],
  ])('%s', (path, found) => {
    const text = `version: 1\n${SERVER}\nunmanaged: [ '${path}' ]\n`.replace("[ '", " ['");
    expect(problems(text)).toEqual(found.map((one) => one.replace('3:15', '3:14')));
  });
});

describe('suggestions', () => {
  const keys = ['language', 'llm_model', 'llm_api_key', 'max_iterations', 'url', 'env'];

  it.each([
    ['langauge', 'language'],
    ['Language', 'language'],
    ['llm-model', 'llm_model'],
    ['llmApiKey', 'llm_api_key'],
    ['max_iteration', 'max_iterations'],
    ['ulr', 'url'],
    ['uri', 'url'],
    ['colour', null],
    ['x', null],
    ['', null],
    ['maximum', null],
  ])('%s: %s', (word, suggestion) => {
    expect(suggest(word, keys)).toBe(suggestion);
  });
});
