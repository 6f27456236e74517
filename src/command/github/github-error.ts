import { SetpointError, type ErrorCode } from '../../reconciler/model/error.ts';

/** The members of an Octokit error that are read. Its message is GitHub's and may contain anything. */
interface Failure {
  readonly status: number;
  readonly request?: { readonly method: string; readonly url: string };
  readonly response?: { readonly headers: Readonly<Record<string, string | number | undefined>> };
  readonly cause?: unknown;
}

interface ErrorMeaning {
  readonly code: ErrorCode;
  readonly words: string;
  readonly hint: string;
}

const MEANINGS: Readonly<Record<number, ErrorMeaning>> = {
  401: {
    code: 'unauthorized',
    words: 'refused the token',
    hint: "Pass the job's token, or one that has not expired.",
  },
  403: {
    code: 'unauthorized',
    words: 'does not let this token do that',
    hint: 'Give the job the permission: pull-requests: write for comments, issues: write for drift.',
  },
  404: {
    code: 'usage',
    words: 'found nothing there, or hides it from this token',
    hint: 'Check the number of the pull request, and that the token belongs to this repository.',
  },
  410: {
    code: 'bad-response',
    words: 'reports that issues are turned off',
    hint: 'Turn issues on in the settings of the repository, or set comment: false.',
  },
  422: {
    code: 'bad-response',
    words: 'refused what it was sent',
    hint: 'This is a defect of setpoint; please report it with the command you ran.',
  },
};
/** Meanings that differ for branches and pull requests. */
const OF_BRANCHES: Readonly<Record<number, ErrorMeaning>> = {
  403: {
    code: 'unauthorized',
    words: 'does not let this token do that',
    hint: 'Give the job contents: write and pull-requests: write. In the repository settings, under Actions, General, allow GitHub Actions to create pull requests.',
  },
  404: {
    code: 'usage',
    words: 'found nothing there, or hides it from this token',
    hint: 'Give the job contents: write and pull-requests: write, with a token that belongs to this repository.',
  },
  422: {
    code: 'bad-response',
    words: 'refused what it was sent',
    hint: 'Check that no rule of the repository forbids branches that begin with setpoint-drift/, and that no branch has the name setpoint-drift.',
  },
};
const RATE_LIMITED: ErrorMeaning = {
  code: 'rate-limited',
  words: 'received too many requests',
  hint: 'Run it again later.',
};
const FAILED: ErrorMeaning = {
  code: 'server-error',
  words: 'failed',
  hint: 'Run it again; www.githubstatus.com reports outages.',
};
const OTHER: ErrorMeaning = {
  code: 'bad-response',
  words: 'gave an unexpected answer',
  hint: 'Check GITHUB_API_URL, and proxies in between.',
};

/** An error of Octokit in our words. The original is stored as the cause, and never shown. */
export function gitHubError(thrown: unknown): SetpointError {
  if (thrown instanceof SetpointError) return thrown;
  if (!isRequestFailure(thrown)) return error(OTHER, 'GitHub gave an unexpected answer.', thrown);
  if (thrown.cause instanceof SetpointError) return thrown.cause;
  if (thrown.response === undefined) return createNoAnswerError(thrown);
  const meaning = isRateLimit(thrown) ? RATE_LIMITED : errorMeaning(thrown);
  const where = `${thrown.request?.method ?? ''} ${formatRequestPath(thrown)}`.trim();
  return error(meaning, `GitHub ${meaning.words}: ${where} (${thrown.status}).`, thrown);
}

/** Reports whether the requested thing does not exist (any more). */
export function isNotFoundError(thrown: unknown): boolean {
  return (
    thrown instanceof SetpointError && isRequestFailure(thrown.cause) && thrown.cause.status === 404
  );
}

/**
 * Milliseconds to wait before a request is sent once more; null if it must not be. A request that GitHub rejected for the number of
 * requests was not executed; a failed one may have been, so it is repeated only if it is `repeatable`.
 */
export function pauseAfter(thrown: unknown, repeatable: boolean, attempt: number): number | null {
  if (!isRequestFailure(thrown) || attempt >= ATTEMPTS) return null;
  if (isRateLimit(thrown)) {
    const seconds = retryAfterSeconds(thrown);
    return seconds <= LONGEST_PAUSE ? seconds * 1000 : null;
  }
  const failed = thrown.status >= 500 && !(thrown.cause instanceof SetpointError);
  return failed && repeatable ? attempt ** 2 * 1000 : null;
}

const ATTEMPTS = 3;
/** Seconds. */
const LONGEST_PAUSE = 60;

function createNoAnswerError(failure: Failure): SetpointError {
  const { cause } = failure;
  const late = cause instanceof Error && cause.name === 'TimeoutError';
  return late
    ? error({ ...FAILED, code: 'timed-out' }, 'GitHub did not answer in time.', failure)
    : error({ ...FAILED, code: 'unreachable' }, 'GitHub could not be reached.', failure);
}

function errorMeaning(failure: Failure): ErrorMeaning {
  const { status } = failure;
  const ofBranches = /\/repos\/[^/]+\/[^/]+\/(?:git|pulls)(?:\/|$)/.test(formatRequestPath(failure))
    ? OF_BRANCHES[status]
    : undefined;
  return status >= 500 ? FAILED : (ofBranches ?? MEANINGS[status] ?? OTHER);
}

/** 429, or 403 with the headers that distinguish it from a refusal. */
function isRateLimit({ status, response }: Failure): boolean {
  if (status === 429) return true;
  const headers = response?.headers ?? {};
  return (
    status === 403 &&
    (headers['retry-after'] !== undefined || headers['x-ratelimit-remaining'] === '0')
  );
}

/** Seconds of Retry-After, or until GitHub's limit is reset, by the clock of the answer. */
function retryAfterSeconds({ response }: Failure): number {
  const headers = response?.headers ?? {};
  const seconds = Number(headers['retry-after']);
  if (Number.isFinite(seconds)) return Math.max(0, seconds);
  const [reset, now] = [Number(headers['x-ratelimit-reset']), Date.parse(String(headers['date']))];
  return Number.isFinite(reset - now) ? Math.max(0, reset - now / 1000) : LONGEST_PAUSE;
}

function formatRequestPath({ request }: Failure): string {
  const url = request?.url ?? '';
  return URL.canParse(url) ? new URL(url).pathname : '';
}

function isRequestFailure(thrown: unknown): thrown is Error & Failure {
  return thrown instanceof Error && 'status' in thrown && typeof thrown.status === 'number';
}

function error({ code, hint }: ErrorMeaning, message: string, cause: unknown): SetpointError {
  return new SetpointError(code, message, { hint, cause });
}
