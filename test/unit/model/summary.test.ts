import { describe, expect, it } from 'vitest';
import type { ErrorReport } from '../../../src/reconciler/model/error.ts';
import {
  MOST_LISTED,
  outcomeSummary,
  planSummary,
  planTally,
} from '../../../src/reconciler/model/summary.ts';
import { change, environment, outcome } from '../../fixture/documents.ts';

const failed = (name: string, code: string, message = 'It failed.') =>
  environment({ name, status: 'error', error: { code, message, hint: '' } });
const UNKNOWN = { path: ['llm_api_key'], reason: 'origin unknown', ref: null };
const REFUSAL = { rule: 'max-changes', message: '', hint: '', path: [] } as const;

describe('the summary of a plan', () => {
  const differing = environment({
    name: 'two',
    status: 'differs',
    changes: [change(), change({ action: 'set' })],
  });

  it('counts changes, values, verdicts and errors', () => {
    const summary = planSummary([
      environment({ name: 'a', unknown: [UNKNOWN] }),
      differing,
      environment({ name: 'b', status: 'differs', changes: [change()], refusals: [REFUSAL] }),
      failed('c', 'unreachable'),
      failed('d', 'unreachable'),
      failed('e', 'of-a-later-version'),
    ]);
    expect(summary).toMatchObject({ change: 2, set: 1, clear: 0, unknown: 1, more: 0 });
    expect(summary.environments).toEqual({
      total: 6,
      'in-sync': 1,
      'not-started': 0,
      unknown: 0,
      pending: 0,
      differs: 1,
      refused: 1,
      error: 3,
    });
    expect(summary.errors).toEqual({ unreachable: 2, other: 1 });
  });

  it('lists those that somebody should look at, the worst first and those alike in their order', () => {
    const summary = planSummary([
      environment({ name: 'calm' }),
      environment({ name: 'one', status: 'differs', changes: [change()] }),
      differing,
      environment({ name: 'loses', status: 'differs', changes: [change({ action: 'clear' })] }),
      environment({ name: 'refused', status: 'differs', changes: [change()], refusals: [REFUSAL] }),
      failed('late', 'timed-out'),
      failed('gone', 'unreachable'),
      failed('keyless', 'unauthorized'),
      failed('gone too', 'unreachable'),
    ]);
    const names = summary.attention.map(({ name }) => name);
    expect(names).toEqual([
      'gone',
      'gone too',
      'late',
      'keyless',
      'refused',
      'loses',
      'two',
      'one',
    ]);
    expect(summary.attention[6]).toEqual({
      name: 'two',
      verdict: 'differs',
      changes: { change: 1, set: 1 },
      pending: null,
      unknown: 0,
      warnings: 0,
      rules: [],
      error: null,
    });
    expect(summary.attention[4]?.rules).toEqual(['max-changes']);
  });

  it('knows edits that wait for an apply from drift, if there is a base', () => {
    const pending = change({ class: 'pending' });
    const summary = planSummary([
      environment({ status: 'differs', changes: [pending] }),
      environment({ status: 'differs', changes: [pending, change({ class: 'drift' })] }),
      environment({ status: 'differs' }),
    ]);
    expect(summary.environments).toMatchObject({ pending: 1, differs: 2 });
    expect(summary.attention.map(({ pending }) => pending)).toEqual([1, null, 1]);
  });

  it('counts what could not be compared only if that is requested', () => {
    const environments = [environment({ unknown: [UNKNOWN] })];
    expect(planSummary(environments).environments).toMatchObject({ 'in-sync': 1, unknown: 0 });
    const strict = planSummary(environments, true);
    expect(strict.environments).toMatchObject({ 'in-sync': 0, unknown: 1 });
    expect(strict.attention).toMatchObject([{ verdict: 'unknown', unknown: 1 }]);
  });

  it('lists a bounded number, and the worst of all wherever they stand', () => {
    const tally = planTally();
    for (let index = 0; index < 5000; index++) {
      const bad = index % 1000 === 999;
      tally.add(bad ? failed(`bad-${index}`, 'unreachable') : { ...differing, name: `${index}` });
    }
    const { attention, more, environments } = tally.summary();
    expect(attention).toHaveLength(MOST_LISTED);
    expect(more).toBe(4000);
    expect(environments).toMatchObject({ total: 5000, error: 5, differs: 4995 });
    expect(attention.slice(0, 6).map(({ name }) => name)).toEqual([
      'bad-999',
      'bad-1999',
      'bad-2999',
      'bad-3999',
      'bad-4999',
      '0',
    ]);
  });

  it('shortens a sentence', () => {
    const [listed] = planSummary([
      failed('x', 'internal', 'x'.repeat(299) + '😀'.repeat(3)),
    ]).attention;
    expect(listed?.error?.message).toBe(`${'x'.repeat(299)}…`);
  });
});

describe('the summary of an outcome', () => {
  const error = (code: string): ErrorReport => ({ code, message: 'It ended.', hint: '' });

  it('counts the changes that were sent, and verdicts', () => {
    const summary = outcomeSummary([
      outcome({
        status: 'applied',
        changes: [
          { ...change(), result: 'verified' },
          { ...change(), result: 'not-sent' },
        ],
      }),
      outcome({ status: 'refused', error: error('guard-refused') }),
      outcome({ status: 'failed', error: error('skipped'), requests: { get: 0, post: 0 } }),
      outcome({ status: 'failed', error: error('interrupted'), requests: { get: 0, post: 0 } }),
      outcome({ status: 'failed', error: error('interrupted'), requests: { get: 2, post: 0 } }),
    ]);
    expect(summary.change).toBe(1);
    expect(summary.environments).toMatchObject({
      total: 5,
      applied: 1,
      refused: 1,
      failed: 1,
      'not-started': 2,
    });
    expect(summary.errors).toEqual({ interrupted: 1 });
    expect(summary.attention.map(({ verdict }) => verdict)).toEqual([
      'failed',
      'refused',
      'not-started',
      'not-started',
    ]);
  });
});
