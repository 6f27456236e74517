import { type ErrorCode, SetpointError } from '../model/error.ts';
import {
  requestError,
  formatWait,
  ServiceError,
  type Retry,
  type ServiceErrorOptions,
} from './service-error.ts';

/**
 * The error for a request that got no whole answer. `place` is its method and address, as they may be shown; `proxied`
 * means that there may be a proxy in between.
 */
export function createFaultError(place: string, fault: WireFault, proxied = false): SetpointError {
  const { kind, phase, cause, identity } = fault;
  if (kind === 'aborted') return createAbortError(place, fault.reason);
  if (kind === 'proxy') return proxyError(place, fault.status, cause);
  if (kind === 'tls' && isIdentityAlert(fault.code)) return identityError(place, fault, fault.code);
  const lacksIdentity = identity === 'missing' || identity === 'expired';
  if (kind === 'cut' && phase !== 'body' && lacksIdentity) return identityError(place, fault, null);
  const { code, words, ...options } = describeFault(fault);
  const refusesIdentity = kind === 'cut' && identity === 'sent';
  const hint = proxied ? PROXY_HINT : refusesIdentity ? REFUSED_IDENTITY_HINT : undefined;
  const own = code === 'unreachable' ? { hint } : {};
  return new ServiceError(code, requestError(words, place), { cause, ...options, ...own });
}

interface FaultText extends Pick<ServiceErrorOptions, 'hint' | 'retry' | 'starting'> {
  readonly code: ErrorCode;
  readonly words: string;
}

function unreachable(words: string, retry: Retry = 'again'): FaultText {
  return { code: 'unreachable', words, retry, starting: words };
}

function badResponse(
  words: string,
  options: Pick<ServiceErrorOptions, 'hint' | 'retry'> = {},
): FaultText {
  return { code: 'bad-response', words, ...options };
}

function describeFault(
  fault: Exclude<WireFault, { readonly kind: 'aborted' | 'proxy' }>,
): FaultText {
  switch (fault.kind) {
    case 'tls':
      return {
        code: 'tls',
        words: tlsWords(fault.code),
        hint: tlsHint(fault.code),
        starting: tlsStarting(fault.code),
      };
    case 'timeout': {
      const words = `${TOO_LATE[fault.phase]} within ${formatWait(fault.after)}`;
      const retry = fault.phase === 'body' ? 'once' : 'again';
      return { code: 'timed-out', words, retry, starting: words };
    }
    case 'cut':
      return CUTS[fault.phase];
    default:
      return FAULTS[fault.kind];
  }
}

const SIZE_HINT = 'Check server.url; no answer of this service is this large.';
const PROXY_HINT =
  'Check server.url, HTTPS_PROXY and what that proxy allows; NO_PROXY names hosts that are reached without it.';

const CUT_OFF = 'the connection was closed in the middle of the answer';

const CUTS: Readonly<Record<Phase, FaultText>> = {
  connect: unreachable('no connection could be made'),
  headers: unreachable('the connection was closed before an answer came'),
  body: { ...badResponse(CUT_OFF, { retry: 'again' }), starting: CUT_OFF },
};

const FAULTS: Readonly<
  Record<Exclude<FaultDetail['kind'], 'aborted' | 'cut' | 'proxy' | 'timeout' | 'tls'>, FaultText>
> = {
  refused: unreachable('the connection was refused'),
  'no-route': unreachable('there is no route to the host'),
  'unknown-host': unreachable('the host name is unknown (ENOTFOUND)', 'once'),
  'lookup-failed': unreachable('the host name could not be resolved just now (EAI_AGAIN)'),
  malformed: badResponse('the answer is not valid HTTP', { retry: 'again' }),
  undecodable: badResponse('the answer is compressed, and cannot be unpacked', { retry: 'once' }),
  'foreign-encoding': badResponse('the answer has an encoding that setpoint does not support'),
  'headers-too-large': badResponse('the headers of the answer are larger than 16 KiB', {
    hint: SIZE_HINT,
  }),
  'body-too-large': badResponse('the answer is too large', { hint: SIZE_HINT }),
};

const TOO_LATE: Readonly<Record<Phase, string>> = {
  connect: 'no connection was made',
  headers: 'no answer began',
  body: 'the answer was not complete',
};

/** The error for what was given up from outside; an error of setpoint's own that did so stays what it is. */
export function createAbortError(place: string, reason: unknown): SetpointError {
  if (reason instanceof SetpointError) return reason;
  return new SetpointError('interrupted', `${place} was aborted: setpoint was interrupted.`);
}

