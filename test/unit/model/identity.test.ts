import { describe, expect, it } from 'vitest';
import {
  bareUrl,
  isSensitiveAddress,
  isSensitiveUrl,
  withoutUrlSecrets,
} from '../../../src/reconciler/model/address.ts';
import { growth, LINEAR } from '../../fixture/growth.ts';

describe('an address is known without its userinfo, query and fragment', () => {
  it.each([
    ['https://u:p@h.example/x?t=1#f', 'https://h.example/x'],
    ['user:pass@h.example/x?token=1', 'h.example/x'],
    ['h.example/x?key=1', 'h.example/x'],
    ['//user@h.example', '//h.example'],
    ['ws://u:p@h.example/x', 'ws://h.example/x'],
    ['wss://h.example/x?t=1', 'wss://h.example/x'],
    ['https://u@corp:p@h.example/x', 'https://h.example/x'],
    ['https://u:p/a@ss@h.example/x', 'https://h.example/x'],
    ['https://u:p?a#s@h.example/x', 'https://h.example/x'],
    ['https://u:p@/x@h.example/x', 'https://h.example/x'],
    ['https://u:p?a@h.example/x?b=@c', 'https://c'],
    ['https:\\\\u:p@h.example\\x?t', 'https:\\\\h.example\\x'],
    ['https:/\\u:p@h.example/x', 'https:/\\h.example/x'],
    ['https:u:p@h.example/x', 'https:h.example/x'],
    ['https:////u:p@h.example/x', 'https:////h.example/x'],
    ['ht\ntps://u:p@h.\texample/x', 'https://h.example/x'],
    ['postgres://u\\s:p@h.example/x', 'postgres://h.example/x'],
    ['https://[::1]:8080/x@y', 'https://[::1]:8080/x@y'],
    ['https://h.example:8080/@scope/x@1', 'https://h.example:8080/@scope/x@1'],
    ['https://h.example/@me', 'https://h.example/@me'],
    [' https://h.example/x ', 'https://h.example/x'],
    ['https://${env:HOST:-u:p@h?x}/x?t=${env:T}', 'https://${env:HOST:-u:p@h?x}/x'],
    ['${env:URL:-https://h/x?y}', '${env:URL:-https://h/x?y}'],
  ])('%j', (url, bare) => {
    expect(bareUrl(url)).toBe(bare);
    expect(bareUrl(bare)).toBe(bare);
    expect(isSensitiveAddress(url)).toBe(bare !== url.trim() && !url.includes('\n'.repeat(2)));
  });
});

describe('a text that may be anything is an address with a secret in it', () => {
  it.each([
    'https://u:p@h.example',
    'https://h.example/x?k=1',
    'https://h.example/x#t',
    'user:pass@h.example/path?token=x',
    'user:pass@localhost:8080',
    'h.example/path?key=x',
    '//user@h.example',
    'wss://h.example?k',
    'https:\\\\u:p@h.example',
  ])('%s', (text) => expect(isSensitiveUrl(text)).toBe(true));

  it.each([
    'dev@example.com',
    'mailto:dev@example.com',
    'C# and F#',
    'repo#12',
    'Who is it?',
    'what?',
    'a: b@c',
    'ghcr.io:443/x/agent:1@sha256:0123456789abcdef',
    'agent:1@sha256:0123456789abcdef0123456789abcdef',
    'anthropic/claude-sonnet-4-5',
    'https://h.example/x',
    'embedded:./store.json',
    '${env:NAME:-x}',
  ])('and %s is none', (text) => expect(isSensitiveUrl(text)).toBe(false));

  it('is decided in a time that grows with the text alone', () => {
    for (const piece of ['a:', 'a@', '${', 'https://', 'x?', '//a@']) {
      const ratio = growth(
        (size) => piece.repeat(size),
        (text) => [isSensitiveUrl(text), bareUrl(text), withoutUrlSecrets(text)],
        50_000,
      );
      expect(ratio, piece).toBeLessThan(LINEAR);
    }
  });
});

describe('urls inside of text lose their userinfo, query and fragment', () => {
  it.each([
    ['see https://u:p@h.example/x?token=1', 'see https://(sensitive)@h.example/x?(sensitive)'],
    ['(https://h.example/x?k=1).', '(https://h.example/x?(sensitive)).'],
    ['"https://h.example/x#t", b', '"https://h.example/x#(sensitive)", b'],
    ['a wss://h.example?k=1, and', 'a wss://h.example?(sensitive), and'],
    ['at user:pass@h.example/x', 'at (sensitive)@h.example/x'],
    ['at h.example/x?key=1.', 'at h.example/x?(sensitive).'],
    ['to //user@h.example now', 'to //(sensitive)@h.example now'],
    ["url='https://u:p@h.example'", "url='https://(sensitive)@h.example'"],
    ['https:\\\\u:p@h.example', 'https:\\\\(sensitive)@h.example'],
  ])('%s', (text, shown) => {
    expect(withoutUrlSecrets(text)).toBe(shown);
    expect(withoutUrlSecrets(shown)).toBe(shown);
  });

  it.each([
    'dev@example.com, or C# at https://h.example/x?',
    'mcp_config.sse_servers[https://x.example/sse#2].api_key',
    'Did you mean https://h.example/x?',
    'ghcr.io/example/agent:1@sha256:0123',
    'http: would send settings and keys',
  ])('and %s stays as it is', (text) => expect(withoutUrlSecrets(text)).toBe(text));
});
