import { describe, expect, it } from 'vitest';
import { errorReport, SetpointError } from '../../../src/reconciler/model/error.ts';
import type { DesiredSandboxes } from '../../../src/reconciler/desired/blocks/sandboxes.ts';
import type { Sandbox } from '../../../src/reconciler/resources/sandboxes/wire.ts';
import { planSandboxes } from '../../../src/reconciler/resources/sandboxes/plan-sandboxes.ts';
import { concludeRun } from '../../../src/reconciler/resources/sandboxes/conclude.ts';
import type { RunStep } from '../../../src/reconciler/resources/sandboxes/run.ts';
import { counted, list, named } from './listed.ts';

const NOW = 1_700_000_000_000;
const NOT_SENT = { state: 'not-sent' } as const;

interface Told {
  readonly before: readonly Sandbox[];
  /** Null: it could not be read. */
  readonly after: readonly Sandbox[] | null;
  /** What became of each step of the plan, in its order. */
  readonly steps: readonly (Partial<RunStep> | null)[];
  readonly waited?: boolean;
  readonly error?: SetpointError;
}

/** What is concluded of a run that was planned on the observation before it. A step that is null was not needed any more. */
function concluded(desired: readonly DesiredSandboxes[], told: Told) {
  const before = { sandboxes: told.before, specs: null, busy: null, at: NOW };
  const approved = planSandboxes(desired, before);
  const steps = approved.steps.flatMap((step, index): RunStep[] => {
    const became = told.steps[index];
    if (became === undefined) throw new Error(`The plan has a step ${step.action} more.`);
    if (became === null) return [];
    const id = became.id ?? step.sandbox;
    const status = told.after?.find((one) => one.id === id)?.status ?? null;
    return [{ step, state: 'running', id, status, wasUp: false, error: null, ...became }];
  });
  const { results, started, errors, ...rest } = concludeRun({
    desired,
    approved,
    before,
    steps,
    last: told.after === null ? null : { sandboxes: told.after, at: NOW },
    error: told.error ?? null,
    waited: told.waited ?? true,
  });
  return {
    ...rest,
    results: approved.steps.map(({ change }) => results.get(change)),
    started: [...started].map(([{ path }, id]) => [path.join(' '), id]),
    errors: errors.map(errorReport),
    causes: errors.map(({ cause }) => cause),
  };
}

const DONE = {
  results: ['verified'],
  started: [],
  remaining: [],
  warnings: [],
  changed: true,
  errors: [],
  causes: [],
};
const UP = { state: 'settled', wasUp: true } as const;

describe('the result of a step', () => {
  const resumed = (after: string, step: Partial<RunStep>, waited: boolean) =>
    concluded([named('a', 'running')], {
      before: list('a PAUSED'),
      after: list(...(after === '' ? [] : [`a ${after}`])),
      steps: [step],
      waited,
    }).results[0];
  const paused = (after: string, step: Partial<RunStep>, waited: boolean) =>
    concluded([named('a', 'paused')], {
      before: list('a RUNNING'),
      after: list(`a ${after}`),
      steps: [step],
      waited,
    }).results[0];

  it('is verified when it was seen, and nothing is left or said', () => {
    expect(
      concluded([named('a', 'running')], {
        before: list('a PAUSED'),
        after: list('a RUNNING'),
        steps: [UP],
      }),
    ).toEqual(DONE);
    expect(
      concluded([named('a', 'paused')], {
        before: list('a RUNNING'),
        after: list('a PAUSED'),
        steps: [{ state: 'settled' }],
      }),
    ).toEqual(DONE);
  });

  it('is unknown when what ran reads PAUSED at the end', () => {
    expect(resumed('PAUSED', UP, true)).toBe('unknown');
    expect(paused('RUNNING', { state: 'settled' }, true)).toBe('verified');
  });

  it('is verified without waiting when a start or a resume has begun, and not for a pause', () => {
    expect(resumed('STARTING', {}, false)).toBe('verified');
    expect(resumed('STARTING', {}, true)).toBe('unknown');
    expect(resumed('PAUSED', {}, false)).toBe('unknown');
    expect(resumed('MISSING', {}, false)).toBe('unknown');
    expect(resumed('', {}, false)).toBe('unknown');
    expect(paused('RUNNING', {}, false)).toBe('unknown');
    expect(paused('PAUSED', {}, false)).toBe('unknown');
    expect(paused('STARTING', {}, true)).toBe('unknown');
  });

  it('is not-sent when it was not sent or not needed', () => {
    expect(resumed('PAUSED', NOT_SENT, true)).toBe('not-sent');
    expect(resumed('PAUSED', { state: 'turned-away' }, true)).toBe('not-sent');
    const two = concluded([counted(2)], {
      before: [],
      after: list('x RUNNING', 'y RUNNING'),
      steps: [{ ...UP, id: 'x' }, null],
    });
    expect(two).toEqual({
      ...DONE,
      results: ['verified', 'not-sent'],
      started: [['default #1', 'x']],
    });
  });
});

