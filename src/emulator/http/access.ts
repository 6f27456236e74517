import { createHash, timingSafeEqual } from 'node:crypto';

/** Whether a name or an address, without port and brackets, is this machine's loopback. */
export function isLoopback(name: string): boolean {
  const lower = name.toLowerCase();
  if (lower === 'localhost' || lower === '::1') return true;
  const octets = /^127\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(lower)?.slice(1);
  return octets !== undefined && octets.every((octet) => Number(octet) <= 255);
}

/**
 * Whether a Host header names loopback or one of the allowed names, with any port. A web page whose own name was made to
 * resolve to this machine (DNS rebinding) sends that name.
 */
export function isAnsweredHost(header: string | undefined, allowHosts: readonly string[]): boolean {
  const name = hostName(header ?? '');
  if (name === undefined) return false;
  return isLoopback(name) || allowHosts.some((allowed) => bare(allowed) === name);
}

function hostName(header: string): string | undefined {
  const found = /^(?:\[([\da-f:.]+)\]|([^\s:/@[\]]+))(?::\d{1,5})?$/i.exec(header);
  return (found?.[1] ?? found?.[2])?.toLowerCase();
}

function bare(name: string): string {
  return name.replace(/^\[(.*)\]$/, '$1').toLowerCase();
}

/**
 * Whether the X-Session-API-Key header is the service's key; if the service has none, every request is authorized.
 * Compares in constant time. Source: specification 5; contract "load with a wrong key".
 */
export function isAuthorized(
  header: string | string[] | undefined,
  apiKey: string | undefined,
): boolean {
  if (apiKey === undefined || apiKey === '') return true;
  return typeof header === 'string' && timingSafeEqual(digest(header), digest(apiKey));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
