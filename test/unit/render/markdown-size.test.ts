import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Action, Change, EnvironmentPlan, PlanDocument } from '../../../src/model/plan.ts';
import type { Json } from '../../../src/model/value.ts';
import { groupedWarnings } from '../../../src/render/warning-order.ts';
import {
  driftMarkdown,
  failureMarkdown,
  outcomeMarkdown,
  planMarkdown,
  validationMarkdown,
} from '../../../src/render/markdown/comments.ts';
import {
  change,
  diagnostic,
  environment,
  outcome,
  outcomeOf,
  planOf,
  validationOf,
} from '../../fixture/documents.ts';
import { hostile } from '../../fixture/hostile.ts';
import { nodesOf, plainText, treeOf } from '../../fixture/markdown-tree.ts';

const LONGEST = 59_000;

/** Text of any length up to a megabyte, of characters of one to four bytes. */
const long = fc
  .tuple(
    fc.oneof(hostile, fc.constantFrom('x', '日', '👩', '`', '` ', '|', '\u2028', '@a ')),
    fc.constantFrom(1, 10, 500, 3000),
  )
  .map(([piece, times]) => piece.repeat(times));
const value: fc.Arbitrary<Json> = fc.oneof(
  long,
  fc.constant(null),
  fc.integer(),
  fc.array(long, { maxLength: 3 }),
  fc.dictionary(hostile, long, { maxKeys: 3 }),
);
const action: fc.Arbitrary<Action> = fc.constantFrom(
  'set',
  'change',
  'clear',
  'remove',
  'rotate',
  'start',
  'resume',
  'pause',
);
const anyChange = fc
  .record({
    action,
    path: fc.tuple(fc.constant('a'), fc.constant('b'), long),
    before: value,
    after: value,
    reason: long,
    ref: fc.option(long),
    sensitive: fc.boolean(),
  })
  .map((fields): Change<Json> =>
    change({
      ...fields,
      resource: ['start', 'resume', 'pause'].includes(fields.action) ? 'sandbox' : 'settings',
    }),
  );
/** Some changes again and again; those of thousands are shorter. */
const changes = fc
  .tuple(fc.array(anyChange, { minLength: 1, maxLength: 8 }), fc.constantFrom(1, 8, 100, 2000))
  .map(([some, count]) => {
    const kept =
      count === 2000
        ? some.map((one) => ({
            ...one,
            path: one.path.map((part) => part.slice(0, 300)),
            reason: one.reason.slice(0, 300),
            before: cut(one.before),
            after: cut(one.after),
          }))
        : some;
    return Array.from({ length: count }, (_, index) => kept[index % kept.length] ?? change());
  });
const cut = (value: Json): Json => JSON.stringify(value).slice(0, 300);
const notes = fc
  .tuple(fc.array(long, { maxLength: 4 }), fc.constantFrom(1, 100))
  .map(([some, times]) => Array.from({ length: times }, () => some).flat());
const anyEnvironment = fc
  .record({
    name: long,
    origin: fc.option(long),
    changes,
    unknown: notes,
    warnings: notes,
    failed: fc.boolean(),
  })
  .map(({ failed, unknown, warnings, ...fields }): EnvironmentPlan =>
    environment({
      ...fields,
      unknown: unknown.map((reason) => ({ path: [reason], reason, ref: reason })),
      warnings: warnings.map((message, index) => ({
        code: index % 2 === 0 ? 'guard' : 'sandbox-busy',
        message,
        path: [],
      })),
      unmanaged: unknown.map((segment) => [segment]),
      error: failed ? { code: 'x', message: fields.name, hint: fields.name } : null,
    }),
  );
/** Some environments again and again; hundreds have a few changes each. */
const plans = fc
  .tuple(
    fc.array(anyEnvironment, { minLength: 1, maxLength: 3 }),
    fc.constantFrom(1, 1, 2, 200),
    long,
  )
  .map(([some, times, text]): PlanDocument => {
    const kept =
      times < 200
        ? some
        : some.map((one) => ({
            ...one,
            changes: one.changes.slice(0, 5),
            unknown: one.unknown.slice(0, 2),
            warnings: one.warnings.slice(0, 2),
          }));
    return {
      ...planOf(...Array.from({ length: times }, () => kept).flat()),
      run: { actor: text, commit: text, url: `https://ci.example/${text}` },
    };
  });