describe('what was turned down', () => {
  it('is said with its own error, the first first; one without an error was not needed', () => {
    const [one, two] = ['One.', 'Two.'].map((text) => new SetpointError('rate-limited', text));
    const end = concluded([counted(3)], {
      before: [],
      after: [],
      steps: [
        NOT_SENT,
        { state: 'not-sent', error: one ?? null },
        { state: 'turned-away', error: two ?? null },
      ],
    });
    expect(end).toMatchObject({
      changed: false,
      remaining: [],
      results: Array(3).fill('not-sent'),
    });
    expect(end.errors.map(({ message }) => message)).toEqual(['One.', 'Two.']);
  });

  it('warns of a start that is settled while the server still shows STARTING', () => {
    const end = concluded([counted(1)], {
      before: list(),
      after: list('n STARTING'),
      steps: [{ state: 'settled', id: 'n' }],
    });
    expect(end.results).toEqual(['unverifiable']);
    expect(end.warnings.map(({ code }) => code)).toEqual(['sandbox-starting']);
  });

  it('shows no sandbox as displaced that somebody else has paused', () => {
    const { warnings, remaining } = concluded([counted(1, 'node'), counted(0)], {
      before: list('b RUNNING'),
      after: list('b PAUSED'),
      steps: [NOT_SENT],
    });
    expect({ warnings, remaining }).toEqual({ warnings: [], remaining: [] });
  });
});

describe('what is declared and unavailable', () => {
  const GONE = {
    message: 'Sandbox a is declared running, but the service has no sandbox of that id.',
    hint: 'Remove the item, or declare running: and a number. A deleted sandbox cannot be restored.',
  };
  const gone = {
    code: 'sandbox-gone',
    message: `${GONE.message} ${GONE.hint}`,
    path: ['a'],
  };

  it('is an error and a warning when it came about during the run', () => {
    expect(
      concluded([named('a', 'running'), named('b', 'running')], {
        before: list('a PAUSED', 'b RUNNING'),
        after: list('a MISSING', 'b RUNNING'),
        steps: [{ state: 'running' }],
        waited: false,
      }),
    ).toEqual({
      ...DONE,
      results: ['unknown'],
      warnings: [gone],
      errors: [{ code: 'applied-in-part', ...GONE }],
      causes: [undefined],
    });
  });

  it('is a warning once, and again under another code or of another sandbox', () => {
    const items = [named('a', 'running'), named('b', 'running'), named('c', 'running')];
    const codes = (before: string, after: string) =>
      concluded(items, {
        before: list(before, 'b RUNNING', 'c PAUSED'),
        after: list(after, 'c RUNNING'),
        steps: [UP],
      }).warnings.map(({ code, path }) => `${code} ${path.join(' ')}`);
    expect(codes('a MISSING', 'a MISSING')).toEqual(['sandbox-gone a', 'sandbox-gone b']);
    expect(codes('a ERROR', 'a MISSING')).toEqual([
      'sandbox-failed a',
      'sandbox-gone a',
      'sandbox-gone b',
    ]);
  });
});

