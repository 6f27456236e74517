import { Secret } from './secret.ts';
import type { Value } from './value.ts';

/** Reports whether two addresses lead to one host and port, and the second is not less protected than the first. */
export function sameEndpoint(before: Value, after: Value): boolean {
  return addressFits(before, (from) => addressFits(after, (to) => isSameEndpoint(from, to)));
}

function addressFits(value: Value, isFit: (text: string) => boolean): boolean {
  if (value instanceof Secret) return value.fits(isFit);
  return isFit(typeof value === 'string' ? value : '');
}

function isSameEndpoint(before: string, after: string): boolean {
  if (before.trim() === after.trim()) return true;
  const [from, to] = [parseEndpoint(before), parseEndpoint(after)];
  if (from === null || to === null) return false;
  return (
    from.host === to.host && from.port === to.port && !(from.scheme === 's' && to.scheme === '')
  );
}

interface Endpoint {
  readonly host: string;
  /** Empty for the scheme's default port. */
  readonly port: string;
  /** `s` is encrypted, empty is not, null is not named. */
  readonly scheme: 's' | '' | null;
}

/** An empty address is the provider's own; null is an address that programs read in more than one way. */
function parseEndpoint(address: string): Endpoint | null {
  const text = address.trim();
  if (text === '') return { host: '', port: '', scheme: null };
  const url = endpointUrl(text);
  if (url === null) return null;
  const scheme = /^(https?|wss?):/i.exec(text)?.[1]?.toLowerCase();
  return {
    host: url.hostname.toLowerCase().replace(/\.$/, ''),
    port: url.port,
    scheme: scheme === undefined ? null : scheme === 'https' || scheme === 'wss' ? 's' : '',
  };
}

/** A url, its scheme left out or not. Backslashes, blanks and control characters make programs disagree on the host. */
export function endpointUrl(text: string): URL | null {
  const address = text.trim();
  // V8 collects what Unicode has in such a class first, for longer than it takes to see that a usual address has none of it.
  if (!/^[!-[\]-~]+$/.test(address) && /[\\\s\p{C}]/u.test(address)) return null;
  const full = /^[a-z][a-z0-9+.-]*:\/\//i.test(address)
    ? address
    : `https://${address.replace(/^\/+/, '')}`;
  return URL.canParse(full) ? new URL(full) : null;
}
