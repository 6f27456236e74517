import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createBranchesClient } from '../../../src/command/github/branches.ts';
import { gitHub } from '../../../src/command/github/client.ts';
import { driftBranch } from '../../../src/command/github/drift-branch.ts';
import {
  writeDriftPulls,
  type DriftPull,
  type ReadEnvironment,
} from '../../../src/command/github/drift-pull.ts';
import { readJobAccess } from '../../../src/command/github/job.ts';
import { SetpointError } from '../../../src/reconciler/model/error.ts';
import type { EnvironmentPull } from '../../../src/reconciler/model/documents.gen.ts';
import {
  driftPullMarkdown,
  driftPullTitle,
} from '../../../src/reconciler/render/markdown/drift-pull.ts';
import { change, environment, planOf } from '../../fixture/documents.ts';
import {
  BOT,
  failing,
  FORK_TOKEN,
  JOB_TOKEN,
  PULLS_TOKEN,
  REPOSITORY,
  startGitHub,
  type FakeGitHub,
  type FakeIssue,
} from '../../fixture/fake-github.ts';
import { nodesOf, shapeOf, treeOf } from '../../fixture/markdown-tree.ts';
import { itHolds } from '../../fixture/property-runs.ts';

let github: FakeGitHub;
beforeEach(async () => {
  github = await startGitHub();
  github.git.push('main', { 'settings.yaml': file('en'), 'README.md': 'of the team' });
});
afterEach(() => github.close());

const BRANCH = 'setpoint-drift/production';

/** A settings file with lines between the values of its environments. */
function file(production: string, staging = 'en'): string {
  return `production: ${production}\n${'#\n'.repeat(8)}staging: ${staging}\n`;
}

function report(more: Partial<EnvironmentPull> = {}): EnvironmentPull {
  return {
    name: 'production',
    origin: 'https://agents.example.com',
    status: 'differs',
    pulled: [],
    left: [],
    unknown: [],
    variables: [],
    error: null,
    ...more,
  };
}

/** An environment that has drifted, and what a pull would write of it. */
function drifted(
  text: string,
  { before = file('en'), name = 'production', more = {} } = {},
): ReadEnvironment {
  return {
    plan: environment({ name, changes: [change({ before: text })] }),
    pull: {
      report: report({ name, ...more }),
      files:
        text === before ? [] : [{ path: 'settings.yaml', name: 'settings.yaml', before, text }],
    },
  };
}

function inSync(name = 'production'): ReadEnvironment {
  return { plan: environment({ name }), pull: null };
}

async function run(
  environments: readonly ReadEnvironment[],
  { token = PULLS_TOKEN, base = 'main' } = {},
): Promise<readonly DriftPull[]> {
  const access = readJobAccess(
    { GITHUB_REPOSITORY: REPOSITORY, GITHUB_API_URL: github.url },
    token,
  );
  const clock = { sleep: async () => {} };
  const document = planOf(...environments.map(({ plan }) => plan));
  const client = gitHub(access, clock);
  const done: DriftPull[] = [];
  for await (const one of writeDriftPulls(
    client,
    createBranchesClient(access, clock),
    document,
    base,
    environments,
  ))
    done.push(one);
  return done;
}

const numbers = (done: readonly DriftPull[]) => done.map(({ number }) => number);
const words = (done: readonly DriftPull[]) => done.map(({ note }) => note?.text ?? '').join('\n');

function pulls(): readonly FakeIssue[] {
  return github.issues.filter(({ pull }) => pull);
}

function filesOf(branch: string): Record<string, string> {
  return github.git.files(github.git.heads.get(branch) ?? '');
}

