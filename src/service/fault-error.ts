import { SetpointError } from '../model/error.ts';
import { seconds } from './retry-after.ts';
import { ServiceError, type Retry, type ServiceErrorOptions } from './service-error.ts';
import { tlsHint, tlsWords } from './tls-words.ts';
import type { Phase, WireFault } from './wire-fault.ts';

/**
 * The error for a request that got no whole answer. `place` is its method and address, as they may be shown; `proxied` tells
 * that a proxy may stand in between.
 */
export function faultError(place: string, fault: WireFault, proxied = false): SetpointError {
  const options = (more: ServiceErrorOptions = {}) => ({ cause: fault.cause, ...more });
  const unreachable = (words: string, retry: Retry = 'again') =>
    new ServiceError(
      'unreachable',
      `${place} failed: ${words}.`,
      options({ retry, hint: proxied ? PROXY_HINT : undefined }),
    );
  switch (fault.kind) {
    case 'refused':
      return unreachable('the connection was refused');
    case 'no-route':
      return unreachable('the network knows no way to the host');
    case 'unknown-host':
      return unreachable('the name of the host is not known (ENOTFOUND)', 'once');
    case 'lookup-failed':
      return unreachable('the name of the host could not be looked up just now (EAI_AGAIN)');
    case 'proxy':
      return proxyError(place, fault.status, fault.cause);
    case 'tls':
      return new ServiceError(
        'tls',
        `${place} failed: ${tlsWords(fault.code)}.`,
        options({ hint: tlsHint(fault.code) }),
      );
    case 'timeout':
      return new ServiceError(
        'timed-out',
        `${place} took too long: ${TOO_LATE[fault.phase]} within ${seconds(fault.after)}.`,
        options({ retry: fault.phase === 'body' ? 'once' : 'again' }),
      );
    case 'cut':
      if (fault.phase === 'connect') return unreachable('no connection could be made');
      if (fault.phase === 'headers') {
        return unreachable('the connection was closed before an answer came');
      }
      return new ServiceError(
        'bad-response',
        `${place} failed: the connection was closed in the middle of the answer.`,
        options({ retry: 'again' }),
      );
    case 'malformed':
      return new ServiceError(
        'bad-response',
        `${place} failed: the answer does not follow the rules of HTTP.`,
        options({ retry: 'again' }),
      );
    case 'undecodable':
      return new ServiceError(
        'bad-response',
        `${place} failed: the answer is compressed, and cannot be unpacked.`,
        options({ retry: 'once' }),
      );
    case 'foreign-encoding':
      return new ServiceError(
        'bad-response',
        `${place} failed: the answer is encoded more than once, or in a way that setpoint does not read.`,
        options(),
      );
    case 'headers-too-large':
      return new ServiceError(
        'response-too-large',
        `${place} failed: the headers of the answer are larger than 16 KiB.`,
        options(),
      );
    case 'body-too-large':
      return new ServiceError(
        'response-too-large',
        `${place} failed: the answer is larger than any of this service.`,
        options(),
      );
    case 'aborted':
      return interruption(place, fault.reason);
  }
}

const PROXY_HINT =
  'Check server.url, HTTPS_PROXY and what that proxy allows; NO_PROXY names hosts that are reached without it.';

const TOO_LATE: Readonly<Record<Phase, string>> = {
  connect: 'no connection was made',
  headers: 'no answer began',
  body: 'the answer was not complete',
};

/** The error for what was given up from outside; an error of setpoint's own that did so stays what it is. */
export function interruption(place: string, reason: unknown): SetpointError {
  if (reason instanceof SetpointError) return reason;
  return new SetpointError('interrupted', `${place} was given up: setpoint was interrupted.`);
}

function proxyError(place: string, status: number | null, cause: Error | undefined): ServiceError {
  const answer = status === null ? '' : ` (status ${status})`;
  return new ServiceError(
    'unreachable',
    `${place} failed: the proxy of HTTPS_PROXY opened no way to it${answer}.`,
    {
      hint: PROXY_HINT,
      cause,
      retry: status !== null && status < 500 ? 'never' : 'again',
    },
  );
}
