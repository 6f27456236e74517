import { SetpointError, type ErrorCode } from '../model/error.ts';

/** What Octokit throws, as far as it is looked at: its message is GitHub's and may hold anything. */
interface Failure {
  readonly status: number;
  readonly request?: { readonly method: string; readonly url: string };
  readonly response?: { readonly headers: Readonly<Record<string, string | number | undefined>> };
  readonly cause?: unknown;
}

interface Meaning {
  readonly code: ErrorCode;
  readonly words: string;
  readonly hint: string;
}

const MEANINGS: Readonly<Record<number, Meaning>> = {
  401: {
    code: 'unauthorized',
    words: 'refused the token',
    hint: 'Hand over the token of the job, or one that has not expired.',
  },
  403: {
    code: 'unauthorized',
    words: 'does not let this token do that',
    hint: 'Give the job the permission: pull-requests: write for comments, issues: write for drift.',
  },
  404: {
    code: 'usage',
    words: 'knows nothing there, or does not show it to this token',
    hint: 'Check the number of the pull request, and that the token belongs to this repository.',
  },
  410: {
    code: 'bad-response',
    words: 'says that issues are turned off',
    hint: 'Turn issues on in the settings of the repository, or set comment: false.',
  },
  422: {
    code: 'bad-response',
    words: 'refused what it was sent',
    hint: 'This is a defect of setpoint; please report it with the command you ran.',
  },
};
const RATE_LIMITED: Meaning = {
  code: 'rate-limited',
  words: 'asks to come back later',
  hint: 'Run it again later.',
};
const FAILED: Meaning = {
  code: 'server-error',
  words: 'failed',
  hint: 'Run it again; www.githubstatus.com tells of outages.',
};
const OTHER: Meaning = {
  code: 'bad-response',
  words: 'gave an answer that was not expected',
  hint: 'Check GITHUB_API_URL, and proxies in between.',
};

/** A failure of Octokit's in words of ours. The foreign one stays with it as the cause, and is never shown. */
export function gitHubError(thrown: unknown): SetpointError {
  if (thrown instanceof SetpointError) return thrown;
  if (!isFailure(thrown))
    return error(OTHER, 'GitHub gave an answer that was not expected.', thrown);
  if (thrown.cause instanceof SetpointError) return thrown.cause;
  if (thrown.response === undefined) return notAnswered(thrown);
  const meaning = isRateLimit(thrown) ? RATE_LIMITED : meaningOf(thrown.status);
  const where = `${thrown.request?.method ?? ''} ${pathOf(thrown)}`.trim();
  return error(meaning, `GitHub ${meaning.words}: ${where} (${thrown.status}).`, thrown);
}

/** Whether what was asked for is not there (any more). */
export function isGone(thrown: unknown): boolean {
  return thrown instanceof SetpointError && isFailure(thrown.cause) && thrown.cause.status === 404;
}

/**
 * Milliseconds after which a request may be sent once more, or null where that would not help. What GitHub turned away for its
 * number of requests was not done; what failed may have been, so that it is sent again only where that is no harm.
 */
export function pauseAfter(thrown: unknown, repeatable: boolean, attempt: number): number | null {
  if (!isFailure(thrown) || attempt >= ATTEMPTS) return null;
  if (isRateLimit(thrown)) {
    const seconds = secondsAsked(thrown);
    return seconds <= LONGEST_PAUSE ? seconds * 1000 : null;
  }
  const failed = thrown.status >= 500 && !(thrown.cause instanceof SetpointError);
  return failed && repeatable ? attempt ** 2 * 1000 : null;
}

const ATTEMPTS = 3;
/** Seconds. */
const LONGEST_PAUSE = 60;

function notAnswered(failure: Failure): SetpointError {
  const { cause } = failure;
  const late = cause instanceof Error && cause.name === 'TimeoutError';
  return late
    ? error({ ...FAILED, code: 'timed-out' }, 'GitHub did not answer in time.', failure)
    : error({ ...FAILED, code: 'unreachable' }, 'GitHub could not be reached.', failure);
}

function meaningOf(status: number): Meaning {
  return status >= 500 ? FAILED : (MEANINGS[status] ?? OTHER);
}

/** 429, or 403 with the headers that tell it from a refusal. */
function isRateLimit({ status, response }: Failure): boolean {
  if (status === 429) return true;
  const headers = response?.headers ?? {};
  return (
    status === 403 &&
    (headers['retry-after'] !== undefined || headers['x-ratelimit-remaining'] === '0')
  );
}

/** What Retry-After says, or else the time at which GitHub counts anew; measured by the answer's own clock. */
function secondsAsked({ response }: Failure): number {
  const headers = response?.headers ?? {};
  const asked = Number(headers['retry-after']);
  if (Number.isFinite(asked)) return Math.max(0, asked);
  const [anew, now] = [Number(headers['x-ratelimit-reset']), Date.parse(String(headers['date']))];
  return Number.isFinite(anew - now) ? Math.max(0, anew - now / 1000) : LONGEST_PAUSE;
}

function pathOf({ request }: Failure): string {
  const url = request?.url ?? '';
  return URL.canParse(url) ? new URL(url).pathname : '';
}

function isFailure(thrown: unknown): thrown is Error & Failure {
  return thrown instanceof Error && 'status' in thrown && typeof thrown.status === 'number';
}

function error({ code, hint }: Meaning, message: string, cause: unknown): SetpointError {
  return new SetpointError(code, message, { hint, cause });
}