describe('the branch', () => {
  it('holds the base and the edits, and nothing is written if nothing is new', async () => {
    expect(numbers(await run([drifted(file('fr'))]))).toEqual([1]);
    expect(filesOf(BRANCH)).toEqual({ 'settings.yaml': file('fr'), 'README.md': 'of the team' });
    const [commit] = [...github.git.commits.values()].toReversed();
    expect(commit).toMatchObject({ author: BOT, parents: [github.git.heads.get('main')] });
    const before = github.writes().length;
    expect(numbers(await run([drifted(file('fr'))]))).toEqual([1]);
    expect(github.writes()).toHaveLength(before);
  });

  it('is left alone while the base changes elsewhere, and brought up to date once the base changes the file', async () => {
    await run([drifted(file('fr'))]);
    const first = github.git.heads.get(BRANCH);
    github.git.push('main', { 'README.md': 'new' });
    await run([drifted(file('fr'))]);
    expect(github.git.heads.get(BRANCH)).toBe(first);

    const moved = github.git.push('main', { 'settings.yaml': file('en', 'de') });
    const edited = drifted(file('fr', 'de'), { before: file('en', 'de') });
    expect(numbers(await run([edited]))).toEqual([1]);
    expect(filesOf(BRANCH)).toEqual({ 'settings.yaml': file('fr', 'de'), 'README.md': 'new' });
    const head = github.git.heads.get(BRANCH) ?? '';
    expect(github.git.commits.get(head)?.parents).toEqual([first, moved]);
    expect(github.writes().some((one) => one.startsWith('DELETE'))).toBe(false);
  });

  it('is not written from a checkout that is older than the base: it would undo what was committed since', async () => {
    github.git.push('main', { 'settings.yaml': file('en', 'de') });
    const done = await run([drifted(file('fr'))]);
    expect(words(done)).toContain(
      'settings.yaml differs between this checkout and the branch main.',
    );
    expect(pulls()).toEqual([]);
    expect([...github.git.heads.keys()]).toEqual(['main']);
  });

  it.each([
    ['a link', '120000', 'settings.yaml is not a regular file in the branch main.'],
    ['a submodule', '160000', 'settings.yaml is not a regular file in the branch main.'],
  ])('replaces no %s', async (_, mode, sentence) => {
    github.git.push('main', { 'settings.yaml': file('en') }, { mode });
    expect(words(await run([drifted(file('fr'))]))).toBe(sentence);
    expect(pulls()).toEqual([]);
  });

  it('keeps the mode of a file, and line ends that only the checkout has', async () => {
    github.git.push('main', { 'settings.yaml': file('en') }, { mode: '100755' });
    const crlf = (text: string): string => text.replaceAll('\n', '\r\n');
    await run([drifted(crlf(file('fr')), { before: crlf(file('en')) })]);
    expect(filesOf(BRANCH)['settings.yaml']).toBe(file('fr'));
    const tree = github.git.commits.get(github.git.heads.get(BRANCH) ?? '')?.tree ?? '';
    expect(github.git.trees.get(tree)?.get('settings.yaml')?.mode).toBe('100755');
  });

  it('does not need a file that the repository lacks', async () => {
    github.git.push('main', { 'settings.yaml': null });
    expect(words(await run([drifted(file('fr'))]))).toBe(
      'settings.yaml is not in the branch main.',
    );
  });

  it('has a name that git allows, and one of its own for each environment', () => {
    const names = [
      'production',
      'a.b',
      'a..b',
      'a.lock',
      'A.LOCK',
      '.a',
      'a.',
      'a b',
      'a/b',
      '-a',
      '@{',
      'ü',
      'x'.repeat(300),
      'a-b',
      'a:b',
      '',
    ];
    const branches = names.map(driftBranch);
    expect(new Set(branches).size).toBe(names.length);
    for (const branch of branches)
      execFileSync('git', ['check-ref-format', '--branch', branch], { stdio: 'pipe' });
    expect(driftBranch('production')).toBe(BRANCH);
  });
});

