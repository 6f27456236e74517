import { describe, expect, it } from 'vitest';
import { SetpointError } from '../../../src/reconciler/model/error.ts';
import type { DesiredSandboxes } from '../../../src/reconciler/desired/blocks/sandboxes.ts';
import {
  type Sandbox,
  SANDBOX_READER,
  type SandboxReader,
} from '../../../src/reconciler/resources/sandboxes/wire.ts';
import { planSandboxes } from '../../../src/reconciler/resources/sandboxes/plan-sandboxes.ts';
import { followSteps, type RunStep } from '../../../src/reconciler/resources/sandboxes/run.ts';
import { declared } from '../plan/declared.ts';
import { counted, list, named, withSandboxes } from './listed.ts';
import { lost, reading, scripted, STORED, type Script } from './scripted.ts';

const unreachable = new SetpointError('unreachable', 'No.');
const none = new SetpointError('server-error', 'No answer.');

/** Follows the steps of a plan made on `before`, each as far as it is given, at 7 s of the clock. */
async function followed(
  sandboxes: readonly DesiredSandboxes[],
  before: readonly string[],
  begun: readonly Partial<RunStep>[],
  lists: readonly (readonly Sandbox[] | SetpointError)[],
  script: Script = {},
) {
  const { input, ...seen } = scripted(withSandboxes(declared('language: fr'), sandboxes), {
    lists,
    ...script,
  });
  const observed = { sandboxes: list(...before), specs: null, busy: null, at: 1_700_000_000_000 };
  const approved = planSandboxes(sandboxes, observed);
  const steps = approved.steps.map((step, index): RunStep => ({
    step,
    state: 'running',
    id: step.sandbox,
    status: null,
    wasUp: false,
    error: null,
    ...begun[index],
  }));
  await input.clock.sleep(7000);
  const within: (number | undefined)[] = [];
  const stoppable: boolean[] = [];
  const service = input.reader(SANDBOX_READER);
  const observer: SandboxReader = {
    ...service,
    sandboxes: (signal, milliseconds) => {
      stoppable.push(signal !== undefined);
      within.push(milliseconds);
      return service.sandboxes(signal, milliseconds);
    },
  };
  const run = await followSteps(reading(input, SANDBOX_READER, observer), {
    desired: sandboxes,
    approved,
    before: observed,
    steps,
    last: null,
    error: null,
    waited: false,
  });
  return {
    ends: run.steps.map(({ id, state, status, wasUp, error }) =>
      [id ?? '?', state, status ?? '-', ...(wasUp ? ['was up'] : []), error?.message ?? '']
        .join(' ')
        .trim(),
    ),
    error: run.error,
    last: run.last?.sandboxes,
    progress: seen.progress,
    sent: seen.steps.filter((step) => / /.test(step)),
    listed: within.length,
    slept: seen.slept.slice(1),
    within,
    stoppable,
  };
}

describe('a sandbox that reads STARTING for good', () => {
  const begun = [{ id: 'x' }];
  const more = { wait: 300_000 };
  const total = (pauses: readonly number[]): number => pauses.reduce((sum, one) => sum + one, 0);

  it('has settled after two minutes of it, and not before', async () => {
    const end = await followed([counted(1)], [], begun, [list('x STARTING')], { more });
    expect(end.ends).toEqual(['x settled STARTING was up']);
    expect(total(end.slept)).toBeGreaterThanOrEqual(120_000);
    expect(total(end.slept)).toBeLessThan(126_000);
    const short = { more: { wait: 119_000 } };
    const early = await followed([counted(1)], [], begun, [list('x STARTING')], short);
    expect(early.ends).toEqual(['x running STARTING was up']);
  });

  it('is timed anew after another state', async () => {
    const starting = Array.from({ length: 20 }, () => list('x STARTING'));
    const shows = [...starting, list('x ERROR'), list('x STARTING')];
    const end = await followed([counted(1)], [], begun, shows, { more });
    expect(end.ends).toEqual(['x settled STARTING was up']);
    expect(total(end.slept)).toBeGreaterThan(120_000 + total(end.slept.slice(0, 20)));
  });
});

