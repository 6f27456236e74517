import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { dedent } from '../fixture/dedent.ts';
import { BOT, failing, JOB_TOKEN, PULLS_TOKEN } from '../fixture/fake-github.ts';
import { itEach } from '../fixture/long.ts';
import type { JsonRecord } from '../fixture/store-server.ts';
import { bench, settingsFor } from './bench.ts';
import { pullRequest, type Finished } from './runner.ts';

const on = bench({ language: 'en', llm_model: 'a-model' });
const DRIFT = {
  command: 'drift',
  'open-pull-request': 'true',
  comment: 'false',
  'github-token': PULLS_TOKEN,
};
const BRANCH = 'setpoint-drift/default';
const MARKER = '<!-- setpoint:drift-pull environment=default -->';

/** Somebody changes the service, or changes it back. */
function change(settings: JsonRecord): void {
  on.store.stored = { ...on.store.stored, ...settings };
}

/** Commits files, and checks them out. */
function commit(files: Readonly<Record<string, string>>): void {
  on.github.git.push('main', files);
  on.commit(files);
}

function commitInSync(): string {
  const text = settingsFor(on.store.url, '  # of the team\n  language: en');
  commit({ 'settings.yaml': text });
  return text;
}

function run(inputs: Readonly<Record<string, string>> = {}): Promise<Finished> {
  return on.step({ inputs: { ...DRIFT, ...inputs } });
}

it('opens a pull request that writes the drift into the file, updates it, and closes it', async () => {
  const before = commitInSync();
  const clean = await run();
  expect(clean.outputs).toMatchObject({ drift: 'false', pull_requests: '' });
  expect(on.github.writes()).toEqual([]);

  change({ language: 'fr' });
  const drifted = await run();
  expect(drifted.log).not.toContain('::error');
  expect(drifted.outputs).toMatchObject({ exit_code: '2', drift: 'true', pull_requests: '1' });
  expect(on.github.git.read(BRANCH, 'settings.yaml')).toBe(
    before.replace('language: en', 'language: fr'),
  );
  expect(on.github.git.read('main', 'settings.yaml')).toBe(before);
  const [pull] = on.github.issues;
  expect(pull).toMatchObject({ author: BOT, pull: true, head: BRANCH, base: 'main' });
  expect(pull?.body.split('\n')[0]).toBe(MARKER);
  expect(pull?.body).toContain('"fr"');

  change({ language: 'de' });
  expect((await run()).outputs['pull_requests']).toBe('1');
  expect(on.github.issues).toHaveLength(1);
  expect(on.github.git.read(BRANCH, 'settings.yaml')).toBe(
    before.replace('language: en', 'language: de'),
  );
  expect(pull?.body).toContain('"de"');

  change({ language: 'en' });
  expect((await run()).outputs['pull_requests']).toBe('');
  expect(pull).toMatchObject({ state: 'closed', merged: false });
  expect(on.github.comments.map(({ body }) => body)).toEqual([
    expect.stringContaining('are in sync again'),
  ]);
  expect([...on.github.git.heads.keys()]).toEqual(['main']);

  change({ language: 'fr' });
  expect((await run()).outputs['pull_requests']).toBe('2');
  expect(on.store.posts()).toBe(0);
});

/** All that was sent to GitHub. */
function sent(): string {
  return on.github.requests.map(({ body }) => body).join('\n');
}

it('on a pull request, that of a fork too, opens none and says why', async () => {
  commitInSync();
  change({ language: 'fr' });
  for (const from of ['acme/settings', 'somebody/settings']) {
    const ended = await on.step({ inputs: DRIFT, event: pullRequest(7, from) });
    expect(ended.code).toBe(0);
    expect(ended.outputs['pull_requests']).toBe('');
    const [note] = ended.commands.filter(({ name }) => name === 'notice');
    expect(note?.properties['title']).toBe('No pull request was opened');
    expect(note?.message.includes('It comes from a fork')).toBe(from !== 'acme/settings');
  }
  expect(on.github.requests).toEqual([]);
});

