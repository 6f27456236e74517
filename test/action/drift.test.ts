import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { BOT, failing, ISSUES_TOKEN, JOB_TOKEN } from '../fixture/fake-github.ts';
import { bench, settingsFor } from './bench.ts';
import { dedent } from '../fixture/dedent.ts';
import { LONG } from '../fixture/long.ts';

const on = bench({ language: 'en', llm_model: 'a-model' });
const DRIFT = { command: 'drift', 'github-token': ISSUES_TOKEN };
const MARKER = '<!-- setpoint:drift environment=default -->';

/** Somebody changes the service, or changes it back. */
function change(language: string): void {
  on.store.stored = { ...on.store.stored, language };
}

function commitInSync(): void {
  on.commit({ 'settings.yaml': settingsFor(on.store.url, '  language: en') });
}

it('opens an issue if there is drift, updates it, closes it, and opens another for the next', async () => {
  commitInSync();
  const clean = await on.step({ inputs: DRIFT });
  expect(clean.outputs).toMatchObject({ changes: '0', exit_code: '0', drift: 'false' });
  expect(on.github.issues).toEqual([]);

  change('fr');
  const drifted = await on.step({ inputs: DRIFT, built: true });
  expect(drifted.code).toBe(0);
  expect(drifted.outputs).toMatchObject({ changes: '1', exit_code: '2', drift: 'true' });
  expect(on.github.issues).toHaveLength(1);
  const [issue] = on.github.issues;
  expect(issue).toMatchObject({ author: BOT, labels: ['setpoint-drift'], title: 'Drift: default' });
  expect(issue?.body.split('\n')[0]).toBe(MARKER);
  expect(issue?.body).toContain('"fr"');
  const seen = /Last checked: (\S+)\. /.exec(issue?.body ?? '')?.[1] ?? '';
  expect(new Date(seen).toISOString()).toBe(seen);

  change('de');
  await on.step({ inputs: DRIFT });
  expect(on.github.issues).toHaveLength(1);
  expect(issue?.body).toContain('"de"');
  expect(issue?.body).not.toContain(seen);

  change('en');
  await on.step({ inputs: DRIFT });
  expect(issue).toMatchObject({ state: 'closed', stateReason: 'completed' });
  expect(on.github.comments).toEqual([
    expect.objectContaining({
      issue: 1,
      author: BOT,
      body: expect.stringContaining('Back in sync'),
    }),
  ]);

  change('fr');
  await on.step({ inputs: DRIFT });
  expect(on.github.issues.map(({ state }) => state)).toEqual(['closed', 'open']);
  expect(on.store.posts()).toBe(0);
});

it(
  'leaves an issue that a person closed closed, until something else drifts, or the same after it was gone',
  LONG,
  async () => {
    commitInSync();
    const states = () => on.github.issues.map(({ state }) => state);
    change('fr');
    await on.step({ inputs: DRIFT });
    const [first] = on.github.issues;
    Object.assign(first ?? {}, { state: 'closed', body: first?.body.replaceAll('\n', '\r\n') });
    await on.step({ inputs: DRIFT });
    await on.step({ inputs: DRIFT });
    expect(states()).toEqual(['closed']);

    change('de');
    await on.step({ inputs: DRIFT });
    expect(states()).toEqual(['closed', 'open']);
    change('en');
    await on.step({ inputs: DRIFT });
    expect(states()).toEqual(['closed', 'closed']);
    change('fr');
    await on.step({ inputs: DRIFT });
    expect(states()).toEqual(['closed', 'closed', 'open']);
    change('en');
    await on.step({ inputs: DRIFT });
    expect(states()).toEqual(['closed', 'closed', 'closed']);
  },
);

