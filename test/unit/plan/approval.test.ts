import { describe, expect, it } from 'vitest';
import { fieldNamed } from '../../../src/reconciler/model/field.ts';
import type { Change, EnvironmentPlan, Plan } from '../../../src/reconciler/model/plan.ts';
import type { Digests } from '../../../src/reconciler/model/ports.ts';
import type { DesiredState } from '../../../src/reconciler/model/state.ts';
import { Redactor } from '../../../src/reconciler/model/redactor.ts';
import { Secret } from '../../../src/reconciler/model/secret.ts';
import type { Value } from '../../../src/reconciler/model/value.ts';
import {
  alreadyMade,
  notCovered,
  type ApprovedPlan,
} from '../../../src/reconciler/plan/approval.ts';
import { digestDeclaredChanges } from '../../../src/reconciler/plan/declared.ts';
import { environmentPlan } from '../../../src/reconciler/plan/plan-environment.ts';
import { change, NO_GUARDS, observed, planOf, step } from './hand-made.ts';

const ABOUT = { name: 'production', origin: null, observed_at: null, digests: null };

/** What a document has of a plan, made against an empty record. */
function documentOf(plan: Plan): EnvironmentPlan {
  return environmentPlan({ plan, observed: observed({}), warnings: [], refusals: [] }, ABOUT, []);
}

const digestsBy = (quick: (text: string) => string): Digests => ({
  salt: '',
  quick,
  slow: (text) => Promise.resolve(quick(text)),
});
/** Digests that can be read. */
const digests = digestsBy((text) => text);

function desiredOf(values: Readonly<Record<string, Value>>): DesiredState {
  const fields = Object.entries(values).map(([name, value]) => {
    const field = fieldNamed(name);
    if (field === undefined) throw new Error(name);
    return { field, value, source: () => ({ file: 'settings.yaml', line: 1, column: 1 }) };
  });
  return { fields, missing: [], unmanaged: [], items: new Map(), guards: NO_GUARDS };
}

const DESIRED = desiredOf({ language: 'en', agent: 'A' });
const LANGUAGE = change(['language'], { before: 'fr', after: 'en' });
const AGENT = change(['agent'], { action: 'set', after: 'A' });
const PLAN = planOf([LANGUAGE, AGENT]);

/** The part of a saved plan that approves a plan, as it was made or altered since. */
function saved(plan: Plan, alter: Partial<EnvironmentPlan> = {}, desired = DESIRED): ApprovedPlan {
  const made = digestDeclaredChanges(plan, desired, digests);
  const part = {
    ...documentOf(plan),
    digests: { address: null, changes: made },
    ...alter,
  };
  return { part, digests, redactor: new Redactor() };
}

const refusal = (plan: Plan, approved: ApprovedPlan, desired = DESIRED) =>
  notCovered(plan, desired, approved)?.message ?? null;

describe('an approval covers', () => {
  it('the plan that it was made from', () => {
    expect(notCovered(PLAN, DESIRED, saved(PLAN))).toBeNull();
  });

  it('a part of it, in any order', () => {
    expect(refusal(planOf([AGENT, LANGUAGE]), saved(PLAN))).toBeNull();
    expect(refusal(planOf([AGENT]), saved(PLAN))).toBeNull();
    expect(refusal(planOf([]), saved(PLAN))).toBeNull();
  });

  it('a change that documents show as another, if both are shown alike', () => {
    const redactor = new Redactor();
    redactor.addSecret(new Secret('en', '${env:LANG}'));
    redactor.addSecret(new Secret('A', '${env:AGENT}'));
    const approved = saved(PLAN);
    const changes = approved.part.changes.map((one) => ({
      ...one,
      after: '(sensitive)',
      sensitive: true,
    }));
    const part = { ...approved.part, changes };
    expect(notCovered(PLAN, DESIRED, { ...approved, part, redactor })).toBeNull();
    expect(notCovered(PLAN, DESIRED, { ...approved, part })).not.toBeNull();
  });
});