itEach(
  [
    [
      'a tag',
      { GITHUB_REF: 'refs/tags/v1' },
      PULLS_TOKEN,
      '3',
      'GITHUB_REF does not name a branch',
    ],
    [
      'a branch of ours',
      { GITHUB_REF: `refs/heads/${BRANCH}` },
      PULLS_TOKEN,
      '3',
      'GITHUB_REF does not name a branch',
    ],
    [
      'a merge queue',
      { GITHUB_REF: 'refs/heads/gh-readonly-queue/main/pr-1' },
      PULLS_TOKEN,
      '3',
      'GITHUB_REF',
    ],
    ['a token that may not push', {}, JOB_TOKEN, '4', 'contents: write and pull-requests: write'],
    ['no token', {}, '', '3', 'There is no token for GitHub.'],
  ] as const,
  (_, index) => index === 0 || index === 3,
)('with %s is red: nobody would hear of it', async (_, env, token, exitCode, words) => {
  commitInSync();
  change({ language: 'fr' });
  const { code, outputs, commands } = await on.step({
    inputs: { ...DRIFT, 'github-token': token },
    env,
  });
  expect(code).toBe(1);
  expect(outputs).toMatchObject({ exit_code: exitCode, drift: 'true', pull_requests: '' });
  expect(commands.at(-1)).toMatchObject({
    name: 'error',
    properties: { title: 'The pull requests about drift could not be updated' },
    message: expect.stringContaining(words),
  });
  expect(on.github.issues).toEqual([]);
});

it('dry-run prints what would be written, and sends nothing to GitHub', async () => {
  commitInSync();
  change({ language: 'fr' });
  const { code, log, outputs } = await run({ 'open-pull-request': 'dry-run', 'github-token': '' });
  expect(code).toBe(0);
  expect(log).toContain('-  language: en\n+  language: fr\n');
  expect(outputs['pull_requests']).toBe('');
  expect(on.github.requests).toEqual([]);
  expect((await run({ 'open-pull-request': 'maybe' })).outputs['exit_code']).toBe('3');
  expect((await on.step({ inputs: { ...DRIFT, command: 'plan' } })).outputs['exit_code']).toBe('3');
});

it('writes the edits of each environment by itself, and leaves the others what they inherit', async () => {
  const [b, c] = [
    await on.another({ language: 'de', llm_model: 'a-model' }),
    await on.another({ language: 'en' }),
  ];
  const text = dedent`
    version: 1
    server: { url: "${on.store.url}", api_key: "\${env:KEY}" }
    settings:
      language: en
    environments:
      a: {}
      b:
        server: { url: "${b.url}", api_key: "\${env:KEY_B}" }
      c:
        server: { url: "${c.url}", api_key: "\${env:KEY_C}" }
  `;
  commit({ 'envs/settings.yaml': text });
  change({ language: 'fr' });
  const env = { KEY_B: 'b-key', KEY_C: 'c-key' };
  const inputs = { ...DRIFT, 'working-directory': 'envs' };
  const { outputs } = await on.step({ inputs, env });
  expect(outputs['pull_requests']).toBe('1,2');
  const edited = (name: string): unknown =>
    parse(on.github.git.read(`setpoint-drift/${name}`, 'envs/settings.yaml') ?? '');
  expect(edited('a')).toMatchObject({
    settings: { language: 'en' },
    environments: { a: { settings: { language: 'fr' } }, b: {}, c: {} },
  });
  expect(edited('a')).not.toHaveProperty('environments.b.settings');
  expect(edited('b')).toMatchObject({
    settings: { language: 'en' },
    environments: { b: { settings: { language: 'de' } } },
  });
  expect(on.github.git.heads.has('setpoint-drift/c')).toBe(false);

  c.intercept = failing(500);
  b.stored = { ...b.stored, language: 'en' };
  const later = await on.step({ inputs, env });
  expect(later.outputs).toMatchObject({ exit_code: '1', pull_requests: '1' });
  expect(on.github.issues.map(({ state }) => state)).toEqual(['open', 'closed']);
});