describe('what the service paused by itself', () => {
  const displaced = (id: string) => ({
    resource: 'sandbox',
    path: [id],
    expected: 'RUNNING',
    actual: 'PAUSED',
    reason: 'the service paused it automatically to run another one',
    hint: 'Declare fewer sandboxes running, or raise the limit of the service: it allows fewer at a time than are declared.',
  });
  const madeRoom = (id: string) => ({
    code: 'sandbox-displaced',
    message: `The service paused sandbox ${id} automatically to make room for another.`,
    path: [id],
  });

  it('is left to do if its item has too few, and a warning if it has enough', () => {
    expect(
      concluded([counted(1, 'python'), counted(1, 'node')], {
        before: list('a RUNNING', 'b RUNNING'),
        after: list('a RUNNING', 'b PAUSED', 'new PAUSED node'),
        steps: [{ state: 'given-up', id: 'new' }],
      }),
    ).toEqual({
      ...DONE,
      results: ['unknown'],
      started: [['node #1', 'new']],
      remaining: [displaced('new')],
      warnings: [madeRoom('b')],
      errors: [
        {
          code: 'not-converged',
          message: `The sandboxes are not as declared: sandbox new: ${displaced('new').reason}.`,
          hint: displaced('new').hint,
        },
      ],
      causes: [undefined],
    });
  });

  it('is a warning while its item has a surplus, and nothing that this run paused is among it', () => {
    expect(
      concluded([counted(1, 'python', 'pause'), named('d', 'paused'), counted(1, 'node')], {
        before: list('a RUNNING', 'b RUNNING', 'd RUNNING'),
        after: list('a PAUSED', 'b RUNNING', 'd PAUSED', 'e RUNNING', 'new RUNNING node'),
        steps: [{ state: 'lost' }, { state: 'settled' }, { ...UP, id: 'new' }],
        waited: false,
      }),
    ).toEqual({
      ...DONE,
      results: ['unknown', 'verified', 'verified'],
      started: [['node #1', 'new']],
      warnings: [madeRoom('a')],
    });
  });

  it('is nothing when only pauses were sent: somebody else did it', () => {
    expect(
      concluded([counted(1, 'python'), named('d', 'paused')], {
        before: list('a RUNNING', 'd RUNNING'),
        after: list('a PAUSED', 'd PAUSED', 'z PAUSED node'),
        steps: [{ state: 'settled' }],
      }),
    ).toEqual({
      ...DONE,
      remaining: [
        {
          resource: 'sandbox',
          path: ['a'],
          expected: 'RUNNING',
          actual: 'PAUSED',
          reason: 'does not run',
          hint: 'Run setpoint plan to see what is left. Another client may be changing these sandboxes.',
        },
      ],
      errors: [
        {
          code: 'not-converged',
          message: 'The sandboxes are not as declared: sandbox a: does not run.',
          hint: 'Run setpoint plan to see what is left. Another client may be changing these sandboxes.',
        },
      ],
      causes: [undefined],
    });
  });
});

describe('a sandbox that is shown under another spec', () => {
  it('is left to do: the next run would count it elsewhere', () => {
    const end = concluded([counted(1, 'python'), counted(1), counted(0, 'node')], {
      before: [],
      after: list('x RUNNING ruby', 'y RUNNING node', 'z PAUSED ruby'),
      steps: [
        { ...UP, id: 'x' },
        { ...UP, id: 'y' },
      ],
    });
    const reason = 'the service shows it under another spec than the one it was started from';
    expect(end.remaining).toEqual([
      {
        resource: 'sandbox',
        path: ['x'],
        expected: 'python',
        actual: 'ruby',
        reason,
        hint: 'Declare spec: "ruby", or the next apply starts one more.',
      },
      {
        resource: 'sandbox',
        path: ['y'],
        expected: 'default',
        actual: 'node',
        reason,
        hint: 'Another item names "node", and it counts there. Merge the two items, or the next apply starts one more.',
      },
    ]);
    expect(end.errors).toEqual([
      {
        code: 'not-converged',
        message: 'The sandboxes are not as declared: sandboxes x, y.',
        hint: 'Declare spec: "ruby", or the next apply starts one more.',
      },
    ]);
  });
});

