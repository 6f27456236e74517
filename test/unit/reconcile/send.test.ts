import { describe, expect, it } from 'vitest';
import { SetpointError } from '../../../src/reconciler/model/error.ts';
import type { StartAnswer } from '../../../src/reconciler/resources/sandboxes/wire.ts';
import type { DesiredSandboxes } from '../../../src/reconciler/desired/blocks/sandboxes.ts';
import { planSandboxes } from '../../../src/reconciler/resources/sandboxes/plan-sandboxes.ts';
import { sendSteps } from '../../../src/reconciler/resources/sandboxes/run.ts';
import { declared } from '../plan/declared.ts';
import { counted, list, named, withSandboxes } from './listed.ts';
import { lost, refused, scripted, type Script } from './scripted.ts';

const AWAY = refused(true, false, 3000) as StartAnswer;
const NEVER = refused(false, true) as StartAnswer;
const LOST = lost() as StartAnswer;
const started = (id: string): StartAnswer => ({ kind: 'started', id });

/** Sends what a plan made on `before` has; each step as its action, id, state and error. */
async function sent(
  sandboxes: readonly DesiredSandboxes[],
  before: readonly string[],
  script: Script,
) {
  const service = scripted(withSandboxes(declared('language: fr'), sandboxes), script);
  const observed = { sandboxes: list(...before), specs: null, busy: null, at: 1_700_000_000_000 };
  const { steps } = planSandboxes(sandboxes, observed);
  const ends = await sendSteps(service.input, steps, observed);
  return {
    ends: ends.map(({ step, id, state, error }) =>
      [step.action, id ?? '?', state, error?.message ?? ''].join(' ').trim(),
    ),
    rest: ends.map(({ status, wasUp }) => ({ status, wasUp })),
    steps: service.steps,
    slept: service.slept,
  };
}

describe('one round of requests', () => {
  it('has pauses first, and leaves to each step what was answered', async () => {
    const { ends, steps, rest } = await sent(
      [counted(4, 'node'), named('r', 'running'), named('p', 'paused')],
      ['r PAUSED', 'p RUNNING'],
      { starts: [started('x'), LOST, NEVER, started('y')] },
    );
    expect(steps).toEqual(['pause p', ...Array<string>(4).fill('start node'), 'resume r']);
    expect(ends).toEqual([
      'pause p running',
      'start x running',
      'start ? lost No answer.',
      'start ? not-sent Not now.',
      'start y running',
      'resume r running',
    ]);
    expect(rest).toEqual(steps.map(() => ({ status: null, wasUp: false })));
  });

  it('is not begun after a request to stop', async () => {
    const { ends, steps } = await sent([counted(1), named('r', 'running')], ['r PAUSED'], {
      more: { signal: AbortSignal.abort() },
    });
    expect(steps).toEqual([]);
    expect(ends).toEqual([
      'start ? not-sent Stopped by SIGINT.',
      'resume r not-sent Stopped by SIGINT.',
    ]);
  });
});

describe('what was turned away', () => {
  it('is sent again after a pause, and nothing else is', async () => {
    const { ends, steps, slept } = await sent([counted(3)], [], {
      starts: [started('x'), AWAY, NEVER, started('y')],
      lists: [list('x RUNNING')],
    });
    expect(steps).toEqual([
      ...Array<string>(3).fill('start default'),
      'sleep',
      'list',
      'start default',
    ]);
    expect(slept).toEqual([3000]);
    expect(ends).toEqual(['start x running', 'start ? not-sent Not now.', 'start y running']);
  });

  it('may have taken effect, if it is not needed and a sandbox is there that no answer named', async () => {
    const { ends, steps } = await sent([counted(2)], [], {
      starts: [AWAY, AWAY, started('y')],
      lists: [list('new RUNNING')],
    });
    expect(steps.filter((step) => step.startsWith('start'))).toHaveLength(3);
    expect(ends).toEqual(['start ? lost', 'start y running']);
  });

  it('had no effect, if all that is there was known', async () => {
    const back = await sent([counted(2)], ['old ERROR'], {
      starts: [started('x'), AWAY],
      lists: [list('old RUNNING', 'x RUNNING')],
    });
    expect(back.ends).toEqual(['start x running', 'start ? not-sent']);
    const mixed = await sent([counted(1)], ['old ERROR'], {
      starts: [AWAY],
      lists: [list('old ERROR', 'new RUNNING')],
    });
    expect(mixed.ends).toEqual(['start ? lost']);
  });

  it('may have taken effect, if it is a resume or a pause that is not needed any more', async () => {
    const { ends, steps } = await sent([named('a', 'running')], ['a PAUSED'], {
      resumes: [refused(true, false)],
      lists: [list('a STARTING')],
    });
    expect(ends).toEqual(['resume a lost']);
    expect(steps).toEqual(['resume a', 'sleep', 'list']);
  });

  it('is sent again beside a start whose answer was lost, which counts as one', async () => {
    const none = await sent([counted(2)], [], {
      starts: [LOST, AWAY, started('y')],
      lists: [[]],
    });
    expect(none.ends).toEqual(['start ? lost No answer.', 'start y running']);
    const one = await sent([counted(2)], [], {
      starts: [LOST, AWAY],
      lists: [list('new RUNNING')],
    });
    expect(one.ends).toEqual(['start ? lost No answer.', 'start ? lost']);
    const resumed = await sent([counted(2)], ['a PAUSED'], {
      resumes: [lost()],
      starts: [AWAY, started('y')],
      lists: [list('a PAUSED')],
    });
    expect(resumed.ends).toEqual(['resume a lost No answer.', 'start y running']);
  });

  it('stays so after a request to stop, during the answer or the observation', async () => {
    for (const [at, steps] of [
      ['start default', ['start default']],
      ['list', ['start default', 'sleep', 'list']],
    ] as const) {
      const stop = new AbortController();
      const end = await sent([counted(1)], [], {
        starts: [AWAY],
        lists: [[]],
        more: { signal: stop.signal },
        on: (step) => {
          if (step === at) stop.abort();
        },
      });
      expect(end.ends).toEqual(['start ? turned-away Not now.']);
      expect(end.steps).toEqual(steps);
    }
  });

  it('stays so if the need cannot be seen', async () => {
    for (const more of [{}, { abandon: new AbortController().signal }]) {
      const { ends, steps } = await sent([counted(1)], [], {
        starts: [AWAY],
        lists: [new SetpointError('unreachable', 'No.')],
        more,
      });
      expect(ends).toEqual(['start ? turned-away Not now.']);
      expect(steps).toEqual(['start default', 'sleep', 'list']);
    }
  });

  it('is left when the observation is abandoned', async () => {
    const abandon = new AbortController();
    const sending = sent([counted(1)], [], {
      starts: [AWAY],
      lists: [new SetpointError('unreachable', 'Cut.')],
      more: { abandon: abandon.signal },
      on: (step) => {
        if (step === 'list') abandon.abort();
      },
    });
    await expect(sending).rejects.toThrow(SetpointError);
  });
});
