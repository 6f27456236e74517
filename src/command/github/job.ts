import type { Variables } from '../../reconciler/model/ports.ts';
import { usageError } from '../../reconciler/model/error.ts';
import { isLoopbackHost } from '../../reconciler/model/address.ts';

/** The address of GitHub's API, the account to use it with, and the repository. */
export interface Access {
  /** Without a trailing slash; https, or http on loopback. */
  readonly apiUrl: string;
  readonly token: string;
  readonly owner: string;
  readonly repository: string;
}

/** The pull request that a job runs for. */
export interface PullRequest {
  readonly number: number;
  /** The commit that was pushed; GITHUB_SHA is a merge that no user has seen. Null if the event does not name it. */
  readonly headSha: string | null;
  /** From another repository: the token of its job only reads. */
  readonly fork: boolean;
}

/** From the variables of a job: GITHUB_REPOSITORY, and GITHUB_API_URL if GitHub is not github.com. Throws usage. */
export function readJobAccess(env: Variables, token: string): Access {
  const [owner = '', repository = '', ...rest] = (env['GITHUB_REPOSITORY'] ?? '').split('/');
  if (![owner, repository].every((part) => /^[\w.-]+$/.test(part)) || rest.length > 0) {
    throw usageError(
      'GITHUB_REPOSITORY does not name a repository.',
      'GitHub sets it in every job; elsewhere set it to OWNER/NAME.',
    );
  }
  if (!/^[\u0021-\u007e]+$/.test(token)) {
    throw usageError(
      'There is no token for GitHub.',
      "Pass the job's token: GITHUB_TOKEN, or the input github-token.",
    );
  }
  return { apiUrl: readApiUrl(env), token, owner, repository };
}

function readApiUrl(env: Variables): string {
  const text = (env['GITHUB_API_URL'] ?? '') || 'https://api.github.com';
  const url = URL.canParse(text) ? new URL(text) : null;
  const secure =
    url !== null &&
    url.username === '' &&
    (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopbackHost(url.hostname)));
  if (secure) return text.replace(/\/+$/, '');
  throw usageError(
    'GITHUB_API_URL must be an https address without a name and password.',
    'GitHub sets it in every job. Do not change it.',
  );
}

interface BranchSide {
  readonly sha?: unknown;
  readonly repo?: { readonly full_name?: unknown } | null;
}

/** The pull request of an event, as JSON in the file that GITHUB_EVENT_PATH names; null if the event is about none. */
export function parseEventPullRequest(event: string): PullRequest | null {
  const { number, head, base } = parseEventJson(event);
  if (typeof number !== 'number' || !Number.isSafeInteger(number)) return null;
  const sha = head?.sha;
  return {
    number,
    headSha: typeof sha === 'string' && /^[0-9a-f]{40,64}$/.test(sha) ? sha : null,
    fork: head?.repo?.full_name !== base?.repo?.full_name,
  };
}

function parseEventJson(event: string): {
  number?: unknown;
  head?: BranchSide | null;
  base?: BranchSide | null;
} {
  try {
    const read = JSON.parse(event) as { pull_request?: object | null } | null;
    return read?.pull_request ?? {};
  } catch {
    return {};
  }
}
