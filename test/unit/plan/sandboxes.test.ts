import { describe, expect, it } from 'vitest';
import type {
  CountedSandboxes,
  DesiredSandboxes,
  NamedSandbox,
} from '../../../src/reconciler/desired/blocks/sandboxes.ts';
import type {
  ObservedSandboxes,
  Sandbox,
} from '../../../src/reconciler/resources/sandboxes/wire.ts';
import {
  type StartedSandboxes,
  planSandboxes,
  specProblem,
} from '../../../src/reconciler/resources/sandboxes/plan-sandboxes.ts';

const NOW = Date.parse('2026-01-02T03:04:05Z');
const MINUTE = 60_000;
const source = { file: 'settings.yaml', line: 7, column: 5 };

function counted(running: number, more: Partial<CountedSandboxes> = {}): CountedSandboxes {
  return {
    kind: 'counted',
    spec: null,
    running,
    surplus: 'keep',
    whenBusy: 'skip',
    source,
    ...more,
  };
}

function named(
  id: string,
  state: NamedSandbox['state'],
  whenBusy: NamedSandbox['whenBusy'] = 'skip',
): NamedSandbox {
  return { kind: 'named', id, state, whenBusy, source };
}

/** `a RUNNING 10 spec-a`: id, status, age in minutes, spec; `-` if the service does not report it. */
function sandbox(text: string): Sandbox {
  const [id = '', status = '', age = '60', spec = 'spec-a'] = text.split(' ');
  return {
    id,
    status,
    createdAt: age === '-' ? null : NOW - Number(age) * MINUTE,
    spec: spec === '-' ? null : spec,
  };
}

function observing(
  sandboxes: readonly string[],
  { busy = null, specs = ['spec-a', 'spec-b'] }: { busy?: string[] | null; specs?: string[] } = {},
): ObservedSandboxes {
  return {
    sandboxes: sandboxes.map(sandbox),
    specs: specs.map((id) => ({ id })),
    busy: busy === null ? null : new Set(busy),
    at: NOW,
  };
}

/** The steps of a plan as `action id`, or `start spec#number`; what is reported besides as `code id`. */
function planned(
  desired: readonly DesiredSandboxes[],
  observed: ObservedSandboxes,
  started?: StartedSandboxes,
) {
  const { steps, unmet, warnings } = planSandboxes(desired, observed, started);
  return {
    steps: steps.map(({ action, change }) => `${action} ${change.path.join('')}`),
    unmet: unmet.map(({ code, path }) => `${code} ${path.join('')}`),
    warnings: warnings.map(({ code, path }) => `${code} ${path.join('')}`),
  };
}

const stepsOf = (desired: readonly DesiredSandboxes[], observed: ObservedSandboxes) =>
  planned(desired, observed).steps;

const NOTHING = { steps: [], unmet: [], warnings: [] };

