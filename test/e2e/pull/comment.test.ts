import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { commentCommand } from '../../../src/command/cli/commands/comment.ts';
import type { Flags } from '../../../src/command/cli/command-table.ts';
import { folderWith, type Ended } from '../../fixture/command.ts';
import { runFunction } from '../../fixture/command-function.ts';
import {
  change,
  diagnostic,
  environment,
  outcome,
  outcomeOf,
  planOf,
  validationOf,
} from '../../fixture/documents.ts';
import {
  FORK_TOKEN,
  JOB_TOKEN,
  REPOSITORY,
  startGitHub,
  type FakeGitHub,
} from '../../fixture/fake-github.ts';

const HEAD = 'a1b2c3d4e5f6a7b8c9d0a1b2c3d4e5f6a7b8c9d0';
const DOCUMENTS = {
  'plan.json': planOf(
    environment({ name: 'staging', changes: [change()] }),
    environment({ name: 'production' }),
    environment({ name: '--> <b>', changes: [change()] }),
  ),
  'outcome.json': outcomeOf(outcome({ changes: [{ ...change(), result: 'verified' }] })),
  'validation.json': validationOf(diagnostic()),
  'event.json': { pull_request: { number: 1, head: { sha: HEAD } } },
  'failure.json': { error: { code: 'usage', message: 'a', hint: 'b' } },
};

let github: FakeGitHub;
let folder: ReturnType<typeof folderWith>;

beforeEach(async () => {
  github = await startGitHub();
  github.open({ pull: true });
  const files = Object.entries(DOCUMENTS).map(([name, value]) => [name, JSON.stringify(value)]);
  folder = folderWith(Object.fromEntries(files) as Record<string, string>);
});
afterEach(async () => {
  await github.close();
  folder.remove();
});

function comment(
  names: readonly string[],
  flags: Flags<'comment'> = {},
  env: Record<string, string> = {},
): Promise<Ended> {
  const paths = names.map((name) => join(folder.path, name));
  return runFunction((given, io) => commentCommand(given, io, ...paths), flags, {
    GITHUB_API_URL: github.url,
    GITHUB_EVENT_PATH: join(folder.path, 'event.json'),
    GITHUB_REPOSITORY: REPOSITORY,
    GITHUB_TOKEN: JOB_TOKEN,
    ...env,
  });
}

function markers(): (string | undefined)[] {
  return github.comments.map(({ body }) => body.split('\n')[0]);
}

it('posts a plan, an outcome and a validation, once', async () => {
  const first = await comment(['plan.json', 'outcome.json', 'validation.json']);
  expect(first).toEqual({
    code: 0,
    stderr: '',
    stdout:
      'staging: commented\nproduction: no comment needed\n--> <b>: commented\nproduction: commented\ncommented\n',
  });
  expect(markers()).toEqual([
    '<!-- setpoint:plan environment=staging -->',
    '<!-- setpoint:plan environment=--%003e%0020%003cb%003e -->',
    '<!-- setpoint:outcome environment=production -->',
    '<!-- setpoint:validation -->',
  ]);
  expect(github.comments[0]?.body).toContain(`"commit":"${HEAD}"`);
  const again = await comment(['plan.json']);
  expect(again.stdout).toContain('staging: comment unchanged\n');
  expect(github.writes()).toHaveLength(4);
});

it('--pr wins over the event, and does without one', async () => {
  github.open({ pull: true });
  await comment(['outcome.json'], { pr: '2' });
  await comment(['validation.json'], { pr: '2' }, { GITHUB_EVENT_PATH: '' });
  expect(github.comments.map(({ issue }) => issue)).toEqual([2, 2]);
});

it.each([
  ['no token', ['plan.json'], {}, { GITHUB_TOKEN: '' }, 3, /There is no token/],
  ['no repository', ['plan.json'], {}, { GITHUB_REPOSITORY: '' }, 3, /GITHUB_REPOSITORY/],
  ['no pull request', ['plan.json'], {}, { GITHUB_EVENT_PATH: '' }, 3, /--pr/],
  ['a number that is none', ['plan.json'], { pr: '1; x' }, {}, 3, /--pr/],
  ['a pull request that is not there', ['plan.json'], { pr: '99' }, {}, 3, /\(404\)/],
  ['a token that only reads', ['plan.json'], {}, { GITHUB_TOKEN: FORK_TOKEN }, 4, /\(403\)/],
  ['no such file', ['nothing.json'], {}, {}, 3, /nothing.json/],
  ['a document of another kind', ['failure.json'], {}, {}, 3, /is not a saved plan or outcome/],
])(
  '%s: nothing is written, exit code and sentence explain why',
  async (_, names, flags, env, code, words) => {
    const ended = await comment(names, flags, env);
    expect(ended.code).toBe(code);
    expect(ended.stderr).toMatch(words);
    expect(ended.stdout).toBe('');
    expect(github.comments).toEqual([]);
  },
);
