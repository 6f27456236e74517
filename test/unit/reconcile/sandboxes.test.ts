import { describe, expect, it } from 'vitest';
import { SetpointError } from '../../../src/reconciler/model/error.ts';
import type { StartAnswer } from '../../../src/reconciler/resources/sandboxes/wire.ts';
import type { DesiredSandboxes } from '../../../src/reconciler/desired/blocks/sandboxes.ts';
import { reconcile } from '../../../src/reconciler/reconcile/reconcile.ts';
import { declared } from '../plan/declared.ts';
import { counted, list, named, withSandboxes } from './listed.ts';
import { lost, refused, scripted, STORED, type Script } from './scripted.ts';

const started = (id: string): StartAnswer => ({ kind: 'started', id });
const unreachable = new SetpointError('unreachable', 'No.');

async function run(sandboxes: readonly DesiredSandboxes[], script: Script) {
  const service = scripted(withSandboxes(declared('language: fr'), sandboxes), {
    shows: [{ language: 'fr' }],
    ...script,
  });
  const end = await reconcile(service.input);
  return {
    ...service,
    end,
    results: [...end.results.values()],
    sent: service.steps.filter((step) => / /.test(step)),
    started: [...end.started.values()],
  };
}

function stopAt(step: string, nth = 1) {
  const controller = new AbortController();
  const on = (done: string, count: number) => {
    if (done === step && count === nth) controller.abort();
  };
  return { on, more: { signal: controller.signal } };
}

const OLD = 'old RUNNING';

describe('sandboxes as they are declared', () => {
  it('are left alone, and read once', async () => {
    const { end, steps } = await run([counted(1)], { lists: [list(OLD)] });
    expect(steps).toEqual(['observe', 'list']);
    expect(end).toMatchObject({ status: 'in-sync', error: null });
  });

  it('are not read if none is declared', async () => {
    expect((await run([], {})).steps).toEqual(['observe']);
  });
});

