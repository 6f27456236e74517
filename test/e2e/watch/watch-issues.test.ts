import { expect, it, onTestFinished } from 'vitest';
import { gitHub } from '../../../src/command/github/client.ts';
import { keepWatchIssues } from '../../../src/command/github/watch-issues.ts';
import { change, environment } from '../../fixture/documents.ts';
import { WATCHED_AT, watchState } from '../../fixture/watching.ts';
import { BOT, ISSUES_TOKEN, REPOSITORY, startGitHub } from '../../fixture/fake-github.ts';

it('a controller keeps one issue for each environment that has drifted', async () => {
  const server = await startGitHub();
  onTestFinished(() => server.close());
  const [owner = '', repository = ''] = REPOSITORY.split('/');
  const access = { apiUrl: server.url, token: ISSUES_TOKEN, owner, repository };
  const github = gitHub(access, { sleep: async () => {} });
  const drifted = (name: string, path: string) =>
    watchState({
      name,
      found: 'drift',
      plan: environment({ name, changes: [change({ path: [path] })] }),
    });
  const issues = () => server.issues.map(({ title, state }) => `${title} ${state}`);

  await keepWatchIssues(
    github,
    [drifted('eu', 'language'), drifted('us', 'agent')],
    [],
    WATCHED_AT,
  );
  expect(issues()).toEqual(['Drift: eu open', 'Drift: us open']);
  await keepWatchIssues(github, [drifted('eu', 'llm_model')], [], WATCHED_AT);
  expect(issues()).toHaveLength(2);
  expect(server.issues[0]?.body).toContain('llm_model');
  expect(server.issues[0]?.author).toBe(BOT);
  const end = { state: watchState({ name: 'eu' }), words: 'is in sync again' };
  await keepWatchIssues(github, [], [end], WATCHED_AT);
  await keepWatchIssues(github, [], [end], WATCHED_AT);
  expect(issues()).toEqual(['Drift: eu closed', 'Drift: us open']);
  expect(server.comments.map(({ body }) => body.split('\n')[0])).toEqual([
    'Back in sync at 2026-03-01T12:00:00.000Z.',
  ]);
});