describe('whose a sandbox is', () => {
  it('items by id claim first, then those by spec, and the item without spec has the rest', () => {
    const items = [
      counted(0, { surplus: 'pause' }),
      counted(0, { spec: 'spec-b', surplus: 'pause' }),
      named('mine', 'running'),
    ];
    const observed = observing([
      'mine RUNNING 1 spec-b',
      'b RUNNING 1 spec-b',
      'c RUNNING 1 spec-c',
    ]);
    expect(planSandboxes(items, observed).steps).toMatchObject([
      { action: 'pause', sandbox: 'c', item: items[0] },
      { action: 'pause', sandbox: 'b', item: items[1] },
    ]);
  });

  it('one that an item names by id counts for no other', () => {
    const observed = observing(['a RUNNING', 'b PAUSED']);
    expect(stepsOf([named('a', 'running'), counted(1)], observed)).toEqual(['resume b']);
    expect(stepsOf([named('b', 'paused'), counted(2)], observed)).toEqual(['start default#1']);
  });

  it('one of a declared spec does not count for the rest, whatever the order of the items', () => {
    const bySpec = counted(1, { spec: 'spec-b' });
    const observed = observing(['b RUNNING 1 spec-b']);
    expect(stepsOf([counted(1), bySpec], observed)).toEqual(['start default#1']);
    expect(stepsOf([bySpec, counted(1)], observed)).toEqual(['start default#1']);
  });

  it('one whose spec is not reported counts for the rest, and for no item by spec', () => {
    const observed = observing(['a RUNNING 1 -']);
    expect(stepsOf([counted(1, { spec: 'spec-a' }), counted(1)], observed)).toEqual([
      'start spec-a#1',
    ]);
  });

  it('one that nothing claims is left alone', () => {
    const items = [counted(0, { spec: 'spec-b', surplus: 'pause' })];
    expect(planned(items, observing(['a RUNNING', 'c ERROR', 'd PAUSED']))).toEqual(NOTHING);
  });

  it('one that was started counts for its item, whatever spec is shown', () => {
    const [bySpec, rest] = [counted(1, { spec: 'spec-a' }), counted(1)];
    const observed = observing(['new RUNNING 0 spec-b', 'other RUNNING 0 -']);
    const started = new Map<string, DesiredSandboxes>([
      ['new', bySpec],
      ['other', rest],
    ]);
    expect(planned([bySpec, rest], observed)).toMatchObject({ steps: ['start spec-a#1'] });
    expect(planned([bySpec, rest], observed, started)).toEqual(NOTHING);
  });

  it('one that was started and is named by its id is that item’s', () => {
    const items = [named('new', 'paused'), counted(1)];
    const started = new Map<string, DesiredSandboxes>([['new', counted(1)]]);
    expect(planned(items, observing(['new PAUSED']), started).steps).toEqual(['start default#1']);
  });
});

describe('what counts as up', () => {
  it.each([
    ['RUNNING', '1', true],
    ['STARTING', '1', true],
    ['STARTING', '100000', true],
    ['STARTING', '-', true],
    ['UNKNOWN', '1', true],
    ['A-LATER-WORD', '100000', true],
    ['ERROR', '0', true],
    ['ERROR', '4.9833', true],
    ['ERROR', '5', false],
    ['ERROR', '5.0167', false],
    ['ERROR', '-', false],
    ['PAUSED', '1', false],
    ['MISSING', '1', false],
  ])('%s, %s minutes old: %s', (status, age, up) => {
    const items = [counted(0, { surplus: 'pause' })];
    expect(stepsOf(items, observing([`a ${status} ${age}`]))).toEqual(up ? ['pause a'] : []);
  });

  it('an ERROR counts until 4:59, and not from 5:01 on', () => {
    const at = (seconds: number) => observing([`a ERROR ${seconds / 60}`]);
    expect(planned([counted(1)], at(4 * 60 + 59))).toEqual(NOTHING);
    expect(planned([counted(1)], at(5 * 60 + 1))).toEqual({
      steps: ['start default#1'],
      unmet: [],
      warnings: ['sandbox-failed a'],
    });
  });

  it('an ERROR that the service created after its own time of the observation counts', () => {
    expect(planned([counted(1)], observing(['a ERROR -1']))).toEqual(NOTHING);
  });

  it('an ERROR of unknown age does not count, and is reported', () => {
    expect(planned([counted(1)], observing(['a ERROR -']))).toMatchObject({
      steps: ['start default#1'],
      warnings: ['sandbox-failed a'],
    });
  });
});

