import { Octokit } from '@octokit/core';
import { paginateRest } from '@octokit/plugin-paginate-rest';
import { SetpointError } from '../../reconciler/model/error.ts';
import type { Clock } from '../../reconciler/model/ports.ts';
import { VERSION } from '../../reconciler/model/version.ts';
import type { Access } from './job.ts';
import { gitHubError, isNotFoundError, pauseAfter } from './github-error.ts';

/** A comment, or an issue, which goes by its number. */
export interface Post {
  readonly id: number;
  /** Null if the account is gone. */
  readonly author: string | null;
  readonly body: string;
}

/** Reads and writes on GitHub. Every failure is a SetpointError; lists are read to their last page. */
export interface GitHub {
  /** The account that the token writes as. */
  viewer(): Promise<string>;
  /** The comments on an issue or a pull request, oldest first. */
  comments(issue: number): Promise<readonly Post[]>;
  /** The newest commit of a pull request; null if there is no such pull request, or the token may not read it. */
  pullHead(pull: number): Promise<string | null>;
  createComment(issue: number, body: string): Promise<void>;
  updateComment(comment: number, body: string): Promise<void>;
  /** Also succeeds if another client has deleted it already. */
  deleteComment(comment: number): Promise<void>;
  /** The open issues with a label, oldest first. */
  openIssues(label: string): Promise<readonly Post[]>;
  /** Returns the hundred closed issues with a label that were changed last, newest first. */
  closedIssues(label: string): Promise<readonly Post[]>;
  createIssue(issue: { title: string; body: string; label: string }): Promise<void>;
  updateIssue(issue: number, body: string): Promise<void>;
  /** Closes an issue, with another body at the same time. */
  closeIssue(issue: number, reason: 'completed' | 'not_planned', body: string): Promise<void>;
}

/** `clock` is what is slept on before a request is sent once more. */
export function gitHub(access: Access, clock: Pick<Clock, 'sleep'>): GitHub {
  const repository = openRepository(access, clock);
  return { ...accessComments(repository), ...accessIssues(repository) };
}

/** The repository of a run, as requests name it. */
export interface Repository {
  readonly octokit: ReturnType<typeof createOctokit>;
  readonly repo: { readonly owner: string; readonly repo: string };
}

export function openRepository(access: Access, clock: Pick<Clock, 'sleep'>): Repository {
  const repo = { owner: access.owner, repo: access.repository };
  return { octokit: createOctokit(access, clock), repo };
}

function accessComments({
  octokit,
  repo,
}: Repository): Pick<
  GitHub,
  'viewer' | 'comments' | 'pullHead' | 'createComment' | 'updateComment' | 'deleteComment'
> {
  return {
    // GET /user is closed to the token of a job; this query is not.
    viewer: async () => {
      const query = octokit.graphql<{ viewer: { login: string } }>('query { viewer { login } }');
      const { viewer } = await query.catch((thrown: unknown) => {
        throw gitHubError(thrown);
      });
      return viewer.login;
    },
    comments: async (issue) => {
      const route = 'GET /repos/{owner}/{repo}/issues/{issue_number}/comments';
      const found = await octokit.paginate(route, { ...repo, issue_number: issue, per_page: 100 });
      return found.map(({ id, ...rest }) => post(id, rest)).toSorted(byAge);
    },
    pullHead: async (pull) => {
      const route = 'GET /repos/{owner}/{repo}/pulls/{pull_number}';
      try {
        const { data } = await octokit.request(route, { ...repo, pull_number: pull });
        return (data as { head?: { sha?: string } }).head?.sha ?? null;
      } catch (thrown) {
        if (isNotFoundError(thrown)) return null;
        throw thrown;
      }
    },
    createComment: async (issue, body) => {
      const route = 'POST /repos/{owner}/{repo}/issues/{issue_number}/comments';
      await octokit.request(route, { ...repo, issue_number: issue, body });
    },
    updateComment: async (comment, body) => {
      const route = 'PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}';
      await octokit.request(route, { ...repo, comment_id: comment, body });
    },
    deleteComment: async (comment) => {
      const route = 'DELETE /repos/{owner}/{repo}/issues/comments/{comment_id}';
      const deleted = octokit.request(route, { ...repo, comment_id: comment });
      await deleted.catch((thrown: unknown) => {
        if (!isNotFoundError(thrown)) throw thrown;
      });
    },
  };
}

function accessIssues({
  octokit,
  repo,
}: Repository): Pick<
  GitHub,
  'openIssues' | 'closedIssues' | 'createIssue' | 'updateIssue' | 'closeIssue'