describe('commits of somebody else', () => {
  it.each([
    [
      'on top of ours',
      (): string => github.git.push(BRANCH, { 'settings.yaml': file('of a person') }),
    ],
    [
      'in place of ours, with its message',
      (): string => {
        const head = github.git.commits.get(github.git.heads.get(BRANCH) ?? '');
        const parent = head?.parents[0] ?? '';
        github.git.heads.set(BRANCH, parent);
        return github.git.push(
          BRANCH,
          { 'settings.yaml': file('of a person') },
          { message: head?.message ?? '' },
        );
      },
    ],
    [
      'that merge the base',
      (): string => {
        github.git.push('main', { 'README.md': 'new' });
        return github.git.merge('main', BRANCH);
      },
    ],
  ])('%s are never replaced, and one comment says so', async (_, push) => {
    await run([drifted(file('fr'))]);
    const theirs = push();
    for (const language of ['de', 'de', 'es']) {
      const done = await run([drifted(file(language))]);
      expect(numbers(done)).toEqual([1]);
      expect(words(done)).toContain('has commits that setpoint did not make');
    }
    expect(github.git.heads.get(BRANCH)).toBe(theirs);
    expect(github.comments.map(({ body }) => body)).toEqual([
      expect.stringContaining('setpoint no longer updates it'),
    ]);

    await run([inSync()]);
    expect(pulls()[0]?.state).toBe('closed');
    expect(github.git.heads.get(BRANCH)).toBe(theirs);
    expect(github.comments.at(-1)?.body).toContain('The branch stays');
    const done = await run([drifted(file('it'))]);
    expect(words(done)).toContain('has commits that setpoint did not make');
    expect(pulls()).toHaveLength(1);
  });

  it('end with the pull request and its branch: then there is a new one', async () => {
    await run([drifted(file('fr'))]);
    const theirs = github.git.push(BRANCH, { 'settings.yaml': file('of a person') });
    await run([drifted(file('fr'))]);
    Object.assign(pulls()[0] ?? {}, { state: 'closed', headSha: theirs });
    github.git.heads.delete(BRANCH);
    expect(numbers(await run([drifted(file('fr'))]))).toEqual([2]);
    expect(filesOf(BRANCH)['settings.yaml']).toBe(file('fr'));
  });

  it('that are pushed while the branch is being updated are not lost', async () => {
    await run([drifted(file('fr'))]);
    let theirs = '';
    github.intercept = (request) => {
      if (
        request.method === 'PATCH' &&
        request.url?.includes('/git/refs/') === true &&
        theirs === ''
      )
        theirs = github.git.push(BRANCH, { 'settings.yaml': file('of a person') });
      return false;
    };
    const done = await run([drifted(file('de'))]);
    expect(theirs).not.toBe('');
    expect(github.git.heads.get(BRANCH)).toBe(theirs);
    expect(words(done)).toContain('has commits that setpoint did not make');
  });

  it('that are pushed while the environment is found in sync are not deleted', async () => {
    await run([drifted(file('fr'))]);
    let theirs = '';
    github.intercept = (request) => {
      if (request.method === 'PATCH' && request.url?.includes('/pulls/') === true)
        theirs = github.git.push(BRANCH, { 'settings.yaml': file('of a person') });
      return false;
    };
    await run([inSync()]);
    expect(github.git.heads.get(BRANCH)).toBe(theirs);
  });

  it('a branch of that name that was never ours is left alone', async () => {
    const theirs = github.git.push(BRANCH, { 'notes.md': 'x' });
    for (const one of [drifted(file('fr')), inSync()]) await run([one]);
    expect(github.git.heads.get(BRANCH)).toBe(theirs);
    expect(github.writes()).toEqual([]);
  });
});

