import { describe, expect, it } from 'vitest';
import { SetpointError } from '../../../src/reconciler/model/error.ts';
import type { StartAnswer, Sandbox } from '../../../src/reconciler/resources/sandboxes/wire.ts';
import type { DesiredSandboxes } from '../../../src/reconciler/desired/blocks/sandboxes.ts';
import { reconcile } from '../../../src/reconciler/reconcile/reconcile.ts';
import { declared } from '../plan/declared.ts';
import { withSandboxes } from './listed.ts';
import { lost, refused, scripted, type Script } from './scripted.ts';

const ONE_MORE: DesiredSandboxes = {
  kind: 'counted',
  spec: null,
  running: 1,
  surplus: 'keep',
  whenBusy: 'skip',
  source: { file: 'settings.yaml', line: 1, column: 1 },
};
const EN = { language: 'en' };
const FR = { language: 'fr' };
const ALIEN: Sandbox = { id: 'alien', spec: 'node', status: 'PAUSED', createdAt: null };
const NEW: Sandbox = { id: 'new', spec: 'python', status: 'RUNNING', createdAt: null };
const PYTHON = { ...ONE_MORE, spec: 'python' };

/** Settings and a sandbox in one run. */
async function both(script: Script, sandboxes: readonly DesiredSandboxes[] = [PYTHON]) {
  const desired = withSandboxes(declared('language: fr\nsandbox_api_key: null'), sandboxes);
  const service = scripted(desired, {
    shows: [EN, EN, FR],
    lists: [[ALIEN], [ALIEN], [ALIEN, NEW]],
    ...script,
  });
  const end = await reconcile(service.input);
  return { ...service, end, results: [...end.results.values()] };
}

describe('settings and sandboxes in one run', () => {
  it('are written one after the other', async () => {
    const { end, steps, results } = await both({ starts: [{ kind: 'started', id: 'new' }] });
    expect(steps.indexOf('store')).toBeLessThan(steps.indexOf('start python'));
    expect(end).toMatchObject({ status: 'applied', error: null });
    expect(results).toEqual(['verified', 'verified']);
    expect([...end.started.values()]).toEqual(['new']);
  });

  it('are applied in part if the sandboxes fail', async () => {
    const { end, results } = await both({ starts: [refused(false, true) as StartAnswer] });
    expect(end).toMatchObject({
      status: 'partial',
      error: { code: 'applied-in-part', message: 'Not everything was applied. Not now.' },
    });
    expect(results).toEqual(['verified', 'not-sent']);
  });

  it('end with the settings if those fail: no sandbox is touched', async () => {
    const { end, steps, results } = await both({ answers: [refused(false, false)] });
    expect(steps.some((step) => step.startsWith('start'))).toBe(false);
    expect(end).toMatchObject({ status: 'failed', error: { code: 'rate-limited' } });
    expect(results).toEqual(['not-sent', 'not-sent']);
  });

  it('end with the settings if a stop is requested meanwhile', async () => {
    const controller = new AbortController();
    const on = (step: string) => {
      if (step === 'store') controller.abort();
    };
    const { end, steps, results } = await both({ on, more: { signal: controller.signal } });
    expect(steps.some((step) => step.startsWith('start'))).toBe(false);
    expect(end.error?.code).toBe('interrupted');
    expect(results).toEqual(['verified', 'not-sent']);
  });

  it('leave the settings in sync if only sandboxes differ', async () => {
    const { end, writes, results } = await both({
      shows: [FR],
      starts: [{ kind: 'started', id: 'new' }],
    });
    expect(writes).toEqual([]);
    expect(end.status).toBe('applied');
    expect(results).toEqual(['verified']);
  });

  it('keep their warnings and what is not known of either', async () => {
    const desired = 'language: fr\nllm_api_key: ${env:KEY}';
    const service = scripted(withSandboxes(declared(desired, { KEY: 'k' }), [PYTHON]), {
      shows: [{ ...FR, llm_api_key_set: true }],
      lists: [[ALIEN], [ALIEN], [ALIEN, NEW]],
      starts: [{ kind: 'started', id: 'new' }],
    });
    const end = await reconcile(service.input);
    expect(end.unknown).toMatchObject([{ path: ['llm_api_key'] }]);
  });
});

describe('a result of settings', () => {
  const run = async (settings: string, shows: Script['shows'], more: Partial<Script> = {}) => {
    const service = scripted(declared(settings, { KEY: 'k' }), { shows: shows ?? [], ...more });
    const end = await reconcile(service.input);
    return { end, results: [...end.results.values()] };
  };
  const SILENT = '\nsandbox_api_key: null';

  it('of a secret that was stored before cannot be verified', async () => {
    const before = { llm_api_key_set: true };
    const { end, results } = await run(
      `llm_api_key: \${env:KEY}${SILENT}`,
      [before, before, { ...before, agent: 'x' }],
      {
        more: { rotation: 'all' },
      },
    );
    expect(results).toContain('unverifiable');
    expect(end.status).toBe('applied');
  });

  it('names all that remains', async () => {
    const { end } = await run(`language: fr\nagent: A${SILENT}`, [EN]);
    expect(end.error).toMatchObject({
      message: 'After the write these are not as declared: language, agent.',
      hint: 'Run setpoint plan to see what is left; the service may rewrite or refuse this value.',
    });
  });

  it('keeps the cause of what cannot be told', async () => {
    const cause = new SetpointError('unreachable', 'No.');
    const unread = await run(`language: fr${SILENT}`, [EN, EN, cause]);
    expect(unread.end.error?.cause).toBe(cause);
    const unsure = await run(`language: fr${SILENT}`, [EN], { answers: [lost()] });
    expect(unsure.end.error?.cause).toMatchObject({ code: 'server-error' });
  });
});
