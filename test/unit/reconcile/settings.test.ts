import { describe, expect, it } from 'vitest';
import { listPlanChanges } from '../../../src/reconciler/model/plan.ts';
import type { PlanResult } from '../../../src/reconciler/plan/plan-environment.ts';
import { SetpointError } from '../../../src/reconciler/model/error.ts';
import { reconcile } from '../../../src/reconciler/reconcile/reconcile.ts';
import { declared } from '../plan/declared.ts';
import { lost, refused, scripted, STORED, type Script } from './scripted.ts';

const EN = { language: 'en', agent: 'A' };
const FR = { language: 'fr', agent: 'A' };
const DE = { language: 'de', agent: 'A' };
const FRENCH = 'language: fr\nsandbox_api_key: null';

async function run(script: Script, settings = FRENCH, blocks = '') {
  const service = scripted(declared(settings, { KEY: 'new-key' }, blocks), script);
  const end = await reconcile(service.input);
  const results = [...end.results.values()];
  return {
    ...service,
    end,
    results,
    count: (step: string) => service.steps.filter((one) => one === step).length,
  };
}

/** Stops the run at a step. */
function stopAt(step: string, nth = 1, reason: 'SIGINT' | 'SIGTERM' = 'SIGINT') {
  const controller = new AbortController();
  const on = (done: string, count: number) => {
    if (done === step && count === nth) controller.abort(reason);
  };
  return { on, more: { signal: controller.signal } };
}

describe('what is sent', () => {
  it('is nothing if nothing differs', async () => {
    const { end, steps } = await run({ shows: [FR] });
    expect(steps).toEqual(['observe']);
    expect(end).toMatchObject({
      status: 'in-sync',
      error: null,
      refusals: [],
      remaining: [],
      dialect: 'settings-v0',
    });
  });

  it('is one write, between an observation that shows the same need and one that shows it done', async () => {
    const { end, steps, results, slept } = await run({ shows: [EN, EN, FR] });
    expect(steps).toEqual(['observe', 'observe', 'store', 'observe']);
    expect(end).toMatchObject({ status: 'applied', error: null, remaining: [] });
    expect(results).toEqual(['verified']);
    expect(slept).toEqual([]);
  });

  it('is nothing if a guard refuses it, and every reason is given', async () => {
    const { end, count, results } = await run(
      { shows: [EN] },
      FRENCH,
      'guards: { frozen: closed }',
    );
    expect(count('store')).toBe(0);
    expect(end).toMatchObject({
      status: 'refused',
      error: { code: 'guard-refused' },
      refusals: [{ rule: 'frozen' }],
    });
    expect(results).toEqual(['not-sent']);
  });

  it('is nothing if it is declined', async () => {
    const { end, steps, results } = await run({
      shows: [EN],
      more: { approve: () => Promise.resolve(false) },
    });
    expect(steps).toEqual(['observe']);
    expect(end).toMatchObject({
      status: 'failed',
      error: { code: 'declined', message: 'Cancelled. Nothing was written.' },
    });
    expect(results).toEqual(['not-sent']);
  });

  it('is announced and approved anew if the service has changed meanwhile', async () => {
    const seen: unknown[] = [];
    const announce = async ({ plan }: PlanResult) => {
      seen.push(listPlanChanges(plan)[0]?.before);
    };
    const { end, count } = await run({ shows: [EN, DE, DE, FR], more: { announce } });
    expect(seen).toEqual(['en', 'de']);
    expect(count('store')).toBe(1);
    expect(end.status).toBe('applied');
  });

  it('is nothing after three changes between observation and write', async () => {
    const { end, count } = await run({ shows: [EN, DE, EN, DE] });
    expect(count('observe')).toBe(4);
    expect(count('store')).toBe(0);
    expect(end).toMatchObject({
      status: 'failed',
      error: {
        code: 'contended',
        message: 'The service changed between every observation and the write that was to follow.',
      },
      refusals: [],
    });
  });

  it('is nothing if the store is suddenly empty', async () => {
    const { end, count } = await run({ shows: [{}, null, {}, null] });
    expect(count('store')).toBe(0);
    expect(end).toMatchObject({ status: 'failed', error: { code: 'contended' } });
  });

  it('is nothing if the service cannot be read; then no plan is known', async () => {
    const { end, steps } = await run({ shows: [new SetpointError('unreachable', 'No.')] });
    expect(steps).toEqual(['observe']);
    expect(end).toMatchObject({
      status: 'failed',
      dialect: null,
      error: { code: 'unreachable' },
      plan: [],
    });
  });
});

