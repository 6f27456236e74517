import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { expect, it } from 'vitest';
import { INPUTS } from '../../src/command/action/inputs.ts';
import { bench, settingsFor } from './bench.ts';
import { JOB_TOKEN } from '../fixture/fake-github.ts';
import { itEach } from '../fixture/long.ts';

const on = bench({ language: 'fr' });
const CANARY = 'canary-5f1d-not-for-eyes';

const ERRORS = [
  [{ command: '' }, 'does not name a command'],
  [{ command: 'destroy' }, 'does not name a command'],
  [{ command: 'pln' }, 'Did you mean plan?'],
  [{ command: 'drift', rotate: 'all' }, 'does not take the input rotate'],
  [{ command: 'plan', allow: 'max-changes' }, 'does not take the input allow'],
  [{ command: 'validate', 'snapshot-out': 'x.json' }, 'does not take the input snapshot-out'],
  [{ command: 'plan', 'max-age': '24h' }, 'The input max-age is for a snapshot.'],
  [{ command: 'plan', snapshot: 'x.json', 'max-age': 'a day' }, 'The input max-age takes an age'],
  [
    { command: 'plan', environments: 'nope' },
    'No environment named "nope" (from the input environments).',
  ],
  [{ command: 'apply', all: 'yes' }, 'all must be true or false'],
  [{ command: 'plan', all: 'true', environments: 'a' }, 'exclude each other'],
  [{ command: 'plan', all: 'true', selector: 'a=b' }, 'exclude each other'],
  [{ command: 'validate', shard: '0/2' }, 'does not take the input shard'],
  [{ command: 'plan', shard: '2/2' }, 'The input shard: there is no shard 2 of 2.'],
  [{ command: 'plan', shard: '2' }, 'The input shard: a shard is its number, from 0'],
  [{ command: 'validate', selector: 'a=b' }, 'does not take the input selector'],
  [
    { command: 'plan', selector: 'ring=0' },
    'No environment has labels that match "ring=0" (from the input selector): there are no labels.',
  ],
  [
    { command: 'plan', snapshot: 'a.json', 'snapshot-out': 'b.json' },
    'snapshot and snapshot-out exclude each other',
  ],
  [{ command: 'plan', 'working-directory': 'nowhere' }, 'not a folder'],
  [{ command: 'plan', secrets: `{"A":"${CANARY}"` }, 'SETPOINT_ALLOWED_VARIABLES'],
] as const;

itEach(ERRORS, (_, index) => index % 3 === 0)(
  '%j is a usage error, and nothing is sent',
  async (inputs, words) => {
    on.commit({ 'settings.yaml': settingsFor(on.store.url, '  language: en') });
    const { code, outputs, commands, log } = await on.step({ inputs });
    expect(code).toBe(1);
    expect(outputs).toEqual({
      changes: '0',
      unknown: '0',
      exit_code: '3',
      plan_path: '',
      drift: 'false',
      pull_requests: '',
    });
    expect(commands.map(({ name }) => name)).toEqual(['error']);
    expect(commands[0]?.message).toContain(words);
    expect([...on.store.requests, ...on.github.requests]).toEqual([]);
    expect(log).not.toContain(CANARY);
  },
);

it('takes lists one a line or comma-separated', async () => {
  on.commit({
    'a.yaml': `name: a\n${settingsFor(on.store.url, '  language: en')}`,
    'b.yaml': `name: b\n${settingsFor(on.store.url, '  language: de')}`,
    'c.yaml': `name: c\n${settingsFor(on.store.url, '  language: es')}`,
  });
  const { outputs, summary } = await on.step({
    inputs: { command: 'plan', files: 'a.yaml\nb.yaml, c.yaml\n', environments: 'a,c' },
  });
  expect(outputs['changes']).toBe('2');
  expect(summary.match(/(?<=<summary><code>)\w/g)).toEqual(['a', 'c']);
});

it('takes a selector, in which a comma means and', async () => {
  const labelled = (name: string, labels: string) =>
    `name: ${name}\nlabels: ${labels}\n${settingsFor(on.store.url, '  language: de')}`;
  on.commit({
    'a.yaml': labelled('a', '{ ring: "0", region: eu }'),
    'b.yaml': labelled('b', '{ ring: "1", region: eu }'),
    'c.yaml': labelled('c', '{ ring: "0", region: us }'),
  });
  const inputs = { files: 'a.yaml\nb.yaml\nc.yaml', selector: 'ring in (0, 2), region!=us' };
  const planned = await on.step({ inputs: { ...inputs, command: 'plan' } });
  expect(planned.summary.match(/Plan: \w/g)).toEqual(['Plan: a']);
  expect((await on.step({ inputs: { ...inputs, command: 'apply' } })).code).toBe(0);
  const unchosen = await on.step({ inputs: { command: 'apply', files: inputs.files } });
  expect(unchosen.log).toContain('choose by label with the input selector');
});

it('takes a shard, which the log names', async () => {
  const names = ['a', 'b', 'c', 'd', 'e'];
  on.commit(
    Object.fromEntries(
      names.map((name) => [
        `${name}.yaml`,
        `name: ${name}\n${settingsFor(on.store.url, '  language: de')}`,
      ]),
    ),
  );
  const inputs = { command: 'plan', files: '*.yaml' };
  const shards = [];
  for (const shard of ['0/2', '1/2', ''])
    shards.push(await on.step({ inputs: { ...inputs, shard } }));
  const seen = shards.map(({ summary }) =>
    [...summary.matchAll(/(?:Plan: |<summary><code>)([a-e])\b/g)].map(([, name = '']) => name),
  );
  expect([...(seen[0] ?? []), ...(seen[1] ?? [])].toSorted()).toEqual(names);
  expect(seen[2]).toEqual(names);
  expect(shards[0]?.log).toContain(`Shard 0/2: ${seen[0]?.length} of 5 environments.`);
  expect(shards[2]?.log).not.toContain('Shard');
});