it('counts what could not be compared in an output of its own, and with strict as a difference', async () => {
  on.commit({
    'settings.yaml': settingsFor(on.store.url, '  language: en\n  llm_api_key: ${env:LLM}'),
  });
  on.store.stored = { ...on.store.stored, llm_api_key: 'sk-stored' };
  const env = { LLM: 'sk-of-the-test' };
  const usual = await on.step({ inputs: DRIFT, env });
  expect(usual.outputs).toMatchObject({
    changes: '0',
    unknown: '1',
    exit_code: '0',
    drift: 'false',
  });
  expect(usual.commands).toMatchObject([
    {
      name: 'notice',
      message:
        '1 value could not be compared: llm_api_key\napply with the input rotate: llm_api_key writes it again; SETPOINT_STATE_KEY remembers it.',
    },
  ]);
  const strict = await on.step({ inputs: { ...DRIFT, strict: 'true' }, env });
  expect(strict.code).toBe(0);
  expect(strict.outputs).toMatchObject({ unknown: '1', exit_code: '2', drift: 'false' });
  expect(strict.commands).toMatchObject([{ name: 'warning' }]);
  const red = await on.step({ inputs: { ...DRIFT, strict: 'true', 'fail-on-drift': 'true' }, env });
  expect(red.code).toBe(1);
  expect(red.log).toContain('Some values could not be compared.');
  expect(on.github.issues).toEqual([]);
});

it('with fail-on-drift is red, and the issue is open too', async () => {
  commitInSync();
  change('fr');
  const { code, commands, outputs } = await on.step({
    inputs: { ...DRIFT, 'fail-on-drift': 'true' },
  });
  expect(code).toBe(1);
  expect(outputs).toMatchObject({ exit_code: '2', drift: 'true' });
  expect(on.github.issues).toHaveLength(1);
  expect(commands.filter(({ name }) => name === 'error')).toHaveLength(1);
});

it('is red if it could not read the service, and leaves the issue as it was', async () => {
  commitInSync();
  change('fr');
  await on.step({ inputs: DRIFT });
  const before = { ...on.github.issues[0] };
  on.store.intercept = (_request, response) => {
    response.writeHead(401, { 'content-type': 'application/json' });
    response.end('{}');
    return true;
  };
  const { code, outputs, commands } = await on.step({ inputs: DRIFT });
  expect(code).toBe(1);
  expect(outputs).toMatchObject({ exit_code: '4', drift: 'false' });
  expect(on.github.issues).toEqual([before]);
  expect(commands.some(({ name }) => name === 'error')).toBe(true);
});

it('reports each of three environments by itself', async () => {
  const [b, c] = [await on.another({ language: 'fr' }), await on.another({ language: 'en' })];
  c.intercept = failing(500);
  const at = (url: string, key: string): string =>
    `{ server: { url: "${url}", api_key: "\${env:${key}}" } }`;
  on.commit({
    'settings.yaml': dedent`
      version: 1
      server: { url: "${on.store.url}", api_key: "\${env:KEY}" }
      settings: { language: en }
      environments:
        a: ${at(on.store.url, 'KEY')}
        b: ${at(b.url, 'KEY_B')}
        c: ${at(c.url, 'KEY_C')}
    `,
  });
  on.github.open({ author: BOT, labels: ['setpoint-drift'], body: MARKER.replace('default', 'a') });
  on.github.open({ author: BOT, labels: ['setpoint-drift'], body: MARKER.replace('default', 'c') });
  const { code, outputs } = await on.step({
    inputs: DRIFT,
    env: { KEY_B: 'b-key', KEY_C: 'c-key' },
  });
  expect(code).toBe(1);
  expect(outputs).toMatchObject({ exit_code: '1', drift: 'true' });
  expect(on.github.issues.map(({ title, state }) => [title, state])).toEqual([
    ['a title', 'closed'],
    ['a title', 'open'],
    ['Drift: b', 'open'],
  ]);
});

it('closes the issue of an environment that its files no longer have, and none that another job keeps', async () => {
  const settings = (...names: string[]) => ({
    'settings.yaml': dedent`
      version: 1
      server: { url: ${on.store.url}, api_key: "\${env:KEY}" }
      settings: { language: en }
      environments: { ${names.map((name) => `${name}: {}`).join(', ')} }
    `,
  });
  const run = (job: string, more: Record<string, string> = {}) => {
    const env = {
      GITHUB_WORKFLOW_REF: 'o/r/.github/workflows/drift.yml@refs/heads/main',
      GITHUB_JOB: job,
    };
    return on.step({ inputs: { ...DRIFT, ...more }, env });
  };
  on.commit(settings('old', 'new'));
  change('fr');
  await run('one');
  on.commit(settings('theirs', 'new'));
  await run('two', { environments: 'theirs' });
  const open = () =>
    on.github.issues.filter(({ state }) => state === 'open').map(({ title }) => title);
  expect(open().toSorted()).toEqual(['Drift: new', 'Drift: old', 'Drift: theirs']);
  on.commit(settings('new'));
  await run('one', { environments: 'new' });
  expect(open().toSorted()).toEqual(['Drift: new', 'Drift: theirs']);
  expect(on.github.comments.at(-1)?.body).toContain('no longer contain this environment');
});