describe('a comment', () => {
  it('is never too long, and counts what it leaves out', () => {
    fc.assert(
      fc.property(plans, fc.constantFrom(planMarkdown, driftMarkdown), (document, render) => {
        const text = render(document);
        expect(sizeOf(text)).toBeLessThanOrEqual(LONGEST);
        expect(tallyOf(text, 'change')).toBe(
          document.environments.flatMap(({ changes }) => changes).length,
        );
      }),
      { numRuns: 10, endOnFailure: true },
    );
  });

  it('of one environment counts warnings and unknown values too', () => {
    fc.assert(
      fc.property(anyEnvironment, (one) => {
        const tree = treeOf(planMarkdown(planOf(one)));
        const items = nodesOf(tree, 'listItem').length;
        const text = plainText(tree);
        expect(items + leftOut(text, 'warning') + leftOut(text, 'value')).toBe(
          groupedWarnings(one.warnings).length + one.unknown.length,
        );
      }),
      { numRuns: 10, endOnFailure: true },
    );
  });

  it('of five thousand changes of kilobytes each', () => {
    const huge = { '`': '`'.repeat(2000), '|': ['@octocat | </details> '.repeat(200)] };
    const one = change({
      path: ['mcp_config', 'sse_servers', 'x'.repeat(3000)],
      before: huge,
      after: { ...huge, y: 1 },
    });
    const text = planMarkdown(
      planOf(environment({ changes: Array.from({ length: 5000 }, () => one) })),
    );
    expect(sizeOf(text)).toBeLessThanOrEqual(LONGEST);
    expect(tallyOf(text, 'change')).toBe(5000);
  });

  it('keeps what would be lost the longest', () => {
    const many = Array.from({ length: 3000 }, (_, index) => change({ path: [`field_${index}`] }));
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
    expect(tallyOf(text, 'change')).toBe(3020);
    expect(text).toContain('— 3000 to change, 20 to remove; apply would be refused\n');
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

  it('shares its room among environments', () => {
    const many = Array.from({ length: 2000 }, (_, index) => change({ path: [`field_${index}`] }));
    const text = planMarkdown(
      planOf(
        environment({ name: 'a', changes: many }),
        environment({ name: 'b', changes: [change({ path: ['gone'], action: 'clear' })] }),
        environment({ name: 'c' }),
      ),
    );
    for (const title of [
      '## Plan: a — 2000 to change',
      '## Plan: b — 1 to clear',
      '## Plan: c — no changes',
    ])
      expect(text).toContain(title);
    expect(text).toContain('| - | `gone` |');
    expect(tallyOf(text, 'change')).toBe(2001);
  });

  it('of more environments than fit counts those that are left out', () => {
    const environments = Array.from({ length: 2000 }, (_, index) =>
      environment({ name: `environment-${index}`, changes: index === 1999 ? [] : [change()] }),
    );
    const text = planMarkdown(planOf(...environments));
    expect(sizeOf(text)).toBeLessThanOrEqual(LONGEST);
    const shown = (text.match(/^## /gm) ?? []).length;
    expect(shown + leftOut(text, 'environment')).toBe(2000);
    expect(tallyOf(text, 'change')).toBe(1999);
  });

  it('of an outcome, a validation or a failure is as short', () => {
    fc.assert(
      fc.property(
        fc.array(long, { minLength: 1, maxLength: 5 }),
        fc.constantFrom(1, 500),
        (texts, times) => {
          const [first = ''] = texts;
          const many = Array.from({ length: times }, () =>
            texts.map((one) => (times === 1 ? one : one.slice(0, 300))),
          ).flat();
          const error = { code: first, message: first, hint: first };
          const diagnostics = many.map((message) =>
            diagnostic({ message, hint: message, file: message }),
          );
          const applied = outcomeOf(
            outcome({
              name: first,
              error,
              status: 'not-converged',
              changes: many.map((reason) => ({
                ...change({ path: [reason], reason }),
                result: 'verified',
              })),
              remaining: many.map((reason) => ({
                resource: 'settings',
                path: [reason],
                expected: reason,
                actual: [reason],
                reason,
                hint: reason,
              })),
            }),
          );
          const rendered = outcomeMarkdown(applied);
          expect(sizeOf(rendered)).toBeLessThanOrEqual(LONGEST);
          expect(tallyOf(rendered, 'change')).toBe(many.length);
          for (const text of [
            validationMarkdown(validationOf(...diagnostics)),
            failureMarkdown({ error: { ...error, diagnostics } }),
          ]) {
            expect(sizeOf(text)).toBeLessThanOrEqual(LONGEST);
            expect(tallyOf(text, 'problem')).toBe(many.length);
          }
        },
      ),
      { numRuns: 8, endOnFailure: true },
    );
  });
});

/** However it is counted. */
function sizeOf(text: string): number {
  return Math.max(text.length, Buffer.byteLength(text));
}

/** Rows that are shown, and those that are said not to be. */
function tallyOf(text: string, noun: string): number {
  const tree = treeOf(text);
  const rows = nodesOf(tree, 'table').map(({ children = [] }) => children.length - 1);
  const said = nodesOf(tree, 'emphasis').map((node) => leftOut(plainText(node), noun));
  return [...rows, ...said].reduce((sum, count) => sum + count, 0);
}

/** The count in our own `and 3 more changes`, or in `and 2 more environments with 7 changes`. */
function leftOut(text: string, noun: string): number {
  const counts = text.matchAll(
    new RegExp(`and (\\d+) more ${noun}|more environments? with (\\d+) ${noun}`, 'g'),
  );
  return [...counts].reduce((sum, [, one, other]) => sum + Number(one ?? other), 0);
}
