import { describe, expect, it } from 'vitest';
import { label, prose } from '../../../src/reconciler/render/markdown/inline.ts';

describe('a value', () => {
  it.each([
    ['a sentence of plain words, and 12 of them.', 'a sentence of plain words, and 12 of them.'],
    ['guards.max_changes is 3', '`guards.max_changes` is 3'],
    ['ask @octocat about #1 (now)', 'ask `@octocat` about `#1` (now)'],
    ['write ${env:NAME}, or $x$', 'write `${env:NAME}`, or `$x$`'],
    ['1. first', '`1`. first'],
    [
      'at commit deadbeef, 1234567 or עdeadbeefע',
      'at commit `deadbeef`, `1234567` or `עdeadbeefע`',
    ],
    ['', '…'],
  ])('in the sentence %j reads well', (sentence, expected) => {
    expect(prose(sentence)).toBe(expected);
  });

  it('is a plain word in a name', () => {
    expect([label('production'), label('eu-1'), label('a b'), label('')]).toEqual([
      'production',
      '`eu-1`',
      'a b',
      '`""`',
    ]);
  });
});