describe('one pull request', () => {
  it('is there after two runs at the same time', async () => {
    for (let round = 0; round < 5; round++) {
      const both = await Promise.all([
        run([drifted(file(`fr${round}`))]),
        run([drifted(file(`fr${round}`))]),
      ]);
      expect(both.map(numbers)).toEqual([[1], [1]]);
    }
    expect(pulls()).toHaveLength(1);
    expect(filesOf(BRANCH)['settings.yaml']).toBe(file('fr4'));
  });

  it('is there after two runs at the same time that found different drift', async () => {
    await Promise.allSettled([run([drifted(file('fr'))]), run([drifted(file('de'))])]);
    expect(pulls().filter(({ state }) => state === 'open').length).toBeLessThanOrEqual(1);
    expect(numbers(await run([drifted(file('it'))]))).toHaveLength(1);
    expect(pulls().filter(({ state }) => state === 'open')).toHaveLength(1);
    expect(filesOf(BRANCH)['settings.yaml']).toBe(file('it'));
  });

  it.each(['/git/trees', '/git/commits', '/git/refs', '/pulls'])(
    'is there if the answer to a POST to %s is lost',
    async (path) => {
      let lost = 0;
      github.intercept = (request, response, proceed) => {
        if (request.method !== 'POST' || request.url?.endsWith(path) !== true || lost > 0)
          return false;
        lost += 1;
        const end = response.end.bind(response);
        response.end = (() => {
          response.destroy();
          return response;
        }) as typeof end;
        proceed();
        return true;
      };
      const first = await run([drifted(file('fr'))]).catch((thrown: unknown) => thrown);
      expect(lost).toBe(1);
      if (first instanceof Error) expect(first).toBeInstanceOf(SetpointError);
      expect(numbers(await run([drifted(file('fr'))]))).toEqual([1]);
      expect(pulls()).toHaveLength(1);
    },
  );

  it('of somebody else from our branch, or with our marker, stays as it is', async () => {
    await run([drifted(file('fr'))]);
    const [own] = pulls();
    Object.assign(own ?? {}, { author: 'a-person' });
    const before = { ...own };
    const done = await run([drifted(file('de'))]);
    expect(words(done)).toBe(
      `#1 from the branch ${BRANCH} is not setpoint's. It was left unchanged.`,
    );
    await run([inSync()]);
    expect(own).toEqual(before);
    expect(github.git.heads.has(BRANCH)).toBe(true);

    github.issues = [];
    const marker = before.body ?? '';
    github.open({ pull: true, author: BOT, body: marker, head: 'another', base: 'main' });
    github.open({
      pull: true,
      author: BOT,
      body: marker,
      head: BRANCH,
      repository: 'somebody/settings',
    });
    const [another, fork] = pulls().map((pull) => ({ ...pull }));
    expect(numbers(await run([drifted(file('it'))]))).toEqual([3]);
    await run([inSync()]);
    expect(pulls().slice(0, 2)).toEqual([another, fork]);
  });

  it('for another branch stays as it is', async () => {
    await run([drifted(file('fr'))]);
    github.git.push('release', { 'settings.yaml': file('en') });
    const done = await run([drifted(file('de'))], { base: 'release' });
    expect(words(done)).toBe(
      '#1 is for the branch main, and this run for release. It was left unchanged.',
    );
    await run([inSync()], { base: 'release' });
    expect(pulls()[0]?.state).toBe('open');
  });

  it('that somebody closed is not opened again until the drift is another one', async () => {
    await run([drifted(file('fr'))]);
    Object.assign(pulls()[0] ?? {}, { state: 'closed', headSha: github.git.heads.get(BRANCH) });
    const done = await run([drifted(file('fr'))]);
    expect(words(done)).toContain('#1 with the same edits was closed');
    expect(numbers(await run([drifted(file('de'))]))).toEqual([2]);
    expect(filesOf(BRANCH)['settings.yaml']).toBe(file('de'));
    // One that we have closed is opened again.
    await run([inSync()]);
    expect(numbers(await run([drifted(file('de'))]))).toEqual([3]);
  });

  it('that was merged leaves no branch, and the next drift has one from the new base', async () => {
    await run([drifted(file('fr'))]);
    const head = github.git.heads.get(BRANCH) ?? '';
    github.git.merge(BRANCH, 'main');
    Object.assign(pulls()[0] ?? {}, { state: 'closed', merged: true, headSha: head });
    // The merge is not applied yet, or the service has drifted again before a run found it in sync.
    const again = drifted(file('de'), { before: file('fr') });
    expect(numbers(await run([again]))).toEqual([2]);
    expect(github.git.commits.get(github.git.heads.get(BRANCH) ?? '')?.parents).toEqual([
      github.git.heads.get('main'),
    ]);
    github.git.merge(BRANCH, 'main');
    Object.assign(pulls()[1] ?? {}, {
      state: 'closed',
      merged: true,
      headSha: github.git.heads.get(BRANCH),
    });
    await run([inSync()]);
    expect([...github.git.heads.keys()]).toEqual(['main']);
  });
});