describe('a start', () => {
  it('is sent once for each that two observations found missing, and followed until it runs', async () => {
    const {
      end,
      sent,
      steps,
      results,
      started: ids,
      progress,
      slept,
    } = await run([counted(2, 'python')], {
      lists: [list(OLD), list(OLD), list(OLD, 'new STARTING'), list(OLD, 'new RUNNING')],
      starts: [started('new')],
    });
    expect(sent).toEqual(['start python']);
    expect(steps).toEqual(['observe', 'list', 'list', 'start python', 'list', 'sleep', 'list']);
    expect(slept).toEqual([500]);
    expect(end).toMatchObject({ status: 'applied', error: null, remaining: [] });
    expect(results).toEqual(['verified']);
    expect(ids).toEqual(['new']);
    expect(progress).toEqual([
      [{ action: 'start', id: 'new', spec: 'python', status: 'STARTING', done: false }],
      [{ action: 'start', id: 'new', spec: 'python', status: 'RUNNING', done: true }],
    ]);
  });

  it('is not sent if the second observation does not show the need', async () => {
    const { end, sent, results } = await run([counted(2)], {
      lists: [list(OLD), list(OLD, 'other RUNNING')],
    });
    expect(sent).toEqual([]);
    expect(end).toMatchObject({ status: 'in-sync', error: null });
    expect(results).toEqual(['not-sent']);
  });

  it('is sent no more often than was approved', async () => {
    const { sent } = await run([counted(3, 'python')], {
      lists: [list(OLD, 'b RUNNING'), list(OLD), list(OLD, 'new RUNNING')],
      starts: [started('new')],
    });
    expect(sent).toEqual(['start python']);
  });

  it('that does not run in time is reported, after pauses that grow to five seconds', async () => {
    const { end, slept, results } = await run([counted(2)], {
      lists: [list(OLD), list(OLD), list(OLD, 'new STARTING')],
      starts: [started('new')],
    });
    expect(slept.slice(0, 8)).toEqual([500, 750, 1125, 1687.5, 2531.25, 3796.875, 5000, 5000]);
    expect(slept.reduce((sum, one) => sum + one, 0)).toBeLessThan(60_600);
    expect(end).toMatchObject({
      status: 'partial',
      error: { code: 'timed-out', message: 'Sandboxes were not ready in time: new (STARTING).' },
    });
    expect(results).toEqual(['unknown']);
  });

  it('that is not waited for is done when it has begun', async () => {
    const { end, slept, results } = await run([counted(2)], {
      lists: [list(OLD), list(OLD), list(OLD, 'new STARTING')],
      starts: [started('new')],
      more: { wait: 0 },
    });
    expect(slept).toEqual([]);
    expect(end).toMatchObject({ status: 'applied', error: null });
    expect(results).toEqual(['verified']);
  });

  it('that the service pauses was above its limit', async () => {
    const { end, slept, results } = await run([counted(2)], {
      lists: [list(OLD), list(OLD), list(OLD, 'new PAUSED')],
      starts: [started('new')],
    });
    expect(slept).toEqual([]);
    expect(end).toMatchObject({
      status: 'not-converged',
      remaining: [
        {
          resource: 'sandbox',
          path: ['new'],
          expected: 'RUNNING',
          actual: 'PAUSED',
          reason: 'the service paused it automatically to run another one',
        },
      ],
    });
    expect(end.error?.message).toBe(
      'The sandboxes are not as declared: sandbox new: the service paused it automatically to run another one.',
    );
    expect(results).toEqual(['unknown']);
  });

  it('that displaces another one leaves that one to report', async () => {
    const { end } = await run([counted(2)], {
      lists: [list(OLD), list(OLD), list('old PAUSED', 'new RUNNING')],
      starts: [started('new')],
    });
    expect(end).toMatchObject({
      status: 'not-converged',
      remaining: [{ path: ['old'], actual: 'PAUSED' }],
    });
  });

  it('that displaces one that nothing declares is a warning', async () => {
    const { end } = await run([counted(1, 'node')], {
      lists: [list(OLD), list(OLD), list('old PAUSED', 'new RUNNING node')],
      starts: [started('new')],
    });
    expect(end).toMatchObject({ status: 'applied', error: null });
    expect(end.warnings).toContainEqual({
      code: 'sandbox-displaced',
      message: 'The service paused sandbox old automatically to make room for another.',
      path: ['old'],
    });
  });

  it('that is shown under another spec than its own would be repeated by the next run', async () => {
    const shown = async (spec: string, ...items: DesiredSandboxes[]) =>
      (
        await run(items, {
          lists: [
            list('o RUNNING node'),
            list('o RUNNING node'),
            list('o RUNNING node', `new RUNNING ${spec}`),
          ],
          starts: [started('new')],
        })
      ).end;
    expect(await shown('other', counted(1, 'python'))).toMatchObject({
      status: 'not-converged',
      remaining: [
        {
          path: ['new'],
          expected: 'python',
          actual: 'other',
          hint: 'Declare spec: "other", or the next apply starts one more.',
        },
      ],
    });
    const rest = await shown('node', counted(1), counted(1, 'node'));
    expect(rest.remaining).toMatchObject([{ expected: 'default', actual: 'node' }]);
    expect(rest.remaining[0]?.hint).toContain('Another item names "node"');
    expect(await shown('-', counted(1, 'python'))).toMatchObject({
      status: 'applied',
      remaining: [],
    });
    expect(await shown('other', counted(1))).toMatchObject({ remaining: [] });
  });
});