describe('too few', () => {
  it('PAUSED ones are resumed, the oldest first, before new ones are started', () => {
    const observed = observing([
      'young PAUSED 1',
      'old PAUSED 30',
      'middle PAUSED 20',
      'up RUNNING 5',
    ]);
    expect(stepsOf([counted(2)], observed)).toEqual(['resume old']);
    expect(stepsOf([counted(3)], observed)).toEqual(['resume old', 'resume middle']);
    expect(stepsOf([counted(6)], observed)).toEqual([
      'resume old',
      'resume middle',
      'resume young',
      'start default#1',
      'start default#2',
    ]);
  });

  it('of the same age, the ids decide which is first', () => {
    expect(stepsOf([counted(1)], observing(['b PAUSED 9', 'a PAUSED 9']))).toEqual(['resume a']);
    expect(stepsOf([counted(1)], observing(['b PAUSED -', 'a PAUSED -']))).toEqual(['resume a']);
  });

  it('only those of the item are resumed', () => {
    const observed = observing(['a PAUSED 9 spec-a', 'b PAUSED 1 spec-b', 'c PAUSED 5 -']);
    expect(stepsOf([counted(2, { spec: 'spec-b' })], observed)).toEqual([
      'resume b',
      'start spec-b#1',
    ]);
  });

  it.each(['ERROR', 'MISSING'])('one that reads %s is not resumed', (status) => {
    expect(stepsOf([counted(1)], observing([`a ${status} 60`]))).toEqual(['start default#1']);
  });

  it('items are served in the order of the file', () => {
    const items = [counted(1, { spec: 'spec-b' }), named('a', 'running'), counted(1)];
    expect(stepsOf(items, observing(['a PAUSED', 'c PAUSED 9 -']))).toEqual([
      'start spec-b#1',
      'resume a',
      'resume c',
    ]);
  });

  it('a change has what is, what will be and why', () => {
    const { steps } = planSandboxes([counted(2)], observing(['a PAUSED']));
    const common = { resource: 'sandbox', sensitive: false, ref: null, source };
    expect(steps.map(({ change }) => change)).toEqual([
      {
        ...common,
        action: 'resume',
        path: ['a'],
        before: 'PAUSED',
        after: 'RUNNING',
        code: 'too-few-running',
        parameters: { running: 0, wanted: 2 },
        reason: '0 of 2 running',
      },
      {
        ...common,
        action: 'start',
        path: ['default', '#1'],
        before: null,
        after: 'RUNNING',
        code: 'too-few-running',
        parameters: { running: 0, wanted: 2 },
        reason: '0 of 2 running',
      },
    ]);
  });
});

describe('too many', () => {
  const exactly = (running: number, more: Partial<CountedSandboxes> = {}) =>
    counted(running, { surplus: 'pause', ...more });

  it('are kept if the file does not declare pause', () => {
    expect(planned([counted(0)], observing(['a RUNNING', 'b STARTING']))).toEqual(NOTHING);
  });

  it('are paused, the newest first', () => {
    const observed = observing(['old RUNNING 30', 'new RUNNING 1', 'middle RUNNING 20']);
    expect(stepsOf([exactly(2)], observed)).toEqual(['pause new']);
    expect(stepsOf([exactly(1)], observed)).toEqual(['pause new', 'pause middle']);
    expect(stepsOf([exactly(0)], observed)).toEqual(['pause new', 'pause middle', 'pause old']);
  });

  it('are paused RUNNING before STARTING, however old', () => {
    const observed = observing(['starting STARTING 1', 'old RUNNING 30', 'older RUNNING 40']);
    expect(stepsOf([exactly(1)], observed)).toEqual(['pause old', 'pause older']);
    expect(stepsOf([exactly(0)], observed)).toEqual(['pause old', 'pause older', 'pause starting']);
  });

  it('are paused down to the number and no further, and none is resumed for another', () => {
    expect(planned([exactly(2)], observing(['a RUNNING', 'b RUNNING', 'c PAUSED']))).toEqual(
      NOTHING,
    );
  });

  it('an ERROR that does not count is no surplus', () => {
    expect(planned([exactly(1)], observing(['a RUNNING', 'b ERROR 10']))).toEqual(NOTHING);
  });

  it('too few are brought up to the number here, too', () => {
    expect(stepsOf([exactly(2)], observing(['a RUNNING', 'b PAUSED', 'c PAUSED 90']))).toEqual([
      'resume c',
    ]);
  });
});