describe('several environments in one file', () => {
  const both = (before: string, production: string, staging: string): ReadEnvironment[] => [
    drifted(production, { before }),
    drifted(staging, { before, name: 'staging' }),
  ];

  it('each have their own edits, and the second is brought up to date after the first is merged', async () => {
    const done = await run(both(file('en'), file('fr'), file('en', 'de')));
    expect(numbers(done)).toEqual([1, 2]);
    expect(filesOf('setpoint-drift/staging')['settings.yaml']).toBe(file('en', 'de'));
    expect(filesOf(BRANCH)['settings.yaml']).toBe(file('fr'));
    github.git.merge(BRANCH, 'main');
    Object.assign(pulls()[0] ?? {}, { state: 'closed', merged: true });
    const staging = drifted(file('fr', 'de'), { before: file('fr'), name: 'staging' });
    expect(numbers(await run([inSync(), staging]))).toEqual([null, 2]);
    expect(filesOf('setpoint-drift/staging')['settings.yaml']).toBe(file('fr', 'de'));
    expect(github.git.heads.has(BRANCH)).toBe(false);
  });

  it('in sync need one request for all of them', async () => {
    await run(Array.from({ length: 50 }, (_, index) => inSync(`e${index}`)));
    expect(github.requests.map(({ method }) => method)).toEqual(['GET']);
  });

  it('one that cannot be pulled does not keep the other from it', async () => {
    const error = { code: 'unreachable', message: 'It could not be reached.', hint: 'Check it.' };
    const failed = {
      plan: environment({ changes: [change()] }),
      pull: { report: report({ error, status: 'error' }), files: [] },
    };
    const done = await run([failed, drifted(file('en', 'de'), { name: 'staging' })]);
    expect(numbers(done)).toEqual([null, 1]);
    expect(words(done)).toContain('It could not be reached. Check it.');
  });
});

describe('what cannot be written', () => {
  const left = [
    { path: ['llm_api_key'], reason: 'a secret, and secrets are not written', ref: null },
  ];

  it('is listed, with the variables that the file reads from then on', async () => {
    const variables = [{ name: 'MCP_API_KEY', path: ['mcp_config', 'sse_servers', 'x'] }];
    await run([drifted(file('fr'), { more: { left, variables } })]);
    const body = pulls()[0]?.body ?? '';
    expect(body).toContain('**Not in these commits**');
    expect(body).toContain('- `llm_api_key`: a secret, and secrets are not written');
    expect(body).toContain('- `MCP_API_KEY`, for `mcp_config.sse_servers[x]`');
  });

  it('alone is no pull request, and closes the one that there was', async () => {
    expect(words(await run([drifted(file('en'), { more: { left } })]))).toContain(
      'No pull request was opened',
    );
    expect(github.writes()).toEqual([]);
    await run([drifted(file('fr'))]);
    await run([drifted(file('en'), { more: { left } })]);
    expect(pulls()[0]?.state).toBe('closed');
    expect(github.comments.at(-1)?.body).toContain('cannot be written into the file');
    expect(github.git.heads.has(BRANCH)).toBe(false);
  });
});

