import fc from 'fast-check';
import { expect, it } from 'vitest';
import { jobSummary } from '../../../src/action/report.ts';

it('holds whole sections, the first ones, as many as fit, and counts those that are missing', () => {
  const section = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 });
  fc.assert(
    fc.property(
      fc.array(section, { maxLength: 20 }),
      fc.integer({ min: 0, max: 500 }),
      (texts, limit) => {
        const marked = texts.map((text, index) => `${index}:${text.trim()}:`);
        const summary = jobSummary(marked, limit);
        const count = marked.findIndex((text) => !summary.includes(text));
        const shown = count < 0 ? marked : marked.slice(0, count);
        const missing = marked.length - shown.length;
        const note = `${missing} of ${marked.length} environments do not fit here; the log of the step has them all.`;
        expect(summary).toBe(`${[...shown, ...(missing > 0 ? [note] : [])].join('\n\n')}\n`);
        expect(Buffer.byteLength(shown.join('\n\n'))).toBeLessThanOrEqual(limit);
      },
    ),
  );
});