function proxyError(place: string, status: number | null, cause: Error | undefined): ServiceError {
  const answer = status === null ? '' : ` (status ${status})`;
  return new ServiceError(
    'unreachable',
    requestError(`the proxy of HTTPS_PROXY refused the tunnel${answer}`, place),
    {
      hint: PROXY_HINT,
      cause,
      retry: status !== null && status < 500 ? 'never' : 'again',
      starting:
        status !== null && status < 500
          ? null
          : `the proxy of HTTPS_PROXY refused the tunnel${answer}`,
    },
  );
}

/** The alerts with which a server ends a handshake over the client's certificate. */
function isIdentityAlert(code: string): boolean {
  return /^ERR_SSL_(SSLV3|TLSV1|TLSV13)_ALERT_(CERTIFICATE_\w+|BAD_CERTIFICATE|UNSUPPORTED_CERTIFICATE|NO_CERTIFICATE|UNKNOWN_CA|ACCESS_DENIED|HANDSHAKE_FAILURE|DECRYPT_ERROR)$/.test(
    code,
  );
}

/** The error of a server that asks for another client certificate than was sent. Without `code` the server closed the connection. */
function identityError(
  place: string,
  { identity, cause }: WireFault,
  code: string | null,
): ServiceError {
  const answer = code === null ? '' : ` (${code})`;
  const isRequired = identity === 'none' && code?.endsWith('CERTIFICATE_REQUIRED') === true;
  switch (isRequired ? 'missing' : identity) {
    case 'sent':
      return tlsError(
        `the server refused the client certificate${answer}`,
        'Check that the server trusts the authority of server.client_cert, and that the file has the intermediate certificates after the first.',
      );
    case 'expired':
      return tlsError(
        `the client certificate of server.client_cert has expired${answer}`,
        'Get a new one.',
      );
    case 'missing':
      return tlsError(
        `the server asks for a client certificate, and none is set${answer}`,
        `${SET_IDENTITY.charAt(0).toUpperCase()}${SET_IDENTITY.slice(1)}`,
      );
    default:
      return tlsError(
        `the server ended the TLS handshake${answer}`,
        `If it asks for a client certificate: ${SET_IDENTITY}`,
      );
  }

  function tlsError(words: string, hint: string): ServiceError {
    return new ServiceError('tls', requestError(words, place), { hint, cause });
  }
}

const REFUSED_IDENTITY_HINT =
  'A server that does not trust the client certificate closes the connection like this: check server.client_cert, and that the service is up.';

const SET_IDENTITY = 'set server.client_cert and server.client_key.';

const CERTIFICATE_PROBLEMS: ReadonlyMap<string, string> = new Map([
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'is self-signed'],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'comes from an authority that is not trusted here'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'comes from an authority that is not trusted here'],
  ['UNABLE_TO_GET_ISSUER_CERT', 'comes from an authority that is not trusted here'],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'comes from an authority that is not trusted here'],
  ['CERT_UNTRUSTED', 'comes from an authority that is not trusted here'],
  ['CERT_HAS_EXPIRED', 'has expired'],
  ['CERT_NOT_YET_VALID', 'is not valid yet'],
  ['CERT_REVOKED', 'was revoked'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'is for another name'],
  ['HOSTNAME_MISMATCH', 'is for another name'],
]);

const NO_TLS_THERE = new Set(['ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_PACKET_LENGTH_TOO_LONG']);

/** Describes what is wrong with a connection over TLS. */
export function tlsWords(code: string): string {
  const words = CERTIFICATE_PROBLEMS.get(code);
  if (words !== undefined) return `the certificate of the service ${words} (${code})`;
  if (NO_TLS_THERE.has(code)) return `the server there does not use TLS (${code})`;
  return `no trusted TLS connection could be made (${code})`;
}

/**
 * The fault of a proxy whose certificate is not issued yet, or of a server that does not complete a handshake yet; null if another
 * certificate or address is needed.
 */
function tlsStarting(code: string): string | null {
  if (NO_TLS_THERE.has(code)) return null;
  return !CERTIFICATE_PROBLEMS.has(code) || PLACEHOLDERS.has(code) ? tlsWords(code) : null;
}

/** The problems of a certificate that stands in for another until that one is issued. */
const PLACEHOLDERS = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'CERT_NOT_YET_VALID',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'HOSTNAME_MISMATCH',
]);

/** Returns the remedy; undefined if the general advice for certificates applies. */
function tlsHint(code: string): string | undefined {
  switch (code) {
    case 'CERT_HAS_EXPIRED':
    case 'CERT_NOT_YET_VALID':
      return 'Check the clock of this machine first; if it is right, the service needs another certificate.';
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
    case 'HOSTNAME_MISMATCH':
      return 'Set server.url to a host name in the certificate of the service.';
    case 'ERR_SSL_WRONG_VERSION_NUMBER':
    case 'ERR_SSL_PACKET_LENGTH_TOO_LONG':
      return 'Check the port and the scheme of server.url.';
    default:
      return undefined;
  }
}

