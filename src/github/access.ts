import { SetpointError } from '../model/error.ts';
import { isLoopback } from '../model/loopback.ts';

/** Where GitHub's API is, as whom it is spoken to, and which repository it is about. */
export interface Access {
  /** Without a trailing slash; https, or http on loopback. */
  readonly apiUrl: string;
  readonly token: string;
  readonly owner: string;
  readonly repository: string;
}

type Env = Readonly<Record<string, string | undefined>>;

/** From the variables of a job: GITHUB_REPOSITORY, and GITHUB_API_URL where GitHub is not github.com. Throws usage. */
export function accessFrom(env: Env, token: string): Access {
  const [owner = '', repository = '', ...rest] = (env['GITHUB_REPOSITORY'] ?? '').split('/');
  if (![owner, repository].every((part) => /^[\w.-]+$/.test(part)) || rest.length > 0) {
    throw usage(
      'GITHUB_REPOSITORY does not say which repository this is.',
      'GitHub sets it in every job; elsewhere set it to OWNER/NAME.',
    );
  }
  if (!/^[\u0021-\u007e]+$/.test(token)) {
    throw usage(
      'There is no token for GitHub.',
      'Hand over the token of the job: GITHUB_TOKEN, or the input github-token.',
    );
  }
  return { apiUrl: apiUrlFrom(env), token, owner, repository };
}

function apiUrlFrom(env: Env): string {
  const text = (env['GITHUB_API_URL'] ?? '') || 'https://api.github.com';
  const url = URL.canParse(text) ? new URL(text) : null;
  const secure =
    url !== null &&
    url.username === '' &&
    (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname)));
  if (secure) return text.replace(/\/+$/, '');
  throw usage(
    'GITHUB_API_URL is no address that a token may be sent to.',
    'GitHub sets it in every job; it is an https address.',
  );
}

function usage(message: string, hint: string): SetpointError {
  return new SetpointError('usage', message, { hint });
}
