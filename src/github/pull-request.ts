/** The pull request that a job runs for. */
export interface PullRequest {
  readonly number: number;
  /** The commit that was pushed; GITHUB_SHA is a merge that nobody has seen. Null where the event does not say. */
  readonly headSha: string | null;
  /** From another repository: the token of its job only reads. */
  readonly fork: boolean;
}

interface Side {
  readonly sha?: unknown;
  readonly repo?: { readonly full_name?: unknown } | null;
}

/** The pull request in an event as GitHub hands it to a job (the file GITHUB_EVENT_PATH names); null where there is none. */
export function pullRequestIn(event: string): PullRequest | null {
  const { number, head, base } = pullIn(event);
  if (typeof number !== 'number' || !Number.isSafeInteger(number)) return null;
  const sha = head?.sha;
  return {
    number,
    headSha: typeof sha === 'string' && /^[0-9a-f]{40,64}$/.test(sha) ? sha : null,
    fork: head?.repo?.full_name !== base?.repo?.full_name,
  };
}

function pullIn(event: string): { number?: unknown; head?: Side | null; base?: Side | null } {
  try {
    const read = JSON.parse(event) as { pull_request?: object | null } | null;
    return read?.pull_request ?? {};
  } catch {
    return {};
  }
}
