import { describe, expect, it } from 'vitest';
import { holdsMaskText, looksLikeMask } from '../../../src/reconciler/model/secret-words.ts';

describe('a mask of a service is recognised', () => {
  it.each([
    '**********',
    '•••',
    '...',
    'xxx',
    '[masked]',
    'REDACTED',
    '<hidden>',
    'Bearer **********',
    '--token=***',
    'sk-****abcd',
    '****1234',
    'https://a.example.com/mcp?key=***',
    'https://a.example.com/mcp?key=REDACTED',
    'https://a.example.com/mcp?key=[FILTERED]&x=1',
    'https://a.example.com/mcp?key=filtered',
    'https://a.example.com/mcp?key=%2A%2A%2A',
    'https://<redacted>@a.example.com/mcp',
    'https://a.example.com/mcp?key=xxxxxx&b=1',
    '--key=[hidden]',
    '--key="masked"',
    '--key=FILTERED',
    '(masked)',
    'user:████@host',
  ])('%s', (text) => {
    expect(holdsMaskText(text)).toBe(true);
  });

  it.each([
    'a-key',
    '-y',
    '--',
    '**/*.ts',
    'hidden',
    '--visibility=hidden',
    'unfiltered',
    'filtered-list',
    'max',
    'https://a.example.com/xxx-large/mcp',
    'mx.example.com',
    '-----BEGIN CERTIFICATE-----',
    'redactedness',
  ])('%s is none', (text) => {
    expect(holdsMaskText(text)).toBe(false);
  });
});

it('a value that a person declares is a mask only as a whole', () => {
  expect(looksLikeMask('**********')).toBe(true);
  expect(looksLikeMask('pass***word')).toBe(false);
});