it('takes no issue of somebody else for its own, and no pull request', async () => {
  commitInSync();
  change('fr');
  const [foreign, pull] = [
    on.github.open({ author: 'a-person', labels: ['setpoint-drift'], body: MARKER }),
    on.github.open({ author: BOT, pull: true, labels: ['setpoint-drift'], body: MARKER }),
  ].map((issue) => ({ ...issue }));
  await on.step({ inputs: DRIFT });
  expect(on.github.issues).toEqual([foreign, pull, expect.objectContaining({ author: BOT })]);
});

it('leaves one open if two runs have opened two', async () => {
  commitInSync();
  change('fr');
  for (const _ of [1, 2]) on.github.open({ author: BOT, labels: ['setpoint-drift'], body: MARKER });
  await on.step({ inputs: DRIFT });
  expect(on.github.issues.map(({ state, stateReason }) => [state, stateReason])).toEqual([
    ['open', null],
    ['closed', 'not_planned'],
  ]);
});

it.each([
  ['a token that may not write issues', { 'github-token': JOB_TOKEN }, '4'],
  ['no token', { 'github-token': '' }, '3'],
])('with %s is red: nobody would hear of it', async (_, inputs, exitCode) => {
  commitInSync();
  change('fr');
  const { code, outputs, commands, summary } = await on.step({ inputs: { ...DRIFT, ...inputs } });
  expect(code).toBe(1);
  expect(outputs).toMatchObject({ exit_code: exitCode, drift: 'true' });
  expect(commands.at(-1)).toMatchObject({
    name: 'error',
    properties: { title: 'The drift issues could not be updated' },
  });
  expect(summary).toContain('Drift: default');
});

it('comment: false keeps no issues', async () => {
  commitInSync();
  change('fr');
  const { code, outputs } = await on.step({ inputs: { ...DRIFT, comment: 'false' } });
  expect(code).toBe(0);
  expect(outputs['drift']).toBe('true');
  expect(on.github.requests).toEqual([]);
});

it('with base, an edit that waits for its apply is no drift', async () => {
  on.commit({
    'settings.yaml': settingsFor(on.store.url, '  language: de'),
    'deployed.yaml': settingsFor(on.store.url, '  language: en'),
  });
  const inputs = { ...DRIFT, base: 'deployed.yaml' };
  const pending = await on.step({ inputs });
  expect(pending.outputs).toMatchObject({ changes: '1', exit_code: '0', drift: 'false' });
  expect(on.github.issues).toEqual([]);
  change('fr');
  const conflict = await on.step({ inputs });
  expect(conflict.outputs).toMatchObject({ exit_code: '2', drift: 'true' });
  expect(on.github.issues).toHaveLength(1);
});

it('saves the snapshot that a plan is made against, with no key and no request', async () => {
  commitInSync();
  change('fr');
  const snapshot = join(on.path, 'snapshot.json');
  await on.step({ inputs: { ...DRIFT, 'snapshot-out': snapshot } });
  expect(JSON.parse(readFileSync(snapshot, 'utf8'))).toMatchObject({
    kind: 'observed',
    resources: ['settings'],
  });
  const before = on.store.requests.length;
  const planned = await on.step({
    inputs: { command: 'plan', snapshot: snapshot },
    env: { KEY: '' },
  });
  expect(planned.code).toBe(0);
  expect(planned.outputs['changes']).toBe('1');
  expect(on.store.requests).toHaveLength(before);
});

it('writes no snapshot if nothing could be read', async () => {
  commitInSync();
  await on.store.close();
  const snapshot = join(on.path, 'snapshot.json');
  const { code } = await on.step({ inputs: { ...DRIFT, 'snapshot-out': snapshot } });
  expect(code).toBe(1);
  expect(existsSync(snapshot)).toBe(false);
});
