import { describe, expect, it } from 'vitest';
import {
  isFailureVerdict,
  needsAttention,
  OUTCOME_VERDICTS,
  outcomeVerdict,
  PLAN_VERDICTS,
  planVerdict,
  VERDICTS,
  WATCH_STATUSES,
  toWatchStatus,
} from '../../../src/reconciler/model/verdict.ts';
import { change, environment, outcome } from '../../fixture/documents.ts';

describe('there is one closed list of states', () => {
  it.each([
    ['a plan', PLAN_VERDICTS],
    ['an outcome', OUTCOME_VERDICTS],
    ['a controller', WATCH_STATUSES],
  ])('and those of %s are some of it, in its order', (_, some: readonly string[]) => {
    expect(VERDICTS.filter((one) => some.includes(one))).toEqual(some);
  });

  it('all of which are told by something', () => {
    const told = new Set<string>([...PLAN_VERDICTS, ...OUTCOME_VERDICTS, ...WATCH_STATUSES]);
    expect(VERDICTS.filter((one) => !told.has(one))).toEqual([]);
  });

  it('and somebody should look at those from not-started on', () => {
    expect(VERDICTS.filter((one) => !needsAttention(one))).toEqual([
      'in-sync',
      'not-empty',
      'applied',
      'suspended',
      'not-read',
    ]);
  });
});

const unknown = [{ path: ['llm_api_key'], reason: 'set, origin unknown', ref: null }];
const refusals = [{ rule: 'max-changes' as const, message: 'too many', path: [], hint: '' }];
const skipped = { code: 'skipped', message: 'x', hint: '' };

describe('a plan and a controller say the same of an environment', () => {
  it.each([
    ['in-sync', 'in-sync', 'in-sync', environment()],
    ['in-sync', 'in-sync', 'unknown', environment({ unknown })],
    ['differs', 'drift', 'differs', environment({ changes: [change()], unknown })],
    ['differs', 'drift', 'differs', environment({ status: 'differs' })],
    ['pending', 'pending', 'pending', environment({ changes: [change({ class: 'pending' })] })],
    ['differs', 'conflict', 'differs', environment({ changes: [change({ class: 'conflict' })] })],
    ['refused', 'refused', 'refused', environment({ changes: [change()], refusals, unknown })],
    ['error', 'error', 'error', environment({ error: { ...skipped, code: 'tls' }, unknown })],
    ['not-started', 'not-read', 'not-started', environment({ error: skipped })],
  ])('%s is %s, and strictly %s', (verdict, status, strict, plan) => {
    expect([planVerdict(plan), toWatchStatus(plan), planVerdict(plan, true)]).toEqual([
      verdict,
      status,
      strict,
    ]);
    if (strict === 'unknown') expect(toWatchStatus(plan, true)).toBe('unknown');
  });
});

describe('an outcome', () => {
  const ended = (code: string, requests = { get: 0, post: 0 }) =>
    outcomeVerdict(
      outcome({ status: 'failed', error: { code, message: 'x', hint: '' }, requests }),
    );

  it.each(['skipped', 'interrupted', 'terminated'])(
    'is of an environment that was not started if the run was %s before anything was sent',
    (code) => {
      expect(ended(code)).toBe('not-started');
      expect(ended(code, { get: 1, post: 0 })).toBe('failed');
      expect(ended(code, { get: 0, post: 1 })).toBe('failed');
      expect(ended(code, { get: 1, post: 1 })).toBe('failed');
    },
  );

  it('is otherwise what its status says', () => {
    expect(ended('unreachable')).toBe('failed');
    const untouched = { error: null, requests: { get: 0, post: 0 } };
    expect(outcomeVerdict(outcome({ status: 'failed', ...untouched }))).toBe('failed');
    const error = { code: 'skipped', message: 'x', hint: '' };
    expect(outcomeVerdict(outcome({ status: 'refused', ...untouched, error }))).toBe('refused');
  });
});

it('an error says all of what failed, and of nothing else', () => {
  expect(VERDICTS.filter(isFailureVerdict)).toEqual(['error', 'failed']);
});

it('a plan is pending only if all of its changes are edits of the file', () => {
  const changes = [change({ class: 'pending' }), change({ class: 'drift' })];
  expect(planVerdict(environment({ changes }))).toBe('differs');
  expect(toWatchStatus(environment({ changes }))).toBe('drift');
});
