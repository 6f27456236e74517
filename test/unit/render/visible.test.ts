import { describe, expect, it } from 'vitest';
import { escapeJsonText, visible } from '../../../src/reconciler/render/text.ts';

/** The code points that fit, without halves of pairs. */
function codesOf(pattern: RegExp): number[] {
  const codes: number[] = [];
  for (let code = 0; code < 0x110000; code += 1)
    if ((code < 0xd800 || code > 0xdfff) && pattern.test(String.fromCodePoint(code)))
      codes.push(code);
  return codes;
}

describe('what is invisible is escaped', () => {
  const hidden = codesOf(/[\p{Default_Ignorable_Code_Point}\p{Cc}\p{Zl}\p{Zp}\u2800]/u);

  it('every code point that Unicode ignores by default, every control, and the braille blank', () => {
    expect(hidden.length).toBeGreaterThan(4_000);
    for (const code of [0x3164, 0x115f, 0x1160, 0xffa0, 0x2800, 0x34f, 0x200b, 0xfe0f, 0xe0041])
      expect(hidden).toContain(code);
    const wrong = hidden.filter((code) => {
      const char = String.fromCodePoint(code);
      if (visible(`a${char}b`) !== `a\\u{${code.toString(16)}}b`) return true;
      if (char === '\n') return false;
      const json = escapeJsonText(`"a${char}b"`);
      return !/^"a(?:\\u[0-9a-f]{4}){1,2}b"$/.test(json) || JSON.parse(json) !== `a${char}b`;
    });
    expect(wrong).toEqual([]);
  });

  it('and nothing else', () => {
    const escapes = new Set([...hidden, 0xfff9, 0xfffa, 0xfffb]);
    const seen = codesOf(/[\p{L}\p{N}\p{P}\p{S}\u0020]/u).filter((code) => !escapes.has(code));
    for (let at = 0; at < seen.length; at += 1_000) {
      const text = seen
        .slice(at, at + 1_000)
        .map((code) => `${String.fromCodePoint(code)} `)
        .join('');
      expect(visible(text)).toBe(text);
    }
  });
});
