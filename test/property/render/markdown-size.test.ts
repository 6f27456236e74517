import fc from 'fast-check';
import { describe, expect } from 'vitest';
import type { Change, EnvironmentPlan, PlanDocument } from '../../../src/reconciler/model/plan.ts';
import type { Action } from '../../../src/reconciler/model/action.ts';
import type { Json } from '../../../src/reconciler/model/value.ts';
import { groupWarnings } from '../../../src/reconciler/render/section.ts';
import {
  driftMarkdown,
  failureMarkdown,
  outcomeMarkdown,
  planMarkdown,
  validationMarkdown,
} from '../../../src/reconciler/render/markdown/comments.ts';
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
import { leftOut, sizeOf, tallyOf } from '../../fixture/markdown-counts.ts';
import { nodesOf, plainText, treeOf } from '../../fixture/markdown-tree.ts';
import { itHolds } from '../../fixture/property-runs.ts';

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
  itHolds('is never too long, and counts what it leaves out', 4, (numRuns) => {
    fc.assert(
      fc.property(plans, fc.constantFrom(planMarkdown, driftMarkdown), (document, render) => {
        const text = render(document);
        expect(sizeOf(text)).toBeLessThanOrEqual(LONGEST);
        expect(tallyOf(text, 'change')).toBe(
          document.environments.flatMap(({ changes }) => changes).length,
        );
      }),
      { numRuns, endOnFailure: true },
    );
  });

  itHolds('of one environment counts warnings and unknown values too', 4, (numRuns) => {
    fc.assert(
      fc.property(anyEnvironment, (one) => {
        const tree = treeOf(planMarkdown(planOf(one)));
        const items = nodesOf(tree, 'listItem').length;
        const text = plainText(tree);
        expect(items + leftOut(text, 'warning') + leftOut(text, 'value')).toBe(
          groupWarnings(one.warnings).length + one.unknown.length,
        );
      }),
      { numRuns, endOnFailure: true },
    );
  });

  itHolds('of an outcome, a validation or a failure is as short', 3, (numRuns) => {
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
      { numRuns, endOnFailure: true },
    );
  });
});