describe('one in which a conversation runs', () => {
  const exactly = (running: number, whenBusy: 'skip' | 'pause') =>
    counted(running, { surplus: 'pause', whenBusy });
  const THREE = ['old RUNNING 30', 'middle RUNNING 20', 'new RUNNING 10'];

  it('is left alone, and the next one is paused in its place', () => {
    expect(planned([exactly(2, 'skip')], observing(THREE, { busy: ['new'] }))).toEqual({
      steps: ['pause middle'],
      unmet: [],
      warnings: [],
    });
  });

  it('is reported if it is why too many run', () => {
    expect(planned([exactly(1, 'skip')], observing(THREE, { busy: ['new', 'old'] }))).toEqual({
      steps: ['pause middle'],
      unmet: [],
      warnings: ['sandbox-busy new'],
    });
    expect(
      planned([exactly(0, 'skip')], observing(THREE, { busy: ['new', 'old', 'middle'] })),
    ).toEqual({
      steps: [],
      unmet: [],
      warnings: ['sandbox-busy new', 'sandbox-busy middle', 'sandbox-busy old'],
    });
  });

  it('is paused with when_busy: pause', () => {
    expect(planned([exactly(2, 'pause')], observing(THREE, { busy: ['new'] }))).toEqual({
      steps: ['pause new'],
      unmet: [],
      warnings: [],
    });
  });

  it('counts as one that is up', () => {
    expect(planned([exactly(3, 'skip')], observing(THREE, { busy: ['new'] }))).toEqual(NOTHING);
    expect(planned([exactly(1, 'skip')], observing(['a PAUSED'], { busy: ['a'] })).steps).toEqual([
      'resume a',
    ]);
  });

  it('and is declared paused by its id is left alone, or paused with when_busy: pause', () => {
    const observed = observing(['a RUNNING'], { busy: ['a'] });
    expect(planned([named('a', 'paused')], observed)).toEqual({
      steps: [],
      unmet: [],
      warnings: ['sandbox-busy a'],
    });
    expect(planned([named('a', 'paused', 'pause')], observed)).toEqual({
      steps: ['pause a'],
      unmet: [],
      warnings: [],
    });
  });
});

describe('one that is declared by its id', () => {
  const KEPT = 'other RUNNING';

  it.each([
    // what the service shows → declared running, declared paused
    ['a RUNNING', [], ['pause a']],
    ['a STARTING', [], ['pause a']],
    ['a A-LATER-WORD', [], ['pause a']],
    ['a ERROR 4', [], ['pause a']],
    ['a PAUSED', ['resume a'], []],
  ] as const)('%s: running %j, paused %j', (text, running, paused) => {
    const observed = observing([text, KEPT]);
    expect(planned([named('a', 'running')], observed)).toEqual({ ...NOTHING, steps: running });
    expect(planned([named('a', 'paused')], observed)).toEqual({ ...NOTHING, steps: paused });
  });

  it.each([
    // what the service shows → what is reported
    ['gone', [KEPT], 'sandbox-gone a'],
    ['MISSING', ['a MISSING 1', KEPT], 'sandbox-gone a'],
    ['an old ERROR', ['a ERROR 6', KEPT], 'sandbox-failed a'],
    ['an ERROR of unknown age', ['a ERROR -', KEPT], 'sandbox-failed a'],
  ])(
    '%s: an error of its item if it is to run, a warning if it is to be paused',
    (_, shown, reported) => {
      const observed = observing(shown);
      const [running, paused] = [named('a', 'running'), named('a', 'paused')];
      expect(planned([running], observed)).toEqual({ ...NOTHING, unmet: [reported] });
      expect(planned([paused], observed)).toEqual({ ...NOTHING, warnings: [reported] });
    },
  );

  it('that is lost keeps no other item from what it needs', () => {
    const items = [named('gone', 'running'), counted(2), named('b', 'paused')];
    expect(planned(items, observing(['a RUNNING', 'b RUNNING']))).toEqual({
      steps: ['start default#1', 'pause b'],
      unmet: ['sandbox-gone gone'],
      warnings: [],
    });
  });
});