describe('what is left to do', () => {
  it('is each step that a plan made now would have', () => {
    const { remaining, errors } = concluded([counted(2, 'python'), named('p', 'paused')], {
      before: list('p RUNNING'),
      after: list('p STARTING'),
      steps: [{ ...UP, id: 'x' }, { ...UP, id: 'y' }, { state: 'given-up' }],
    });
    const hint =
      'Run setpoint plan to see what is left. Another client may be changing these sandboxes.';
    const start = {
      resource: 'sandbox',
      expected: 'RUNNING',
      actual: null,
      reason: 'not as declared: 0 of 2 running',
      hint,
    };
    expect(remaining).toEqual([
      { ...start, path: ['python', '#1'] },
      { ...start, path: ['python', '#2'] },
      {
        resource: 'sandbox',
        path: ['p'],
        expected: 'PAUSED',
        actual: 'STARTING',
        reason: 'is not paused; a service may ignore the pause of what is still starting',
        hint,
      },
    ]);
    expect(errors).toEqual([
      {
        code: 'not-converged',
        message: 'The sandboxes are not as declared: sandboxes python, p.',
        hint,
      },
    ]);
  });

  it('leaves out what is on its way, unless it is gone and not waited for', () => {
    const left = (status: string, waited: boolean) =>
      concluded([counted(1)], {
        before: list('a PAUSED'),
        after: list(`a ${status}`),
        steps: [{ state: 'running' }],
        waited,
      }).remaining.map(({ path }) => path.join(' '));
    expect(left('PAUSED', false)).toEqual([]);
    expect(left('PAUSED', true)).toEqual([]);
    expect(left('MISSING', true)).toEqual([]);
    expect(left('MISSING', false)).toEqual(['default #1']);
  });
});

describe('what was not ready in time', () => {
  const items = [named('a', 'running'), named('b', 'running'), counted(1, 'node')];
  const late = (b: string, third: Partial<RunStep> | null) =>
    concluded(items, {
      before: list('a PAUSED', 'b PAUSED'),
      after: list('a PAUSED', `b ${b}`),
      steps: [{}, {}, third],
    });

  it('is named with its state', () => {
    const end = late('STARTING', { state: 'running', id: 'n' });
    expect(end.errors).toEqual([
      {
        code: 'timed-out',
        message: 'Sandboxes were not ready in time: a (PAUSED), b (STARTING), n (not listed).',
        hint: 'Run setpoint plan later, or wait longer with --wait.',
      },
    ]);
    expect(end.started).toEqual([['node #1', 'n']]);
  });

  it('was above a limit if all of it stayed PAUSED, and a pause is never that', () => {
    expect(late('PAUSED', NOT_SENT).errors).toEqual([
      {
        code: 'not-converged',
        message: 'Sandboxes are still PAUSED: a (PAUSED), b (PAUSED).',
        hint: 'Declare fewer sandboxes, or raise the limit. The service automatically pauses sandboxes above its limit.',
      },
    ]);
  });

  it('may have no name: a start whose answer was lost says so first', () => {
    const error = new SetpointError('server-error', 'No answer.');
    const end = late('STARTING', { state: 'lost', error });
    const hint = 'Run again: what has appeared by then is counted.';
    const message =
      'A sandbox may or may not have been started: none has appeared, and it was not requested again.';
    expect(end.errors).toEqual([
      { code: 'state-unknown', message: `${message} No answer.`, hint },
      {
        code: 'timed-out',
        message:
          'Sandboxes were not ready in time: a (PAUSED), b (STARTING), a new one (not listed).',
        hint: 'Run setpoint plan later, or wait longer with --wait.',
      },
    ]);
    expect(end.causes).toEqual([error, undefined]);
    expect(late('STARTING', { state: 'lost' }).errors[0]).toEqual({
      code: 'state-unknown',
      message,
      hint,
    });
  });
});

it('without a later observation everything that was sent is unknown, and the plan speaks', () => {
  const error = new SetpointError('unauthorized', 'No.');
  expect(
    concluded([named('a', 'running'), named('b', 'paused')], {
      before: list('a PAUSED'),
      after: null,
      steps: [{ state: 'running' }],
      waited: false,
      error,
    }),
  ).toEqual({
    ...DONE,
    results: ['unknown'],
    warnings: [
      {
        code: 'sandbox-gone',
        message: 'Sandbox b is declared paused, but the service has no sandbox of that id.',
        path: ['b'],
      },
    ],
    errors: [
      {
        code: 'state-unknown',
        message: 'The requests were sent, and the sandboxes could not be read afterwards. No.',
        hint: errorReport(new SetpointError('state-unknown', '')).hint,
      },
    ],
    causes: [error],
  });
});
