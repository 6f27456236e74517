import { describe, expect, it } from 'vitest';
import type { DesiredSandboxes } from '../../../src/reconciler/desired/blocks/sandboxes.ts';
import {
  type SandboxPlan,
  planSandboxes,
} from '../../../src/reconciler/resources/sandboxes/plan-sandboxes.ts';
import {
  collectNamedSpecs,
  listStartedSandboxes,
  stillNeeded,
} from '../../../src/reconciler/resources/sandboxes/run.ts';
import { counted, list, named } from './listed.ts';

function plan(desired: readonly DesiredSandboxes[], ...texts: readonly string[]): SandboxPlan {
  const observed = { sandboxes: list(...texts), specs: null, busy: null, at: 1_700_000_000_000 };
  return planSandboxes(desired, observed);
}
const names = ({ steps }: Pick<SandboxPlan, 'steps'>): string[] =>
  steps.map(({ action, change }) => `${action} ${change.path.join(' ')}`);

describe('the steps that are still needed', () => {
  const left = (
    desired: readonly DesiredSandboxes[],
    before: readonly string[],
    after: readonly string[],
    lost: readonly number[] = [],
  ) => {
    const { steps } = plan(desired, ...before);
    const sent = steps.filter((_, index) => lost.includes(index));
    const others = steps.filter((_, index) => !lost.includes(index));
    return names({ steps: stillNeeded(others, plan(desired, ...after), sent) });
  };

  it('are found again by the action and the sandbox', () => {
    const items = [named('a', 'running'), named('b', 'running'), named('c', 'paused')];
    const before = ['a PAUSED', 'b PAUSED', 'c RUNNING'];
    expect(left(items, before, before)).toEqual(['resume a', 'resume b', 'pause c']);
    expect(left(items, before, ['a RUNNING', 'b PAUSED', 'c PAUSED'])).toEqual(['resume b']);
    const surplus = [counted(1, null, 'pause')];
    expect(left(surplus, ['a RUNNING', 'b RUNNING'], ['b PAUSED'])).toEqual([]);
  });

  it('are as many starts of an item as a later plan has, without its resumes', () => {
    const items = [counted(3, 'python'), counted(2, 'node')];
    const started = (after: string[], lost: number[] = []) => left(items, [], after, lost);
    const all = ['start python #1', 'start python #2', 'start python #3'];
    const others = ['start node #1', 'start node #2'];
    expect(started([])).toEqual([...all, ...others]);
    expect(started(['x RUNNING'])).toEqual([...all.slice(0, 2), ...others]);
    expect(started(['x PAUSED', 'y RUNNING'])).toEqual([...all.slice(0, 1), ...others]);
    expect(started(['x RUNNING', 'y RUNNING', 'z RUNNING'])).toEqual(others);
  });

  it('are fewer by the starts that may have had an effect', () => {
    const items = [counted(3, 'python'), counted(1, 'node')];
    expect(left(items, [], [], [0])).toEqual([
      'start python #2',
      'start python #3',
      'start node #1',
    ]);
    expect(left(items, [], ['x RUNNING'], [0])).toEqual(['start python #2', 'start node #1']);
    expect(left(items, [], ['x RUNNING', 'y RUNNING'], [0])).toEqual(['start node #1']);
  });
});

it('what was started is what a start named, and not what was resumed', () => {
  const item = counted(3);
  const begun = { state: 'running', status: null, wasUp: false, error: null } as const;
  const [resumed, one, two] = plan([item], 'a PAUSED').steps.map((step, index) => ({
    ...begun,
    step,
    id: ['a', 'x', null][index] ?? null,
  }));
  if (resumed === undefined || one === undefined || two === undefined) throw new Error('Too few.');
  expect([...listStartedSandboxes([resumed, one, two])]).toEqual([['x', item]]);
});

it('the named specs are those of the items that have one', () => {
  const items = [counted(1), counted(1, 'python'), named('a', 'paused'), counted(0, 'node')];
  expect([...collectNamedSpecs(items)]).toEqual(['python', 'node']);
});
