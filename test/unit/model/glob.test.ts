import { describe, expect, it } from 'vitest';
import { isGlobMatch } from '../../../src/reconciler/model/matcher.ts';
import { growth, LINEAR } from '../../fixture/growth.ts';

describe('a glob', () => {
  it.each([
    ['*', 'A', true],
    ['*', '', true],
    ['', '', true],
    ['A', 'A', true],
    ['A', 'a', false],
    ['A*', 'A', true],
    ['A*A', 'A', false],
    ['A*A', 'AA', true],
    ['*_KEY', 'LLM_API_KEY', true],
    ['*_KEY', 'LLM_API_KEYS', false],
    ['a*b*c', 'aXbYbZc', true],
    ['https://*.example.com', 'https://a.example.com', true],
    ['https://*.example.com', 'https://a/b.example.com', false],
    ['https://*.example.com/', 'https://a.example.com', true],
    ['**', 'ab', true],
    ['a.c', 'abc', false],
    ['[a]', 'a', false],
  ])('%s on %s: %s', (glob, text, expected) => {
    expect(isGlobMatch(text, [glob])).toBe(expected);
  });

  it('a glob that hurts a pattern takes time linear to the text', () => {
    const ratio = growth(
      (size) => 'a'.repeat(size),
      (text) => isGlobMatch(text, [`${'*a'.repeat(30)}*b`]),
      500_000,
    );
    expect(ratio).toBeLessThan(LINEAR);
  });
});
