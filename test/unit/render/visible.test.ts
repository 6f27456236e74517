import { describe, expect, it } from 'vitest';
import { escaped, visible } from '../../../src/render/visible.ts';

const ALL = Array.from({ length: 0x110000 }, (_, code) => code).filter(
  (code) => code < 0xd800 || code > 0xdfff,
);

describe('what is invisible is escaped', () => {
  const hidden = ALL.filter((code) =>
    /[\p{Default_Ignorable_Code_Point}\p{Cc}\p{Zl}\p{Zp}\u2800]/u.test(String.fromCodePoint(code)),
  );

  it('every code point that Unicode ignores by default, every control, and the braille blank', () => {
    expect(hidden.length).toBeGreaterThan(4_000);
    for (const code of [0x3164, 0x115f, 0x1160, 0xffa0, 0x2800, 0x34f, 0x200b, 0xfe0f, 0xe0041])
      expect(hidden).toContain(code);
    for (const code of hidden) {
      const char = String.fromCodePoint(code);
      expect(visible(`a${char}b`)).toBe(`a\\u{${code.toString(16)}}b`);
      const json = escaped(`"a${char}b"`);
      if (char === '\n') continue;
      expect(json).toMatch(/^"a(?:\\u[0-9a-f]{4}){1,2}b"$/);
      expect(JSON.parse(json)).toBe(`a${char}b`);
    }
  });

  it('and nothing else', () => {
    const seen = ALL.filter((code) =>
      /[\p{L}\p{N}\p{P}\p{S}\u0020]/u.test(String.fromCodePoint(code)),
    ).filter((code) => !hidden.includes(code) && !(code >= 0xfff9 && code <= 0xfffb));
    for (let at = 0; at < seen.length; at += 1_000) {
      const text = seen
        .slice(at, at + 1_000)
        .map((code) => `${String.fromCodePoint(code)} `)
        .join('');
      expect(visible(text)).toBe(text);
    }
  });
});
