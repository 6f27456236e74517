import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { bench, settingsFor } from './bench.ts';
import { pullRequest } from './runner.ts';
import { dedent } from '../fixture/dedent.ts';

const on = bench({ language: 'fr', llm_model: 'a-model' });

function commit(settings: string): void {
  on.commit({
    'settings.yaml': settingsFor(on.store.url, `${settings}\n  sandbox_api_key: null`),
  });
}

it('applies, verifies, and reports the result', async () => {
  commit('  language: en');
  const { code, outputs, summary, log, commands } = await on.step({
    inputs: { command: 'apply' },
    built: true,
  });
  expect(code).toBe(0);
  expect(outputs).toEqual({
    changes: '1',
    unknown: '0',
    exit_code: '0',
    plan_path: '',
    drift: 'false',
    pull_requests: '',
  });
  expect(on.store.stored?.['language']).toBe('en');
  expect(summary).toContain('Apply: default');
  expect(log.indexOf('Plan: 1 to change')).toBeLessThan(log.indexOf('Applied 1 change'));
  expect(commands.some(({ name }) => name === 'error')).toBe(false);
});

it('applies a saved plan once and only once', async () => {
  commit('  language: en');
  const planned = await on.step({ inputs: { command: 'plan' } });
  const path = planned.outputs['plan_path'] ?? '';
  expect(on.store.posts()).toBe(0);
  const inputs = { command: 'apply', plan: path };
  const first = await on.step({ inputs });
  expect(first.outputs).toMatchObject({ changes: '1', exit_code: '0', plan_path: path });
  expect(on.store.posts()).toBe(1);
  const second = await on.step({ inputs });
  expect(second.code).toBe(0);
  expect(second.outputs).toMatchObject({ changes: '0', exit_code: '0' });
  expect(second.log).toContain('No changes.');
  expect(on.store.posts()).toBe(1);
});

it('refuses what the saved plan does not contain', async () => {
  commit('  language: en');
  const { outputs } = await on.step({ inputs: { command: 'plan' } });
  commit('  language: de');
  const refused = await on.step({ inputs: { command: 'apply', plan: outputs['plan_path'] ?? '' } });
  expect(refused.code).toBe(1);
  expect(refused.outputs['exit_code']).toBe('6');
  expect(refused.commands.some(({ name }) => name === 'error')).toBe(true);
  expect(on.store.posts()).toBe(0);
});

it('saves a fresh snapshot afterwards, which a plan is in sync with', async () => {
  commit('  language: en');
  const snapshot = join(on.path, 'snapshot.json');
  const applied = await on.step({ inputs: { command: 'apply', 'snapshot-out': snapshot } });
  expect(applied.outputs).toMatchObject({ changes: '1', exit_code: '0' });
  expect(JSON.parse(readFileSync(snapshot, 'utf8'))).toMatchObject({
    kind: 'observed',
    environments: [{ settings: { language: 'en' } }],
  });
  const planned = await on.step({
    inputs: { command: 'plan', snapshot: snapshot, 'max-age': '24h' },
    env: { KEY: '' },
  });
  expect(planned.outputs).toMatchObject({ changes: '0', exit_code: '0' });
});

it('is red if a guard refuses, and allow lifts it', async () => {
  on.commit({
    'settings.yaml': `${settingsFor(on.store.url, '  language: en\n  llm_model: b\n  sandbox_api_key: null')}guards: { max_changes: 1 }\n`,
  });
  const refused = await on.step({ inputs: { command: 'apply' } });
  expect(refused.outputs).toMatchObject({ changes: '0', exit_code: '5' });
  expect(refused.code).toBe(1);
  expect(refused.log).toContain('the input allow: max-changes');
  expect(refused.log + refused.summary + JSON.stringify(refused.commands)).not.toContain('--allow');
  const allowed = await on.step({ inputs: { command: 'apply', allow: 'max-changes' } });
  expect(allowed.outputs).toMatchObject({ changes: '2', exit_code: '0' });
});

it('requires a choice among several environments', async () => {
  on.commit({
    'settings.yaml': dedent`
      version: 1
      server: { url: "${on.store.url}", api_key: "\${env:KEY}" }
      settings: { language: en, sandbox_api_key: null }
      environments: { a: {}, b: { settings: { llm_model: x } } }
    `,
  });
  const untold = await on.step({ inputs: { command: 'apply' } });
  expect(untold.outputs['exit_code']).toBe('3');
  expect(on.store.requests).toEqual([]);
  const one = await on.step({ inputs: { command: 'apply', environments: 'a' } });
  expect(one.outputs).toMatchObject({ changes: '1', exit_code: '0' });
  const all = await on.step({ inputs: { command: 'apply', all: 'true' } });
  expect(all.outputs).toMatchObject({ changes: '1', exit_code: '0' });
});

it('comments the result if it runs for a pull request', async () => {
  commit('  language: en');
  on.github.open({ pull: true });
  await on.step({ inputs: { command: 'apply' }, event: pullRequest(1) });
  expect(on.github.comments.map(({ body }) => body)).toEqual([
    expect.stringMatching(/^<!-- setpoint:outcome environment=default -->\n[^]*Apply: default/),
  ]);
});

it('a job that is cancelled during the write verifies what was written, and reports it', async () => {
  commit('  language: en');
  let cancel = (): void => {};
  on.store.intercept = (request, _response, proceed) => {
    if (request.method !== 'POST') return false;
    cancel();
    // The answer comes after the signal has been seen, on a busy machine too.
    setTimeout(proceed, 3000);
    return true;
  };
  const { code, outputs, summary } = await on.step({
    inputs: { command: 'apply' },
    started: (child) => {
      cancel = () => child.kill('SIGINT');
    },
  });
  expect(code).toBe(1);
  expect(outputs['exit_code']).toBe('130');
  expect(summary).toContain('Apply: default');
  expect(on.store.stored?.['language']).toBe('en');
});
