import { expect, it } from 'vitest';
import {
  OBJECT_LIMITS,
  PLAN_LIMITS,
  STORE_LIMITS,
} from '../../../src/controller/cluster/limits.ts';
import type { ObjectDeclaration } from '../../../src/controller/cluster/declared.ts';
import { NamespaceShares } from '../../../src/controller/cluster/namespace-shares.ts';
import { ObjectStream, type RawObject } from '../../../src/controller/cluster/object-stream.ts';
import { readObject } from '../../../src/controller/cluster/stored-object.ts';
import { limitStoredPlan } from '../../../src/controller/watch/stored-plan.ts';
import type { EnvironmentPlan } from '../../../src/reconciler/model/plan.ts';
import type { Json } from '../../../src/reconciler/model/value.ts';

function planOf(values: readonly Json[]): EnvironmentPlan {
  const changes = values.map((before, index) => ({
    resource: 'settings',
    path: [`k${index}`],
    action: 'change',
    after: 'declared',
    before,
    sensitive: false,
    ref: null,
    code: 'differs',
    reason: 'differs',
    source: null,
  }));
  return planWith({ changes });
}

function planWith(members: object): EnvironmentPlan {
  const none = { changes: [], warnings: [], refusals: [], unknown: [], unmanaged: [], error: null };
  return { ...none, ...members } as unknown as EnvironmentPlan;
}

const befores = ({ changes }: EnvironmentPlan) => changes.map(({ before }) => before);

it.each<readonly [string, readonly Json[]]>([
  ['an enormous text', ['x'.repeat(5_000_000), 'en']],
  ['many members', Array.from({ length: 1_000 }, () => 'y'.repeat(10_000))],
  ['a large list', [Array.from({ length: 200_000 }, (_, index) => index)]],
])('the stored values of a plan have a limit: %s', (_, values) => {
  const most = 100_000;
  const stored = limitStoredPlan(planOf(values), most);
  expect(JSON.stringify(befores(stored)).length).toBeLessThan(1.5 * most);
  expect(stored.changes).toHaveLength(values.length);
});

it('a value that is stored shortened begins as it was, and says how long it was; others are stored whole', () => {
  const plan = planOf(['x'.repeat(5_000_000), 'en', { a: [1] }]);
  const [text, ...others] = befores(limitStoredPlan(plan, 60_000));
  expect(text).toMatch(/^x{10000}… \(5,000,000 characters\)$/);
  expect(others).toEqual(['en', { a: [1] }]);
  const small = planOf(['x'.repeat(50_000)]);
  expect(limitStoredPlan(small, 60_000)).toBe(small);
});

it('stored plans of a namespace share its room, and leave the others theirs', () => {
  const shares = new NamespaceShares();
  const declared = { allowance: null } as unknown as ObjectDeclaration;
  const many = Array.from(
    { length: 10_000 },
    (_, index) => [`hostile/o${index}`, declared] as const,
  );
  shares.take(new Map([...many, ['quiet/a', declared]]));
  expect(10_000 * shares.planRoom('hostile/o1')).toBeLessThanOrEqual(PLAN_LIMITS.namespace);
  expect(shares.planRoom('quiet/a')).toBeGreaterThan(shares.planRoom('hostile/o1'));
  shares.take(new Map([['quiet/a', declared]]));
  expect(shares.planRoom('quiet/a')).toBe(PLAN_LIMITS.object);
});

it('a large status counts as memory of its namespace', () => {
  const sizeOf = (bytes: number): number => {
    const raw: RawObject[] = [];
    const stream = new ObjectStream({
      depth: 1,
      most: () => 1024 * 1024,
      onObject: (one) => raw.push(one),
      onAnswer: () => {},
    });
    const status = { lastHandledReconcileAt: 'x'.repeat(bytes) };
    const object = { metadata: { name: 'a' }, spec: {}, status };
    stream.push(Buffer.from(JSON.stringify({ type: 'ADDED', object })));
    const [first] = raw;
    return first === undefined ? 0 : (readObject(first, () => undefined, true)?.size ?? 0);
  };
  expect(sizeOf(1_000)).toBe(sizeOf(10));
  const largest = sizeOf(OBJECT_LIMITS.statusBytes - 100);
  expect(largest).toBeGreaterThan(50_000);
  expect(10_000 * largest).toBeGreaterThan(STORE_LIMITS.namespace);
});

const LONG_TEXT = 'x'.repeat(1_000_000);
const names = Array.from({ length: 50_000 }, (_, index) => [`n${index}`]);
const message = (text: string) => ({ code: 'guard', rule: 'run-code', message: text, hint: '' });

/** What a hostile server can make large in a plan besides values. */
const LARGE: Readonly<Record<string, object>> = {
  warnings: { warnings: names.map((path) => ({ ...message('It is not shown.'), path })) },
  'a warning': { warnings: [{ ...message(LONG_TEXT), path: ['a'] }] },
  refusals: { refusals: names.map((path) => ({ ...message('It would be removed.'), path })) },
  'a refusal': { refusals: [{ ...message(LONG_TEXT), path: ['a'] }] },
  'names that are not in the file': { unmanaged: names },
  'a reason': { unknown: [{ path: ['a'], reason: LONG_TEXT, ref: null }] },
  'an error': { error: { code: 'server-error', message: LONG_TEXT, hint: LONG_TEXT } },
};

it.each(Object.entries(LARGE))('the texts of a stored plan have a limit: %s', (_, members) => {
  const stored = limitStoredPlan(planWith(members), 1_000);
  expect(JSON.stringify(stored).length).toBeLessThan(6_000);
  const large = limitStoredPlan(planWith(members), 64 * 1024);
  expect(JSON.stringify(large).length).toBeLessThan(20_000);
});

it('lists of a stored plan end with the number of entries that are left out', () => {
  const { warnings, refusals, unmanaged } = limitStoredPlan(
    planWith({ ...LARGE['warnings'], ...LARGE['refusals'], unmanaged: names }),
    64 * 1024,
  );
  const rest = (list: readonly unknown[]) => `… and ${50_000 - list.length + 1} more.`;
  expect(warnings.at(-1)?.message).toBe(rest(warnings));
  expect(refusals.at(-1)?.message).toBe(rest(refusals));
  expect(unmanaged.at(-1)).toEqual([rest(unmanaged)]);
  expect(warnings[0]?.message).toBe('It is not shown.');
});
