import { foreignCode, standIn } from './stand-in.ts';
import { isTlsCode } from './tls-words.ts';

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
  return { ...detail, phase, cause: standIn(thrown) };
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