describe('a refusal', () => {
  const thrownBy = async (work: Promise<unknown>): Promise<SetpointError> => {
    const thrown = await work.then(
      () => null,
      (error: unknown) => error,
    );
    if (thrown instanceof SetpointError) return thrown;
    throw new Error('It was not refused.');
  };

  it.each([JOB_TOKEN, FORK_TOKEN])(
    'by GitHub of the token %s names the permissions',
    async (token) => {
      const error = await thrownBy(run([drifted(file('fr'))], { token }));
      expect(error.code).toBe('unauthorized');
      expect(error.hint).toContain('contents: write and pull-requests: write');
      expect(pulls()).toEqual([]);
    },
  );

  it('by the settings of the repository names them, and the next run goes on', async () => {
    github.actionsMayOpen = false;
    const error = await thrownBy(run([drifted(file('fr'))]));
    expect([error.code, error.hint]).toEqual([
      'unauthorized',
      expect.stringContaining('allow GitHub Actions to create pull requests'),
    ]);
    github.actionsMayOpen = true;
    expect(numbers(await run([drifted(file('fr'))]))).toEqual([1]);
  });

  it('by a rule of the repository is no branch of somebody else', async () => {
    const error = await thrownBy(
      (async () => {
        const refuse = failing(422, () => true);
        github.intercept = (request, response) =>
          request.method === 'POST' &&
          request.url?.endsWith('/git/refs') === true &&
          refuse(request, response);
        await run([drifted(file('fr'))]);
      })(),
    );
    expect(error.hint).toContain('no rule of the repository forbids');
  });

  it('because GitHub fails is an error, and the next run goes on', async () => {
    github.intercept = failing(500, (method) => method !== 'GET');
    expect((await thrownBy(run([drifted(file('fr'))]))).code).toBe('server-error');
    github.intercept = null;
    expect(numbers(await run([drifted(file('fr'))]))).toEqual([1]);
  });

  it('of a base that is gone is an error', async () => {
    const error = await thrownBy(run([drifted(file('fr'))], { base: 'gone' }));
    expect(error.message).toBe('GitHub has no branch gone.');
  });
});

describe('what people read', () => {
  const document = planOf(environment({ changes: [change()] }));

  it('says what a merge does, what an apply does, and which run found it', () => {
    const body = driftPullMarkdown(document, report(), ['settings.yaml'], 'main');
    expect(body).toContain('**The service is right: merge this.** ');
    expect(body).toContain('`setpoint apply -e production`');
    expect(body).toContain('write what it has now into `settings.yaml`');
    expect(body).toContain('[run](https://github.com/example/settings/actions/runs/7)');
    expect(body).toContain('"fr"');
  });

  itHolds('is inert, whatever names and values are, and never too long', 100, (numRuns) => {
    const texts = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 60 }),
      fc.constantFrom(
        'closes #1',
        '--> <script>',
        '`` `',
        '@octocat',
        'GH-1',
        '](x)',
        '\n# x',
        'x'.repeat(5000),
      ),
    );
    const bodyOf = (text: string): string =>
      driftPullMarkdown(
        planOf(environment({ changes: [change({ before: text, path: [text] })] })),
        report({
          left: [{ path: [text], reason: text, ref: null }],
          variables: [{ name: 'NAME', path: [text] }],
        }),
        [text],
        text,
      );
    const shape = (text: string): unknown => {
      const tree = treeOf(bodyOf(text));
      return [
        nodesOf(tree, 'link').map(({ url }) => url),
        nodesOf(tree, 'html').map(shapeOf),
        nodesOf(tree, 'heading').length,
      ];
    };
    const plain = shape('word');
    fc.assert(
      fc.property(texts, (text) => {
        expect(shape(text)).toEqual(plain);
        expect(Buffer.byteLength(bodyOf(text))).toBeLessThan(65_000);
      }),
      { numRuns },
    );
  });

  it('fits, however much has drifted', () => {
    const many = Array.from({ length: 2000 }, (_, index) => ({
      path: [`field_${index}`, 'x'.repeat(100)],
      reason: 'y'.repeat(200),
      ref: null,
    }));
    const changes = many.map(({ path }) => change({ path, before: 'z'.repeat(500) }));
    const body = driftPullMarkdown(
      planOf(environment({ changes })),
      report({ left: many, unknown: many }),
      ['settings.yaml'],
      'main',
    );
    expect(Buffer.byteLength(body)).toBeLessThan(65_000);
    expect(body).toContain('3');
  });

  it('has a title that refers to nothing', () => {
    for (const name of ['closes #1', 'fixes GH-12', '@octocat', 'a\nb', 'x'.repeat(300)]) {
      const title = driftPullTitle(name);
      expect(title).toMatch(/^[\w .-]{1,200}$/);
      expect(title).not.toMatch(/GH-\d/i);
    }
  });
});