describe('the spec of an item', () => {
  const problemOf = (desired: readonly DesiredSandboxes[], observed: ObservedSandboxes) =>
    specProblem(desired, observed, planSandboxes(desired, observed));
  const of = (spec: string, running: number, more: Partial<CountedSandboxes> = {}) =>
    counted(running, { spec, ...more });

  it('that the service has is no problem, to start from or not', () => {
    expect(problemOf([of('spec-b', 2)], observing([]))).toBeNull();
    expect(problemOf([of('spec-b', 0)], observing([]))).toBeNull();
  });

  it.each([0, 1])(
    'that is unknown is refused with %i to run, with the place and what was meant',
    (running) => {
      const problem = problemOf([of('spec-bb', running)], observing(['a RUNNING 1 spec-a']));
      expect(problem).toMatchObject({ code: 'spec-refused', exitCode: 3 });
      expect(problem?.message).toContain('settings.yaml:7');
      expect(problem?.message).toContain('spec-bb');
      expect(problem?.hint).toContain('Did you mean spec-b?');
      expect(problem?.hint).toContain('spec-a, spec-b');
    },
  );

  it('that is unknown is refused without a guess if none is near or there are none', () => {
    const far = problemOf([of('something-else', 1)], observing([]));
    expect(far?.hint).not.toContain('Did you mean');
    const none = problemOf([of('spec-a', 1)], observing([], { specs: [] }));
    expect(none).toMatchObject({ code: 'spec-refused' });
  });

  it('that is retired may be paused', () => {
    const observed = observing(['a RUNNING 1 spec-old', 'b RUNNING 2 spec-old']);
    const items = [of('spec-old', 0, { surplus: 'pause' })];
    expect(problemOf(items, observed)).toBeNull();
    expect(stepsOf(items, observed)).toEqual(['pause a', 'pause b']);
  });

  it('that is retired may be resumed, and not started', () => {
    const observed = observing(['a PAUSED 1 spec-old']);
    expect(problemOf([of('spec-old', 1)], observed)).toBeNull();
    expect(problemOf([of('spec-old', 2)], observed)).toMatchObject({ code: 'spec-refused' });
  });

  it('that is the default may not be named beside an item without spec that starts', () => {
    const items = [counted(1), of('spec-a', 0)];
    const problem = problemOf(items, observing([]));
    expect(problem).toMatchObject({ code: 'spec-refused', exitCode: 3 });
    expect(problem?.message).toContain('spec-a');
    expect(problemOf([counted(1), of('spec-b', 0)], observing([]))).toBeNull();
  });

  it('that is the default may be named beside an item without spec that has enough, or resumes', () => {
    const items = [counted(1), of('spec-a', 0)];
    expect(problemOf(items, observing(['x RUNNING 1 spec-c']))).toBeNull();
    expect(problemOf(items, observing(['x PAUSED 1 -']))).toBeNull();
    expect(
      problemOf([counted(0, { surplus: 'pause' }), of('spec-a', 2)], observing([])),
    ).toBeNull();
  });

  it('is not judged if specs were not read', () => {
    const observed = { ...observing([]), specs: null };
    expect(problemOf([counted(1)], observed)).toBeNull();
  });
});

describe('the same observation', () => {
  it('in another order gives the same plan, warnings included', () => {
    const shown = ['a ERROR 10', 'b ERROR -', 'c PAUSED 9', 'd PAUSED 9', 'e RUNNING'];
    const items = [counted(4)];
    expect(planned(items, observing(shown.toReversed()))).toEqual(planned(items, observing(shown)));
  });

  it('in which all is as declared gives an empty plan', () => {
    const items = [
      named('a', 'paused'),
      counted(1, { spec: 'spec-b', surplus: 'pause' }),
      counted(2, { surplus: 'pause' }),
    ];
    const shown = ['a PAUSED', 'b RUNNING 1 spec-b', 'c STARTING', 'd ERROR 1', 'e PAUSED'];
    expect(planned(items, observing(shown))).toEqual(NOTHING);
  });

  it('of nothing, with nothing declared, gives an empty plan', () => {
    expect(planned([], observing([]))).toEqual(NOTHING);
    expect(planned([], observing(['a RUNNING', 'b ERROR 10']))).toEqual(NOTHING);
  });
});
