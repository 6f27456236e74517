import { describe, expect, it } from 'vitest';
import { planMarkdown } from '../../../src/reconciler/render/markdown/comments.ts';
import { change, environment, planOf } from '../../fixture/documents.ts';
import { leftOut, sizeOf, tallyOf } from '../../fixture/markdown-counts.ts';

const LONGEST = 59_000;

describe('a comment', () => {
  it('of a thousand changes of kilobytes each', () => {
    const huge = { '`': '`'.repeat(2000), '|': ['@octocat | </details> '.repeat(200)] };
    const one = change({
      path: ['mcp_config', 'sse_servers', 'x'.repeat(3000)],
      before: huge,
      after: { ...huge, y: 1 },
    });
    const text = planMarkdown(
      planOf(environment({ changes: Array.from({ length: 1000 }, () => one) })),
    );
    expect(sizeOf(text)).toBeLessThanOrEqual(LONGEST);
    expect(tallyOf(text, 'change')).toBe(1000);
  });

  it('keeps what would be lost the longest', () => {
    const many = Array.from({ length: 1500 }, (_, index) => change({ path: [`field_${index}`] }));
    const lost = Array.from({ length: 20 }, (_, index) =>
      change({ path: [`lost_${index}`], action: 'remove', after: null }),
    );
    const refused = {
      rule: 'clear-secret',
      message: 'This would be refused.',
      hint: 'Do not.',
      path: [],
    } as const;
    const busy = Array.from(
      { length: 900 },
      () =>
        ({
          code: 'sandbox-busy',
          message: 'A conversation runs there, and it goes on for long.',
          path: [],
        }) as const,
    );
    const text = planMarkdown(
      planOf(environment({ changes: [...many, ...lost], warnings: busy, refusals: [refused] })),
    );
    expect(text.match(/^\| - \| `lost_\d+`/gm)).toHaveLength(20);
    expect(text.indexOf('This would be refused.')).toBeLessThan(text.indexOf('A conversation'));
    expect(tallyOf(text, 'change')).toBe(1520);
    expect(text).toContain('— 1,500 to change, 20 to remove; apply would be refused\n');
  });

  it('leaves out the diff of a huge change first, and no other', () => {
    const huge = change({ path: ['huge'], after: 'x'.repeat(70_000) });
    const nested = change({ path: ['nested'], before: { a: 'x'.repeat(30_000) }, after: {} });
    const text = planMarkdown(planOf(environment({ changes: [huge, nested, change()] })));
    expect(tallyOf(text, 'change')).toBe(3);
    expect(text).not.toContain('more change');
    expect(text).toContain('*The full diff of 2 changes is not shown here, see the run*');
    expect(text).toContain('! language: "fr" → "en"\n');
    expect(text).not.toContain('! huge');
  });

  it('has a fence longer than any run of backticks in it, and counts the fence', () => {
    const ticks = (count: number) =>
      planMarkdown(planOf(environment({ changes: [change({ after: '`'.repeat(count) })] })));
    expect(ticks(9)).toContain(
      `\n\n${'`'.repeat(10)}diff\n! language: "fr" → "${'`'.repeat(9)}"\n${'`'.repeat(10)}\n\n</details>`,
    );
    expect(sizeOf(ticks(25_000))).toBeLessThanOrEqual(LONGEST);
    expect(ticks(25_000)).toContain('The full diff of 1 change is not shown here');
  });

  it('shares its room among targets', () => {
    const many = Array.from({ length: 2000 }, (_, index) => change({ path: [`field_${index}`] }));
    const text = planMarkdown(
      planOf(
        environment({ name: 'a', changes: many }),
        environment({ name: 'b', changes: [change({ path: ['gone'], action: 'clear' })] }),
        environment({ name: 'c' }),
      ),
    );
    for (const title of [
      '<code>a</code> — 2,000 to change</summary>',
      '<code>b</code> — 1 to clear</summary>',
      '<code>c</code> — no changes</summary>',
    ])
      expect(text).toContain(title);
    expect(text).toContain('| - | `gone` |');
    expect(tallyOf(text, 'change')).toBe(2001);
  });

  it('of more targets than fit shows how many more there are', () => {
    const targets = Array.from({ length: 2000 }, (_, index) =>
      environment({ name: `target-${index}`, changes: index === 1999 ? [] : [change()] }),
    );
    const text = planMarkdown(planOf(...targets));
    expect(sizeOf(text)).toBeLessThanOrEqual(LONGEST);
    const shown = (text.match(/<summary><code>/g) ?? []).length;
    expect(shown + leftOut(text, 'environment')).toBe(1999);
    expect(text).toContain('1 in sync, 1,999 differ.');
    expect(tallyOf(text, 'change')).toBe(1999);
  });
});
