import { describe, expect, it } from 'vitest';
import { errorReport, SetpointError } from '../../../src/reconciler/model/error.ts';
import type { StartAnswer } from '../../../src/reconciler/resources/sandboxes/wire.ts';
import type { DesiredSandboxes } from '../../../src/reconciler/desired/blocks/sandboxes.ts';
import { reconcile } from '../../../src/reconciler/reconcile/reconcile.ts';
import { declared } from '../plan/declared.ts';
import { counted, list, named, withSandboxes } from './listed.ts';
import { refused, scripted, STORED, type Script } from './scripted.ts';

const started = (id: string): StartAnswer => ({ kind: 'started', id });
const unreachable = new SetpointError('unreachable', 'No.');
const EN = { language: 'en' };
const FR = { language: 'fr' };

/** The end of a run, with a result for each change by its path; without the warning that every write of settings has. */
async function ended(sandboxes: readonly DesiredSandboxes[], script: Script) {
  const { input, steps } = scripted(withSandboxes(declared('language: fr'), sandboxes), {
    shows: [FR],
    ...script,
  });
  const reconciled = await reconcile(input);
  const { results, started: ids, error, plan: _, dialect: __, release: ___, ...end } = reconciled;
  return {
    ...end,
    warnings: end.warnings.filter(({ code }) => code !== 'lose-unreadable'),
    steps,
    results: Object.fromEntries([...results].map(([{ path }, result]) => [path.join(' '), result])),
    started: [...ids.values()],
    error: error === null ? null : errorReport(error),
    cause: error?.cause,
  };
}

const NOTHING = {
  started: [],
  remaining: [],
  unknown: [],
  warnings: [],
  refusals: [],
  error: null,
  cause: undefined,
};
const BOTH = { shows: [EN, EN, FR], answers: [STORED] };

describe('settings and sandboxes in one run', () => {
  it('are both applied, the settings first', async () => {
    expect(
      await ended([counted(1)], {
        ...BOTH,
        lists: [[], [], [], list('x RUNNING')],
        starts: [started('x')],
      }),
    ).toMatchObject({
      ...NOTHING,
      status: 'applied',
      results: { language: 'verified', 'default #1': 'verified' },
      started: ['x'],
    });
  });

  it('leave sandboxes alone that are as declared', async () => {
    const { steps, ...end } = await ended([counted(1)], { ...BOTH, lists: [list('a RUNNING')] });
    expect(end).toEqual({ ...NOTHING, status: 'applied', results: { language: 'verified' } });
    expect(steps.slice(steps.indexOf('store') + 1)).not.toContain('list');
  });

  it('leave sandboxes unsent when the settings failed', async () => {
    const end = await ended([counted(1), named('a', 'paused')], {
      shows: [EN],
      answers: [refused(false, false)],
      lists: [list('a RUNNING')],
    });
    expect(end.status).toBe('failed');
    expect(end.results).toEqual({
      language: 'not-sent',
      'default #1': 'not-sent',
      a: 'not-sent',
    });
    expect(end.steps.filter((step) => /^(start|pause) /.test(step))).toEqual([]);
  });

  it('are applied in part if a declared sandbox is not there', async () => {
    const { steps, ...end } = await ended([named('z', 'running')], { ...BOTH, lists: [[]] });
    const message = 'Sandbox z is declared running, but the service has no sandbox of that id.';
    const hint =
      'Remove the item, or declare running: and a number. A deleted sandbox cannot be restored.';
    expect(end).toEqual({
      ...NOTHING,
      status: 'partial',
      results: { language: 'verified' },
      warnings: [{ code: 'sandbox-gone', message: `${message} ${hint}`, path: ['z'] }],
      error: { code: 'applied-in-part', message, hint },
    });
    // Nothing is to be sent: an empty list before that needs no second look.
    const after = steps.slice(steps.indexOf('store') + 1);
    expect(after.filter((step) => step !== 'observe')).toEqual(['list', 'list']);
  });
});

describe('an end before anything was sent', () => {
  it('has each change as not sent, and the error of the observation', async () => {
    expect(await ended([counted(2)], { lists: [list('a RUNNING'), unreachable] })).toEqual({
      ...NOTHING,
      status: 'failed',
      results: { 'default #1': 'not-sent' },
      error: errorReport(unreachable),
      steps: ['observe', 'list', 'list'],
    });
  });

  it('is the end of a stopped run: no later observation follows', async () => {
    const stop = new AbortController();
    const end = await ended([counted(2)], {
      lists: [list('a RUNNING')],
      more: { signal: stop.signal },
      on: (step, count) => {
        if (step === 'list' && count === 2) stop.abort();
      },
    });
    expect(end).toMatchObject({
      status: 'failed',
      error: { code: 'interrupted', message: 'Stopped by SIGINT.' },
      results: { 'default #1': 'not-sent' },
      steps: ['observe', 'list', 'list'],
    });
  });
});

describe('a run that is abandoned', () => {
  it('leaves unknown what was sent, with the error it ended with as the cause', async () => {
    const abandon = new AbortController();
    const end = await ended([counted(2)], {
      lists: [list('a RUNNING')],
      starts: [new Promise<StartAnswer>(() => {})],
      more: { abandon: abandon.signal },
      on: (step) => {
        if (step === 'start default') queueMicrotask(() => abandon.abort());
      },
    });
    const message = 'Abandoned while a write was under way: it may or may not have been stored.';
    expect(end).toMatchObject({
      status: 'failed',
      results: { 'default #1': 'unknown' },
      error: { code: 'state-unknown', message },
    });
    expect(end.cause).toMatchObject({ code: 'state-unknown', message });
  });

  it('has sent nothing if nothing was needed any more', async () => {
    const abandon = new AbortController();
    const end = await ended([counted(2)], {
      lists: [list('a RUNNING'), list('a RUNNING', 'b RUNNING'), unreachable],
      more: { abandon: abandon.signal },
      on: (step, count) => {
        if (step === 'list' && count === 3) abandon.abort();
      },
    });
    expect(end).toMatchObject({ status: 'failed', results: { 'default #1': 'not-sent' } });
  });
});