it('leaves edits that are not applied yet as they are, if there is a base', async () => {
  const settings = (language: string, agent: string): string =>
    settingsFor(on.store.url, `  language: ${language}\n  agent: ${agent}`);
  change({ agent: 'a-agent' });
  commit({ 'settings.yaml': settings('en', 'b-agent') });
  on.commit({ 'deployed.yaml': settings('en', 'a-agent') });
  const pending = await run({ base: 'deployed.yaml' });
  expect(pending.outputs).toMatchObject({ drift: 'false', pull_requests: '' });
  change({ language: 'fr' });
  expect((await run({ base: 'deployed.yaml' })).outputs['pull_requests']).toBe('1');
  expect(on.github.git.read(BRANCH, 'settings.yaml')).toBe(settings('fr', 'b-agent'));
  expect(on.github.issues[0]?.body).toContain('- `agent`: edited in the file, and not applied yet');
});

it('writes no secret: not that of the file, not one of the service, not the key of another environment', async () => {
  const b = await on.another({
    language: 'en',
    llm_api_key: 'llm-canary-1',
    sandbox_api_key: null,
  });
  const text = dedent`
    version: 1
    server: { url: "${on.store.url}", api_key: "\${env:KEY}" }
    environments:
      a:
        settings: { language: en, agent: x, llm_api_key: "\${env:LLM}", mcp_config: { sse_servers: [] } }
      b:
        server: { url: "${b.url}", api_key: "\${env:KEY_B}" }
        settings: { language: en, llm_api_key: "\${env:LLM_B}" }
  `;
  commit({ 'settings.yaml': text });
  change({
    llm_api_key: 'llm-canary-2',
    agent: 'key-canary-of-b',
    language: 'fr',
    mcp_config: {
      sse_servers: [{ url: 'https://mcp.example.com/sse', api_key: 'mcp-canary-3' }],
      stdio_servers: [],
      shttp_servers: [],
    },
  });
  const env = { KEY_B: 'key-canary-of-b', LLM: 'llm-canary-1', LLM_B: 'llm-canary-1' };
  const ended = await on.step({ inputs: DRIFT, env });
  expect(ended.outputs['pull_requests']).toBe('1');
  const written = on.github.git.read('setpoint-drift/a', 'settings.yaml') ?? '';
  expect(written).toContain('language: fr');
  expect(written).toContain('https://mcp.example.com/sse');
  expect(written).toContain('agent: x');
  expect(sent()).not.toContain('canary');
  expect(`${sent()}${ended.log}`).not.toMatch(/(?:llm|mcp)-canary|a-session-key/);
  const body = on.github.issues[0]?.body ?? '';
  expect(body).toContain('- `agent`: the service has the value of a reference or a secret here');
  expect(body).toContain('Variables that the file reads once this is merged');
});

it('follows a link to the file that it is, and writes nothing that is not in the repository', async () => {
  const text = settingsFor(on.store.url, '  language: en');
  commit({ 'shared/settings.yaml': text });
  symlinkSync('shared/settings.yaml', join(on.path, 'settings.yaml'));
  change({ language: 'fr' });
  expect((await run()).outputs['pull_requests']).toBe('1');
  expect(on.github.git.read(BRANCH, 'shared/settings.yaml')).toBe(
    text.replace('language: en', 'language: fr'),
  );
  expect(on.github.git.read(BRANCH, 'settings.yaml')).toBeUndefined();

  on.commit({ 'made.yaml': text });
  const made = await run({ files: 'made.yaml' });
  expect(made.code).toBe(0);
  expect(made.commands.findLast(({ name }) => name === 'warning')?.message).toBe(
    'made.yaml is not in the branch main.',
  );
});

it('keeps an issue besides, if it may', async () => {
  on.github.tokens.set('ghs_all', {
    login: BOT,
    pullRequests: 'write',
    issues: 'write',
    contents: 'write',
  });
  commitInSync();
  change({ language: 'fr' });
  const inputs = { comment: 'true', 'github-token': 'ghs_all' };
  expect((await run(inputs)).outputs['pull_requests']).toBe('2');
  expect(on.github.issues.map(({ pull, title }) => [pull, title])).toEqual([
    [false, 'Drift: default'],
    [true, 'Write the drift of default into the file'],
  ]);
  change({ language: 'en' });
  await run(inputs);
  expect(on.github.issues.map(({ state }) => state)).toEqual(['closed', 'closed']);
});