describe('a read that lags', () => {
  it('is repeated with growing pauses, until it shows the write', async () => {
    const { end, slept } = await run({ shows: [EN, EN, EN, EN, EN, FR] });
    expect(slept).toEqual([500, 1000, 2000]);
    expect(end.status).toBe('applied');
  });

  it('is believed in the end', async () => {
    const { end, slept, results, count } = await run({ shows: [EN] });
    expect(slept).toEqual([500, 1000, 2000, 4000]);
    expect(count('store')).toBe(1);
    expect(end).toMatchObject({
      status: 'not-converged',
      error: {
        code: 'not-converged',
        message: 'After the write these are not as declared: language.',
      },
      remaining: [
        {
          path: ['language'],
          expected: 'fr',
          actual: 'en',
          reason: 'the service does not keep what it is sent',
        },
      ],
    });
    expect(end.error?.hint).toBe(end.remaining[0]?.hint);
    expect(results).toEqual(['unknown']);
  });

  it('does not lag if it shows another state', async () => {
    const { end, slept } = await run({ shows: [EN, EN, DE] });
    expect(slept).toEqual([]);
    expect(end).toMatchObject({ status: 'not-converged', remaining: [{ actual: 'de' }] });
  });
});

describe('an answer that was lost', () => {
  it('is a warning if the service shows the write', async () => {
    const { end, count, results } = await run({ shows: [EN, EN, FR], answers: [lost()] });
    expect(count('store')).toBe(1);
    expect(end).toMatchObject({ status: 'applied', error: null });
    expect(end.warnings).toContainEqual({
      code: 'answered-with-error',
      message: 'The write took effect although the service answered with an error: No answer.',
      path: [],
    });
    expect(results).toEqual(['verified']);
  });

  it('is followed by a second write if the service stays as it was, past the lag', async () => {
    const { end, count, slept } = await run({
      shows: [EN, EN, EN, EN, EN, EN, EN, FR],
      answers: [lost(), STORED],
    });
    expect(slept).toEqual([500, 1000, 2000, 4000]);
    expect(count('store')).toBe(2);
    expect(end).toMatchObject({ status: 'applied', error: null });
    expect(end.warnings).toEqual([]);
  });

  it('is followed by no third', async () => {
    const { end, count, results } = await run({ shows: [EN], answers: [lost()] });
    expect(count('store')).toBe(2);
    expect(end).toMatchObject({
      status: 'failed',
      error: {
        code: 'state-unknown',
        message: 'The write may or may not have taken effect. No answer.',
      },
    });
    expect(results).toEqual(['unknown']);
  });

  it('is followed by nothing if somebody else writes', async () => {
    const { end, count, results } = await run({ shows: [EN, EN, DE], answers: [lost()] });
    expect(count('store')).toBe(1);
    expect(end).toMatchObject({ status: 'failed', error: { code: 'state-unknown' } });
    expect(results).toEqual(['unknown']);
  });

  it('is followed by nothing if the service cannot be read', async () => {
    const { end, count } = await run({
      shows: [EN, EN, new SetpointError('unreachable', 'No.')],
      answers: [lost()],
    });
    expect(count('store')).toBe(1);
    expect(end).toMatchObject({ status: 'failed', error: { code: 'state-unknown' } });
  });

  it('stays in doubt if the second write is refused', async () => {
    const { end, results } = await run({ shows: [EN], answers: [lost(), refused(false, false)] });
    expect(end).toMatchObject({ status: 'failed', error: { code: 'state-unknown' } });
    expect(results).toEqual(['unknown']);
  });
});

describe('a refusal', () => {
  it('for good that did not reach the service is the end', async () => {
    const { end, steps, results } = await run({ shows: [EN], answers: [refused(false, false)] });
    expect(steps).toEqual(['observe', 'observe', 'store']);
    expect(end).toMatchObject({ status: 'failed', error: { code: 'rate-limited' } });
    expect(results).toEqual(['not-sent']);
  });

  it('that may be tried again is, once, after the pause that the service asked for', async () => {
    const { end, slept, count } = await run({
      shows: [EN, EN, EN, FR],
      answers: [refused(true, false, 7000), STORED],
    });
    expect(slept).toEqual([7000]);
    expect(count('store')).toBe(2);
    expect(end.status).toBe('applied');
    const never = await run({ shows: [EN], answers: [refused(true, false)] });
    expect(never.slept).toEqual([500]);
    expect(never.count('store')).toBe(2);
    expect(never.results).toEqual(['not-sent']);
  });

  it('is not tried again if the service has changed during the pause', async () => {
    const { end, count, results } = await run({
      shows: [EN, EN, DE],
      answers: [refused(true, false)],
    });
    expect(count('store')).toBe(1);
    expect(end.status).toBe('failed');
    expect(results).toEqual(['not-sent']);
  });

  it('of what the service received is a warning if the service has it all the same', async () => {
    const { end, count } = await run({ shows: [EN, EN, FR], answers: [refused(false, true)] });
    expect(count('store')).toBe(1);
    expect(end).toMatchObject({
      status: 'applied',
      error: null,
      warnings: [{ code: 'answered-with-error' }],
    });
    const unsent = await run({ shows: [EN, EN, FR], answers: [refused(true, false)] });
    expect(unsent.end.status).toBe('failed');
  });

  it('of what the service received and does not have is the end, without a wait for a lag', async () => {
    const { end, count, slept, results } = await run({
      shows: [EN],
      answers: [refused(false, true)],
    });
    expect(count('store')).toBe(1);
    expect(slept).toEqual([]);
    expect(end.status).toBe('failed');
    expect(results).toEqual(['not-sent']);
  });
});

