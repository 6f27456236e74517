/**
 * Where a redirect leads, as far as it may be told: the origin alone, and nothing where the address of the service is not to
 * be shown either.
 */
export function redirectTarget(location: string | undefined, base: URL, shown: string): string {
  if (location === undefined || !URL.canParse(location, base.href)) return '';
  const target = new URL(location, base);
  if (target.origin === base.origin) return ' to another path of the same address';
  const speakable = target.protocol === 'https:' || target.protocol === 'http:';
  return speakable && shown === base.origin && target.origin.length <= 200
    ? ` to ${target.origin}`
    : ' to another address';
}
