import type { ErrorCode } from '../model/error.ts';
import type { Connection } from './connect.ts';
import { findAnswerer, formatAnswerer, isLogin } from './answerer.ts';
import { readHeader, isJsonReply, type Reply } from './exchange.ts';
import {
  NO_ROUTE_YET,
  LONGEST_WAIT,
  RATE_HINT,
  requestError,
  retryAfter,
  formatWait,
  ServiceError,
  type ServiceErrorOptions,
} from './service-error.ts';

/** The error for an unexpected status. It contains nothing of the answer's text. */
export function createStatusError(
  connection: Connection,
  place: string,
  reply: Reply,
): ServiceError {
  const { status } = reply;
  const error = (code: ErrorCode, words: string, options?: ServiceErrorOptions) =>
    new ServiceError(code, requestError(`${words} (status ${status})`, place), options);
  if (status >= 300 && status < 400) return error(...describeRedirect(connection, reply));
  const proxy = findAnswerer(reply);
  const refusal = REFUSALS.get(status);
  if (proxy !== null && refusal !== undefined)
    return error(refusal, `${formatAnswerer(proxy)} refused the request with ${proxy.form}`, {
      hint: hintOfProxy(status, place),
    });
  if (status === 401 || status === 403) return createKeyError(place, status, connection.sendsKey);
  if (status === 404)
    return error('not-this-service', UNKNOWN_PATH, {
      starting: isJsonReply(reply) ? null : NO_ROUTE_YET,
    });
  if (status === 429)
    return waiting(connection, reply, (wait, options) => {
      const limiting = proxy === null ? 'the service' : formatAnswerer(proxy);
      const words = `${limiting} limits requests${wait}`;
      return error('rate-limited', words, { ...options, hint: RATE_HINT });
    });
  if (status >= 500) {
    const words =
      proxy !== null && UNREACHED.has(status)
        ? `${formatAnswerer(proxy)} does not reach it`
        : 'the service answered with an error';
    return waiting(connection, reply, (wait, options) =>
      error('server-error', `${words}${wait}`, options),
    );
  }
  const known = ERRORS.get(status);
  if (known !== undefined) return error(...known);
  if (status >= 400) return error('bad-response', 'the service refused the request');
  return error('bad-response', 'the service answered with a success and no content');
}

type ErrorText = readonly [code: ErrorCode, words: string, options?: ServiceErrorOptions];

const UNKNOWN_PATH = 'the server does not know this path';
const BUSY: ErrorText = [
  'contended',
  'the service is busy with something else',
  { retry: 'again' },
];
const UNKNOWN: ErrorText = ['not-this-service', UNKNOWN_PATH];

const ERRORS: ReadonlyMap<number, ErrorText> = new Map([
  [405, UNKNOWN],
  [406, UNKNOWN],
  [408, ['timed-out', 'the service took too long', { retry: 'again', starting: 'status 408' }]],
  [409, BUSY],
  [410, UNKNOWN],
  [412, BUSY],
  [413, ['settings-refused', 'the request is larger than the service accepts']],
  [415, UNKNOWN],
  [421, UNKNOWN],
  [423, BUSY],
  [
    425,
    [
      'server-error',
      'the request came too early for the service',
      { retry: 'again', starting: 'status 425' },
    ],
  ],
]);

function describeRedirect({ base }: Connection, { headers }: Reply): ErrorText {
  const location = readHeader(headers, 'location');
  const target = redirectTarget(location, base);
  const isToLogin =
    location !== undefined && URL.canParse(location, base.href) && isLogin(new URL(location, base));
  return isToLogin
    ? [
        'not-this-service',
        `a proxy in front of the service asks for a login of browsers${target}`,
        { hint: LOGIN_HINT },
      ]
    : [
        'not-this-service',
        `the service answered with a redirect${target}`,
        { hint: REDIRECT_HINT },
      ];
}

/** The statuses of a proxy that gets no answer from the service; those from 520 on are of Cloudflare. */
const UNREACHED: ReadonlySet<number> = new Set([502, 503, 504, 520, 521, 522, 523, 524, 525, 526]);

/** What a proxy refuses, with the code of the same refusal by the service. */
const REFUSALS: ReadonlyMap<number, ErrorCode> = new Map([
  [401, 'unauthorized'],
  [403, 'unauthorized'],
  [405, 'not-this-service'],
  [407, 'unauthorized'],
  [411, 'bad-response'],
  [413, 'settings-refused'],
  [414, 'bad-response'],
  [431, 'bad-response'],
  [400, 'bad-response'],
  [451, 'unauthorized'],
  [494, 'bad-response'],
  [495, 'tls'],
  [496, 'tls'],
  [497, 'bad-response'],
]);

const REDIRECT_HINT =
  'Set server.url to the address of the service itself; redirects are never followed.';
const LOGIN_HINT =
  'Give what lets a program through as server.headers, such as the service token of Cloudflare Access, or the address behind the proxy as server.url.';

function hintOfProxy(status: number, place: string): string {
  const method = place.split(' ')[0] ?? '';
  if (status === 400 || status === 495 || status === 496)
    return 'If the proxy asks for a client certificate, set server.client_cert and server.client_key; otherwise check the scheme and port of server.url.';
  if (status === 497) return 'Set https: in server.url.';
  if (status === 413)
    return 'Raise the limit of the proxy for the body of a request, such as client_max_body_size of nginx.';
  if (status === 405)
    return `Allow ${method} on this path in the proxy, or give the address behind it as server.url.`;
  return `Let the proxy pass ${method} to this path: give what it asks for as server.headers, or the address behind it as server.url.`;
}

function createKeyError(place: string, status: number, sent: boolean): ServiceError {
  if (sent) {
    return new ServiceError(
      'unauthorized',
      requestError(`the service refused the key (status ${status})`, place),
      {
        hint: 'Check that the variable of server.api_key contains a key of this service (with --server: SETPOINT_API_KEY), and that server.auth matches the service.',
      },
    );
  }
  return new ServiceError(
    'unauthorized',
    requestError(`the service refused the request, and no key was sent (status ${status})`, place),
    {
      hint: 'Set server.api_key in the file, as a reference such as ${env:SETPOINT_API_KEY}; with --server, set SETPOINT_API_KEY.',
    },
  );
}

function waiting(
  { clock }: Connection,
  { status, headers }: Reply,
  error: (wait: string, options: ServiceErrorOptions) => ServiceError,
): ServiceError {
  const after = retryAfter(
    readHeader(headers, 'retry-after'),
    readHeader(headers, 'date'),
    clock.now(),
  );
  return error(after === null ? '' : `, retry after ${formatWait(after)}`, {
    retry: after !== null && after > LONGEST_WAIT ? 'never' : 'again',
    retryAfter: after,
    starting: `status ${status}`,
  });
}

/** Reports whether a redirect stays at the address. The location itself is not repeated. */
function redirectTarget(location: string | undefined, base: URL): string {
  if (location === undefined || !URL.canParse(location, base.href)) return '';
  return new URL(location, base).origin === base.origin
    ? ' to another path of the same address'
    : ' to another address';
}
