import { SetpointError } from '../../reconciler/model/error.ts';

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