> {
  return {
    openIssues: async (label) => {
      const filter = { labels: label, state: 'open' as const, per_page: 100 };
      const found = await octokit.paginate('GET /repos/{owner}/{repo}/issues', {
        ...repo,
        ...filter,
      });
      return filterIssues(found).toSorted(byAge);
    },
    closedIssues: async (label) => {
      const filter = { labels: label, state: 'closed' as const, per_page: 100 };
      const order = { sort: 'updated' as const, direction: 'desc' as const };
      const route = 'GET /repos/{owner}/{repo}/issues';
      const { data } = await octokit.request(route, { ...repo, ...filter, ...order });
      return filterIssues([data].flat());
    },
    createIssue: async ({ title, body, label }) => {
      const route = 'POST /repos/{owner}/{repo}/issues';
      await octokit.request(route, { ...repo, title, body, labels: [label] });
    },
    updateIssue: async (issue, body) => {
      const route = 'PATCH /repos/{owner}/{repo}/issues/{issue_number}';
      await octokit.request(route, { ...repo, issue_number: issue, body });
    },
    closeIssue: async (issue, reason, body) => {
      const route = 'PATCH /repos/{owner}/{repo}/issues/{issue_number}';
      const closed = { state: 'closed', state_reason: reason, body } as const;
      await octokit.request(route, { ...repo, issue_number: issue, ...closed });
    },
  };
}

interface RawPost {
  readonly user?: { readonly login: string } | null;
  readonly body?: string | null | undefined;
}

/** GitHub lists pull requests among issues. */
function filterIssues(
  found: readonly (RawPost & { readonly number: number; readonly pull_request?: unknown })[],
): readonly Post[] {
  return found
    .filter(({ pull_request: pull }) => pull === undefined)
    .map(({ number, ...rest }) => post(number, rest));
}

/** Octokit treats an answer that is not a list as a list of one. */
function post(id: number | bigint, { user, body }: RawPost): Post {
  if (!Number.isSafeInteger(Number(id)))
    throw new SetpointError('bad-response', 'GitHub answered with something other than a list.');
  return { id: Number(id), author: user?.login ?? null, body: body ?? '' };
}

function byAge(one: Post, other: Post): number {
  return one.id - other.id;
}

const SILENT = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/**
 * Octokit with our exchanges, retries and errors. A POST is sent once, except for queries and objects of git, which are not visible to
 * users.
 */
function createOctokit({ apiUrl, token }: Access, clock: Pick<Clock, 'sleep'>) {
  const octokit = new (Octokit.plugin(paginateRest))({
    auth: token,
    baseUrl: apiUrl,
    userAgent: `setpoint/${VERSION}`,
    log: SILENT,
    request: { fetch: exchangeWith(apiUrl), log: SILENT },
  });
  octokit.hook.wrap('request', async (request, options) => {
    const repeatable =
      options.method !== 'POST' || /\/(?:graphql|git\/(?:trees|commits))$/.test(options.url);
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await request(options);
      } catch (thrown) {
        const pause = pauseAfter(thrown, repeatable, attempt);
        if (pause === null) throw gitHubError(thrown);
        await clock.sleep(pause);
      }
    }
  });
  return octokit;
}

const DEADLINE = 20_000;

/**
 * A `fetch` that sends the token to GitHub's origin only and follows no redirect. An exchange has 20 s in all, and the answer is
 * read to its end here, because Octokit takes a list that was cut off for an empty one.
 */
export function exchangeWith(apiUrl: string, deadline = DEADLINE): typeof fetch {
  const { origin } = new URL(apiUrl);
  return async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    if (url.origin !== origin) {
      throw new SetpointError('bad-response', 'GitHub pointed to another host for the next page.');
    }
    const signal = AbortSignal.timeout(deadline);
    const response = await fetch(url, { ...init, redirect: 'manual', signal });
    const { status, headers } = response;
    if (status >= 300 && status < 400) {
      throw new SetpointError(
        'not-this-service',
        `GitHub's API answered with a redirect (${status}).`,
        {
          hint: 'Set GITHUB_API_URL to the address it redirects to; redirects are never followed.',
        },
      );
    }
    const text = await response.text();
    if (response.ok && status !== 204 && !isJsonText(text)) {
      throw new SetpointError(
        'bad-response',
        "GitHub's API answered with something other than JSON.",
        {
          hint: 'Check GITHUB_API_URL, and proxies in between.',
        },
      );
    }
    return new Response(text === '' ? null : text, { status, headers });
  };
}

function isJsonText(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