describe('a start whose answer was lost', () => {
  const LOST = lost() as StartAnswer;

  it('is adopted if a sandbox appears, and not repeated', async () => {
    const {
      end,
      sent,
      started: ids,
    } = await run([counted(2, 'python')], {
      lists: [list(OLD), list(OLD), list(OLD), list(OLD, 'alien RUNNING node', 'new RUNNING')],
      starts: [LOST],
    });
    expect(sent).toEqual(['start python']);
    expect(ids).toEqual(['new']);
    expect(end).toMatchObject({ status: 'applied', error: null });
  });

  it('may be one of a spec that no item names, and none that an item names', async () => {
    const under = (spec: string) =>
      run([counted(2, 'python'), counted(0, 'node')], {
        lists: [list(OLD), list(OLD), list(OLD, `new RUNNING ${spec}`)],
        starts: [LOST],
      });
    expect((await under('other')).started).toEqual(['new']);
    expect((await under('-')).started).toEqual(['new']);
    expect((await under('node')).started).toEqual([]);
  });

  it('is waited for half a minute, even if nothing else is', async () => {
    for (const wait of [0, 300_000]) {
      const { end, slept, sent, results } = await run([counted(2)], {
        lists: [list(OLD)],
        starts: [LOST],
        more: { wait },
      });
      const passed = slept.reduce((sum, one) => sum + one, 0);
      expect(passed).toBeGreaterThanOrEqual(30_000);
      expect(passed).toBeLessThan(36_000);
      expect(sent).toHaveLength(1);
      expect(results).toEqual(['unknown']);
      expect(end).toMatchObject({
        status: 'partial',
        error: { hint: 'Run again: what has appeared by then is counted.' },
      });
    }
  });

  it('is given one each of those that have appeared', async () => {
    const { started: ids } = await run([counted(3)], {
      lists: [list(OLD), list(OLD), list(OLD, 'one RUNNING', 'two RUNNING')],
      starts: [LOST],
    });
    expect(ids.toSorted()).toEqual(['one', 'two']);
  });
});

describe('a request that the service turned away', () => {
  const AWAY = refused(true, false, 3000) as StartAnswer;

  it('is sent again after the pause it asked for, if the need is still there', async () => {
    const { end, sent, slept } = await run([counted(2)], {
      lists: [list(OLD), list(OLD), list(OLD), list(OLD, 'new RUNNING')],
      starts: [AWAY, started('new')],
    });
    expect(slept).toEqual([3000]);
    expect(sent).toHaveLength(2);
    expect(end).toMatchObject({ status: 'applied', error: null });
  });

  it('is sent three times at most', async () => {
    const { end, sent, results } = await run([counted(2)], { lists: [list(OLD)], starts: [AWAY] });
    expect(sent).toHaveLength(3);
    expect(results).toEqual(['not-sent']);
    expect(end).toMatchObject({ status: 'failed', error: { code: 'rate-limited' } });
  });

  it('is not sent again if a sandbox has appeared', async () => {
    const { sent } = await run([counted(2)], {
      lists: [list(OLD), list(OLD), list(OLD, 'new RUNNING')],
      starts: [AWAY],
    });
    expect(sent).toHaveLength(1);
  });

  it('is not sent again if that cannot be seen, or a stop is requested', async () => {
    const blind = await run([counted(2)], {
      lists: [list(OLD), list(OLD), unreachable, list(OLD)],
      starts: [AWAY],
    });
    expect(blind.sent).toHaveLength(1);
    const stopped = await run([counted(2)], {
      lists: [list(OLD)],
      starts: [AWAY],
      ...stopAt('sleep'),
    });
    expect(stopped.sent).toHaveLength(1);
    expect(stopped.end).toMatchObject({ status: 'failed', error: { code: 'interrupted' } });
  });

  it('for good is not sent again', async () => {
    const { end, sent, results } = await run([counted(2)], {
      lists: [list(OLD)],
      starts: [refused(false, true) as StartAnswer],
    });
    expect(sent).toHaveLength(1);
    expect(results).toEqual(['not-sent']);
    expect(end).toMatchObject({
      status: 'failed',
      error: { code: 'rate-limited', message: 'Not now.' },
    });
  });

  it('beside one that took effect leaves the run in part', async () => {
    const { end, results } = await run([counted(3)], {
      lists: [list(OLD), list(OLD), list(OLD, 'new RUNNING')],
      starts: [started('new'), refused(false, true) as StartAnswer],
    });
    expect(results).toEqual(['verified', 'not-sent']);
    expect(end).toMatchObject({
      status: 'partial',
      error: { code: 'applied-in-part', message: 'Not everything was applied. Not now.' },
    });
  });
});