/** The progress of a request: `connect` is before its first byte, `body` after the status. */
export type Phase = 'connect' | 'headers' | 'body';

export type FaultDetail =
  | { readonly kind: 'refused' }
  | { readonly kind: 'no-route' }
  | { readonly kind: 'unknown-host' }
  | { readonly kind: 'lookup-failed' }
  | { readonly kind: 'tls'; readonly code: string }
  | { readonly kind: 'proxy'; readonly status: number | null }
  | { readonly kind: 'timeout'; readonly after: number }
  | { readonly kind: 'cut' }
  | { readonly kind: 'malformed' }
  | { readonly kind: 'headers-too-large' }
  | { readonly kind: 'body-too-large' }
  | { readonly kind: 'foreign-encoding' }
  | { readonly kind: 'undecodable' }
  | { readonly kind: 'aborted'; readonly reason: unknown };

/** The reason why the answer is incomplete. Nothing in it was written by the other side. */
export type WireFault = FaultDetail & {
  readonly phase: Phase;
  readonly cause: Error | undefined;
  readonly identity?: IdentityUse;
};

/** The use of a client certificate in a connection over TLS: `missing` if the server asked for one, and none is set. */
export type IdentityUse = 'none' | 'missing' | 'sent' | 'expired';

/** Classifies a foreign error by its code. Its text is discarded. */
export function classifyFault(thrown: unknown, phase: Phase, connectTimeout: number): WireFault {
  const detail = createFaultDetail(thrown, foreignCode(thrown), phase, connectTimeout);
  return { ...detail, phase, cause: withoutText(thrown) };
}

function createFaultDetail(
  thrown: unknown,
  code: string | null,
  phase: Phase,
  connectTimeout: number,
): FaultDetail {
  if (code !== null && isTlsCode(code)) return { kind: 'tls', code };
  switch (code) {
    case 'ECONNREFUSED':
      return { kind: 'refused' };
    case 'ENETUNREACH':
    case 'EHOSTUNREACH':
    case 'EADDRNOTAVAIL':
      return { kind: 'no-route' };
    case 'ENOTFOUND':
      return { kind: 'unknown-host' };
    case 'EAI_AGAIN':
      return { kind: 'lookup-failed' };
    case 'UND_ERR_HEADERS_OVERFLOW':
      return { kind: 'headers-too-large' };
    default:
  }
  if (phase === 'connect') {
    if (code === 'UND_ERR_ABORTED') return { kind: 'proxy', status: tunnelStatus(thrown) };
    if (code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'ETIMEDOUT') {
      return { kind: 'timeout', after: connectTimeout };
    }
  }
  return isParserError(thrown) ? { kind: 'malformed' } : { kind: 'cut' };
}

/** Known by its name: not every one has a code, and its `data` is what the other side sent. */
function isParserError(thrown: unknown): boolean {
  return thrown instanceof Error && thrown.name === 'HTTPParserError';
}

/** The status with which a proxy refused a tunnel; only its text has it. */
function tunnelStatus(thrown: unknown): number | null {
  const digits = thrown instanceof Error ? /\((\d{3})\)/.exec(thrown.message)?.[1] : undefined;
  return digits === undefined ? null : Number(digits);
}

const CERTIFICATE_CODES: ReadonlySet<string> = new Set([
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'HOSTNAME_MISMATCH',
]);

export function isTlsCode(code: string): boolean {
  return (
    CERTIFICATE_CODES.has(code) ||
    code === 'EPROTO' ||
    code === 'UND_ERR_PRX_TLS' ||
    /^(CERT|CRL)_|^ERR_(SSL|TLS|OSSL)_|^UNABLE_TO_(GET|DECODE|DECRYPT)_|_CERT$|_CRL$|^INVALID_(CA|PURPOSE)$/.test(
      code,
    )
  );
}

/**
 * A foreign error without its text, which may quote a header, a body or a url: what is left is its class and its code. This
 * is what goes into `cause`, since inspecting an error shows its cause.
 */
export function withoutText(thrown: unknown): Error {
  const name = thrown instanceof Error ? thrown.constructor.name : typeof thrown;
  const code = foreignCode(thrown);
  return new Error(code === null ? name : `${name} ${code}`);
}

/** The code of a foreign error, or of the first error inside it that has one. */
export function foreignCode(thrown: unknown): string | null {
  for (const error of lineage(thrown)) {
    if ('code' in error && typeof error.code === 'string' && /^[A-Z][A-Z0-9_]*$/.test(error.code)) {
      return error.code;
    }
  }
  return null;
}

function* lineage(thrown: unknown): Generator<Error> {
  let error = thrown;
  for (let depth = 0; depth < 4 && error instanceof Error; depth += 1) {
    yield error;
    error = error instanceof AggregateError ? error.errors[0] : error.cause;
  }
}