describe('the time to follow', () => {
  const begun = [{ id: 'x' }];
  const shows = [list('x STARTING')];

  it('ends with the wait: each pause is half as long again, and the last what is left', async () => {
    const end = await followed([counted(1)], [], begun, shows, { more: { wait: 2000 } });
    expect(end.slept).toEqual([500, 750, 750]);
    const short = await followed([counted(1)], [], begun, shows, { more: { wait: 600 } });
    expect(short.slept).toEqual([500, 500]);
  });

  it('limits each observation, to no less than ten seconds', async () => {
    const { within } = await followed([counted(1)], [], begun, shows, { more: { wait: 13_000 } });
    expect(within.slice(0, 4)).toEqual([13_000, 12_500, 11_750, 10_625]);
    expect(new Set(within.slice(4))).toEqual(new Set([10_000]));
  });

  it('is the same for observations that fail for a passing reason', async () => {
    const end = await followed([counted(1)], [], begun, [unreachable], { more: { wait: 2000 } });
    expect(end).toMatchObject({ error: unreachable, slept: [500, 750, 750], listed: 4 });
    expect(end.last).toBeUndefined();
    const once = await followed([counted(1)], [], begun, [unreachable], { more: { wait: 0 } });
    expect(once).toMatchObject({ error: unreachable, slept: [], listed: 1 });
    const idle = await followed([counted(1)], [], [{ state: 'not-sent' }], [unreachable, []]);
    expect(idle).toMatchObject({ error: null, slept: [500], listed: 2, last: [] });
  });

  it('is over with an error that would come again', async () => {
    const error = new SetpointError('unauthorized', 'No.');
    const end = await followed([counted(1)], [], begun, [...shows, error]);
    expect(end).toMatchObject({ error, slept: [500], listed: 2, last: list('x STARTING') });
  });

  it('is over after one more observation when a stop is requested, which that does not cut', async () => {
    const stop = new AbortController();
    const end = await followed([counted(1)], [], begun, shows, {
      more: { signal: stop.signal },
      on: (step, count) => {
        if (step === 'sleep' && count === 3) stop.abort();
      },
    });
    expect(end.stoppable).toEqual([true, true, false]);
    expect(end.slept).toEqual([500, 750]);
    expect(end.ends).toEqual(['x running STARTING was up']);
  });

  it('is cut when the run is abandoned', async () => {
    const abandon = new AbortController();
    const following = followed([counted(1)], [], begun, [unreachable], {
      more: { abandon: abandon.signal },
      on: (step) => {
        if (step === 'list') abandon.abort();
      },
    });
    await expect(following).rejects.toThrow(SetpointError);
  });
});

describe('a step that is over', () => {
  it('stays so, with the state it has now', async () => {
    const { ends } = await followed(
      [counted(2)],
      [],
      [{ id: 'x' }, { id: 'y' }],
      [list('x RUNNING', 'y STARTING'), list('x PAUSED', 'y RUNNING')],
    );
    expect(ends).toEqual(['x settled PAUSED was up', 'y settled RUNNING was up']);
  });

  it('that was not sent is neither observed nor told of', async () => {
    const { ends, progress } = await followed(
      [named('a', 'running'), counted(1, 'node'), named('b', 'running')],
      ['a PAUSED', 'b PAUSED'],
      [{ state: 'not-sent' }, { state: 'turned-away' }],
      [list('a RUNNING', 'b RUNNING', 'new RUNNING node')],
    );
    expect(ends).toEqual(['a not-sent -', '? turned-away -', 'b settled RUNNING was up']);
    expect(progress).toEqual([
      [{ action: 'resume', id: 'b', spec: null, status: 'RUNNING', done: true }],
    ]);
  });

  it('is a pause of what is gone, or was ignored', async () => {
    const paused = async (before: string, now: string) =>
      (
        await followed([named('a', 'paused')], [`a ${before}`], [], [list(`a ${now}`)], {
          more: { wait: 0 },
        })
      ).ends[0];
    expect(await paused('RUNNING', 'MISSING')).toBe('a settled MISSING');
    expect(await paused('RUNNING', 'PAUSED')).toBe('a settled PAUSED');
    expect(await paused('RUNNING', 'RUNNING')).toBe('a running RUNNING');
    expect(await paused('STARTING', 'STARTING')).toBe('a running STARTING');
    expect(await paused('STARTING', 'RUNNING')).toBe('a given-up RUNNING');
  });

  it('is no resume that was not listed in between', async () => {
    const { ends } = await followed(
      [named('a', 'running')],
      ['a PAUSED'],
      [],
      [[], list('a PAUSED'), list('a RUNNING')],
    );
    expect(ends).toEqual(['a settled RUNNING was up']);
  });
});

describe('a lost answer', () => {
  it('gives a start what appears, and takes nothing from one that has its name', async () => {
    const { ends } = await followed(
      [counted(2)],
      [],
      [{ id: 'x' }, { state: 'lost', error: none }],
      [list('z RUNNING', 'x RUNNING')],
    );
    expect(ends).toEqual(['x settled RUNNING was up', 'z settled RUNNING was up No answer.']);
  });

  it('of a resume or a pause is requested once more, and the new answer counts', async () => {
    const again = async (script: Script) => {
      const { ends, sent } = await followed(
        [named('a', 'running')],
        ['a PAUSED'],
        [{ state: 'lost', error: none }],
        [list('a PAUSED')],
        { ...script, more: { wait: 0, ...script.more } },
      );
      return [...sent, ...ends];
    };
    expect(await again({ resumes: [STORED] })).toEqual(['resume a', 'a running PAUSED']);
    expect(await again({ resumes: [lost()] })).toEqual(['resume a', 'a running PAUSED No answer.']);
    expect(await again({ more: { signal: AbortSignal.abort() } })).toEqual([
      'a lost PAUSED No answer.',
    ]);
  });
});