describe('a resume', () => {
  const items = [named('a', 'running')];

  it('is done when it runs; PAUSED is what it reads at first', async () => {
    const { end, sent, results } = await run(items, {
      lists: [
        list('a PAUSED'),
        list('a PAUSED'),
        list('a PAUSED'),
        list('a STARTING'),
        list('a RUNNING'),
      ],
    });
    expect(sent).toEqual(['resume a']);
    expect(end).toMatchObject({ status: 'applied', error: null });
    expect(results).toEqual(['verified']);
  });

  it('that goes back to PAUSED was undone by the service', async () => {
    const { end, slept } = await run(items, {
      lists: [list('a PAUSED'), list('a PAUSED'), list('a STARTING'), list('a PAUSED')],
    });
    expect(slept).toEqual([500]);
    expect(end).toMatchObject({ status: 'not-converged', remaining: [{ path: ['a'] }] });
  });

  it('that never begins is above the limit', async () => {
    const { end } = await run(items, { lists: [list('a PAUSED')] });
    expect(end).toMatchObject({
      status: 'not-converged',
      error: {
        message: 'Sandboxes are still PAUSED: a (PAUSED).',
        hint: 'Declare fewer sandboxes, or raise the limit. The service automatically pauses sandboxes above its limit.',
      },
    });
  });

  it('whose answer was lost is sent once more, unless it has begun', async () => {
    const again = await run(items, {
      lists: [list('a PAUSED'), list('a PAUSED'), list('a PAUSED'), list('a RUNNING')],
      resumes: [lost(), STORED],
    });
    expect(again.sent).toEqual(['resume a', 'resume a']);
    expect(again.end.status).toBe('applied');
    const begun = await run(items, {
      lists: [list('a PAUSED'), list('a PAUSED'), list('a STARTING'), list('a RUNNING')],
      resumes: [lost()],
    });
    expect(begun.sent).toEqual(['resume a']);
  });
});

describe('a pause', () => {
  const items = [named('a', 'paused')];

  it('is sent before all that needs room, and done when it is paused or gone', async () => {
    const { sent, end } = await run([named('b', 'running'), ...items], {
      lists: [
        list('a RUNNING', 'b PAUSED'),
        list('a RUNNING', 'b PAUSED'),
        list('a PAUSED', 'b RUNNING'),
      ],
    });
    expect(sent).toEqual(['pause a', 'resume b']);
    expect(end).toMatchObject({ status: 'applied', error: null });
  });

  it('of what boots has no effect once it runs', async () => {
    const { end, slept } = await run(items, {
      lists: [list('a STARTING'), list('a STARTING'), list('a RUNNING')],
    });
    expect(slept).toEqual([]);
    expect(end).toMatchObject({
      status: 'not-converged',
      remaining: [
        {
          path: ['a'],
          expected: 'PAUSED',
          actual: 'RUNNING',
          reason: 'is not paused; a service may ignore the pause of what is still starting',
        },
      ],
    });
  });

  it('of what runs is waited for', async () => {
    const { end, slept } = await run(items, {
      lists: [list('a RUNNING'), list('a RUNNING'), list('a RUNNING'), list('a PAUSED')],
    });
    expect(slept).toEqual([500]);
    expect(end.status).toBe('applied');
  });

  it('whose answer was lost is sent once more while it runs', async () => {
    const { sent } = await run(items, {
      lists: [list('a RUNNING'), list('a RUNNING'), list('a RUNNING'), list('a PAUSED')],
      pauses: [lost(), STORED],
    });
    expect(sent).toEqual(['pause a', 'pause a']);
  });

  it('is not sent to one in which a conversation runs', async () => {
    const conversations = [{ id: 'c', sandbox: 'a', status: 'running', createdAt: null }];
    const busy = await run(items, { lists: [list('a RUNNING')], conversations });
    expect(busy.sent).toEqual([]);
    const idle = await run(items, {
      lists: [list('a RUNNING'), list('a RUNNING'), list('a PAUSED')],
      conversations: conversations.map((one) => ({ ...one, status: 'idle' })),
    });
    expect(idle.sent).toEqual(['pause a']);
    const cut = await run([named('a', 'paused', 'pause')], {
      lists: [list('a RUNNING'), list('a RUNNING'), list('a PAUSED')],
      conversations,
    });
    expect(cut.sent).toEqual(['pause a']);
  });

  it('of a surplus leaves what is declared', async () => {
    const { sent } = await run([counted(1, null, 'pause')], {
      lists: [
        list('a RUNNING', 'b RUNNING'),
        list('a RUNNING', 'b RUNNING'),
        list('a PAUSED', 'b PAUSED'),
      ],
    });
    expect(sent).toHaveLength(1);
    expect(sent[0]).toMatch(/^pause /);
  });
});