describe('a write that cannot be observed', () => {
  it('is unknown', async () => {
    const { end, results } = await run({
      shows: [EN, EN, new SetpointError('unreachable', 'No.')],
    });
    expect(end).toMatchObject({
      status: 'failed',
      error: {
        code: 'state-unknown',
        message: 'The write was sent and could not be verified. No.',
      },
    });
    expect(results).toEqual(['unknown']);
  });
});

describe('a request to stop', () => {
  it.each(['SIGINT', 'SIGTERM'] as const)(
    'by %s before the write ends the run, and nothing is sent',
    async (reason) => {
      const { end, count, results } = await run({ shows: [EN], ...stopAt('observe', 2, reason) });
      expect(count('store')).toBe(0);
      expect(end).toMatchObject({
        status: 'failed',
        error: {
          code: reason === 'SIGINT' ? 'interrupted' : 'terminated',
          message: `Stopped by ${reason}.`,
        },
      });
      expect(results).toEqual(['not-sent']);
    },
  );

  it('during the write finishes and verifies it', async () => {
    const { end, results, steps } = await run({ shows: [EN, EN, FR], ...stopAt('store') });
    expect(steps).toEqual(['observe', 'observe', 'store', 'observe']);
    expect(end).toMatchObject({
      status: 'applied',
      error: {
        code: 'interrupted',
        message: 'Stopped by SIGINT. The write in flight was finished and verified.',
        hint: 'Nothing is left to do here.',
      },
    });
    expect(results).toEqual(['verified']);
  });

  it('during the write observes once and waits for no lag', async () => {
    const { end, slept } = await run({ shows: [EN], ...stopAt('store') });
    expect(slept).toEqual([]);
    expect(end).toMatchObject({
      status: 'not-converged',
      error: {
        message: 'Stopped by SIGINT. The write in flight was finished and is not converged.',
      },
    });
    expect(end.error?.hint).toBe(end.remaining[0]?.hint);
  });

  it('after a lost answer or a refusal sends nothing again', async () => {
    const one = await run({ shows: [EN], answers: [lost()], ...stopAt('store') });
    expect(one.count('store')).toBe(1);
    expect(one.end).toMatchObject({ status: 'failed', error: { code: 'interrupted' } });
    const other = await run({ shows: [EN], answers: [refused(true, false)], ...stopAt('sleep') });
    expect(other.steps).toEqual(['observe', 'observe', 'store', 'sleep']);
    expect(other.results).toEqual(['not-sent']);
  });

  it('a second time abandons the write, and its state is unknown', async () => {
    const abandon = new AbortController();
    const on = (step: string) => {
      if (step === 'store') queueMicrotask(() => abandon.abort());
    };
    const { end, results } = await run({
      shows: [EN],
      answers: [new Promise(() => {})],
      on,
      more: { abandon: abandon.signal },
    });
    expect(end).toMatchObject({ status: 'failed', error: { code: 'state-unknown' } });
    expect(end.error?.message).toContain('may or may not have been stored');
    expect(results).toEqual(['unknown']);
  });
});