describe('an approval does not cover', () => {
  it('a change that is not in it: the code, and what to read', () => {
    const error = notCovered(PLAN, DESIRED, saved(planOf([AGENT])));
    expect(error?.code).toBe('not-covered');
    expect(error?.message).toBe(
      'The saved plan does not cover a change that an apply would make: language (change).',
    );
  });

  it('several, named with what they do', () => {
    expect(refusal(PLAN, saved(planOf([])))).toBe(
      'The saved plan does not cover 2 changes that an apply would make: language (change), agent (set).',
    );
  });

  it.each<[string, Partial<Change>]>([
    ['another action', { action: 'set' }],
    ['another value before', { before: 'de' }],
    ['another value after', { after: 'it' }],
    ['a value that is sensitive', { sensitive: true }],
    ['another reference', { ref: '${env:LANGUAGE}' }],
    ['a sandbox of that path', { resource: 'sandbox' }],
  ])('%s', (_, more) => {
    const approved = saved(planOf([LANGUAGE]));
    expect(refusal(planOf([{ ...LANGUAGE, ...more }]), approved)).not.toBeNull();
  });

  it('another path of the same digest', () => {
    const alike = digestsBy(() => 'alike');
    const plan = planOf([LANGUAGE]);
    const part = {
      ...documentOf(plan),
      digests: { address: null, changes: ['alike'] },
    };
    const other = planOf([{ ...LANGUAGE, path: ['agent'] }]);
    expect(
      notCovered(plan, DESIRED, { part, digests: alike, redactor: new Redactor() }),
    ).toBeNull();
    expect(
      notCovered(other, DESIRED, { part, digests: alike, redactor: new Redactor() }),
    ).not.toBeNull();
  });

  it('what the file declares otherwise, though it is shown alike', () => {
    const plan = planOf([LANGUAGE]);
    const approved = saved(plan, {}, desiredOf({ language: 'literal one' }));
    expect(refusal(plan, approved, desiredOf({ language: 'literal one' }))).toBeNull();
    expect(refusal(plan, approved, desiredOf({ language: 'literal two' }))).not.toBeNull();
  });

  it.each<[string, EnvironmentPlan['digests']]>([
    ['no digests', null],
    ['too few', { address: null, changes: [] }],
    ['empty ones', { address: null, changes: [''] }],
  ])('anything with %s, even if none can be made', (_, none) => {
    const plan = planOf([LANGUAGE]);
    expect(refusal(plan, saved(plan, { digests: none }))).not.toBeNull();
    const mute = digestsBy(() => '');
    const approved = { ...saved(plan, { digests: none }), digests: mute };
    expect(refusal(plan, approved)).not.toBeNull();
  });

  it('one of two changes that share a digest', () => {
    const [one, other] = [LANGUAGE, { ...LANGUAGE, after: 'it' }];
    expect(refusal(planOf([one, other]), saved(planOf([one, other])))).toBeNull();
    expect(refusal(planOf([one, other]), saved(planOf([one])))).toContain('a change');
  });

  it('a sandbox, by its own name', () => {
    const plan = planOf([], {}, [step('box-1')]);
    expect(refusal(plan, saved(plan))).toBeNull();
    expect(refusal(plan, saved(PLAN))).toContain('sandbox box-1 (resume).');
    const started = planOf([], {}, [step('box-1', { path: ['default', '#1'], action: 'start' })]);
    expect(refusal(started, saved(PLAN))).toContain('sandbox default #1 (start).');
  });

  it('more than twenty changes, of which it counts the rest', () => {
    const many = (count: number) =>
      planOf(Array.from({ length: count }, (_, index) => change([`field_${index}`])));
    const none = saved(planOf([]));
    expect(refusal(many(20), none)).toMatch(/20 changes .*field_19 \(change\)\.$/);
    expect(refusal(many(23), none)).toMatch(/23 changes .*field_19 \(change\) and 3 more\.$/);
  });
});

describe('what was approved and is not planned any more', () => {
  const made = (plan: Plan, approved: ApprovedPlan) => alreadyMade(plan, DESIRED, approved);

  it('is as the saved plan has it', () => {
    expect(made(planOf([AGENT]), saved(PLAN))).toEqual([
      {
        code: 'already-made',
        message: 'language: already as the saved plan makes it.',
        path: ['language'],
      },
    ]);
    expect(made(PLAN, saved(PLAN))).toEqual([]);
  });

  it('or a rotation that this run does not request', () => {
    const rotation = planOf([change(['llm_api_key'], { action: 'rotate', sensitive: true })]);
    expect(made(planOf([]), saved(rotation)).map(({ message }) => message)).toEqual([
      'llm_api_key: the saved plan rotates it, and this run does not; pass --rotate llm_api_key.',
    ]);
  });
});