it('takes the secrets that SETPOINT_ALLOWED_VARIABLES lists, and none that decides where they are sent', async () => {
  const secrets = JSON.stringify({
    LLM_API_KEY: CANARY,
    OTHER: CANARY,
    SETPOINT_ALLOWED_ORIGINS: '*',
    github_token: JOB_TOKEN,
  });
  const SETPOINT_ALLOWED_VARIABLES = 'LLM_*,KEY';
  const inputs = { command: 'apply', secrets };
  on.commit({
    'settings.yaml': settingsFor(
      on.store.url,
      '  llm_api_key: ${env:LLM_API_KEY}\n  sandbox_api_key: null',
    ),
  });
  const applied = await on.step({ inputs, env: { SETPOINT_ALLOWED_VARIABLES } });
  expect(applied.code).toBe(0);
  expect(on.store.stored?.['llm_api_key']).toBe(CANARY);
  expect(JSON.stringify(applied)).not.toContain(CANARY);

  on.commit({
    'settings.yaml': settingsFor(
      on.store.url,
      '  search_api_key: ${env:OTHER}\n  sandbox_api_key: null',
    ),
  });
  const unlisted = await on.step({ inputs, env: { SETPOINT_ALLOWED_VARIABLES } });
  expect(unlisted.outputs['exit_code']).toBe('3');
  const listed = await on.step({
    inputs: { command: 'apply' },
    env: { SETPOINT_ALLOWED_VARIABLES: '*' },
  });
  expect(listed.log).toContain('OTHER');
  expect(listed.outputs['exit_code']).toBe('3');
  expect(on.store.stored?.['search_api_key']).toBeUndefined();
});

it('what the step sets itself wins over a secret; an empty one does not', async () => {
  on.commit({
    'settings.yaml': settingsFor(
      on.store.url,
      '  llm_api_key: ${env:LLM_API_KEY}\n  sandbox_api_key: null',
    ),
  });
  const inputs = { command: 'apply', secrets: '{"LLM_API_KEY":"of-the-secrets"}' };
  const env = { SETPOINT_ALLOWED_VARIABLES: 'LLM_*,KEY' };
  await on.step({ inputs, env: { ...env, LLM_API_KEY: 'of-the-step' } });
  expect(on.store.stored?.['llm_api_key']).toBe('of-the-step');
  await on.step({ inputs: { ...inputs, rotate: 'all' }, env: { ...env, LLM_API_KEY: '' } });
  expect(on.store.stored?.['llm_api_key']).toBe('of-the-secrets');
});

itEach(
  ['INPUT_SECRETS', 'INPUT_GITHUB-TOKEN', 'GITHUB_TOKEN', 'ACTIONS_RUNTIME_TOKEN'],
  (_, index) => index === 0,
)('no file reads %s', async (name) => {
  on.commit({ 'settings.yaml': settingsFor(on.store.url, `  git_user_name: "\${env:${name}}"`) });
  const { code, log } = await on.step({
    inputs: { command: 'plan', secrets: `{"A":"${CANARY}"}` },
    env: { SETPOINT_ALLOWED_VARIABLES: '*', GITHUB_TOKEN: CANARY, ACTIONS_RUNTIME_TOKEN: CANARY },
  });
  expect(code).toBe(1);
  expect(log).not.toContain(CANARY);
  expect(log).not.toContain(JOB_TOKEN);
  expect(on.store.requests).toEqual([]);
});

it('action.yml names the inputs that are read, and the outputs that are set', async () => {
  const root = join(import.meta.dirname, '../..');
  const action = parse(readFileSync(join(root, 'action.yml'), 'utf8')) as {
    inputs: Record<string, unknown>;
    outputs: Record<string, unknown>;
    runs: Record<string, unknown>;
  };
  expect(new Set(Object.keys(INPUTS))).toEqual(new Set(Object.keys(action.inputs)));
  on.commit({ 'settings.yaml': settingsFor(on.store.url, '  language: en') });
  const { outputs } = await on.step({ inputs: { command: 'validate' } });
  expect(new Set(Object.keys(outputs))).toEqual(new Set(Object.keys(action.outputs)));
  expect(action.runs).toEqual({ using: 'node24', main: 'dist/action/index.cjs' });
});

it('the ways to have a secret written or compared name inputs, wherever a step says them', async () => {
  on.commit({
    'settings.yaml': settingsFor(
      on.store.url,
      '  llm_api_key: ${env:LLM}\n  search_api_key: ${env:SEARCH}\n  sandbox_api_key: null\n  language: en',
    ),
  });
  on.store.stored = { ...on.store.stored, llm_api_key: 'sk-stored', search_api_key: 'sk-stored' };
  const env = { LLM: 'sk-of-the-test', SEARCH: 'sk-of-the-test' };
  for (const command of ['plan', 'drift', 'apply']) {
    const { log, commands, summary } = await on.step({ inputs: { command }, env });
    expect(log).toContain('2 stored secrets cannot be compared (the summary lists them)');
    const said = [log, summary, ...commands.map(({ message }) => message)].join('\n');
    expect(said).toContain('apply with the input rotate: PATH writes one again');
    expect(said).not.toContain('--rotate');
    expect(summary).toContain('`search_api_key`: set; the service does not show');
  }
  const missing = await on.step({ inputs: { command: 'plan' }, env: { LLM: env.LLM } });
  const said = [missing.log, missing.summary, ...missing.commands.map(({ message }) => message)];
  expect(said.join('\n')).toContain('the input without: search_api_key leaves it.');
  expect(said.join('\n')).not.toContain('--without');
});