describe('the fingerprints of secrets', () => {
  const KEY = 'llm_api_key: ${env:KEY}\nsandbox_api_key: null';
  const UNSET = { llm_api_key_set: false };
  const SET = { llm_api_key_set: true };

  it('are dropped before a write and kept after it', async () => {
    const { fingerprints, results } = await run({ shows: [UNSET, UNSET, SET] }, KEY);
    expect(fingerprints).toEqual([
      'forget llm_api_key sandbox_api_key',
      'remember llm_api_key sandbox_api_key',
    ]);
    expect(results).toEqual(['set']);
  });

  it('are put back if nothing was stored', async () => {
    const { fingerprints } = await run({ shows: [UNSET], answers: [refused(false, false)] }, KEY);
    expect(fingerprints).toEqual(['forget llm_api_key sandbox_api_key', 'put back']);
  });

  it('are not kept if the service did not confirm the write', async () => {
    const { fingerprints, end } = await run({ shows: [UNSET, UNSET, SET], answers: [lost()] }, KEY);
    expect(end.status).toBe('applied');
    expect(fingerprints).toEqual(['forget llm_api_key sandbox_api_key']);
  });

  const failing = () => Promise.reject(new SetpointError('output-failed', 'The disk is full.'));

  it('that cannot be dropped stop the write', async () => {
    const fingerprints = { compare: () => 'none' as const, forget: failing, remember: failing };
    const { end, count, results } = await run({ shows: [UNSET], more: { fingerprints } }, KEY);
    expect(count('store')).toBe(0);
    expect(end).toMatchObject({ status: 'failed', error: { code: 'output-failed' } });
    expect(results).toEqual(['not-sent']);
  });

  it('that cannot be kept or put back are a warning', async () => {
    const forget = () => Promise.resolve(failing);
    const fingerprints = { compare: () => 'none' as const, forget, remember: failing };
    const warning = { code: 'not-remembered', message: 'The disk is full.', path: [] };
    const kept = await run({ shows: [UNSET, UNSET, SET], more: { fingerprints } }, KEY);
    expect(kept.end).toMatchObject({ status: 'applied', error: null });
    expect(kept.end.warnings).toContainEqual(warning);
    const refusal = { answers: [refused(false, false)], more: { fingerprints } };
    const back = await run({ shows: [UNSET], ...refusal }, KEY);
    expect(back.end.warnings).toContainEqual(warning);
  });
});

describe('what a write touched besides', () => {
  it('is sent once more if a declared secret fell out', async () => {
    const settings = 'language: fr\nllm_api_key: ${env:KEY}\nsandbox_api_key: null';
    const [before, fallen, after] = [
      { ...EN, llm_api_key_set: true },
      { ...FR, llm_api_key_set: false },
      { ...FR, llm_api_key_set: true },
    ];
    const { end, writes, fingerprints } = await run(
      { shows: [before, before, fallen, after] },
      settings,
    );
    expect(writes).toHaveLength(2);
    expect(writes[1]?.fields).toHaveProperty('llm_api_key');
    expect(end.status).toBe('applied');
    expect(fingerprints.at(-1)).toContain('remember llm_api_key');
    const stopped = await run(
      { shows: [before, before, fallen], ...stopAt('observe', 3) },
      settings,
    );
    expect(stopped.writes).toHaveLength(1);
  });

  it('is left if the file does not manage it, and reported', async () => {
    const { end, writes, results } = await run({ shows: [EN, EN, { ...FR, agent: 'B' }] });
    expect(writes).toHaveLength(1);
    expect(results).toEqual(['verified']);
    expect(end).toMatchObject({
      status: 'not-converged',
      remaining: [
        {
          resource: 'settings',
          path: ['agent'],
          expected: 'A',
          actual: 'B',
          reason: 'changed by the write, although the file does not manage it',
          hint: 'Check the service: another client writes these settings, or the service does not store what it receives.',
        },
      ],
    });
    expect(end.error?.message).toBe('After the write these are not as declared: agent.');
  });

  it('is a secret that the file does not manage, which is not set any more', async () => {
    const [before, after] = [
      { ...EN, search_api_key_set: true },
      { ...FR, search_api_key_set: false },
    ];
    const { end } = await run({ shows: [before, before, after] });
    expect(end.remaining).toEqual([
      {
        resource: 'settings',
        path: ['search_api_key'],
        expected: '(sensitive)',
        actual: null,
        reason: 'was set before the write, and is no longer set',
        hint: 'Declare search_api_key as a reference, so that every write sends it.',
      },
    ]);
  });

  it('is no secret that the file clears', async () => {
    const shown = { ...FR, search_api_key_set: false };
    const before = { ...EN, search_api_key_set: true };
    const { end } = await run(
      { shows: [before, before, shown] },
      `${FRENCH}\nsearch_api_key: null`,
    );
    expect(end).toMatchObject({ status: 'applied', remaining: [], error: null });
  });

  it('is an entry that the server adds by itself', async () => {
    const entry = { url: 'https://a.example.com' };
    const record = { mcp_config: { sse_servers: [entry] } };
    const { end } = await run(
      { shows: [record, record, { ...record, agent: 'x' }] },
      'mcp_config: { sse_servers: [] }\nsandbox_api_key: null',
    );
    expect(end.remaining).toMatchObject([
      {
        path: ['mcp_config', 'sse_servers', entry.url],
        reason: 'came back after its removal: the server adds it automatically',
        hint: 'Leave it to the server: unmanaged: ["mcp_config.sse_servers[https://a.example.com]"]',
      },
    ]);
  });
});
