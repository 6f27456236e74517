/** How far a request came: `connect` is before its first byte, `body` after the status. */
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

/** Why there is no whole answer. Nothing in it was written by the other side. */
export type WireFault = FaultDetail & { readonly phase: Phase; readonly cause: Error | undefined };

/** What went wrong, read from the code of a foreign error. Nothing of its text is kept. */
export function faultOf(thrown: unknown, phase: Phase, connectTimeout: number): WireFault {
  const detail = detailOf(thrown, foreignCode(thrown), phase, connectTimeout);
  return { ...detail, phase, cause: withoutText(thrown) };
}

function detailOf(
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
