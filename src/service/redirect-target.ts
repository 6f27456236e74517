/** Where a redirect leads, as far as it may be told: whether it stays at the address. What the answer names is not repeated. */
export function redirectTarget(location: string | undefined, base: URL): string {
  if (location === undefined || !URL.canParse(location, base.href)) return '';
  return new URL(location, base).origin === base.origin
    ? ' to another path of the same address'
    : ' to another address';
}