describe('an observation that fails', () => {
  it('for a passing reason is repeated while there is time', async () => {
    const { end, slept } = await run([counted(2)], {
      lists: [list(OLD), list(OLD), unreachable, unreachable, list(OLD, 'new RUNNING')],
      starts: [started('new')],
    });
    expect(slept).toEqual([500, 750]);
    expect(end).toMatchObject({ status: 'applied', error: null });
  });

  it('for good leaves what was sent unknown', async () => {
    const { end, results } = await run([counted(2)], {
      lists: [list(OLD), list(OLD), new SetpointError('unauthorized', 'No.')],
      starts: [started('new')],
    });
    expect(results).toEqual(['unknown']);
    expect(end.error?.cause).toBeDefined();
    expect(end.error?.message).toContain(
      'The requests were sent, and the sandboxes could not be read afterwards. No.',
    );
  });

  it('before anything is sent is the end', async () => {
    const { end, sent, results } = await run([counted(2)], { lists: [list(OLD), unreachable] });
    expect(sent).toEqual([]);
    expect(end).toMatchObject({ status: 'failed', error: { code: 'unreachable' } });
    expect(results).toEqual(['not-sent']);
  });
});

describe('a request to stop', () => {
  it('before the first request sends nothing', async () => {
    const { end, sent, results } = await run([counted(2)], {
      lists: [list(OLD)],
      ...stopAt('list', 2),
    });
    expect(sent).toEqual([]);
    expect(end).toMatchObject({ status: 'failed', error: { code: 'interrupted' } });
    expect(results).toEqual(['not-sent']);
  });

  it('while it waits observes once more at most, and says what was begun', async () => {
    const { end, results } = await run([counted(2)], {
      lists: [list(OLD), list(OLD), list(OLD, 'new STARTING')],
      starts: [started('new')],
      ...stopAt('sleep'),
    });
    expect(end).toMatchObject({ status: 'partial', error: { code: 'interrupted' } });
    expect(results).toEqual(['verified']);
  });

  it('a second time abandons the request, and its state is unknown', async () => {
    const abandon = new AbortController();
    const on = (step: string) => {
      if (step === 'start default') queueMicrotask(() => abandon.abort());
    };
    const { end, results } = await run([counted(2)], {
      lists: [list(OLD)],
      starts: [new Promise<StartAnswer>(() => {})],
      on,
      more: { abandon: abandon.signal },
    });
    expect(results).toEqual(['unknown']);
    expect(end).toMatchObject({ status: 'failed', error: { code: 'state-unknown' } });
  });
});

describe('a list that may be wrong', () => {
  it('is read again if it is empty and something is to be started', async () => {
    const { sent, slept } = await run([counted(1)], { lists: [[], [], list(OLD)] });
    expect(sent).toEqual([]);
    expect(slept).toEqual([2000]);
  });

  it('is watched for half a minute if a declared sandbox reads ERROR', async () => {
    const boots = await run([named('a', 'running')], {
      lists: [list('a ERROR'), list('a ERROR'), list('a RUNNING')],
    });
    expect(boots.end).toMatchObject({ status: 'in-sync', error: null });
    expect(boots.progress[0]).toEqual([
      { action: 'watch', id: 'a', spec: null, status: 'ERROR', done: false },
    ]);
    const failed = await run([named('a', 'running')], { lists: [list('a ERROR')] });
    expect(failed.slept.reduce((sum, one) => sum + one, 0)).toBeGreaterThanOrEqual(30_000);
    expect(failed.end).toMatchObject({ status: 'partial', error: { code: 'applied-in-part' } });
    const unwatched = await run([named('a', 'running')], {
      lists: [list('a ERROR')],
      more: { wait: 0 },
    });
    expect(unwatched.slept.filter((one) => one === 3000)).toEqual([]);
  });
});

it('a spec that the service does not have is refused before anything is sent', async () => {
  const { end, steps } = await run([counted(1, 'ruby')], { lists: [list(OLD)] });
  expect(steps.filter((step) => step.startsWith('start'))).toEqual([]);
  expect(end).toMatchObject({ status: 'refused', error: { code: 'spec-refused' } });
});
