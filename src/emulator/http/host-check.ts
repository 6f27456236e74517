/** Whether a name or an address, without port and brackets, is this machine's loopback. */
export function isLoopback(name: string): boolean {
  const lower = name.toLowerCase();
  if (lower === 'localhost' || lower === '::1') return true;
  const octets = /^127\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(lower)?.slice(1);
  return octets !== undefined && octets.every((octet) => Number(octet) <= 255);
}

/**
 * Whether a Host header names loopback or one of the allowed names, with any port. A page of another site that had its
 * name resolve to this machine would send its own name here.
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
